"""The effects of blocks such as days, each with its uncertainty, kind by kind."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from ceibo.numbers import rounded, with_uncertainty
from ceibo.report.axes import make_room_for, x_axis
from ceibo.report.facts import Facts
from ceibo.report.parts import Size, legend, panel, two_sizes
from ceibo.report.svg import Canvas, Scale, text_of
from ceibo.study.blocks import Blocks, spread_line
from ceibo.text import plural, shorten_apart

NOTE: Final = (
    "What was measured in a block is higher or lower by its effect than in an average block of its"
    " kind, as far as the model can tell that from the settings and from the noise: thick, one"
    " standard deviation to each side; thin, two. No effect is part of the answers, which are those"
    " of an average block."
)
_ROW: Final = 24  # pixels
_MOST_ROWS: Final = 40  # blocks of a kind, the latest of them


def blocks(facts: Facts) -> str:
    """The panel of blocks; empty if none were told."""
    if facts.findings is None or not facts.findings.blocks:
        return ""
    drawn = drawings_of(Blocks(facts.findings.blocks), "effect on the objective")
    noise = facts.study.noise
    note = NOTE
    if isinstance(noise, float):
        note += f" The noise of a single value is {rounded(noise, 2)}, as a standard deviation."
    return panel("blocks", "Blocks", drawn, note, keys())


def keys() -> str:
    """What the marks mean."""
    return legend(("key-incumbent", "effect ± std"), ("key-raw", "no effect"))


def drawings_of(effects: Blocks, name: str) -> str:
    """A drawing of each kind of block on one scale, below how its blocks differ."""
    parts = []
    ends = [each.mean + side * each.std for each in effects for side in (-2, 2)]
    ends = [min([0.0, *ends]), max([0.0, *ends])]
    for kind, every in effects.by_kind.items():
        shown = Blocks(every[-_MOST_ROWS:])
        text = spread_line(kind, every)
        if len(shown) < len(every):
            text += f" The latest {len(shown)} are shown."
        height = _ROW * len(shown) + 44
        draw = partial(draw_blocks, shown, name, ends)
        parts.append(f'<p class="note">{text_of(text, 300)}</p>')
        parts.append(two_sizes(draw, (960, height), (400, height)))
    return "".join(parts)


def draw_blocks(effects: Blocks, name: str, ends: Sequence[float], size: Size) -> Canvas:
    """A row per block with its effect, and a line where there is none; `ends` of the axis."""
    canvas = Canvas(*size, f"Effects of {effects[0].kind}", left=60, right=26, bottom=40)
    labels = shorten_apart([each.label for each in effects], 24 if canvas.is_wide else 13)
    make_room_for(canvas, labels)
    x = Scale.over(ends, canvas.across)
    bottom, top = canvas.up
    canvas.segment((x(0.0), bottom), (x(0.0), top), "chosen")
    x_axis(canvas, x, name, 8 if canvas.is_wide else 5)
    for row, (label, each) in enumerate(zip(labels, effects, strict=True)):
        y = top + _ROW * (row + 0.5)
        for wide, kind in ((2, "bar"), (1, "whisker")):
            low, high = each.mean - wide * each.std, each.mean + wide * each.std
            canvas.bar((x(low), y), (x(high), y), kind)
        told = plural(each.count, "measurement")
        title = f"{each.label}: {with_uncertainty(each.mean, each.std)}, {told}"
        canvas.dot(x(each.mean), y, 4, "level", title)
        canvas.write(canvas.left - 8, y + 4, label, "end")
    return canvas
