"""Small pieces of SVG: escaped text, scales with round ticks, frames with axes."""

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, final

from ceibo.decide.dimensions.axis import round_values, share_of
from ceibo.numbers import rounded
from ceibo.report.clipping import Box, cut_area, cut_line, cut_segment
from ceibo.report.labels import HEIGHT, cut_to, width_of
from ceibo.text import escape, shorten

# values beyond are drawn at it, so that differences stay finite
_LARGEST: Final = 1e300
_FARTHEST: Final = 1e4  # lengths of a scale beyond its ends: what is cut off need not be exact

Point = tuple[float, float]


def text_of(value: object, limit: int = 300) -> str:
    """Any text for HTML: escaped, of bounded length, with control characters made visible."""
    text = rounded(value) if isinstance(value, float) else str(value)
    return html.escape(escape(shorten(text, limit), keep="\n"), quote=True)


def title_of(text: str) -> str:
    """The title of an element, shown when the pointer rests on it; empty without a text."""
    return f"<title>{text_of(text)}</title>" if text else ""


def px(value: float) -> str:
    """A pixel coordinate with at most one decimal."""
    return f"{value:.1f}".rstrip("0").rstrip(".") if math.isfinite(value) else "0"


@final
@dataclass(frozen=True)
class Scale:
    """From a range of values to a range of pixels; logarithmic where ratios matter."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def over(cls, values: Iterable[float], pixels: Point, log: bool = False) -> "Scale":
        """A scale around values, with a margin."""
        finite = [
            float(min(max(value, -_LARGEST), _LARGEST)) for value in values if math.isfinite(value)
        ]
        if log:
            positive = [value for value in finite if value > 0]
            low, high = min(positive, default=0.1), max(positive, default=1.0)
            ratio = max((high / low) ** 0.04, 1.05) if high / low < _LARGEST else 10.0
            low, high = max(low / ratio, 1e-307), min(high * ratio, 1e308)
        else:
            low, high = min(finite, default=0.0), max(finite, default=1.0)
            margin = (high - low) * 0.04 or abs(high) * 0.05 or 0.5
            low, high = low - margin, high + margin
        return cls(low, high, *pixels, log)

    def __call__(self, value: float) -> float:
        if self.log and value <= 0:
            return self.start
        share = share_of(float(value), self.low, self.high, self.log)
        return self.start + min(max(share, -_FARTHEST), _FARTHEST) * (self.end - self.start)

    def has(self, value: float) -> bool:
        """Whether a value lies within the scale."""
        return self.low <= value <= self.high

    def ticks(self, count: int = 5) -> list[float]:
        """Round values along the scale."""
        return round_values(self.low, self.high, count, self.log)


@final
@dataclass
class Canvas:
    """A drawing with a frame: a list of elements, put together by `render`."""

    width: int
    height: int
    label: str
    left: float = 56
    right: float = 12
    top: float = 10
    bottom: float = 34
    parts: list[str] = field(default_factory=list)
    strips: list[Box] = field(default_factory=list)  # further frames, of drawings below the first

    @property
    def is_wide(self) -> bool:
        """Whether the drawing is for large screens."""
        return self.width > 500

    @property
    def across(self) -> Point:
        """Pixels of the frame from left to right."""
        return self.left, self.width - self.right

    @property
    def up(self) -> Point:
        """Pixels of the frame from bottom to top."""
        return self.height - self.bottom, self.top

    @property
    def frame(self) -> Box:
        """The box of the frame, beyond which no curve is drawn."""
        bottom, top = self.up
        return self.left, top, self.width - self.right, bottom

    def add(self, *elements: str) -> None:
        """Appends elements, which are drawn over the earlier ones."""
        self.parts.extend(elements)

    def x_name(self, name: str) -> None:
        """The name of the horizontal axis."""
        self.write(
            sum(self.across) / 2,
            self.height - 4,
            cut_to(shorten(name, 60), self.width),
            "middle",
            "name",
        )

    def y_name(self, name: str) -> None:
        """The name of the vertical axis, cut to its length."""
        bottom, top = self.up
        turned = f'transform="translate(12 {px(sum(self.up) / 2)}) rotate(-90)"'
        text = text_of(cut_to(shorten(name, 60), bottom - top), 60)
        self.add(f'<text class="name" text-anchor="middle" {turned}>{text}</text>')

    def write(
        self, x: float, y: float, text: str, anchor: str = "start", kind: str = "label"
    ) -> None:
        """A piece of text, moved so that it stays inside the drawing."""
        width = width_of(text)
        before = {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        x = max(min(x, self.width - (width - before)), before)
        place = f'x="{px(x)}" y="{px(max(y, HEIGHT - 3))}" text-anchor="{anchor}"'
        self.add(f'<text class="{kind}" {place}>{text_of(text, 80)}</text>')

    def line(self, points: Sequence[Point], kind: str, box: Box | None = None) -> None:
        """A line through pixels, as far as it lies in the frame or another box."""
        for piece in cut_line(points, box or self.frame):
            self.add(f'<polyline class="{kind}" points="{path_of(piece)}"/>')

    def band(
        self, upper: Sequence[Point], lower: Sequence[Point], kind: str, box: Box | None = None
    ) -> None:
        """The area between two lines, as far as it lies in the frame or another box."""
        if area := cut_area([*upper, *reversed(lower)], box or self.frame):
            self.add(f'<polygon class="{kind}" points="{path_of(area)}"/>')

    def segment(self, start: Point, end: Point, kind: str) -> None:
        """A straight line between two pixels."""
        ends = f'x1="{px(start[0])}" y1="{px(start[1])}" x2="{px(end[0])}" y2="{px(end[1])}"'
        self.add(f'<line class="{kind}" {ends}/>')

    def bar(self, start: Point, end: Point, kind: str) -> None:
        """A straight line between two pixels, as far as it lies in the frame."""
        if inside := cut_segment(start, end, self.frame):
            self.segment(*inside, kind)

    def dot(self, x: float, y: float, radius: float, kind: str, title: str = "") -> None:
        """A dot, with a text shown when the pointer rests on it."""
        circle = f'<circle class="{kind}" cx="{px(x)}" cy="{px(y)}" r="{px(radius)}">'
        self.add(f"{circle}{title_of(title)}</circle>")

    def image(self, corner: Point, size: Point, kind: str, address: str) -> None:
        """A picture stretched over a box, by its upper left corner."""
        place = f'x="{px(corner[0])}" y="{px(corner[1])}"'
        box = f'{place} width="{px(size[0])}" height="{px(size[1])}"'
        self.add(f'<image class="{kind}" {box} preserveAspectRatio="none" href="{address}"/>')

    def render(self, kind: str = "") -> str:
        """The drawing as an SVG element."""
        box = f'viewBox="0 0 {self.width} {self.height}"'
        label = f'role="img" aria-label="{text_of(self.label)}"'
        head = f'<svg class="{kind}" {box} {label} xmlns="http://www.w3.org/2000/svg">'
        frames = "".join(_frame(box) for box in (self.frame, *self.strips))
        return f"{head}{frames}{''.join(self.parts)}</svg>"


def path_of(points: Iterable[Point]) -> str:
    """Pixels as the points of a line or an area."""
    return " ".join(f"{px(x)},{px(y)}" for x, y in points)


def _frame(box: Box) -> str:
    """A box in which curves are drawn, unseen."""
    left, top, right, bottom = box
    size = f'width="{px(right - left)}" height="{px(bottom - top)}"'
    return f'<rect class="frame" x="{px(left)}" y="{px(top)}" {size}/>'
