"""The model over two parameters, the others at the best setting."""

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.ticker import MaxNLocator

from ceibo.decide import Direction, JointBelief
from ceibo.decide.surface.existence import pair_of
from ceibo.decide.surface.grids import over_units, units_along
from ceibo.decide.surface.ruled import holding
from ceibo.errors import InputError, show_value
from ceibo.gp.inputs import Array
from ceibo.plots.axis import SIDES, ParameterAxis
from ceibo.plots.canvas import INK, PALE, axes_or_new, plain
from ceibo.plots.subject import Shown, Subject, subject_of

_LINES: Final = 11
_FAR: Final = 0.25  # distance in the unit cube from which a measurement is faint
What = Literal["mean", "std", "chance"]


def contour(
    study: Shown,
    params: Sequence[str] | None = None,
    *,
    outcome: str | None = None,
    of: What = "mean",
    ax: Axes | None = None,
) -> Axes:
    """The posterior over two parameters, through the best measured setting (the star).

    Dark is good, or certain. Dots are measurements, faint where they are far away in the other
    parameters; grey is what rules exclude.

    Args:
        study: or the result of a run.
        params: the two parameters; the two most important by default.
        outcome: which one, of several; the first goal by default.
        of: "mean", "std" of what is not known about it, or "chance" that every limit holds.
        ax: to draw on; new axes by default.
    """
    subject = subject_of(study, outcome)
    pair = _pair(subject, params)
    space = subject.space
    units = units_along(space, pair[0]), units_along(space, pair[1])
    X, shape = over_units(space, subject.through, pair, units)
    subject.check_existing(pair, X)
    values, name, is_reversed = _surface(subject, X, of)
    ax = axes_or_new(ax, (5.6, 4.3))
    held = holding(space, X)
    hidden = np.zeros(shape, dtype=bool) if held is None else ~held.reshape(shape)
    Z = np.ma.masked_array(values.reshape(shape), hidden)
    axes = ParameterAxis.of(space, pair[0]), ParameterAxis.of(space, pair[1])
    across, up = (axis.at(each) for axis, each in zip(axes, units, strict=True))
    if held is not None:
        ax.set_facecolor(PALE)
    colours = "viridis_r" if is_reversed else "viridis"
    low, high = (float(end) if not np.all(hidden) else 0.0 for end in (Z.min(), Z.max()))
    smooth = all(axis.dimension.is_ordered for axis in axes)
    if smooth and low < high and np.isfinite(high - low):
        levels = MaxNLocator(_LINES).tick_values(low, high)
        drawn: ScalarMappable = ax.contourf(across, up, Z, levels, cmap=colours)
        ax.contour(across, up, Z, levels, colors="white", linewidths=0.5, alpha=0.5)
    else:
        drawn = ax.pcolormesh(across, up, Z, cmap=colours, shading="nearest")
    _draw_measured(ax, subject, pair, axes)
    for axis, side, places in zip(axes, SIDES, (across, up), strict=True):
        axis.dress(ax, side, (places[0], places[-1]) if smooth or axis.is_numeric else (0.0, 1.0))
    ax.tick_params(labelsize="small")
    bar = ax.figure.colorbar(drawn, ax=ax)
    bar.set_label(plain(name))
    bar.ax.tick_params(labelsize="small")
    return ax


def _pair(subject: Subject, params: Sequence[str] | None) -> tuple[int, int]:
    """The columns of the two parameters."""
    if params is not None:
        columns = subject.columns_of(params)
        if len(set(columns)) != 2 or len(columns) != 2:
            raise InputError(f"params: expected two different ones, got {show_value(params)}.")
        return columns[0], columns[1]
    found = pair_of(subject.space, subject.columns)
    if found is None:
        raise InputError(
            "a contour is over two parameters that exist together, and the study has no two such;"
            " draw slices instead."
        )
    return found


def _surface(subject: Subject, X: Array, of: str) -> tuple[Array, str, bool]:
    """The values at points (n, d), what they are, and whether large ones are dark."""
    view, belief = subject.view, subject.belief
    if of == "chance":
        if not isinstance(belief, JointBelief) or not belief.evidence.outcomes.limits:
            raise InputError("of='chance' is that limits hold, and the study has no limits.")
        return belief.predictions.feasibility(X), "chance that every limit holds", True
    if of not in ("mean", "std"):
        raise InputError(f"of must be 'mean', 'std' or 'chance', got {show_value(of)}.")
    mean, std = view.at_points(X)
    if of == "std":
        return std, f"std of {view.label}", False
    return mean, view.label, view.evidence.direction is Direction.MAXIMIZE


def _draw_measured(
    ax: Axes, subject: Subject, pair: tuple[int, int], axes: tuple[ParameterAxis, ParameterAxis]
) -> None:
    x, y = (axis.at(subject.places[:, column]) for axis, column in zip(axes, pair, strict=True))
    near = subject.distances(pair) <= _FAR
    for rows, alpha in ((near, 0.9), (~near, 0.3)):
        # whole also at the ends of the axes
        dots = ax.scatter(x[rows], y[rows], 18, "white", alpha=alpha, zorder=3, clip_on=False)
        dots.set_edgecolor(INK)
        dots.set_linewidth(0.7)
    place = np.clip(subject.through, 0.0, 1.0)
    chosen = [axis.at(place[[column]]) for axis, column in zip(axes, pair, strict=True)]
    (star,) = ax.plot(*chosen, "*", color="#ffdf5a", markersize=13, zorder=4, clip_on=False)
    star.set_markeredgecolor(INK)
