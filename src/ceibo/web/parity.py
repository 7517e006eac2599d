"""Measured against predicted: each setting as the measurements at the others foretell it.

A value that looks wrong has so much noise in the model that nothing is far from it; it stands
beside what was expected of it instead.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from ceibo.decide import Belief, JointBelief
from ceibo.decide.leave_one_out import LeaveOneOut, leave_one_out
from ceibo.decide.view import view_of
from ceibo.numbers import rounded, with_uncertainty
from ceibo.report.axes import x_axis, y_axis
from ceibo.report.parts import legend
from ceibo.report.svg import Canvas, Scale, text_of
from ceibo.report.thinning import visible

_FEWEST: Final = 3  # settings with which there is something to compare
_WITHIN: Final = 2.0  # standard deviations that a prediction is said to be off by at most
_NOTHING: Final = '<p class="note">It appears after a few measurements.</p>'


def parity_of(belief: Belief | JointBelief) -> dict[str, LeaveOneOut]:
    """The comparison for the objective, called "", or for every goal and limit by name."""
    if isinstance(belief, Belief):
        return {"": _with_doubts(belief, None)}
    return {name: _with_doubts(belief, name) for name in belief.evidence.outcomes.needed}


def _with_doubts(belief: Belief | JointBelief, outcome: str | None) -> LeaveOneOut:
    """The comparison, with what all the others predict of values that look wrong."""
    found = leave_one_out(belief, outcome)
    places = {told.number: told.x for told in view_of(belief, outcome).evidence.told}
    predicted, std = found.predicted.copy(), found.std.copy()
    for each in belief.suspects:
        if each.outcome == outcome and each.number in places:
            rows = np.flatnonzero(np.all(places[each.number] == found.X, axis=1))
            if len(rows):  # of several values there, those that are not believed are a row
                row = rows[np.argmin(np.abs(found.measured[rows] - each.value))]
                predicted[row], std[row] = each.expected, each.std
    return replace(found, predicted=predicted, std=std)


def _doubt(belief: Belief | JointBelief, outcome: str) -> str:
    """Which of them look wrong."""
    numbers = sorted({each.number for each in belief.suspects if (each.outcome or "") == outcome})
    if not numbers:
        return ""
    which = f"Trial {numbers[0]} looks"
    if len(numbers) > 1:
        which = f"Trials {', '.join(map(str, numbers))} look"
    return f' <small class="wrong">{which} wrong.</small>'


def parity_part(belief: Belief | JointBelief | None) -> str:
    """The pictures, and how often the predictions were right."""
    if belief is None:
        return _NOTHING
    found = parity_of(belief)
    if not found or len(next(iter(found.values()))) < _FEWEST:
        return _NOTHING
    figures = []
    for outcome, each in found.items():
        name = f"<figcaption>{text_of(outcome, 100)}</figcaption>" if outcome else ""
        within = int(np.sum(np.abs(each.deviations) <= _WITHIN))
        share = f"{within} of {len(each)} settings were measured within two standard"
        said = f'<p class="note">{share} deviations of what the others predict; 95 % should be.'
        said += f"{_doubt(belief, outcome)}</p>"
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
