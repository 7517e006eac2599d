"""The axis of a parameter: numbers on their own scale, choices side by side."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullLocator

from ceibo.decide import Int, Space
from ceibo.decide.dimensions import Dimension
from ceibo.gp.inputs import Array
from ceibo.numbers import rounded
from ceibo.plots.canvas import plain
from ceibo.text import shorten_apart

Side = Literal["x", "y"]
SIDES: Final[tuple[Side, Side]] = ("x", "y")
_MARGIN: Final = 0.02  # of its length, at both ends
_MOST_CHOICES: Final = 12
_LETTERS: Final = 14  # of a choice
_ROOM: Final = 28  # letters that there is room for side by side


@final
@dataclass(frozen=True)
class ParameterAxis:
    """One parameter along an axis. Numbers are drawn as they are, all else at its coordinate."""

    name: str
    dimension: Dimension

    @classmethod
    def of(cls, space: Space, column: int) -> "ParameterAxis":
        name = space.names[column]
        return cls(name, space.dimensions[name])

    @property
    def is_numeric(self) -> bool:
        """Whether values are numbers with a scale of their own, from one end to another."""
        return self.dimension.extends and self.dimension.listed is None

    def at(self, units: Iterable[float]) -> Array:
        """Where coordinates in [0, 1] are drawn, (n,); NaN stays NaN."""
        places = np.asarray(list(units), dtype=float)
        if not self.is_numeric:
            return places
        values = [np.nan if np.isnan(u) else _number(self.dimension.from_unit(u)) for u in places]
        return np.array(values, dtype=float)

    def dress(self, ax: Axes, side: Side, ends: tuple[float, float] | None = None) -> None:
        """Gives an axis the scale, the ends, the marks and the name of the parameter.

        Args:
            ax, side: which axis.
            ends: of what is drawn; the parameter's own with a margin by default.
        """
        axis = ax.xaxis if side == "x" else ax.yaxis
        axis.set_label_text(plain(self.name, 2 * _LETTERS))
        is_log = self.is_numeric and getattr(self.dimension, "log", False)
        if is_log:
            (ax.set_xscale if side == "x" else ax.set_yscale)("log")
            axis.set_minor_locator(NullLocator())
            marks = self.at([place for place, _ in self.dimension.ticks(4)])
            axis.set_ticks(marks, [rounded(mark, 3) for mark in marks])
        elif not self.is_numeric:
            self._mark(ax, side)
        elif isinstance(self.dimension, Int):
            axis.set_major_locator(MaxNLocator(5, integer=True))
        (ax.set_xlim if side == "x" else ax.set_ylim)(*(ends or self._ends(is_log)))

    def _ends(self, is_log: bool) -> tuple[float, float]:
        """The ends of the parameter, with a margin."""
        low, high = (float(end) for end in self.at([0.0, 1.0]))
        if is_log:
            ratio = (high / low) ** _MARGIN
            return low / ratio, high * ratio
        margin = _MARGIN * (high - low)
        return low - margin, high + margin

    def _mark(self, ax: Axes, side: Side) -> None:
        """Marks the choices by their names, turned where they would not fit side by side."""
        marks = self.dimension.ticks(_MOST_CHOICES)
        names = [plain(text) for text in shorten_apart([text for _, text in marks], _LETTERS)]
        places = [place for place, _ in marks]
        if side == "y":
            ax.set_yticks(places, names)
            return
        ax.set_xticks(places, names)
        if sum(map(len, names)) > _ROOM:
            for label in ax.get_xticklabels():
                label.set(rotation=40, ha="right", rotation_mode="anchor")


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else np.nan
