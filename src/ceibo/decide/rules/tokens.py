"""The words of a rule: numbers, names, texts in quotes, signs."""

import re
from dataclasses import dataclass
from typing import Final, final

from ceibo.decide.rules.fault import fault
from ceibo.numbers import MINUS

NUMBER: Final = "number"
NAME: Final = "name"
WORD: Final = "word"  # a reserved one, such as `and`
TEXT: Final = "text"  # in quotes
SIGN: Final = "sign"
END: Final = "end"

RESERVED: Final = ("and", "or", "not", "in", "if", "else", "True", "False", "None")
_SAME: Final = {"≤": "<=", "≥": ">=", "≠": "!=", MINUS: "-", "×": "*", "·": "*", "[": "(", "]": ")"}
_MISTAKES: Final = {
    "=": ("== to compare", "write == for equal"),
    "=<": ("<=", "write <= for at most"),
    "=>": (">=", "write >= for at least"),
    "<>": ("!=", "write != for different"),
    "===": ("==", "write == for equal"),
    "&&": ("and", "write and"),
    "&": ("and", "write and"),
    "||": ("or", "write or"),
    "|": ("or", "write or"),
    "!": ("not", "write not, or != for different"),
    "**": ("a linear rule", "powers are not part of rules"),
    "^": ("a linear rule", "powers are not part of rules"),
    "//": ("/", "whole-number division is not part of rules"),
    "%": ("a number, a name or a sign", "write 0.5 for 50 %; remainders are not part of rules"),
}
_QUOTES: Final = "‘’“”„‚«»´"
_PATTERN: Final = re.compile(
    r"""(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[^\W\d]\w*)
    |`(?P<quoted>(?:[^`]|``)+)`
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<mistake>===|=<|=>|<>|&&|\|\||\*\*|//|=(?!=)|!(?!=)|[&|^%])
    |(?P<sign><=|>=|==|!=|[<>+\-*/(),≤≥≠×·\[\]"""
    + MINUS
    + "])",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED: Final = re.compile(r"\\([\\'\"])")


@final
@dataclass(frozen=True)
class Token:
    """One word: its kind, what it says, and where it stands in the rule."""

    kind: str
    value: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """The words of a rule, and the end."""
    tokens: list[Token] = []
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        match = _PATTERN.match(text, place)
        if match is None:
            raise _stray(text, place)
        tokens.append(_token(text, match))
        place = match.end()
    return [*tokens, Token(END, "", len(text), len(text))]


def _token(text: str, match: re.Match[str]) -> Token:
    kind, said = match.lastgroup, match.group(match.lastgroup or 0)
    start, end = match.span()
    if kind == "mistake":
        expected, advice = _MISTAKES[said]
        raise fault(text, start, end, expected, advice)
    if kind == "number":
        return Token(NUMBER, said, start, end)
    if kind == "name":
        return Token(WORD if said in RESERVED else NAME, said, start, end)
    if kind == "quoted":
        return Token(NAME, said.replace("``", "`"), start, end)
    if kind == "text":
        return Token(TEXT, _ESCAPED.sub(r"\1", said[1:-1]), start, end)
    return Token(SIGN, _SAME.get(said, said), start, end)


def _stray(text: str, place: int) -> Exception:
    """The error about a character that begins no word."""
    here = text[place]
    if here in "'\"":
        return fault(text, place, len(text), f"a text in quotes that ends with {here}", "close it")
    if here == "`":
        return fault(text, place, len(text), "a name in backquotes that ends with `", "close it")
    if here in _QUOTES:
        advice = "put choices in straight quotes, as in 'THF'"
        return fault(text, place, place + 1, "a number, a name or a sign", advice)
    return fault(text, place, place + 1, "a number, a name or a sign")
