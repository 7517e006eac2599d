"""Axes of drawings: ticks with labels for which there is room."""

from collections.abc import Iterable, Sequence

from ceibo.numbers import distinct
from ceibo.report.labels import HEIGHT, Label, fitting, width_of
from ceibo.report.svg import Canvas, Scale, px, text_of


def x_axis(canvas: Canvas, x: Scale, name: str, count: int) -> None:
    """Ticks with labels below the frame."""
    bottom = canvas.up[0]
    ticks = x.ticks(count)
    for at, text in fitting(list(zip(map(x, ticks), distinct(ticks), strict=True))):
        canvas.segment((at, bottom), (at, bottom + 4), "tick")
        canvas.write(at, bottom + 16, text, "middle")
    canvas.x_name(name)


def x_labels(canvas: Canvas, labels: Sequence[Label], top: float, turned: bool = False) -> None:
    """Labels below an axis, whose tops are at a height; from the bottom up if turned."""
    for at, text in labels:
        if turned:
            place = f'transform="translate({px(at + 4)} {px(top + 2)}) rotate(-90)"'
            kind = 'class="label" text-anchor="end"'
            canvas.add(f"<text {kind} {place}>{text_of(text, 80)}</text>")
        else:
            canvas.write(at, top + 12, text, "middle")


def y_axis(canvas: Canvas, y: Scale, name: str = "", count: int = 5) -> None:
    """Horizontal grid lines with labels; they move the frame to the right if they are long."""
    ticks = y.ticks(count)
    texts = distinct(ticks)
    make_room_for(canvas, texts, name)
    left, right = canvas.across
    ends = f'x1="{px(left)}" x2="{px(right)}"'
    for tick, text in zip(ticks, texts, strict=True):
        at = px(y(tick))
        canvas.add(f'<line class="grid" {ends} y1="{at}" y2="{at}"/>')
        canvas.write(left - 6, y(tick) + 4, text, "end")
    if name:
        canvas.y_name(name)


def make_room_for(canvas: Canvas, texts: Iterable[str], name: str = "") -> None:
    """Moves the frame to the right of labels and of the name of the vertical axis."""
    widest = max(map(width_of, texts), default=0.0)
    canvas.left = max(canvas.left, widest + 8 + (HEIGHT + 2 if name else 0))
