"""Guides: what leads the maximiser elsewhere, while the acquisition's values stay what they are.

A guide is added, as a logarithm, to what the maximiser screens and climbs. There are two:

A fence keeps the search off points, such as those where evaluations failed: a failed point has no
value, so the model may go on thinking well of it, and the maximiser would return to it. With q the
squared distance in units of a small share of the length scales, a fenced point adds

    log(1 − exp(−q/2)).

A chance weighs the acquisition by the probability that a measurement succeeds. Evaluations may fail
in a whole region: out of memory above some size, no reaction below some temperature. A Gaussian
process of the outcomes, +1 for a measurement and −1 for a failure (least-squares classification;
Rasmussen & Williams 2006, section 6.5), says where:

    P(success at x) = ε + (1 − ε) Φ(z),   z = μ(x)/√(σ²(x) + υ²)

with υ² the variance of an outcome about the process. ε keeps a few failures from closing a region,
such as a whole category, for good. Adding log P to the logarithm of the acquisition makes what is
climbed the logarithm of what a measurement promises times the chance of getting one.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, final

import numpy as np

from ceibo.acquisition import normal
from ceibo.acquisition.base import P, Slope, Surface
from ceibo.checks import check_positive
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Kernel, SquaredExponential
from ceibo.gp.inputs import Array, as_floats
from ceibo.gp.predictor import Predictor

_LEAST: Final = 0.05  # ε
_LIKELY: Final = float(np.log(0.9))


class Guide(ABC):
    """What is added to an acquisition where it is screened and climbed. Abstract."""

    @abstractmethod
    def guidance(self, X: Array) -> tuple[Array, Array]:
        """What is added at the points X (N, d), as a logarithm (N,), and its gradient (N, d)."""


@final
@dataclass(frozen=True, eq=False)
class Guided(Generic[P]):
    """What is screened and climbed: a surface, and what guides add to it."""

    value: Array  # (N,)
    surface: Slope[P]
    x: Array | None  # (N, d) slopes of the guides

    def gradient(self, prediction: P) -> Array:
        """Gradient in x, (N, d)."""
        through = self.surface.gradient(prediction)
        return through if self.x is None else through + self.x


def climbed(surface: Surface[P], prediction: P, guides: Sequence[Guide]) -> Guided[P]:
    """What is screened and climbed: the surface, and what the guides add to it, in order."""
    jet = surface.climbable(prediction)
    total, slopes = jet.value, None
    for guide in guides:
        parts = guide.guidance(prediction.X)
        value, slope = (surface.climb_unit * part for part in parts)
        total = total + value
        slopes = slope if slopes is None else slopes + slope
    return Guided(total, jet, slopes)


@final
@dataclass(frozen=True, eq=False)
class Fence(Guide):
    """Keeps the maximiser off some points.

    Args:
        points: (m, d); none at all is allowed, and changes nothing.
        kernel: of the process that is searched; the fence is as wide as its length scales say.
        share: the width, in length scales of at most 1.
    """

    points: Array
    kernel: Kernel
    share: float
    metric: SquaredExponential = field(init=False, repr=False)  # exp(−q/2)

    def __post_init__(self) -> None:
        points, kernel = as_floats(self.points, "points"), self.kernel
        if points.ndim != 2 or points.shape[1] != kernel.dimension:
            raise InputError(
                f"points must have shape (m, {kernel.dimension}), but have shape {points.shape}."
            )
        scales = check_positive(self.share, "share") * np.minimum(kernel.lengthscales, 1.0)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "metric", SquaredExponential(scales, 1.0, kernel.categorical))

    def guidance(self, X: Array) -> tuple[Array, Array]:
        if len(self.points) == 0:
            return np.zeros(len(X)), np.zeros_like(X)
        cross = self.metric.cross(X, self.points)
        closeness = cross.values
        with np.errstate(divide="ignore"):
            penalty = np.log1p(-closeness).sum(axis=1)
        steepness = np.divide(
            -1.0, 1.0 - closeness, out=np.zeros_like(closeness), where=closeness < 1.0
        )
        return penalty, cross.pullback(steepness)


@final
@dataclass(frozen=True, eq=False)
class Chance(Guide):
    """Prefers points where measurements are likely to succeed.

    Args:
        outcomes: a process of +1 (success) and −1 (failure).
        caution: the power of the chance by which to weigh.
        likely_is_enough: points that succeed in nine cases of ten are all alike, and only others
            are weighed down.
    """

    outcomes: GaussianProcess
    caution: float = 1.0
    likely_is_enough: bool = False
    predictor: Predictor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "predictor", self.outcomes.predictor())

    def guidance(self, X: Array) -> tuple[Array, Array]:
        chance, slope = self._log_chance(X)
        if self.likely_is_enough:
            likely = chance >= _LIKELY
            chance = np.where(likely, 0.0, chance - _LIKELY)
            slope = np.where(likely[:, None], 0.0, slope)
        return self.caution * chance, self.caution * slope

    def _log_chance(self, X: Array) -> tuple[Array, Array]:
        """log P(success) (N,) and its gradient in x (N, d)."""
        gp, prediction = self.outcomes, self.predictor(X)
        spread = np.sqrt(gp.unit**2 * prediction.variance + (gp.expected_noise or 0.0))
        z = (gp.mean + gp.unit * prediction.linear[:, 0]) / spread
        chance = _LEAST + (1.0 - _LEAST) * normal.cdf(z)
        steepness = (1.0 - _LEAST) * normal.pdf(z) / chance / spread
        by_mean, by_variance = gp.unit * steepness, -0.5 * gp.unit**2 * steepness * z / spread
        return np.log(chance), prediction.pullback(linear=by_mean[:, None], variance=by_variance)
