"""The value of one goal, weighted by the chance that every limit holds at x (Gardner et al. 2014).

    α(x) = P(limits hold at x) · a(x)

a is an acquisition of the goal alone whose incumbent is x⁺, the best point that holds the limits.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo.acquisition.base import Acquisition, Jet, chain_std
from ceibo.acquisition.joint import JointAcquisition, JointJet, JointPrediction
from ceibo.acquisition.limits import FeasibleIncumbent, log_holding
from ceibo.gp.inputs import Array
from ceibo.gp.predictor import Prediction


@final
@dataclass(frozen=True, eq=False)
class Weighted(JointAcquisition):
    """An acquisition of the goal times the chance that every limit holds."""

    incumbent: FeasibleIncumbent | None
    goal: Acquisition
    levels: Array  # (J,) bounds in inside units

    def natural(self, prediction: JointPrediction) -> JointJet:
        jet = self.goal.natural(prediction.each[0])
        chance, limits = self._chances(prediction)
        weight = np.exp(chance)
        value = weight * jet.value
        return JointJet(value, (jet.times(weight), *(each.times(value) for each in limits)))

    def logarithm(self, prediction: JointPrediction) -> JointJet:
        jet = self.goal.logarithm(prediction.each[0])
        chance, limits = self._chances(prediction)
        return JointJet(jet.value + chance, (jet, *limits))

    @property
    def scale(self) -> float:
        return self.goal.scale

    def _chances(self, prediction: JointPrediction) -> tuple[Array, list[Jet]]:
        """The logarithm of the chance that every limit holds (N,), and the jets of its terms."""
        limits = [
            _log_chance(level, part)
            for level, part in zip(self.levels, prediction.each[1:], strict=True)
        ]
        return np.sum([jet.value for jet in limits], axis=0), limits


def _log_chance(level: float, part: Prediction) -> Jet:
    s = np.sqrt(part.variance)
    value, by_slack, by_s = log_holding(level - part.linear[:, 0], s)
    return Jet(value, linear=-by_slack[:, None], variance=chain_std(by_s, s))
