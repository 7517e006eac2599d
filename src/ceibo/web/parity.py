"""Measured against predicted: each setting as the measurements at the others foretell it."""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.decide import Belief, JointBelief, Outcomes
from ceibo.decide.left_out import left_out
from ceibo.decide.model import Model
from ceibo.gp.inputs import Array
from ceibo.numbers import rounded, with_uncertainty
from ceibo.report.axes import x_axis, y_axis
from ceibo.report.parts import legend
from ceibo.report.svg import Canvas, Scale, text_of
from ceibo.report.thinning import visible

_FEWEST: Final = 3  # settings with which there is something to compare
_WITHIN: Final = 2.0  # standard deviations that a prediction is said to be off by at most


@final
@dataclass(frozen=True, eq=False)
class Parity:
    """Settings as measured and as the others predict them, (n,) each, in the user's units."""

    name: str
    measured: Array
    predicted: Array
    std: Array
    X: Array

    @property
    def within(self) -> int:
        """How many were measured within two standard deviations of the prediction."""
        return int(np.sum(np.abs(self.measured - self.predicted) <= _WITHIN * self.std))


def parity_of(belief: Belief | JointBelief) -> list[Parity]:
    """The comparison for the objective, or for every goal and limit."""
    if isinstance(belief, Belief):
        return [_parity("", belief.model, belief.evidence.direction.flip(np.ones(1))[0])]
    outcomes: Outcomes = belief.evidence.outcomes
    signs = {name: outcomes[name].direction.flip(np.ones(1))[0] for name in outcomes.needed}
    return [_parity(name, belief.model.each[name], sign) for name, sign in signs.items()]


def _parity(name: str, model: Model, sign: float) -> Parity:
    means, variances = left_out(model.gp)
    return Parity(
        name,
        sign * model.natural_values(model.gp.y),
        sign * model.natural_values(means),
        model.natural_values(np.sqrt(variances)),
        model.gp.X,
    )


def parity_part(belief: Belief | JointBelief | None) -> str:
    """The pictures, and how often the predictions were right."""
    found = [] if belief is None else parity_of(belief)
    if belief is None or len(found[0].measured) < _FEWEST:
        return '<p class="note">It appears after a few measurements.</p>'
    figures = []
    for each in found:
        name = f"<figcaption>{text_of(each.name, 100)}</figcaption>" if each.name else ""
        share = f"{each.within} of {len(each.measured)} settings were measured within two standard"
        said = f'<p class="note">{share} deviations of what the others predict; 95 % should be.</p>'
        figures.append(f"<figure>{name}{_draw(each)}{said}</figure>")
    keys = legend(("key-measured", "a setting"), ("key-raw", "as predicted"))
    return f'{keys}<div class="pictures">{"".join(figures)}</div>'


def _draw(each: Parity) -> str:
    canvas = Canvas(340, 290, f"Measured against predicted {each.name}", left=60, bottom=40)
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
