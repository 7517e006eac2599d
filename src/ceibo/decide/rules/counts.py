"""Counts in a rule: at most 2 of a, b, c. Their words may be names of parameters elsewhere."""

from typing import Final

from ceibo.decide.rules.tokens import END, NAME, NUMBER, SIGN, WORD
from ceibo.decide.rules.tree import Kind, Node
from ceibo.decide.rules.words import Words

_LIMITS: Final = ("most", "least")
_MOST_DIGITS: Final = 6


def begins_count(words: Words) -> bool:
    """Whether a count begins at the word at hand."""
    follower = words.peek()
    if words.sees(NAME, "at"):
        return follower.kind == NAME and follower.value in _LIMITS
    return words.sees(NAME, "exactly", "between") and follower.kind == NUMBER


def parse_count(words: Words) -> Node:
    """The count that begins at the word at hand."""
    start, word = words.token.start, words.next().value
    if word == "at":
        word = words.next().value
    first = _whole(words)
    least, most = {"most": (0, first), "least": (first, None)}.get(word, (first, first))
    if word == "between":
        if not words.sees(WORD, "and"):
            words.refuse("and, as in between 1 and 3 of a, b, c, d")
        words.next()
        most = _whole(words)
    if not words.sees(NAME, "of"):
        words.refuse("of, as in at most 2 of a, b, c")
    words.next()
    names = [_name(words)]
    while words.sees(SIGN, ","):
        words.next()
        names.append(_name(words))
    if words.sees(WORD, "and") and words.peek().kind == NAME:
        end = words.peek(2)
        if end.kind == END or end.value in ("if", ",", ")"):
            words.refuse("a comma before the next name", "names are separated by commas")
    return Node(Kind.COUNT, start, names[-1].end, tuple(names), (least, most))


def _whole(words: Words) -> int:
    """A whole number of few digits."""
    token = words.token
    if token.kind != NUMBER or not token.value.isdigit() or len(token.value) > _MOST_DIGITS:
        words.refuse("a whole number of parameters")
    return int(words.next().value)


def _name(words: Words) -> Node:
    if words.token.kind != NAME:
        words.refuse("a name of a parameter", "names are separated by commas")
    token = words.next()
    return Node(Kind.NAME, token.start, token.end, value=token.value)
