"""What panels share: their frame, legends, tables, and drawings over parameters and trials."""

from collections.abc import Callable
from typing import Final

from ceibo.decide.dimensions import Dimension
from ceibo.report.svg import Canvas, Scale, text_of
from ceibo.text import shorten

ABSENT: Final = "–"  # stands for a parameter that a setting does not have
RULES_NOTE: Final = (
    " A parameter of an equality takes the others of it along: parts of a mixture grow or shrink in"
    " proportion to each other. Grey is what the rules exclude."
)
RULES_KEY: Final = ("key-excluded", "excluded by the rules")
_MOST_CHOICES: Final = 12  # labels on an axis of choices

Size = tuple[int, int]


def panel(identifier: str, title: str, body: str, note: str = "", keys: str = "") -> str:
    """A section of the page; `body`, `note` and `keys` (a legend) are HTML."""
    if note:
        note = f'<p class="note">{note}</p>'
    head = f"<h2>{text_of(title)}</h2>"
    return f'<section class="panel" id="{identifier}">{head}{keys}{body}{note}</section>'


def legend(*keys: tuple[str, str]) -> str:
    """What the marks mean: (class of the mark, text)."""
    items = [f'<li><span class="key {kind}"></span>{text_of(name)}</li>' for kind, name in keys]
    return f'<ul class="legend">{"".join(items)}</ul>'


def table_row(*cells: str) -> str:
    """A row of a table; the cells are HTML."""
    return f"<tr><td>{'</td><td>'.join(cells)}</td></tr>"


def two_sizes(draw: Callable[[Size], Canvas], wide: Size, narrow: Size) -> str:
    """A drawing for large screens and one for small screens, of which the page shows one."""
    return draw(wide).render("wide") + draw(narrow).render("narrow")


def trial_axis(canvas: Canvas, trials: int) -> Scale:
    """Draws the horizontal axis of a drawing over so many trials; returns its scale."""
    x = Scale(-0.5, max(trials, 1) + 0.5, *canvas.across)
    canvas.x_axis(x, "trial", 8 if canvas.is_wide else 5)
    return x


def draw_limit(canvas: Canvas, y: Scale, limit: float) -> None:
    """A limit as a line across, or at the edge where it lies if it is out of sight."""
    left, right = canvas.across
    text = f"limit {limit:.4g}"
    if y.has(limit):
        canvas.segment((left, y(limit)), (right, y(limit)), "limit")
        canvas.write(left + 4, y(limit) - 5, text, kind="limit-text")
    elif limit > y.high:
        canvas.write(left + 4, canvas.up[1] + 11, f"▲ {text}", kind="limit-text")
    else:
        canvas.write(left + 4, canvas.up[0] - 5, f"▼ {text}", kind="limit-text")


def parameter_labels(dimension: Dimension, count: int = 5) -> list[tuple[float, str]]:
    """Coordinates to mark on the axis of a parameter, which goes from 0 to 1, with their labels."""
    if dimension.is_ordered:
        return dimension.ticks(count)
    room = max(3, 44 // (dimension.levels or 1))
    return [(place, shorten(label, room)) for place, label in dimension.ticks(_MOST_CHOICES)]
