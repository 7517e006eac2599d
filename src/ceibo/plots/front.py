"""The front of several goals: what is believed of it, beside that of the raw values."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes

from ceibo.decide import Belief, Direction, Estimate, JointBelief
from ceibo.decide.view import View, view_of
from ceibo.errors import InputError, show_value
from ceibo.gp.inputs import Array
from ceibo.plots.canvas import BLUE, GREY, add_legend, axes_or_new, limits_around, plain, tidy
from ceibo.plots.subject import Shown, subject_of

_SURE: Final = 0.5  # chance of being on the front from which a dot is full
Views = tuple[View, View]


def front(study: Shown, goals: Sequence[str] | None = None, *, ax: Axes | None = None) -> Axes:
    """The measured settings of which none is expected to be better in every goal.

    Means ± std, pale where the chance of being on the true front is below one half. The dashed
    line is the front of the raw values, which noise flatters.

    Args:
        study: or the result of a run, with two or three goals.
        goals: the two that are drawn; the first two by default.
        ax: to draw on; new axes by default.
    """
    subject = subject_of(study, None)
    belief = _checked(subject.belief)
    views = _views(belief, goals)
    ax = axes_or_new(ax, (6.0, 4.4))
    raw = _raw(belief, views)
    ax.plot(raw[:, 0], raw[:, 1], "o", color=GREY, markersize=4, alpha=0.5, label="measured")
    flukes = _raw(belief, views, subject.study.raw_front)
    if len(belief.evidence.outcomes.goals) == 2:
        steps = flukes[np.argsort(views[0].evidence.direction.flip(flukes[:, 0]))]
        label = "front of raw values"
        ax.step(*steps.T, where="post", color=GREY, linestyle="--", linewidth=1, label=label)
    means = _draw_estimates(ax, subject.study.front, views)
    _dress(ax, views, np.concatenate([means, flukes, _middle(raw)]))
    tidy(ax)
    add_legend(ax)
    return ax


def _checked(belief: Belief | JointBelief) -> JointBelief:
    if not isinstance(belief, JointBelief) or len(belief.evidence.outcomes.goals) < 2:
        raise InputError("a front is that of several goals, and the study has one; draw progress.")
    return belief


def _views(belief: JointBelief, goals: Sequence[str] | None) -> Views:
    known = belief.evidence.outcomes.goals
    chosen = list(known[:2] if goals is None else goals)
    if len(chosen) != 2 or len(set(chosen)) != 2 or not set(chosen) <= set(known):
        names = ", ".join(known)
        raise InputError(f"goals: expected two of {names}, got {show_value(goals)}.")
    return view_of(belief, chosen[0]), view_of(belief, chosen[1])


def _raw(belief: JointBelief, views: Views, among: Sequence[int] | None = None) -> Array:
    """The raw values (n, 2) of the trials that have both, all or those among some."""
    first, second = (belief.evidence.raw_values(view.name) for view in views)
    numbers = sorted(first.keys() & second.keys()) if among is None else among
    pairs = [(first[number], second[number]) for number in numbers]
    return np.array(pairs, dtype=float).reshape(-1, 2)


def _middle(raw: Array) -> Array:
    """The ends (2, 2) of what is not far out."""
    # a quarter of them, as differences of the largest doubles are no numbers
    return np.asarray(4 * np.percentile(raw / 4, [10, 90], axis=0))


def _draw_estimates(ax: Axes, drawn: Sequence[Estimate], views: Views) -> Array:
    """Draws the settings of the front; returns their means (n, 2)."""
    known = [[each.outcomes[view.name] for view in views] for each in drawn]
    mean = np.array([[each.mean for each in pair] for pair in known])
    std = np.array([[each.std for each in pair] for pair in known])
    sure = np.array([np.nan_to_num(each.p_efficient or 0.0) >= _SURE for each in drawn])
    for rows, alpha, name in ((sure, 1.0, "front, as believed"), (~sure, 0.35, "perhaps on it")):
        if np.any(rows):
            (x, y), (dx, dy) = mean[rows].T, std[rows].T
            marks: dict[str, Any] = {"fmt": "o", "color": BLUE, "markersize": 6, "elinewidth": 1.2}
            ax.errorbar(x, y, dy, dx, alpha=alpha, label=f"{name} (± std)", **marks)
    return mean


def _dress(ax: Axes, views: Views, seen: Array) -> None:
    """Names with arrows to where the goals are better, and ends around what is to be seen."""
    names = []
    for view in views:
        is_up = view.evidence.direction is Direction.MAXIMIZE
        names.append(f"{plain(view.label)} {'→' if is_up else '←'}")
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    across, up = (limits_around(values, 0.1) for values in seen.T)
    if across is not None:
        ax.set_xlim(*across)
    if up is not None:
        ax.set_ylim(*up)
