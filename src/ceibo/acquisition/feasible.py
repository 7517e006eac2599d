"""Weighing an acquisition by the chance that a measurement succeeds.

Evaluations may fail in a whole region: out of memory above some size, no reaction below some
temperature. A Gaussian process of the outcomes, +1 for a measurement and −1 for a failure
(least-squares classification; Rasmussen & Williams 2006, section 6.5), says where:

    P(success at x) = ε + (1 − ε) Φ(z),   z = μ(x)/√(σ²(x) + υ²),   υ² the variance of an outcome
    about the process

The maximiser climbs log acquisition + log P, the logarithm of what a measurement promises times the
chance of getting one, or a multiple of log P where caution is called for. ε keeps a few failures
from closing a region, such as a whole category, for good. The acquisition's values stay what they
are.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.acquisition import normal
from ceibo.acquisition.base import Acquisition
from ceibo.acquisition.guided import Guided
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array
from ceibo.gp.posterior import Predictor

_LEAST: Final = 0.05  # ε
_LIKELY: Final = float(np.log(0.9))


@final
@dataclass(frozen=True, eq=False)
class Feasible(Guided):
    """Another acquisition, whose maximiser prefers points where measurements succeed. Built by
    `feasible`.
    """

    outcomes: GaussianProcess
    outcome_predictor: Predictor
    caution: float
    likely_is_enough: bool

    def guidance(self, X: Array) -> tuple[Array, Array]:
        chance, slope = self._log_chance(X)
        if self.likely_is_enough:
            likely = chance >= _LIKELY
            chance, slope = (
                np.where(likely, 0.0, chance - _LIKELY),
                np.where(likely[:, None], 0.0, slope),
            )
        return self.caution * chance, self.caution * slope

    def _log_chance(self, X: Array) -> tuple[Array, Array]:
        """log P(success) (N,) and its gradient in x (N, d)."""
        gp, prediction = self.outcomes, self.outcome_predictor(X)
        spread = np.sqrt(gp.unit**2 * prediction.variance + (gp.expected_noise or 0.0))
        z = (gp.mean + gp.unit * prediction.linear[:, 0]) / spread
        chance = _LEAST + (1.0 - _LEAST) * normal.cdf(z)
        steepness = (1.0 - _LEAST) * normal.pdf(z) / chance / spread
        by_mean, by_variance = gp.unit * steepness, -0.5 * gp.unit**2 * steepness * z / spread
        return np.log(chance), prediction.pullback(linear=by_mean[:, None], variance=by_variance)


def feasible(
    acquisition: Acquisition,
    outcomes: GaussianProcess,
    *,
    caution: float = 1.0,
    likely_is_enough: bool = False,
) -> Acquisition:
    """The acquisition weighed by the chance of success under `outcomes`, a process of +1 (success)
    and −1 (failure).

    Args:
        acquisition: from `build`.
        outcomes: the process.
        caution: the power of the chance by which to weigh.
        likely_is_enough: points that succeed in nine cases of ten are all alike, and only others
            are weighed down.
    """
    return Feasible(
        acquisition.gp,
        acquisition.incumbent,
        acquisition.predictor,
        acquisition,
        outcomes,
        outcomes.predictor(),
        caution,
        likely_is_enough,
    )
