"""What all parts of a region share: columns, requirements, branches; and mending points."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, final

import numpy as np

from ceibo.acquisition.region.branching import Branching
from ceibo.acquisition.region.patterns import Pattern
from ceibo.acquisition.region.stack import TOLERANCE, Stack, is_listed
from ceibo.acquisition.region.terms import Branch, Column, Linear, Requirement, Scale
from ceibo.acquisition.region.values import Values
from ceibo.acquisition.region.walls import Walls
from ceibo.gp.inputs import Array, Indices, Mask

_MOST_MENDED: Final = 400  # levels changed one at a time
_MOST_PROJECTED: Final = 96  # points, in a search that is not thorough


@final
class Frame:
    """The columns of a region, its requirements and its branches."""

    def __init__(
        self,
        columns: Sequence[Column],
        discrete: Mapping[int, Array],
        requirements: Sequence[Requirement],
        branches: Sequence[Branch],
    ) -> None:
        self.dimension = len(columns)
        named = _coupled(requirements, self.dimension)
        # a logarithmic scale matters only where a rule adds its values
        plain = [
            Scale(0.0, 1.0) if isinstance(each, Scale) and each.log and not named[k] else each
            for k, each in enumerate(columns)
        ]
        self.values = Values(plain, discrete)
        self.stack = Stack(requirements, self.values)
        self.branching = Branching.of(branches)
        sizes = np.array([len(discrete[k]) if k in discrete else 2 for k in range(self.dimension)])
        self.varies: Mask = sizes > 1
        """(d,) columns that are not held at one coordinate."""

    @cached_property
    def constants(self) -> Array:
        """(d,) values of the columns that are held."""
        X = np.zeros((1, self.dimension))
        for k, allowed in self.values.discrete.items():
            X[0, k] = allowed[0]
        return np.asarray(self.values.at(X)[0])

    @cached_property
    def stepped(self) -> list[int]:
        """Listed columns with several numbers that linear terms speak of."""
        found = self.stack.coupled & self.varies & ~self.values.is_continuous
        return [int(k) for k in np.flatnonzero(found)]

    @cached_property
    def is_open(self) -> bool:
        """Whether points of the cube may hold by chance: no equalities, no exact zeros."""
        listed = not any(
            each.zeros or each.counts for c in self.stack.choices for each in c.alternatives
        )
        return listed and not self.stack.equal.any()

    def canonical(self, X: Array) -> tuple[Array, Mask]:
        """The points with inactive columns at their coordinates, and which columns are active."""
        if self.branching is None:
            return X, np.ones(X.shape, dtype=bool)
        return self.branching.canonical(X), self.branching.active(X)

    def holds(self, X: Array, tolerance: float = TOLERANCE) -> Mask:
        """(N,) whether points (N, d) are admissible, to a tolerance in units of scales."""
        canonical, here = self.canonical(X)
        good = ((X >= 0.0) & (X <= 1.0)).all(axis=1) & (np.abs(canonical - X) <= 1e-12).all(axis=1)
        for k, allowed in self.values.discrete.items():
            good &= is_listed(X[:, k], allowed) | ~here[:, k]
        return good & self.stack.holds(X, here, tolerance)

    def snapped(self, X: Array, here: Mask) -> Array:
        """Listed columns that are active at their nearest allowed coordinate."""
        X = np.clip(X, 0.0, 1.0)
        for k, allowed in self.values.discrete.items():
            places = np.searchsorted((allowed[1:] + allowed[:-1]) / 2, X[:, k])
            X[:, k] = np.where(here[:, k], allowed[places], X[:, k])
        return X

    def from_shares(self, Z: Array, columns: Indices) -> Array:
        """Coordinates (N, c) of some columns from shares z of their ranges; levels the nearest."""
        values, U = self.values, Z.copy()
        for place, k in enumerate(columns.tolist()):
            if k in values.discrete:
                amounts = values.low[k] + Z[:, place] * values.width[k]
                nearest = np.argmin(np.abs(amounts[:, None] - values.values_of(k)), axis=1)
                U[:, place] = values.discrete[k][nearest]
            elif values.curved[k]:
                U[:, place] = values.unit(k, values.low[k] + Z[:, place] * values.width[k])
        return np.clip(U, 0.0, 1.0)

    def walls(self, X: Array, here: Mask, pattern: Pattern, widths: Array) -> Walls:
        """The bounds of a climb from points (B, d) in their patterns."""
        lower, upper = pattern.bounds(self.stack)
        held = ~here | ~self.values.is_continuous
        lower, upper = np.where(held, X, lower), np.where(held, X, upper)
        widths = np.where(self.values.is_continuous, widths, 0.0)
        parts = self.stack.C, self.stack.b, self.stack.equal
        return Walls(self.values, widths, *parts, pattern.applies, lower, upper)

    def completed(self, X: Array, here: Mask, pattern: Pattern, thorough: bool = True) -> Array:
        """The points moved as little as the pattern asks, where that is possible.

        Listed columns are changed only if the search is to be thorough; if not, of many points
        those that break the terms most are left as they are.
        """
        X = np.where(pattern.zero & here, self.values.zeros, X)
        rows = np.flatnonzero(~self.holds(X))
        if len(rows) == 0:
            return X
        if not thorough and len(rows) > _MOST_PROJECTED:
            amounts = self._violation(X[rows], pattern.keep(rows))
            rows = rows[np.argsort(amounts, kind="stable")[:_MOST_PROJECTED]]
        X = X.copy()
        X[rows] = self.projected(X[rows], here[rows], pattern.keep(rows))
        if thorough and self.stepped:
            rows = rows[~self.holds(X[rows])]
            mended = self._mended(X[rows], here[rows], pattern.keep(rows))
            X[rows] = self.projected(mended, here[rows], pattern.keep(rows))
        return X

    def projected(self, X: Array, here: Mask, pattern: Pattern) -> Array:
        """The points with their continuous columns moved to the nearest ones of the pattern."""
        if len(X) == 0 or not self.values.is_continuous.any():
            return X
        return self.walls(X, here, pattern, np.ones(self.dimension)).nearest(X)

    def _mended(self, X: Array, here: Mask, pattern: Pattern) -> Array:
        """Changes listed columns, a level at a time, while that lowers the sum of violations."""
        X, going = X.copy(), np.arange(len(X))
        lists = self.values.discrete
        for _ in range(_MOST_MENDED):
            if len(going) == 0:
                break
            here_, part = here[going], pattern.keep(going)
            tries = [X[going]]
            for k in self.stepped:
                places = np.searchsorted(lists[k], X[going, k] - 1e-12)
                for change in (-1, 1):
                    moved = X[going].copy()
                    moved[:, k] = lists[k][np.clip(places + change, 0, len(lists[k]) - 1)]
                    free = here_[:, k] & ~part.zero[:, k]
                    tries.append(np.where(free[:, None], moved, X[going]))
            amounts = np.stack([self._violation(each, part) for each in tries])
            best = np.argmin(amounts, axis=0)
            X[going] = np.stack(tries)[best, np.arange(len(going))]
            least = amounts.min(axis=0)
            going = going[(least < amounts[0] - 1e-15) & (least > 0.0)]
        return X

    def _violation(self, X: Array, pattern: Pattern) -> Array:
        broken = np.maximum(-self.stack.slack(self.values.at(X)), 0.0)
        return np.asarray(np.where(pattern.applies, broken, 0.0).sum(axis=1))


def _coupled(requirements: Sequence[Requirement], dimension: int) -> Mask:
    named = np.zeros(dimension, dtype=bool)
    for requirement in requirements:
        for terms in requirement.alternatives:
            for term in terms:
                if isinstance(term, Linear):
                    named |= term.coefficients != 0.0
    return named
