"""Labels beside an axis: how wide they are, which of them there is room for, and which turn."""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from ceibo.text import shorten, shorten_apart

HEIGHT: Final = 14.0  # of a line of text, in pixels
MOST_LETTERS: Final = 16  # of a label that is turned
_GAP: Final = 6.0  # between two labels
# widths of letters, as shares of their height, in a wide font
_NARROW: Final = frozenset(" .,:;'|!()[]ijltfrI1-·/\\")
_BROAD: Final = frozenset("mwMW@%…→")

Label = tuple[float, str]  # pixel, text


def width_of(text: str, size: float = 12.0) -> float:
    """The pixels that a text takes at most, in the fonts of the page."""
    return size * sum(map(_share, text))


def _share(letter: str) -> float:
    if letter in _BROAD:
        return 1.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in _NARROW:
        return 0.64 if letter == "1" else 0.42
    return 0.72 if letter.isupper() else 0.64


def cut_to(text: str, pixels: float) -> str:
    """The text, shortened to a width."""
    letters = len(text)
    while letters > 1 and width_of(shorten(text, letters)) > pixels:
        letters -= 1
    return shorten(text, letters)


def fitting(labels: Sequence[Label]) -> list[Label]:
    """Every label, or every second, third, …, so that they do not run into each other."""
    for step in range(1, len(labels) + 1):
        kept = list(labels[::step])
        if _have_room(kept):
            return kept
    return list(labels[:1])


def apart(labels: Sequence[Label]) -> tuple[list[Label], float]:
    """Labels of choices, none left out; and the height they need, turned if they have no room.

    The height is 0 where they stand beside each other.
    """
    if _have_room(labels):
        return list(labels), 0.0
    texts = shorten_apart([text for _, text in labels], MOST_LETTERS)
    height = max(map(width_of, texts)) - HEIGHT
    return [(at, text) for (at, _), text in zip(labels, texts, strict=True)], max(height, 1.0)


def _have_room(labels: Sequence[Label]) -> bool:
    ends = [(at - width_of(text) / 2, at + width_of(text) / 2) for at, text in sorted(labels)]
    return all(a[1] + _GAP <= b[0] for a, b in pairwise(ends))
