"""Pieces that panels share: the frame of a panel, legends, and where a parameter's values stand on
an axis.
"""

from ceibo.decide import Categorical, Int
from ceibo.decide.dimensions import Dimension
from ceibo.report.svg import Scale, text_of


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


def axis_of(dimension: Dimension, pixels: tuple[float, float]) -> Scale:
    """The axis of a parameter: as wide as its unit interval, choices evenly spaced."""
    if isinstance(dimension, Categorical):
        return Scale(-0.5, len(dimension.choices) - 0.5, *pixels)
    low, high, half = float(dimension.low), float(dimension.high), 0.0
    if isinstance(dimension, Int):
        half = 0.5
    elif dimension.step is not None:
        half = dimension.step / 2
        high = low + ((dimension.levels or 1) - 1) * dimension.step
    return Scale(low - half, high + half, *pixels, dimension.log)


def place_of(dimension: Dimension, value: object, name: str) -> float:
    """Where a value of the parameter stands on its axis."""
    if isinstance(dimension, Categorical):
        return float(dimension.choices.index(dimension.check(value, name)))
    return float(value)  # type: ignore[arg-type]  # the space has checked it


def labels_of(dimension: Dimension, scale: Scale, count: int = 5) -> list[tuple[float, str]]:
    """Places on the axis of a parameter, with their labels."""
    if isinstance(dimension, Categorical):
        most = len(dimension.choices)
        room, step = max(3, 44 // most), -(-most // 12)
        return [(float(k), clip(str(dimension.choices[k]), room)) for k in range(0, most, step)]
    ticks = scale.ticks(count)
    if isinstance(dimension, Int):
        ticks = sorted({float(round(tick)) for tick in ticks if scale.has(round(tick))})
    return [(tick, f"{tick:.4g}") for tick in ticks]
