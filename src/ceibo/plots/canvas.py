"""What the plots share: axes, colours, texts."""

from collections.abc import Iterable
from typing import Final

import numpy as np
from matplotlib.axes import Axes

from ceibo.text import escape, shorten

# Told apart by the colour-blind and in grey.
BLUE: Final = "#2257c4"  # what is believed
GREY: Final = "#6b7688"  # what was measured
AMBER: Final = "#b45309"  # limits, and what is in doubt
RED: Final = "#c02626"  # failures
PALE: Final = "#d9dce3"  # what rules exclude
INK: Final = "#10162a"


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (6.4, 4.0)) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # chooses a way to show figures, which axes given do not need

    _, made = pyplot.subplots(figsize=size, layout="constrained")
    return made


def plain(text: object, width: int = 40) -> str:
    """A text that Matplotlib writes as it is: on one line, cut, no formula."""
    return shorten(escape(str(text)), width).replace("$", r"\$")


def tidy(ax: Axes, grid: str = "both") -> None:
    """Few lines, behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize="small")
    ax.grid(True, color="#88888833", linewidth=0.8)
    if grid != "both":
        ax.grid(False, axis="x" if grid == "y" else "y")


def add_legend(ax: Axes) -> None:
    """The names of what is drawn, where there is most room."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(fontsize="small", framealpha=0.8, edgecolor="none")


def limits_around(values: Iterable[float], share: float = 0.05) -> tuple[float, float] | None:
    """The ends of an axis around finite values; None if there is nothing to go by."""
    finite = np.array([value for value in values if np.isfinite(value)])
    if not len(finite):
        return None
    low, high = float(np.min(finite)), float(np.max(finite))
    margin = share * (high - low) or 0.05 * abs(high) or 0.5
    return (low - margin, high + margin) if np.isfinite(margin) else None
