"""Random search for several outcomes."""

from collections.abc import Mapping
from typing import final

from ceibo.gp.inputs import Array
from ceibo_lab.methods.outcomes.raw import raw_answer, raw_front
from ceibo_lab.outcomes import Answer, Measured
from ceibo_lab.problem import stream
from ceibo_lab.problems.outcomes.problem import OutcomeProblem


@final
class RandomOutcomes:
    """Uniform random points; answers by the measured values."""

    def __init__(self, problem: OutcomeProblem, seed: int) -> None:
        self.dimension, self._rng = problem.dimension, stream(seed, "random search")

    def propose(self, _measured: Measured, _number: int) -> Array:
        return self._rng.random(self.dimension)

    def answers(self, measured: Measured) -> Mapping[str, Answer]:
        return {"measured": raw_answer(measured)}

    def front(self, measured: Measured) -> list[Answer]:
        return raw_front(measured)
