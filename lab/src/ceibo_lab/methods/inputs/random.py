"""Random search among the settings that obey the rules."""

from collections.abc import Mapping
from typing import final

from ceibo_lab.inputs import Trials
from ceibo_lab.problem import stream
from ceibo_lab.problems.inputs.problem import InputProblem
from ceibo_lab.problems.inputs.rules import Params


@final
class RandomInputs:
    """Settings drawn as the initial design is; answers with the best measured one."""

    def __init__(self, problem: InputProblem, seed: int) -> None:
        self.problem, self._rng = problem, stream(seed, "random search")

    def propose(self, _trials: Trials, _number: int) -> Params:
        return self.problem.sample(self._rng)

    def answers(self, trials: Trials) -> Mapping[str, Params]:
        return {"measured": trials.best}
