"""Keeping the search away from points, such as those where evaluations failed.

A failed point has no value, so the model may go on thinking well of it, and the maximiser would
return to it for ever. A fence makes it turn away: climbing towards a fenced point costs −log(1 −
exp(−q/2)), where q is the squared distance in units of a small share of the length scales. The
acquisition's values stay what they are.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo.acquisition.base import Acquisition
from ceibo.acquisition.guided import Guided
from ceibo.gp.inputs import Array
from ceibo.gp.kernels import SquaredExponential


@final
@dataclass(frozen=True, eq=False)
class Avoiding(Guided):
    """Another acquisition, whose maximiser keeps off some points. Built by `avoid`."""

    points: Array  # (m, d)
    metric: SquaredExponential  # exp(−q/2)

    def guidance(self, X: Array) -> tuple[Array, Array]:
        cross = self.metric.cross(X, self.points)
        closeness = cross.values
        with np.errstate(divide="ignore"):
            penalty = np.log1p(-closeness).sum(axis=1)
        steepness = np.divide(
            -1.0, 1.0 - closeness, out=np.zeros_like(closeness), where=closeness < 1.0
        )
        return penalty, cross.pullback(steepness)


def avoid(acquisition: Acquisition, points: Array, share: float) -> Acquisition:
    """The acquisition with fences around `points` (m, d), a `share` of a length scale (at most 1)
    wide.
    """
    if len(points) == 0:
        return acquisition
    kernel = acquisition.gp.kernel
    metric = SquaredExponential(
        share * np.minimum(kernel.lengthscales, 1.0), 1.0, kernel.categorical
    )
    return Avoiding(
        acquisition.gp, acquisition.incumbent, acquisition.predictor, acquisition, points, metric
    )
