"""Measured values beside what the model predicts of them from all the others."""

from typing import Final

import numpy as np
from matplotlib.axes import Axes
from scipy.special import ndtri

from ceibo.decide.leave_one_out import leave_one_out
from ceibo.plots.canvas import AMBER, BLUE, GREY, axes_or_new, limits_around, plain, tidy
from ceibo.plots.subject import Shown, subject_of

_LEVEL: Final = 0.95  # of the bars


def parity(study: Shown, *, outcome: str | None = None, ax: Axes | None = None) -> Axes:
    """Each measured setting beside what the model predicts there without it, with 95 % intervals.

    The intervals are those of a measured value, noise included: of many, about 95 % should reach
    the diagonal. Those that do not are amber. Hyperparameters are those of all the data, which
    flatters a model of few of them.

    Args:
        study: or the result of a run.
        outcome: which one, of several; the first goal by default.
        ax: to draw on; new axes by default.
    """
    subject = subject_of(study, outcome)
    left = leave_one_out(subject.belief, outcome)
    ax = axes_or_new(ax, (4.8, 4.6))
    reach = float(ndtri(0.5 + _LEVEL / 2))
    missed = np.abs(left.deviations) > reach
    for rows, color in ((~missed, BLUE), (missed, AMBER)):
        ax.errorbar(
            left.measured[rows],
            left.predicted[rows],
            reach * left.std[rows],
            fmt="o",
            color=color,
            markersize=4.5,
            elinewidth=1,
            alpha=0.75,
        )
    ends = limits_around([*left.measured, *left.predicted], 0.08)
    if ends is not None:
        ax.plot(ends, ends, color=GREY, linestyle="--", linewidth=1, zorder=1)
        ax.set_xlim(*ends)
        ax.set_ylim(*ends)
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlabel(plain(f"measured {subject.view.label}", 60))
    ax.set_ylabel("predicted from the others")
    inside = int(np.sum(~missed))
    ax.set_title(f"{inside} of {len(left)} within their 95 % intervals", fontsize="small")
    tidy(ax)
    return ax
