"""How much each parameter matters, by the model."""

from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from ceibo.plots.canvas import BLUE, add_legend, axes_or_new, plain, tidy
from ceibo.plots.subject import Shown, subject_of
from ceibo.text import shorten_apart

_MOST: Final = 20  # parameters that are drawn
_LETTERS: Final = 24  # of a name


def importance(study: Shown, *, outcome: str | None = None, ax: Axes | None = None) -> Axes:
    """The share of the variation of the fitted surface that each parameter explains.

    Sobol indices of the posterior mean over the whole space: dark, the parameter on its own; light,
    together with others. It is what the model believes so far: a parameter that was hardly varied
    looks unimportant too.

    Args:
        study: or the result of a run.
        outcome: which one, of several; the first goal by default.
        ax: to draw on; new axes by default.
    """
    subject = subject_of(study, outcome)
    shares, names = subject.shares, subject.space.names
    shown = shares.order[:_MOST]
    ax = axes_or_new(ax, (6.4, 0.9 + 0.36 * len(shown)))
    rows = np.arange(len(shown))
    ax.barh(rows, shares.total[shown], 0.62, color=BLUE, alpha=0.35, label="together with others")
    ax.barh(rows, shares.alone[shown], 0.62, color=BLUE, label="on its own")
    labels = shorten_apart([names[column] for column in shown], _LETTERS)
    ax.set_yticks(rows, [plain(label) for label in labels])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.02)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    what = "" if subject.view.outcome is None else f" of {subject.view.name}"
    ax.set_xlabel(plain(f"share of the variation{what} over the space", 80))
    tidy(ax, "x")
    add_legend(ax)
    return ax
