"""Noisy EI and parallel noisy EI (qNEI) of one goal under limits.

As in monte_carlo.py, both average over S joint draws of the noiseless outcomes at the points they
were conditioned on; here every outcome has draws of its own, from independent processes. Given a
draw s, the goal and each limited outcome j are noiseless Gaussian processes with means μ_s(x),
μ_js(x) and variances σ₀²(x), σ_j0²(x), which are the same for all draws, and

    noisy EI (Letham et al. 2019):   mean over s of EI(best_s − μ_s, σ₀) Π_j Φ((b_j − μ_js)/σ_j0)
    qNEI:                            mean over s of max(0, best_s − μ_s − σ₀ ζ_s) Π_j Φ(…)

best_s is the lowest value of the goal's draw among the common points, at which every outcome was
drawn, that hold all limits in the draw; where none does it is M, the value at which an infeasible
answer is booked.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo.acquisition.base import Jet, chain_std
from ceibo.acquisition.closed_form import expected_improvement, log_expected_improvement
from ceibo.acquisition.common import CommonDraws
from ceibo.acquisition.joint import JointAcquisition, JointJet, JointPrediction
from ceibo.acquisition.limits import FeasibleIncumbent, log_holding
from ceibo.acquisition.monte_carlo import SOFT, log_mean, log_soft_gain
from ceibo.gp.inputs import Array
from ceibo.gp.predictor import Prediction


def best_of_draws(drawn: CommonDraws, M: float) -> Array:
    """(S,) the lowest value of the goal in each draw among common points that hold all limits."""
    values = np.where(drawn.holds, drawn.goals[:, :, 0], np.inf)
    lowest = np.min(values, axis=1, initial=np.inf)
    return np.where(np.isfinite(lowest), lowest, M)


@dataclass(frozen=True, eq=False)
class _OverDraws(JointAcquisition):
    """What noisy EI and qNEI share: the limits, inside each draw. Abstract."""

    incumbent: FeasibleIncumbent | None
    best: Array  # (S,)
    levels: Array  # (J,) bounds in inside units

    @abstractmethod
    def log_gains(self, prediction: Prediction) -> tuple[Array, Array, Array]:
        """Logarithm of the goal's gain (N, S); its derivatives in −μ_s (N, S) and σ₀ (N, S)."""

    def logarithm(self, prediction: JointPrediction) -> JointJet:
        return self._log_jet(prediction, self.log_gains(prediction.each[0]))

    @property
    def scale(self) -> float:
        return self.processes[0].unit

    def _log_jet(self, prediction: JointPrediction, gains: tuple[Array, Array, Array]) -> JointJet:
        """The logarithm of the mean over draws of gain times chance, from the gains' logarithms."""
        logs, by_u, by_s = gains
        chances = self._log_chances(prediction)
        for each in chances:
            logs = logs + each[0]
        value, weights = log_mean(logs)
        goal = _draws_jet(prediction.each[0], weights * by_u, weights * by_s)
        limits = (
            _draws_jet(part, weights * by_slack, weights * by_spread)
            for part, (_, by_slack, by_spread) in zip(prediction.each[1:], chances, strict=True)
        )
        return JointJet(value, (goal, *limits))

    def _natural_jet(
        self, prediction: JointPrediction, gains: tuple[Array, Array, Array]
    ) -> JointJet:
        """The mean over draws of gain times chance."""
        gain, by_u, by_s = gains
        share = 1.0 / gain.shape[1]
        chances = self._log_chances(prediction)
        chance = np.exp(sum((each[0] for each in chances), np.zeros_like(gain)))
        weights = share * chance
        product = weights * gain
        goal = _draws_jet(prediction.each[0], weights * by_u, weights * by_s)
        limits = (
            _draws_jet(part, product * by_slack, product * by_spread)
            for part, (_, by_slack, by_spread) in zip(prediction.each[1:], chances, strict=True)
        )
        return JointJet(product.sum(1), (goal, *limits))

    def _log_chances(self, prediction: JointPrediction) -> list[tuple[Array, Array, Array]]:
        """Of each limit: log Φ (N, S), its derivatives in b − μ_s and in σ₀."""
        return [
            log_holding(level - part.linear, np.sqrt(part.variance)[:, None])
            for level, part in zip(self.levels, prediction.each[1:], strict=True)
        ]


@final
@dataclass(frozen=True, eq=False)
class ConstrainedNoisyExpectedImprovement(_OverDraws):
    """Mean over joint draws of EI times the chance that all limits hold."""

    def natural(self, prediction: JointPrediction) -> JointJet:
        return self._natural_jet(prediction, expected_improvement(*self._moments(prediction)))

    def log_gains(self, prediction: Prediction) -> tuple[Array, Array, Array]:
        u = self.best - prediction.linear
        return log_expected_improvement(u, np.sqrt(prediction.variance)[:, None])

    def _moments(self, prediction: JointPrediction) -> tuple[Array, Array]:
        goal = prediction.each[0]
        return self.best - goal.linear, np.sqrt(goal.variance)[:, None]


@final
@dataclass(frozen=True, eq=False)
class ConstrainedParallelNoisyExpectedImprovement(_OverDraws):
    """Mean over joint draws of max(0, best − f(x)) times the chance that all limits hold."""

    base: Array  # (S,) ζ_s

    def natural(self, prediction: JointPrediction) -> JointJet:
        gain = self._gains(prediction.each[0])
        by_u = (gain > 0).astype(np.float64)
        return self._natural_jet(prediction, (np.maximum(gain, 0.0), by_u, -by_u * self.base))

    def log_gains(self, prediction: Prediction) -> tuple[Array, Array, Array]:
        gain = self._gains(prediction)
        positive = gain > 0
        safe = np.where(positive, gain, 1.0)
        by_u = np.where(positive, 1.0 / safe, 0.0)
        return np.where(positive, np.log(safe), -np.inf), by_u, -by_u * self.base

    def climbable(self, prediction: JointPrediction) -> JointJet:
        """The logarithm with max(0, ·) rounded off, to have a slope where all gains are zero."""
        logs, by_u = log_soft_gain(self._gains(prediction.each[0]))
        return self._log_jet(prediction, (logs + np.log(SOFT), by_u, -by_u * self.base))

    def _gains(self, prediction: Prediction) -> Array:
        s = np.sqrt(prediction.variance)[:, None]
        return np.asarray(self.best - prediction.linear - s * self.base)


def _draws_jet(part: Prediction, by_slack: Array, by_spread: Array) -> Jet:
    """A process's derivatives, from those in minus the mean of each draw and in σ₀, (N, S)."""
    s = np.sqrt(part.variance)
    by_variance = chain_std(by_spread.sum(1), s)
    return Jet(s, linear=-by_slack, variance=by_variance)
