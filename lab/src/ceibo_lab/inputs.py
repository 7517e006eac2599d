"""Problems with rules and branches: what was measured, what a method answers, a run under way.

The counterpart of `method` and `run` for settings that are no points of a box.
"""

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, final

import numpy as np

from ceibo.gp.inputs import Array
from ceibo_lab.method import Entry
from ceibo_lab.noise import NoisyProblem
from ceibo_lab.problem import stream
from ceibo_lab.problems.inputs.problem import InputProblem
from ceibo_lab.problems.inputs.rules import Params
from ceibo_lab.run import Watch

INITIAL: Final = 10  # random settings that come first, the same for every method


@final
@dataclass(frozen=True, eq=False)
class Trials:
    """What a method may know: settings with values, and settings that turned out impossible.

    `values` (n,) and `noise` (n,), the standard deviations told (NaN where none was), belong to
    `settings`. `numbers` are the trials of these, `impossible` the others by their numbers.
    """

    settings: tuple[Params, ...]
    values: Array
    noise: Array
    numbers: tuple[int, ...]
    impossible: Mapping[int, Params]

    @property
    def best(self) -> Params:
        """The setting with the best measured value."""
        return self.settings[int(np.argmin(self.values))]

    @property
    def digest(self) -> str:
        """Of every bit of it."""
        parts = [self.settings, self.values.tolist(), self.noise.tolist(), self.impossible]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


class InputMethod(Protocol):
    """A method at work in one replication; asked once per step, in order."""

    def propose(self, trials: Trials, number: int, /) -> Params:
        """The setting for trial `number`."""

    def answers(self, trials: Trials, /) -> Mapping[str, Params]:
        """Answers by how they were found, the first of them the method's own."""


InputEntry = Entry[InputProblem, InputMethod]


@final
@dataclass(eq=False)
class InputRun:
    """Settings tried so far, what measures them, and the seconds of each suggestion.

    A setting that breaks a rule costs a trial and has no value; its noise is drawn all the same, so
    that trial t meets the same random numbers with every method.
    """

    problem: InputProblem
    measuring: NoisyProblem
    settings: list[Params] = field(default_factory=list)
    impossible: dict[int, Params] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    processor: float = 0.0  # seconds of all suggestions

    @staticmethod
    def begin(problem: InputProblem, protocol: str, level: float, seed: int) -> "InputRun":
        return InputRun(problem, NoisyProblem(problem.as_problem(), protocol, level, seed))

    @property
    def trials(self) -> Trials:
        """What a method may know."""
        rows = [row for row in range(len(self.settings)) if row not in self.impossible]
        return Trials(
            tuple(self.settings[row] for row in rows),
            self.measuring.values[rows],
            self.measuring.told[rows],
            tuple(rows),
            dict(self.impossible),
        )

    def measure(self, params: Params) -> None:
        """One more trial."""
        possible = self.problem.obeys(params)
        if not possible:
            self.impossible[len(self.settings)] = params
        # in place of an impossible setting the first is measured, whose value nobody sees
        self.measuring.measure(self.problem.to_box(params if possible else self.settings[0]))
        self.settings.append(params)

    def step(self, method: InputMethod, watch: Watch) -> None:
        """One more trial, where the method proposes."""
        watch.check()
        known = self.trials
        since, used = time.perf_counter(), time.process_time()
        params = self.problem.cleaned(method.propose(known, len(self.settings)))
        self.seconds.append(time.perf_counter() - since)
        self.processor += time.process_time() - used
        self.measure(params)


def initial_design(problem: InputProblem, seed: int, size: int) -> list[Params]:
    """Random settings that obey the rules, the same for every method."""
    rng = stream(seed, "design")
    return [problem.sample(rng) for _ in range(size)]
