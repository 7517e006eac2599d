"""What was measured over the trials, and what was believed of the best setting."""

from typing import Any, Final, NamedTuple, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ceibo.decide import JointBelief
from ceibo.decide.surface.joint_standings import joint_standings_of
from ceibo.decide.surface.sight import in_sight
from ceibo.decide.surface.standings import Standing, standings_of
from ceibo.gp.inputs import Array, Mask
from ceibo.plots.canvas import (
    AMBER,
    BLUE,
    GREY,
    RED,
    add_legend,
    axes_or_new,
    limits_around,
    plain,
    tidy,
)
from ceibo.plots.subject import Shown, Subject, subject_of
from ceibo.study.repeats import noise_of

_CROWD: Final = 300  # measurements from which dots are small


def progress(study: Shown, *, outcome: str | None = None, ax: Axes | None = None) -> Axes:
    """The measurements over the trials, the best raw value, and the best setting as believed.

    With limits, the best raw value is that of the trials whose raw values hold them, if any do;
    measurements of trials that break one are hollow. A triangle at the edge is one that is far out.

    Args:
        study: or the result of a run.
        outcome: which one, of several; the first goal by default.
        ax: to draw on; new axes by default.
    """
    subject = subject_of(study, outcome)
    view, ax = subject.view, axes_or_new(ax)
    told = [
        (trial.number, each) for trial in subject.measured for each in subject.measurements(trial)
    ]
    numbers = np.array([number for number, _ in told])
    values = np.array([each.value for _, each in told])
    noise = np.array([noise_of(each) or 0.0 for _, each in told])
    standings = _standings(subject)
    ends = limits_around(in_sight(values, standings, view.limit)) or (-np.inf, np.inf)
    _draw_measured(ax, _Dots(numbers, values, noise, np.isin(numbers, _broken(subject))), ends)
    if view.is_goal:
        raw = np.isin(numbers, subject.eligible)
        order = np.argsort(numbers[raw], kind="stable")
        best = view.evidence.direction.accumulate(values[raw][order])
        line: dict[str, Any] = {"color": GREY, "linestyle": "--", "linewidth": 1}
        ax.step(numbers[raw][order], best, where="post", label="best raw value", **line)
    _draw_standings(ax, standings)
    if view.limit is not None:
        ax.axhline(view.limit, color=AMBER, linestyle="-.", linewidth=1.2, label="limit")
    if np.all(np.isfinite(ends)):
        ax.set_ylim(*ends)
    _draw_failed(ax, subject)
    ax.set_xlim(-0.5, len(subject.trials) + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("trial")
    ax.set_ylabel(plain(view.label))
    tidy(ax)
    add_legend(ax)
    return ax


def _broken(subject: Subject) -> list[int]:
    """The trials of which a raw value breaks its limit; one not told yet breaks none."""
    if not isinstance(subject.belief, JointBelief):
        return []
    evidence = subject.belief.evidence
    return [
        number
        for name in evidence.outcomes.limits
        for number, value in evidence.raw_values(name).items()
        if not evidence.outcomes[name].holds(value)
    ]


@final
class _Dots(NamedTuple):
    """Measurements: trial, value, std of the noise (0 if unknown), whether a limit is broken."""

    numbers: Array
    values: Array
    noise: Array
    broken: Mask


def _draw_measured(ax: Axes, dots: _Dots, ends: tuple[float, float]) -> None:
    """Dots with bars of the noise; triangles at the edges for what is out of sight."""
    size = 3.0 if len(dots.numbers) > _CROWD else 5.0
    has_bars = bool(np.any(dots.noise > 0))
    name = "measured ± noise" if has_bars else "measured"
    low, high = ends
    seen = (dots.values >= low) & (dots.values <= high)
    looks: list[tuple[Mask, dict[str, Any]]] = [
        (~dots.broken, {"color": GREY, "markeredgewidth": 0, "label": name}),
        (dots.broken, {"color": AMBER, "markerfacecolor": "none", "label": "breaks a limit"}),
    ]
    for which, look in looks:
        if np.any(rows := which & seen):
            bars = dots.noise[rows] if has_bars else None
            at = dots.numbers[rows], dots.values[rows]
            ax.errorbar(*at, bars, fmt="o", markersize=size, elinewidth=1, alpha=0.75, **look)
    edge = ax.get_xaxis_transform()  # across in data, up in shares of the axes
    label: str | None = "far out"
    for rows, height, marker in ((dots.values > high, 0.98, "^"), (dots.values < low, 0.02, "v")):
        if np.any(rows):
            at = dots.numbers[rows], np.full(int(np.sum(rows)), height)
            ax.plot(*at, marker, color=GREY, markersize=6, transform=edge, label=label)
            label = None  # once is enough


def _standings(subject: Subject) -> tuple[Standing, ...]:
    """What was believed of the outcome at the best setting; nothing of a front."""
    belief, sources = subject.belief, subject.study.suggestions
    if not isinstance(belief, JointBelief):
        return standings_of(belief, sources)
    if len(belief.evidence.outcomes.goals) > 1:
        return ()
    return joint_standings_of(belief, sources).get(subject.view.name, ())


def _draw_standings(ax: Axes, standings: tuple[Standing, ...]) -> None:
    if not standings:
        return
    at = np.array([each.number - 0.5 for each in standings])
    low, high = np.array([each.band for each in standings]).T
    mean = np.array([each.mean for each in standings])
    label = "best setting, as believed (± std)"
    if len(at) == 1:
        ax.errorbar(at, mean, _reach(low, mean, high), fmt="s", color=BLUE, capsize=3, label=label)
        return
    ax.fill_between(at, low, high, color=BLUE, alpha=0.18, linewidth=0)
    ax.plot(at, mean, color=BLUE, linewidth=2, label=label)


def _reach(low: Array, mean: Array, high: Array) -> Array:
    return np.maximum([mean - low, high - mean], 0.0)


def _draw_failed(ax: Axes, subject: Subject) -> None:
    """A cross at the foot for each trial that failed."""
    failed = [trial.number for trial in subject.trials if trial.state == "failed"]
    if failed:
        foot = ax.get_xaxis_transform()  # across in data, up in shares of the axes
        marks: dict[str, Any] = {"color": RED, "marker": "x", "markersize": 5, "linestyle": "none"}
        ax.plot(failed, np.full(len(failed), 0.02), transform=foot, label="failed", **marks)
