"""The model along each parameter, the others at the best setting."""

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ceibo.decide import JointBelief
from ceibo.decide.surface.grids import along
from ceibo.decide.surface.ruled import holding
from ceibo.errors import InputError
from ceibo.gp.inputs import Array, Mask
from ceibo.numbers import percent
from ceibo.plots.axis import ParameterAxis
from ceibo.plots.canvas import AMBER, BLUE, GREY, INK, PALE, limits_around, plain, tidy
from ceibo.plots.subject import Shown, Subject, subject_of

_NOTE: Final = 48  # letters below one slice
_MOST: Final = 9  # slices that are drawn unless asked for
_ACROSS: Final = 3  # of them in a row
_FADING: Final = 0.25  # distance in the unit cube at which a measurement is hardly seen


def slices(
    study: Shown,
    params: Iterable[str] | None = None,
    *,
    outcome: str | None = None,
    axes: Sequence[Axes] | None = None,
) -> list[Axes]:
    """The posterior mean ± std along each parameter, through the best measured setting.

    Measurements are the fainter the farther they are from the slice in the other parameters, and
    shown without the effects of their blocks. Amber is where limits hold with less than the study's
    confidence, grey what rules exclude. What is not drawn of a new figure is said below it.

    Args:
        study: or the result of a run.
        params: which ones; the most important by default, nine at most.
        outcome: which one, of several; the first goal by default.
        axes: to draw on, one for each parameter; new ones by default.
    """
    subject = subject_of(study, outcome)
    columns = subject.columns[:_MOST] if params is None else subject.columns_of(params)
    if not columns:
        raise InputError("expected at least one parameter to draw a slice along, got none.")
    for column in columns:
        subject.check_existing([column], subject.through[None, :])
    drawn = _axes(len(columns), axes)
    if axes is None and params is None:
        _say_left_out(drawn[0], subject, columns)
    ends = [_slice(ax, subject, column) for ax, column in zip(drawn, columns, strict=True)]
    seen = limits_around(end for pair in ends for end in pair)
    for place, ax in enumerate(drawn):
        if seen is not None:
            ax.set_ylim(*seen)
        if axes is not None or place % _ACROSS == 0:
            ax.set_ylabel(plain(subject.view.label))
    return drawn


def _say_left_out(ax: Axes, subject: Subject, columns: list[int]) -> None:
    """Names the parameters that are not drawn: absent at the best setting, or of least weight."""
    absent, least = [], []
    conditions, names = subject.space.conditions, subject.space.names
    for column, name in enumerate(names):
        if column not in columns and column in subject.columns:
            least.append(plain(name))
        elif column not in columns and conditions is not None:
            absent.append(plain(f"{name} (exists where {conditions.describe(name)})", _NOTE))
    parts = [f"{', '.join(each)}" for each in (absent, least) if each]
    if parts and isinstance(ax.figure, Figure):
        text = fill(f"Not drawn: {', '.join(parts)}", _NOTE * len(columns[:_ACROSS]))
        ax.figure.supxlabel(text, fontsize="small", color=GREY)


