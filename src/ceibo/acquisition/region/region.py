"""Region: where a search may look, if not in the whole cube."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, final

import numpy as np

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

_CANDIDATES: Final = 16  # from which each point of a design is chosen
_DESIGN: Final = 64  # points of a design that are kept apart; later ones are drawn
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
        self._drawer = Drawer(self.frame)
        self._latest_design: tuple[int, Array] = (-1, np.empty((0, len(columns))))

    @property
    def dimension(self) -> int:
        """d, the number of columns."""
        return self.frame.dimension

    @property
    def discrete(self) -> dict[int, Array]:
        """Column -> allowed coordinates."""
        return self.frame.values.discrete

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

    def spread(self, count: int, rng: np.random.Generator) -> Array:
        """Admissible points (count, d) that keep apart; point i does not depend on the count.

        Each is the one, of a few drawn for it, that is furthest from those before it.
        """
        key = int(rng.integers(2**62))
        return np.stack([self.design_point(index, key) for index in range(count)])

    def design_point(self, index: int, key: int) -> Array:
        """Point `index` (d,) of a design of points that keep apart, one design for each key."""
        if index >= _DESIGN:
            return self.sample(1, np.random.default_rng([key, index]))[0]
        if self._latest_design[0] != key:
            self._latest_design = key, self._design(key)
        return self._latest_design[1][index]

    def _design(self, key: int) -> Array:
        drawn = self.sample(_CANDIDATES * _DESIGN, np.random.default_rng([key]))
        chosen = drawn[:1]
        words = [k for k, column in enumerate(self.frame.values.columns) if column is None]
        for index in range(1, _DESIGN):
            some = drawn[index * _CANDIDATES : (index + 1) * _CANDIDATES]
            gaps = np.abs(some[:, None, :] - chosen)
            gaps[:, :, words] = 0.5 * (gaps[:, :, words] > 0.0)
            nearest = (gaps**2).sum(axis=2).min(axis=1)
            chosen = np.concatenate([chosen, some[[int(np.argmax(nearest))]]])
        return chosen

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
            X, _ = self._settled(X)
            lost = np.flatnonzero(~self.frame.holds(X))
            if len(lost):
                memory = self._memory
                gaps = ((X[lost, None, :] - memory) ** 2).sum(axis=2)
                X[lost] = memory[np.argmin(gaps, axis=1)]
        return X

    def mended(self, X: Array) -> tuple[Array, Indices]:
        """Admissible points near X (N, d), and the places of those for which one was found."""
        if len(X) == 0:
            return X, np.empty(0, dtype=np.intp)
        X, _ = self._settled(X)
        found = np.flatnonzero(self.frame.holds(X))
        return X[found], found

    def walls(self, X: Array, widths: Array) -> Walls:
        """The bounds of a climb from admissible points X (B, d), with steps of such widths."""
        here = self.frame.canonical(X)[1]
        return self.frame.walls(X, here, pattern_at(self.frame.stack, X, here), widths)

    @cached_property
    def moves(self) -> list[Move]:
        """The kinds of discrete moves."""
        return moves_of(self.frame)

    @property
    def is_listed(self) -> bool:
        """Whether all columns are listed, so that there are finitely many points."""
        return not self.frame.values.is_continuous.any()

    def _settled(self, X: Array) -> tuple[Array, Mask]:
        """Points moved onto lists and inside the pattern they are nearest to."""
        frame = self.frame
        here = frame.canonical(X)[1]
        X, here = frame.canonical(frame.snapped(X, here))
        X = X.copy()
        rows = np.flatnonzero(~frame.holds(X))
        if len(rows):
            pattern = pattern_at(frame.stack, X[rows], here[rows])
            X[rows] = frame.completed(X[rows], here[rows], pattern)
        return X, here

    @cached_property
    def _memory(self) -> Array:
        return self.sample(_MEMORY, np.random.default_rng(0))
