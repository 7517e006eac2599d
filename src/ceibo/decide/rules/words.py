"""A place among the words of a rule, that moves on as they are read."""

from typing import NoReturn, final

from ceibo.decide.rules.fault import fault
from ceibo.decide.rules.tokens import END, Token, tokenize


@final
class Words:
    """The words of a rule and the place of the one to read next."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.place = 0

    @property
    def token(self) -> Token:
        """The word at hand."""
        return self.tokens[self.place]

    @property
    def before(self) -> Token:
        """The word read last."""
        return self.tokens[max(self.place - 1, 0)]

    def peek(self, count: int = 1) -> Token:
        """The word so many after the one at hand."""
        return self.tokens[min(self.place + count, len(self.tokens) - 1)]

    def next(self) -> Token:
        """The word at hand, which is read."""
        token = self.token
        self.place += token.kind != END
        return token

    def sees(self, kind: str, *values: str) -> bool:
        """Whether the word at hand is one of these."""
        return self.token.kind == kind and self.token.value in values

    def refuse(self, expected: str, advice: str = "") -> NoReturn:
        """Raises the error about the word at hand."""
        raise fault(self.text, self.token.start, self.token.end, expected, advice)
