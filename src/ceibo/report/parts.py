"""What panels share: their frame, legends, tables, and drawings over parameters and trials."""

from collections.abc import Callable
from typing import Final

from ceibo.decide.dimensions import Dimension
from ceibo.numbers import rounded
from ceibo.report.axes import x_axis
from ceibo.report.labels import Label, apart, fitting
from ceibo.report.svg import Canvas, Scale, text_of

ABSENT: Final = "–"  # stands for a parameter that a setting does not have
BLOCKS_NOTE: Final = " Measurements are shown without the effects of their blocks."
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


def value_cell(value: object) -> str:
    """The value of a parameter as HTML; a number is not broken into lines."""
    text = text_of(value, 80)
    return text if isinstance(value, str) else f'<span class="number">{text}</span>'


def two_sizes(draw: Callable[[Size], Canvas], wide: Size, narrow: Size) -> str:
    """A drawing for large screens and one for small screens, of which the page shows one."""
    return draw(wide).render("wide") + draw(narrow).render("narrow")


def trial_axis(canvas: Canvas, trials: int) -> Scale:
    """Draws the horizontal axis of a drawing over so many trials; returns its scale."""
    x = Scale(-0.5, max(trials, 1) + 0.5, *canvas.across)
    x_axis(canvas, x, "trial", 8 if canvas.is_wide else 5)
    return x


def draw_limit(canvas: Canvas, y: Scale, limit: float) -> None:
    """A limit as a line across, or at the edge where it lies if it is out of sight."""
    left, right = canvas.across
    text = f"limit {rounded(limit)}"
    if y.has(limit):
        canvas.segment((left, y(limit)), (right, y(limit)), "limit")
        above = y(limit) - 5 > canvas.up[1] + 9
        canvas.write(left + 4, y(limit) + (-5 if above else 13), text, kind="limit-text")
    elif limit > y.high:
        canvas.write(left + 4, canvas.up[1] + 11, f"▲ {text}", kind="limit-text")
    else:
        canvas.write(left + 4, canvas.up[0] - 5, f"▼ {text}", kind="limit-text")


def parameter_labels(dimension: Dimension, count: int = 5) -> list[tuple[float, str]]:
    """Coordinates to mark on the axis of a parameter, which goes from 0 to 1, with their labels."""
    return dimension.ticks(count if dimension.is_ordered else _MOST_CHOICES)


def labels_below(
    dimension: Dimension, across: tuple[float, float], count: int
) -> tuple[list[Label], float]:
    """The labels of a parameter along an axis in pixels, and the height they need more if turned.

    Of numbers those there is room for; of choices all, turned if there is none.
    """
    x = Scale(0.0, 1.0, *across)
    labels = [(x(place), text) for place, text in parameter_labels(dimension, count)]
    if dimension.is_ordered and dimension.listed is None:
        return fitting(labels), 0.0
    return apart(labels)
