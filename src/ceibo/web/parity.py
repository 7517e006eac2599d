"""Measured against predicted: each setting as the measurements at the others foretell it."""

from typing import Final

import numpy as np

from ceibo.decide import Belief, JointBelief
from ceibo.decide.leave_one_out import LeaveOneOut, leave_one_out
from ceibo.numbers import rounded, with_uncertainty
from ceibo.report.axes import x_axis, y_axis
from ceibo.report.parts import legend
from ceibo.report.svg import Canvas, Scale, text_of
from ceibo.report.thinning import visible

_FEWEST: Final = 3  # settings with which there is something to compare
_WITHIN: Final = 2.0  # standard deviations that a prediction is said to be off by at most


def parity_of(belief: Belief | JointBelief) -> dict[str, LeaveOneOut]:
    """The comparison for the objective, called "", or for every goal and limit by name."""
    if isinstance(belief, Belief):
        return {"": leave_one_out(belief)}
    return {name: leave_one_out(belief, name) for name in belief.evidence.outcomes.needed}


def parity_part(belief: Belief | JointBelief | None) -> str:
    """The pictures, and how often the predictions were right."""
    found = {} if belief is None else parity_of(belief)
    if not found or len(next(iter(found.values()))) < _FEWEST:
        return '<p class="note">It appears after a few measurements.</p>'
    figures = []
    for outcome, each in found.items():
        name = f"<figcaption>{text_of(outcome, 100)}</figcaption>" if outcome else ""
        within = int(np.sum(np.abs(each.deviations) <= _WITHIN))
        share = f"{within} of {len(each)} settings were measured within two standard"
        said = f'<p class="note">{share} deviations of what the others predict; 95 % should be.</p>'
        figures.append(f"<figure>{name}{_draw(outcome, each)}{said}</figure>")
    keys = legend(("key-measured", "a setting"), ("key-raw", "as predicted"))
    return f'{keys}<div class="pictures">{"".join(figures)}</div>'


def _draw(outcome: str, each: LeaveOneOut) -> str:
    canvas = Canvas(340, 290, f"Measured against predicted {outcome}", left=60, bottom=40)
    inner = [*each.measured, *each.predicted]
    y = Scale.over(inner, canvas.up)
    y_axis(canvas, y, "measured")
    x = Scale.over(inner, canvas.across)
    x_axis(canvas, x, "predicted by the others", 4)
    canvas.line([(x(x.low), y(x.low)), (x(x.high), y(x.high))], "raw")
    for k in visible(each.predicted, each.measured):
        value, mean, std = (float(part[k]) for part in (each.measured, each.predicted, each.std))
        canvas.bar((x(mean - std), y(value)), (x(mean + std), y(value)), "bar")
        title = f"measured {rounded(value)}, predicted {with_uncertainty(mean, std)}"
        off = abs(value - mean) > _WITHIN * std
        canvas.dot(x(mean), y(value), 3, "outlying" if off else "measured", title)
    return canvas.render()
