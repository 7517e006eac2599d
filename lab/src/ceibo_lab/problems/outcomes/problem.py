"""A problem of several outcomes: goals to minimise and limits to hold, with what a referee knows.

Every outcome is a column: the goals first, then the limits, each of which holds at or below zero.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from ceibo.acquisition.fronts import hypervolume
from ceibo.decide.outcomes import AtMost, Minimize, Outcomes
from ceibo.decide.space import Space
from ceibo.gp.inputs import Array, Mask
from ceibo_lab.problem import Problem, unit_space


@final
@dataclass(frozen=True, eq=False)
class OutcomeProblem:
    """Functions over a box, measured together.

    Args:
        name: as used on the command line.
        box: (d, 2) the lowest and highest value of each coordinate.
        function: (n, d) points of the box -> (n, k) outcomes, the goals first.
        goals: how many there are.
        ranges: (k,) of each outcome over the box; noise levels are shares of them. They are found
            by `python -m ceibo_lab.problems.outcomes.reference`, whose rule see.
        optimum: with one goal, its least value where all limits hold.
        worst: with one goal, its greatest value where all limits hold.
        reference: with several goals, the point (goals,) that bounds the hypervolume.
        best: with several goals, the hypervolume of the true front.
    """

    name: str
    box: Array
    function: Callable[[Array], Array]
    goals: int
    ranges: Array
    optimum: float = float("nan")
    worst: float = float("nan")
    reference: Array | None = None
    best: float = float("nan")

    @property
    def dimension(self) -> int:
        return len(self.box)

    @property
    def limits(self) -> int:
        """How many limits there are."""
        return len(self.ranges) - self.goals

    @cached_property
    def space(self) -> Space:
        """What a method sees: the unit cube."""
        return unit_space(self.dimension)

    @cached_property
    def outcomes(self) -> Outcomes:
        """What is wanted, by name: goal1, goal2 …, limit1, limit2 …."""
        goals = {f"goal{k + 1}": Minimize() for k in range(self.goals)}
        return Outcomes(goals | {f"limit{k + 1}": AtMost(0.0) for k in range(self.limits)})

    def at_unit(self, U: Array) -> Array:
        """True outcomes (n, k) at points (n, d) of the unit cube."""
        low, high = self.box.T
        return np.asarray(self.function(low + (high - low) * U), dtype=np.float64)

    def holds(self, values: Array) -> Mask:
        """(n,) whether outcomes (n, k) hold every limit."""
        held: Mask = np.all(values[:, self.goals :] <= 0.0, axis=1)
        return held

    def part(self, column: int) -> Problem:
        """One outcome alone, as a problem whose optimum nobody asks for."""
        low, high = self.box.T

        def values(X: Array) -> Array:
            return np.asarray(self.function(X)[:, column])

        nowhere = np.empty((0, self.dimension))
        span = float(self.ranges[column])
        return Problem(self.name, low, high, values, nowhere, float("nan"), span)

    def hypervolume(self, values: Array) -> float:
        """Of outcomes (n, k), as far as they hold the limits, below the reference point."""
        if self.reference is None:
            raise ValueError(f"{self.name} has one goal")
        kept = values[self.holds(values)][:, : self.goals]
        return hypervolume(kept, self.reference) if len(kept) else 0.0
