"""Several outcomes measured at once: what was measured, what a method answers, a run under way.

The counterpart of `method` and `run` for problems of several outcomes.
"""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, final

import numpy as np

from ceibo.gp.inputs import Array, Mask
from ceibo_lab.method import Entry, design_point
from ceibo_lab.noise import NoisyProblem
from ceibo_lab.problems.outcomes.problem import OutcomeProblem
from ceibo_lab.run import Watch

INITIAL: Final = 10  # Sobol points that come first, the same for every method


@final
@dataclass(frozen=True, eq=False)
class Measured:
    """What a method may know: outcomes Y (n, k) at points X (n, d) of the unit cube.

    `noise` (n, k) are the standard deviations told, NaN where none was; the first `goals` columns
    are goals.
    """

    X: Array
    Y: Array
    noise: Array
    goals: int

    @property
    def holds(self) -> Mask:
        """(n,) whether the measured values hold every limit."""
        held: Mask = np.all(self.Y[:, self.goals :] <= 0.0, axis=1)
        return held

    @property
    def digest(self) -> str:
        """Of every bit of it."""
        parts = np.column_stack([self.X, self.Y, self.noise])
        return hashlib.sha256(np.ascontiguousarray(parts, dtype="<f8").tobytes()).hexdigest()[:16]


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """A setting that a method ends with, and what it says of it.

    Args:
        x: (d,) of the unit cube.
        means: (k,) of every outcome as the method states them; None if it has no model.
        stds: (k,) of the outcomes, beside the means.
        chance: that every limit holds, by the method's model; None if it has none.
    """

    x: Array
    means: Array | None = None
    stds: Array | None = None
    chance: float | None = None


class OutcomeMethod(Protocol):
    """A method at work in one replication; asked once per step, in order."""

    def propose(self, measured: Measured, number: int, /) -> Array:
        """The point (d,) for trial `number`."""

    def answers(self, measured: Measured, /) -> Mapping[str, Answer]:
        """One goal: answers by how they were found, the first of them the method's own."""

    def front(self, measured: Measured, /) -> list[Answer]:
        """Several goals: the settings that the method reports."""


OutcomeEntry = Entry[OutcomeProblem, OutcomeMethod]


@final
@dataclass(eq=False)
class OutcomeRun:
    """Points measured so far, what measures each outcome, and the seconds of each suggestion."""

    problem: OutcomeProblem
    parts: list[NoisyProblem]
    points: list[Array] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    processor: float = 0.0  # seconds of all suggestions

    @staticmethod
    def begin(problem: OutcomeProblem, protocol: str, level: float, seed: int) -> "OutcomeRun":
        """A run whose outcomes are made noisy each by random numbers of its own."""
        parts = [
            NoisyProblem(problem.part(k), protocol, level, seed, f" {name}")
            for k, name in enumerate(problem.outcomes.names)
        ]
        return OutcomeRun(problem, parts)

    @property
    def measured(self) -> Measured:
        """What a method may know."""
        values = np.column_stack([part.values for part in self.parts])
        told = np.column_stack([part.told for part in self.parts])
        return Measured(np.array(self.points), values, told, self.problem.goals)

    @property
    def truth(self) -> Array:
        """(n, k) the true outcomes at the points measured."""
        return self.problem.at_unit(np.array(self.points))

    @property
    def first_feasible(self) -> int | None:
        """The first trial, from 0 on, whose point truly holds every limit."""
        held = np.flatnonzero(self.problem.holds(self.truth))
        return int(held[0]) if len(held) else None

    def measure(self, u: Array) -> None:
        """One more trial, at u (d,) of the unit cube."""
        for part in self.parts:
            part.measure(u)
        self.points.append(u)

    def step(self, method: OutcomeMethod, watch: Watch) -> None:
        """One more trial, where the method proposes."""
        watch.check()
        known = self.measured
        since, used = time.perf_counter(), time.process_time()
        u = method.propose(known, len(self.points))
        self.seconds.append(time.perf_counter() - since)
        self.processor += time.process_time() - used
        self.measure(u)


def initial_design(problem: OutcomeProblem, seed: int, size: int, feasible: bool = True) -> Array:
    """(size, d) points of the seed's Sobol sequence, the same for every method.

    Without `feasible`, points where every limit truly holds are left out and later ones take their
    places.
    """
    found: list[Array] = []
    number = 0
    while len(found) < size:
        u = design_point(problem.space, seed, number)
        number += 1
        if feasible or not problem.holds(problem.at_unit(u[None, :]))[0]:
            found.append(u)
    return np.array(found)
