"""A guide that leads a search to where limits hold with a wanted probability.

With p(x) the chance that all limits hold and c the wanted one, t = log c − log p(x) is what is
missing. It costs nothing where t ≤ 0, then t²/2ε, and from t = ε on t − ε/2, times the steepness:
smooth, and steep enough that the best point lies at most a small share of ε outside. The guide aims
above c, so that its best point has the chance c also where the model errs a little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.acquisition.guides import Guide
from ceibo.acquisition.limits import Held
from ceibo.gp.inputs import Array

_STEEPNESS: Final = 50.0  # standard deviations of the goal that a factor e of the chance is worth
_WIDTH: Final = 0.01  # ε
# Of what c leaves to 1: the best point of a search is one where a model errs in its favour.
_MARGIN: Final = 0.3


@final
@dataclass(frozen=True, eq=False)
class Assurance(Guide):
    """Prefers points where all limits hold with a probability of at least `confidence`."""

    limits: Sequence[Held]
    confidence: float

    def guidance(self, X: Array) -> tuple[Array, Array]:
        chance, slope = np.zeros(len(X)), np.zeros_like(X)
        for limit in self.limits:
            part, its_slope = limit.log_chance(X)
            chance, slope = chance + part, slope + its_slope
        aim = self.confidence + _MARGIN * (1.0 - self.confidence)
        missing = np.maximum(np.log(aim) - np.maximum(chance, -1e6), 0.0)
        near = missing < _WIDTH
        cost = np.where(near, 0.5 * missing**2 / _WIDTH, missing - 0.5 * _WIDTH)
        steepness = np.where(near, missing / _WIDTH, 1.0)
        return -_STEEPNESS * cost, _STEEPNESS * steepness[:, None] * slope