def _axes(count: int, given: Sequence[Axes] | None) -> list[Axes]:
    if given is not None:
        found: list[Axes] = list(np.ravel(np.asarray(given, dtype=object)))
        if len(found) < count:
            raise InputError(f"axes: expected {count}, one for each parameter, got {len(found)}.")
        return found[:count]
    from matplotlib import pyplot

    across = min(count, _ACROSS)
    down = -(-count // across)
    size = (3.0 * across + 0.6, 2.5 * down + 0.3)
    _, grid = pyplot.subplots(
        down, across, figsize=size, layout="constrained", squeeze=False, sharey=True
    )
    made: list[Axes] = list(grid.flat)
    for spare in made[count:]:
        spare.set_visible(False)
    return made[:count]


def _slice(ax: Axes, subject: Subject, column: int) -> tuple[float, float]:
    """Draws one slice; returns the lowest and the highest value of its band."""
    space, view = subject.space, subject.view
    X = along(space, subject.through, column)
    mean, std = view.at_points(X)
    with np.errstate(over="ignore"):  # ±inf beyond the doubles, which is not drawn
        low, high = mean - std, mean + std
    if view.outcome is not None:
        low, high = (np.clip(each, *view.outcome.possible) for each in (low, high))
    held = holding(space, X)
    held = np.ones(len(X), dtype=bool) if held is None else held
    axis = ParameterAxis.of(space, column)
    at = axis.at(X[:, column])
    edges = _edges(at, axis.dimension.is_ordered)
    _shade(ax, edges, ~held, PALE)
    doubtful = _doubtful(subject, X)
    if doubtful is not None:
        _shade(ax, edges, doubtful & held, f"{AMBER}26")
        if np.any(doubtful & held):
            sure = percent(subject.belief.settings.assurance)
            label = f"limits hold with less than {sure}"
            ax.legend([Patch(color=f"{AMBER}26")], [label], fontsize="x-small", framealpha=0.8)
    _draw_measured(ax, subject, axis, column)
    if axis.dimension.is_ordered:
        gaps = np.where(held, 0.0, np.nan)
        ax.fill_between(at, low + gaps, high + gaps, color=BLUE, alpha=0.18, linewidth=0)
        ax.plot(at, mean + gaps, color=BLUE, linewidth=2)
    else:
        reach = np.maximum([mean - low, high - mean], 0.0)[:, held]
        ax.errorbar(at[held], mean[held], reach, fmt="o", color=BLUE, markersize=5, elinewidth=2)
    if view.limit is not None:
        ax.axhline(view.limit, color=AMBER, linestyle="-.", linewidth=1.2)
    (chosen,) = axis.at([float(np.clip(subject.through[column], 0.0, 1.0))])
    ax.axvline(chosen, color=INK, linestyle=":", linewidth=1, alpha=0.7)
    axis.dress(ax, "x")
    tidy(ax)
    return float(np.min(low[held], initial=np.inf)), float(np.max(high[held], initial=-np.inf))


def _doubtful(subject: Subject, X: Array) -> Mask | None:
    """Where limits hold with less than the confidence; None without limits."""
    belief = subject.belief
    if not isinstance(belief, JointBelief) or not belief.evidence.outcomes.limits:
        return None
    return np.asarray(belief.predictions.feasibility(X) < belief.settings.assurance)


def _edges(at: Array, is_ordered: bool) -> Array:
    """Where the surroundings (n + 1,) of points (n,) end: half-way to the next ones.

    Those of the first and last choice are as wide as the others'.
    """
    middle = (at[:-1] + at[1:]) / 2
    ends = at[:1], at[-1:]
    if not is_ordered and len(middle):
        ends = 2 * at[:1] - middle[:1], 2 * at[-1:] - middle[-1:]
    return np.concatenate([ends[0], middle, ends[1]])


def _shade(ax: Axes, edges: Array, where: Mask, color: str) -> None:
    """Covers the surroundings of some of the points."""
    starts = np.flatnonzero(np.diff(np.concatenate([[0], where.astype(int), [0]])))
    for first, last in zip(starts[::2], starts[1::2], strict=True):
        ax.axvspan(edges[first], edges[last], color=color, linewidth=0, zorder=0)


def _draw_measured(ax: Axes, subject: Subject, axis: ParameterAxis, column: int) -> None:
    distances = subject.distances([column])
    units = subject.places[:, column]
    x: list[float] = []
    y: list[float] = []
    strength: list[float] = []
    for trial, unit, distance in zip(subject.measured, units, distances, strict=True):
        for each in subject.measurements(trial):
            x.append(float(unit))
            y.append(each.value - sum(subject.effects.get(block, 0.0) for block in each.block))
            strength.append(float(0.18 + 0.77 * np.exp(-((distance / _FADING) ** 2))))
    colours = [to_rgba(GREY, alpha) for alpha in strength]
    ax.scatter(axis.at(x), y, 16, colours, linewidths=0, zorder=3)
