"""Pieces that panels share: the frame of a panel, legends, and the labels of a parameter's axis.

The axis of a parameter is its unit interval, from 0 to 1.
"""

from typing import Final

from ceibo.decide.dimensions import Dimension
from ceibo.report.svg import text_of

_MOST_CHOICES: Final = 12  # labels on an axis of choices


def panel(identifier: str, title: str, body: str, note: str, legend: str = "") -> str:
    """A section of the page; `body`, `note` and `legend` are HTML."""
    return (
        f'<section class="panel" id="{identifier}"><h2>{text_of(title)}</h2>{legend}{body}'
        f'<p class="note">{note}</p></section>'
    )


def legend(*keys: tuple[str, str]) -> str:
    """What the marks mean: (class of the mark, text)."""
    items = "".join(
        f'<li><span class="key {kind}"></span>{text_of(name)}</li>' for kind, name in keys
    )
    return f'<ul class="legend">{items}</ul>'


def clip(text: str, limit: int) -> str:
    """The beginning of a text."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def labels_of(dimension: Dimension, count: int = 5) -> list[tuple[float, str]]:
    """Coordinates to mark on the axis of a parameter, with their labels."""
    if dimension.is_ordered:
        return dimension.ticks(count)
    room = max(3, 44 // (dimension.levels or 1))
    return [(place, clip(label, room)) for place, label in dimension.ticks(_MOST_CHOICES)]
