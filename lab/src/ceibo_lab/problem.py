"""A problem: a function to minimise, with the optimum and the range that only a referee knows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, final

import numpy as np

from ceibo.decide.space import Float, Space
from ceibo.errors import InputError
from ceibo.gp.inputs import Array

# A shift moves the optimum by at most this share of each side of the box.
LARGEST_SHIFT: Final = 0.25


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """A function to minimise over a box.

    Args:
        name: as used on the command line.
        low, high: (d,) the box.
        function: (n, d) points in the box's own units -> (n,) values; defined beyond the box too,
            for shifts.
        optimisers: (k, d) all points where the minimum is taken; none if they are not known.
        minimum: the value there.
        range: true maximum minus minimum over the (unshifted) box; noise levels are shares of it.
        active: the coordinates that enter; None for all. Others are inert.
        falls_beyond: the minimum is at the upper end of the box and the function goes on falling
            beyond it, so that a shift leaves the optimiser at that end.
        shift: (d,) by which the function was moved; None if it was not.
        parameters: the space that a method sees, if it is not the unit cube; the box is the unit
            cube then.
    """

    name: str
    low: Array
    high: Array
    function: Callable[[Array], Array]
    optimisers: Array
    minimum: float
    range: float
    active: tuple[int, ...] | None = None
    falls_beyond: bool = False
    shift: Array | None = None
    parameters: Space | None = None

    @property
    def dimension(self) -> int:
        return len(self.low)

    @property
    def width(self) -> Array:
        return self.high - self.low

    @cached_property
    def space(self) -> Space:
        """What a method sees."""
        return unit_space(self.dimension) if self.parameters is None else self.parameters

    def __call__(self, X: Array) -> Array:
        """Values (n,) at points (n, d) of the box."""
        moved = X if self.shift is None else X - self.shift
        return np.asarray(self.function(moved), dtype=np.float64)

    def from_unit(self, U: Array) -> Array:
        return self.low + self.width * U

    def at_unit(self, U: Array) -> Array:
        """Values (n,) at points (n, d) of the unit cube."""
        return self(self.from_unit(U))

    def regret(self, u: Array) -> float:
        """How much worse than the minimum the true value at u (d,) of the unit cube is."""
        return float(self.at_unit(u[None, :])[0]) - self.minimum

    def distance(self, X: Array, active_only: bool = False) -> Array:
        """(n,) Euclidean distances to the nearest optimiser, of the active coordinates or all."""
        chosen = self.active if active_only and self.active is not None else range(self.dimension)
        columns = list(chosen)
        gaps = X[:, None, columns] - self.optimisers[None, :, columns]
        return np.asarray(np.min(np.linalg.norm(gaps, axis=2), axis=1))


def box(low: float, high: float, dimension: int) -> tuple[Array, Array]:
    """The cube [low, high]^d."""
    return np.full(dimension, float(low)), np.full(dimension, float(high))


def unit_space(dimension: int) -> Space:
    """The unit cube as a space: a box is scaled to it before a method sees it."""
    return Space({f"x{k}": Float(0.0, 1.0) for k in range(dimension)})


def shifted(problem: Problem, seed: int) -> Problem:
    """The problem f(x − s), s uniform within ±25 % of each side, the first optimum kept inside.

    Noise levels keep referring to the unshifted range. Every function here takes its minimum over
    all of space at its optimisers, so they move along and stay the only ones (or see
    `falls_beyond`).
    """
    reach, optimum = LARGEST_SHIFT * problem.width, problem.optimisers[0]
    s = stream(seed, "shift").uniform(
        np.maximum(-reach, problem.low - optimum), np.minimum(reach, problem.high - optimum)
    )
    moved = replace(problem, name=f"{problem.name}-shifted", shift=s)
    if problem.falls_beyond:
        return replace(moved, minimum=float(moved(problem.optimisers)[0]))
    places = problem.optimisers + s
    inside = np.all((places >= problem.low) & (places <= problem.high), axis=1)
    return replace(moved, optimisers=places[inside])


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Random numbers for one purpose of one replication; the same for every method."""
    if seed < 0:
        raise InputError(f"a seed is a whole number, zero or above, got {seed!r}.")
    return np.random.default_rng(np.random.SeedSequence([seed, *purpose.encode()]))
