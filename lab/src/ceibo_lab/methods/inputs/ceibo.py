"""ceibo's own suggestions and answers, with the rules, and without them by telling failures."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import fsum
from typing import final

import numpy as np

from ceibo.decide import (
    Belief,
    Evidence,
    Measurement,
    Settings,
    Space,
    Told,
    Unmeasured,
    evidence_of,
    suggest,
)
from ceibo.gp import Hyperparameters
from ceibo_lab.inputs import Trials
from ceibo_lab.problems.inputs.problem import InputProblem
from ceibo_lab.problems.inputs.rules import Params


@final
@dataclass(eq=False)
class CeiboInputs:
    """Suggestions in a space with its rules and branches, each fit started from the one before.

    Answers: `recommended`, over the space, and `best`, among the measured settings.
    """

    problem: InputProblem
    seed: int
    settings: Settings
    start: Hyperparameters | None = field(default=None, init=False)

    def propose(self, trials: Trials, number: int) -> Params:
        evidence = _evidence(self.problem.space, trials)
        found = suggest(evidence, self.problem.space, self.settings, self.start, self.seed, number)
        self.start = found.hyperparameters or self.start
        return found.params

    def answers(self, trials: Trials) -> Mapping[str, Params]:
        space = self.problem.space
        belief = Belief(_evidence(space, trials), space, self.settings, self.seed)
        return {"recommended": belief.recommended.params, "best": belief.best.params}


@final
@dataclass(eq=False)
class CeiboFailures:
    """Suggestions in the box without rules, where impossible settings are told as failures.

    Of a mixture the last part is left out and what is missing to one, as nobody would ask for
    parts that never sum to one. The answer is `recommended`, or `best` if that breaks a rule.
    """

    problem: InputProblem
    seed: int
    settings: Settings
    start: Hyperparameters | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._missing = self.problem.parts[-1] if self.problem.parts else None
        kept = self.problem.dimensions.items()
        self._space = Space({name: each for name, each in kept if name != self._missing})

    def propose(self, trials: Trials, number: int) -> Params:
        evidence = _evidence(self._space, self._without(trials))
        found = suggest(evidence, self._space, self.settings, self.start, self.seed, number)
        self.start = found.hyperparameters or self.start
        return self._with(found.params)

    def answers(self, trials: Trials) -> Mapping[str, Params]:
        evidence = _evidence(self._space, self._without(trials))
        belief = Belief(evidence, self._space, self.settings, self.seed)
        found = [self._with(each.params) for each in (belief.recommended, belief.best)]
        named = dict(zip(("recommended", "best"), found, strict=True))
        return named if self.problem.obeys(found[0]) else {"best": found[1]} | named

    def _without(self, trials: Trials) -> Trials:
        return replace(
            trials,
            settings=tuple(self._drop(each) for each in trials.settings),
            impossible={n: self._drop(each) for n, each in trials.impossible.items()},
        )

    def _drop(self, params: Params) -> Params:
        return {name: value for name, value in params.items() if name != self._missing}

    def _with(self, params: Params) -> Params:
        if self._missing is None:
            return params
        others = [-params[name] for name in self.problem.parts if name != self._missing]
        found = {**params, self._missing: fsum([1.0, *others])}
        return self.problem.cleaned({name: found[name] for name in self.problem.dimensions})


def _evidence(space: Space, trials: Trials) -> Evidence:
    """The trials as ceibo's evidence."""
    rows = zip(
        trials.numbers,
        space.to_unit_rows(trials.settings),
        trials.values.tolist(),
        trials.noise.tolist(),
        strict=True,
    )
    told = [
        Told(number, x, Measurement(value, None if np.isnan(noise) else noise))
        for number, x, value, noise in rows
    ]
    count = len(told) + len(trials.impossible)
    failed = tuple(space.to_unit_rows(list(trials.impossible.values())))
    in_a_row = next((k for k in range(count) if count - 1 - k not in trials.impossible), count)
    unmeasured = Unmeasured(failed=failed, failures_in_a_row=in_a_row)
    return evidence_of(told, len(space), unmeasured=unmeasured, trials=count)
