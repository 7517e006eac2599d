"""Numbers as people and programs write them, read strictly: what could mean two things is no
number.
"""

import difflib
import re
from collections.abc import Iterable
from typing import Final

MINUS: Final = "\N{MINUS SIGN}"
_NUMBER: Final = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
_WHOLE: Final = re.compile(r"[+-]?\d+", re.ASCII)
_HEAD: Final = re.compile(r"[+-]?\d{1,3}", re.ASCII)
_THOUSANDS: Final = re.compile(r"0\d\d(\.\d*)?", re.ASCII)


def to_number(text: str) -> int | float | None:
    """The number that a text is, with a decimal point, or None; 1_000, 0x10 and 66,5 are none."""
    plain = text.strip().replace(MINUS, "-")
    if _WHOLE.fullmatch(plain) and len(plain) < 400:  # whole numbers keep all their digits
        return int(plain)
    return float(plain) if _NUMBER.fullmatch(plain) else None


def with_point(text: str) -> str | None:
    """A number with a decimal comma, written with a point (1.234,5 becomes 1234.5), or None if it
    is no such number.
    """
    head, comma, tail = text.strip().rpartition(",")
    if not comma or "," in head or "." in tail:
        return None
    written = f"{head.replace('.', '')}.{tail}"
    return (
        written
        if head[-1:].isdigit() and tail[:1].isdigit() and to_number(written) is not None
        else None
    )


def is_split_thousand(before: str, word: str) -> bool:
    """Whether two words are one number with a gap, as in `1 000`: nobody writes a number of its own
    as 000.
    """
    return bool(_HEAD.fullmatch(before) and _THOUSANDS.fullmatch(word))


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like a misspelt one, or None."""
    by_lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.5)
    return by_lower[close[0]] if close else None
