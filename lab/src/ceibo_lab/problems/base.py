"""What a problem is: a function over a box, with the optimisers and the range that measures and
noise refer to.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ceibo.errors import InputError
from ceibo.gp.inputs import Array

# Shifts move the optimum by at most this share of each side of the box.
LARGEST_SHIFT = 0.25


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """A function to minimise over a box.

    Args:
        name: as used on the command line.
        low, high: (d,) the box.
        function: (n, d) points in the box's own units -> (n,) values; defined beyond the box too,
            for shifts.
        optimisers: (k, d) all points where the minimum is taken.
        minimum: the value there.
        range: true maximum minus minimum over the (unshifted) box; noise levels are shares of it.
        active: the coordinates that enter; None for all. Others are inert.
        falls_beyond: the minimum is at the upper end of the box and the function goes on falling
            beyond it, so that a shift leaves the optimiser at that end.
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

    @property
    def dimension(self) -> int:
        return len(self.low)

    @property
    def width(self) -> Array:
        return self.high - self.low

    def __call__(self, X: Array) -> Array:
        """Values (n,) at points (n, d) of the box."""
        moved = X if self.shift is None else X - self.shift
        return np.asarray(self.function(moved), dtype=np.float64)

    def from_unit(self, U: Array) -> Array:
        return self.low + self.width * U

    def at_unit(self, U: Array) -> Array:
        """Values (n,) at points (n, d) of the unit cube."""
        return self(self.from_unit(U))

    def distance(self, X: Array, active_only: bool = False) -> Array:
        """(n,) Euclidean distance to the nearest optimiser, over the coordinates that enter if
        `active_only`.
        """
        columns = (
            list(range(self.dimension))
            if self.active is None or not active_only
            else list(self.active)
        )
        gaps = X[:, None, columns] - self.optimisers[None, :, columns]
        return np.asarray(np.min(np.linalg.norm(gaps, axis=2), axis=1))


def box(low: float, high: float, dimension: int) -> tuple[Array, Array]:
    """The cube [low, high]^d."""
    return np.full(dimension, float(low)), np.full(dimension, float(high))


def shifted(problem: Problem, seed: int) -> Problem:
    """The problem f(x − s), s uniform within ±25 % of each side, such that the (first) optimum
    stays inside.

    Noise levels keep referring to the unshifted range. Every function here takes its minimum over
    all of space at its optimisers, so they move along and stay the only ones (or see
    `falls_beyond`).
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, *_letters("shift")]))
    reach, optimum = LARGEST_SHIFT * problem.width, problem.optimisers[0]
    s = rng.uniform(
        np.maximum(-reach, problem.low - optimum), np.minimum(reach, problem.high - optimum)
    )
    if problem.falls_beyond:
        moved = replace(problem, name=f"{problem.name}-shifted", shift=s)
        return replace(moved, minimum=float(moved(problem.optimisers)[0]))
    places = problem.optimisers + s
    inside = np.all((places >= problem.low) & (places <= problem.high), axis=1)
    return replace(problem, name=f"{problem.name}-shifted", shift=s, optimisers=places[inside])


def _letters(word: str) -> list[int]:
    """A word as numbers, to key a random stream by what it is for."""
    return list(word.encode())


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Random numbers for one purpose of one replication; the same for every method."""
    if seed < 0:
        raise InputError(f"a seed is a whole number, zero or above, got {seed!r}.")
    return np.random.default_rng(np.random.SeedSequence([seed, *_letters(purpose)]))
