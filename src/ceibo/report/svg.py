"""Small pieces of SVG: escaped text, scales with round ticks, frames with axes."""

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, final

from ceibo.decide.dimensions.axis import round_values, share_of
from ceibo.text import escape, shorten

_LARGEST: Final = 1e300  # values beyond are drawn at it, so that differences stay finite


def text_of(value: object, limit: int = 300) -> str:
    """Any text for HTML: escaped, of bounded length, with control characters made visible."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return html.escape(escape(shorten(text, limit), keep="\n"), quote=True)


def number(value: float) -> str:
    """A pixel coordinate, short."""
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
    def over(
        cls,
        values: Iterable[float],
        pixels: tuple[float, float],
        log: bool = False,
        pad: float = 0.04,
    ) -> "Scale":
        """A scale around values, with a margin."""
        finite = [min(max(value, -_LARGEST), _LARGEST) for value in values if math.isfinite(value)]
        if log:
            finite = [value for value in finite if value > 0]
        low, high = (min(finite), max(finite)) if finite else ((0.1, 1.0) if log else (0.0, 1.0))
        if log:
            ratio = max((high / low) ** pad, 1.05) if high / low < 1e300 else 10.0
            return cls(
                max(low / ratio, 1e-307), high * ratio if high < 1e300 else high, *pixels, True
            )
        margin = (high - low) * pad or abs(high) * 0.05 or 0.5
        return cls(low - margin, high + margin, *pixels)

    def __call__(self, value: float) -> float:
        if self.log and value <= 0:
            return self.start
        share = share_of(value, self.low, self.high, self.log)
        return self.start + min(max(share, -0.5), 1.5) * (self.end - self.start)

    def has(self, value: float) -> bool:
        """Whether a value lies within the scale."""
        return self.low <= value <= self.high

    def ticks(self, count: int = 5) -> list[float]:
        """Round values along the scale."""
        return round_values(self.low, self.high, count, self.log)


def tick_text(value: float) -> str:
    """A tick's label."""
    return f"{value:.4g}" if abs(value) > 1e-290 else "0"


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

    @property
    def across(self) -> tuple[float, float]:
        """Pixels of the frame from left to right."""
        return self.left, self.width - self.right

    @property
    def up(self) -> tuple[float, float]:
        """Pixels of the frame from bottom to top."""
        return self.height - self.bottom, self.top

    def add(self, *elements: str) -> None:
        """Appends elements, which are drawn over the earlier ones."""
        self.parts.extend(elements)

    def axes(
        self,
        x: Scale,
        y: Scale,
        names: tuple[str, str] = ("", ""),
        counts: tuple[int, int] = (6, 5),
    ) -> None:
        """Grid lines and labels."""
        self.y_axis(y, names[1], counts[1])
        bottom = self.up[0]
        for tick in x.ticks(counts[0]):
            self.segment((x(tick), bottom), (x(tick), bottom + 4), "tick")
            self.write(x(tick), bottom + 16, tick_text(tick), "middle")
        self.x_name(names[0])

    def x_name(self, name: str) -> None:
        """The name of the horizontal axis."""
        if name:
            self.write(
                (self.across[0] + self.across[1]) / 2, self.height - 4, name, "middle", "name"
            )

    def y_axis(self, y: Scale, name: str = "", count: int = 5) -> None:
        """Horizontal grid lines with labels."""
        left, right = self.across
        for tick in y.ticks(count):
            at = number(y(tick))
            self.add(
                f'<line class="grid" x1="{number(left)}" x2="{number(right)}" y1="{at}" y2="{at}"/>'
            )
            self.write(left - 6, y(tick) + 4, tick_text(tick), "end")
        if name:
            middle = (self.up[0] + self.up[1]) / 2
            turned = f"translate(12 {number(middle)}) rotate(-90)"
            self.add(
                '<text class="name" text-anchor="middle"'
                f' transform="{turned}">{text_of(name, 60)}</text>'
            )

    def write(
        self, x: float, y: float, text: str, anchor: str = "start", kind: str = "label"
    ) -> None:
        """A piece of text."""
        place = f'x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"'
        self.add(f'<text class="{kind}" {place}>{text_of(text, 80)}</text>')

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """A line through pixels."""
        if points:
            path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
            self.add(f'<polyline class="{kind}" points="{path}"/>')

    def band(
        self, upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]], kind: str
    ) -> None:
        """The area between two lines."""
        if upper:
            path = " ".join(f"{number(x)},{number(y)}" for x, y in [*upper, *reversed(lower)])
            self.add(f'<polygon class="{kind}" points="{path}"/>')

    def segment(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
        """A straight line between two pixels."""
        (x1, y1), (x2, y2) = start, end
        self.add(
            f'<line class="{kind}" x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}"'
            f' y2="{number(y2)}"/>'
        )

    def dot(self, x: float, y: float, radius: float, kind: str, title: str = "") -> None:
        """A dot, with a text shown when the pointer rests on it."""
        inside = f"<title>{text_of(title)}</title>" if title else ""
        self.add(
            f'<circle class="{kind}" cx="{number(x)}" cy="{number(y)}"'
            f' r="{number(radius)}">{inside}</circle>'
        )

    def render(self, kind: str = "") -> str:
        """The drawing as an SVG element."""
        body = "".join(self.parts)
        return (
            f'<svg class="{kind}" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{text_of(self.label)}" xmlns="http://www.w3.org/2000/svg">{body}</svg>'
        )
