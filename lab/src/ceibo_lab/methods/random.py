"""Random search."""

from typing import final

import numpy as np

from ceibo.decide import Evidence, Space
from ceibo.decide.model import Model
from ceibo.gp.inputs import Array
from ceibo_lab.method import Proposal, snap
from ceibo_lab.problem import stream


@final
class RandomSearch:
    """Uniform random points. Recommends the point with the best measured value."""

    def __init__(self, space: Space, seed: int) -> None:
        self.space, self._rng = space, stream(seed, "random search")

    def propose(self, _evidence: Evidence, _number: int) -> Proposal:
        return Proposal(snap(self.space, self._rng.random(len(self.space))))

    def model(self, _evidence: Evidence) -> Model | None:
        return None

    def recommend(self, evidence: Evidence) -> Array | None:
        return np.asarray(evidence.X[int(np.argmin(evidence.y))])
