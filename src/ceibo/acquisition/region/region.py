"""Region: where a search may look, if not in the whole cube."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, final

import numpy as np

from ceibo.acquisition.region.design import Design
from ceibo.acquisition.region.draw import Drawer
from ceibo.acquisition.region.frame import Frame
from ceibo.acquisition.region.listing import list_points
from ceibo.acquisition.region.moves import Move, moves_of
from ceibo.acquisition.region.patterns import pattern_at
from ceibo.acquisition.region.terms import Branch, Column, Requirement
from ceibo.acquisition.region.walls import Walls
from ceibo.errors import InputError
from ceibo.gp.inputs import Array, Indices, Mask
from ceibo.gp.linalg import limited_blas

_PROMISE: Final = 1e-9  # of a term's scale, by which a point may break it
_MEMORY: Final = 256  # points to fall back on


class EmptyRegionError(InputError):
    """No point obeys the requirements; `rules` are the places of those in question."""

    def __init__(self, rules: Sequence[int]) -> None:
        self.rules = tuple(rules)
        which = ", ".join(str(rule) for rule in self.rules)
        super().__init__(f"no setting was found that obeys all of the rules {which}.")


@final
class Region:
    """The points of the unit cube that obey requirements, with columns that may not exist.

    Args:
        columns: how the coordinates of each column become numbers, or None.
        discrete: column -> allowed coordinates, ascending; a held column has one.
        requirements: all must hold; one that names an inactive column does.
        branches: columns that exist only where others have some coordinates.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        discrete: Mapping[int, Array],
        requirements: Sequence[Requirement] = (),
        branches: Sequence[Branch] = (),
    ) -> None:
        lists = {int(k): np.asarray(allowed, dtype=float) for k, allowed in discrete.items()}
        self.requirements = tuple(requirements)
        self.frame = Frame(columns, lists, self.requirements, branches)
        self.dimension = self.frame.dimension
        """d, the number of columns."""
        self.discrete = self.frame.values.discrete
        """Column -> allowed coordinates."""
        words = [k for k, column in enumerate(columns) if column is None]
        concerned = {int(k) for each in self.frame.stack.choices for k in each.columns}
        concerned |= {k for each in branches for k in (each.column, each.parent)}
        free = np.array([k not in concerned for k in range(self.dimension)], dtype=bool)
        self.design = Design(self.sample, words, free, self.discrete)
        """Initial designs."""
        self._drawer = Drawer(self.frame)

    def holds(self, X: Array) -> Mask:
        """(N,) whether points (N, d) are admissible."""
        return self.frame.holds(np.asarray(X, dtype=float), _PROMISE)

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        """Random admissible points (count, d); see draw.py for their distribution."""
        with limited_blas(1):
            points = self.points
            if points is not None:
                return points[rng.integers(len(points), size=count)]
            found = self._drawer.draw(count, rng)
            if len(found) == 0:
                raise EmptyRegionError(sorted({each.rule for each in self.requirements}))
            return found[np.arange(count) % len(found)]

    @cached_property
    def points(self) -> Array | None:
        """All admissible points (N, d), where all columns are listed and they are not too many."""
        found = list_points(self.frame)
        if found is not None and len(found) == 0:
            raise EmptyRegionError(sorted({each.rule for each in self.requirements}))
        return found

    def restore(self, X: Array) -> Array:
        """An admissible point near each of X (N, d); one that is admissible stays."""
        X = np.asarray(X, dtype=float)
        with limited_blas(1):
            X = self._settled(X)
            lost = np.flatnonzero(~self.frame.holds(X))
            if len(lost):
                memory = self._memory
                gaps = ((X[lost, None, :] - memory) ** 2).sum(axis=2)
                X[lost] = memory[np.argmin(gaps, axis=1)]
        return X

    def tightened(self, X: Array) -> Array:
        """Admissible points (N, d) with what rounding has broken of a term taken out."""
        return self.walls(X, np.ones(self.dimension)).nearest(X)

    def mended(self, X: Array) -> tuple[Array, Indices]:
        """Admissible points near X (N, d), and the places of those for which one was found."""
        if len(X) == 0:
            return X, np.empty(0, dtype=np.intp)
        X = self._settled(X, thorough=False)
        found = np.flatnonzero(self.frame.holds(X))
        return X[found], found

    def walls(self, X: Array, widths: Array) -> Walls:
        """The bounds of a climb from admissible points X (B, d), with steps of such widths."""
        here = self.frame.canonical(X)[1]
        return self.frame.walls(X, here, pattern_at(self.frame.stack, X, here), widths)

    def equalities(self, x: Array) -> list[tuple[Array, float]]:
        """The equalities that an admissible point (d,) obeys: coefficients (d,) and sums."""
        here = self.frame.canonical(x[None, :])[1]
        stack = self.frame.stack
        applies = pattern_at(stack, x[None, :], here).applies[0] & stack.equal
        return [(stack.C[term], float(stack.b[term])) for term in np.flatnonzero(applies)]

    @cached_property
    def moves(self) -> list[Move]:
        """The kinds of discrete moves."""
        return moves_of(self.frame)

    def _settled(self, X: Array, thorough: bool = True) -> Array:
        """Points moved onto lists and inside the pattern they are nearest to."""
        frame = self.frame
        here = frame.canonical(X)[1]
        X, here = frame.canonical(frame.snapped(X, here))
        X = X.copy()
        rows = np.flatnonzero(~frame.holds(X))
        if len(rows):
            pattern = pattern_at(frame.stack, X[rows], here[rows])
            X[rows] = frame.completed(X[rows], here[rows], pattern, thorough)
        return X

    @cached_property
    def _memory(self) -> Array:
        return self.sample(_MEMORY, np.random.default_rng(0))
