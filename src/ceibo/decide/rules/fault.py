"""The error about a rule: which one, what was expected, what stands there instead, what to try."""

from ceibo.errors import InputError
from ceibo.text import shorten

_WIDTH = 200  # characters of a rule that an error shows


def fault(text: str, start: int, end: int, expected: str, advice: str = "") -> InputError:
    """The error about the piece of a rule from `start` to before `end`."""
    piece = shorten(text[start:end].strip(), _WIDTH)
    got = f"{piece!r} at character {start + 1}" if piece else "the end of the rule"
    return InputError(subject_of(text), expected, got, advice)


def subject_of(text: str) -> str:
    """A rule as the subject of a sentence."""
    return f"rule {shorten(text, _WIDTH)!r}"
