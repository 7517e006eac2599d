"""Random admissible points.

Listed columns, alternatives and supports are drawn first, each value as likely as another; given
them, the columns that linear terms couple are uniform in the polytope that is left (in their
coordinates; those on a logarithmic scale count by their logarithm), and the rest is uniform.

Listed columns with numbers in linear terms, such as steps of a mixture, are drawn together with the
continuous ones, as if all values of their range were allowed, moved to their nearest level, and
mended one level at a time until the terms hold.
"""

from typing import TYPE_CHECKING, Final, final

import numpy as np

from ceibo.acquisition.region.patterns import Pattern, draw_pattern
from ceibo.acquisition.region.polytope import Polytope, polytope
from ceibo.gp.grid import snap, spread_points
from ceibo.gp.inputs import Array, Indices, Mask

if TYPE_CHECKING:
    from ceibo.acquisition.region.frame import Frame

_ROUNDS: Final = 24
_MOST_CELLS: Final = 12  # polytopes used by one draw
_KEPT, _KEPT_FEW = 256, 64  # uniform points kept of each polytope, and of small or large ones
_SMALL, _LARGE = 4, 40  # dimensions
_ENOUGH: Final = 0.2  # share of points of the cube that must hold for drawing to be by rejection


@final
class Drawer:
    """Draws admissible points, and keeps the polytopes it has made."""

    def __init__(self, frame: "Frame") -> None:
        self.frame = frame
        self._made: dict[bytes, Polytope | None] = {}

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Up to `count` admissible points (N, d); fewer, or none, where they are hard to find."""
        frame = self.frame
        if frame.is_open:
            X, _ = frame.canonical(self._listed(4 * count, rng))
            good = np.flatnonzero(frame.holds(X))
            if len(good) >= max(_ENOUGH * len(X), count):
                return X[good[:count]]
        found, asked = np.empty((0, frame.dimension)), 0
        for turn in range(_ROUNDS):
            missing = count - len(found)
            if missing <= 0 or (turn >= _ROUNDS // 3 and len(found) == 0 and not self._hope):
                break
            share = max(len(found), 1) / max(asked, 1) if turn else 1.0
            wanted = min(int(1.2 * missing / share) + 8, 4096) if turn else missing
            asked += wanted
            found = np.concatenate([found, self._round(wanted, rng)])
        return found[:count]

    @property
    def _hope(self) -> bool:
        """Whether some polytope is not empty, so that more draws may succeed."""
        return any(each is not None for each in self._made.values()) or not self._made

    def _listed(self, count: int, rng: np.random.Generator) -> Array:
        points = spread_points(count, self.frame.dimension, rng)
        return snap(points, self.frame.values.discrete)

    def _round(self, count: int, rng: np.random.Generator) -> Array:
        frame = self.frame
        X, here = frame.canonical(self._listed(count, rng))
        pattern = draw_pattern(frame.stack, X, here, rng)
        rows = np.flatnonzero(pattern.possible)
        X, here, pattern = X[rows], here[rows], pattern.keep(rows)
        if len(X) == 0:
            return X
        rows = self._few_cells(_groups(self._keys(pattern, here)), rng)
        X, here, pattern = X[rows], here[rows], pattern.keep(rows)
        X = np.where(pattern.zero & here, frame.values.zeros, X)
        X, drawn = self._inside(X, here, pattern, rng)
        X, here, pattern = X[drawn], here[drawn], pattern.keep(drawn)
        X = frame.completed(X, here, pattern)
        return X[frame.holds(X)]

    def _keys(self, pattern: Pattern, here: Mask) -> Mask:
        """What tells polytopes apart, (N, m + 3d)."""
        coupled = self.frame.stack.coupled
        parts = [pattern.applies, pattern.zero & coupled, pattern.present & coupled, here & coupled]
        return np.concatenate(parts, axis=1)

    def _few_cells(self, groups: list[Indices], rng: np.random.Generator) -> Indices:
        """(N,) places, such that those of too many polytopes are replaced by others."""
        rows: Indices = np.arange(sum(map(len, groups)))
        if len(groups) > _MOST_CELLS:
            order = sorted(groups, key=len, reverse=True)
            used = np.concatenate(order[:_MOST_CELLS])
            others = np.concatenate(order[_MOST_CELLS:])
            rows[others] = rng.choice(used, size=len(others))
        return rows

    def _inside(
        self, X: Array, here: Mask, pattern: Pattern, rng: np.random.Generator
    ) -> tuple[Array, Indices]:
        """Coupled columns drawn in the polytope of each point; and the points that have one."""
        frame, keys = self.frame, self._keys(pattern, here)
        drawn = np.zeros(len(X), dtype=bool)
        X = X.copy()
        for rows in _groups(keys):
            first = rows[0]
            columns = np.flatnonzero(self._variables(keys[first], pattern, first))
            if len(columns) == 0:
                drawn[rows] = True
                continue
            cell = self._polytope(keys[first], columns, pattern.keep(rows[:1]))
            if cell is None:
                continue
            X[np.ix_(rows, columns)] = frame.from_shares(cell.sample(len(rows), rng), columns)
            drawn[rows] = True
        return X, np.flatnonzero(drawn)

    def _variables(self, key: Mask, pattern: Pattern, row: int) -> Mask:
        """(d,) the columns that vary in a polytope: those in its terms that are not held."""
        frame = self.frame
        m = len(frame.stack.b)
        named = (frame.stack.C[key[:m]] != 0.0).any(axis=0)
        return np.asarray(named & ~pattern.zero[row] & frame.varies)

    def _polytope(self, key: Mask, columns: Indices, pattern: Pattern) -> Polytope | None:
        """The polytope of a pattern in shares of the ranges of its columns, made once."""
        name = key.tobytes()
        if name not in self._made:
            made = self._make(columns, pattern)
            if made is not None:
                few = made.dimension <= _SMALL or made.dimension > _LARGE
                kept = _KEPT_FEW if few else _KEPT
                made = made.settled(kept, np.random.default_rng(len(columns)))
            self._made[name] = made
        return self._made[name]

    def _make(self, columns: Indices, pattern: Pattern) -> Polytope | None:
        frame, stack, values = self.frame, self.frame.stack, self.frame.values
        terms = np.flatnonzero(pattern.applies[0])
        C = stack.C[terms]
        rest = np.ones(frame.dimension, dtype=bool)
        rest[columns] = False
        fixed = np.where(pattern.zero[0], 0.0, np.where(rest, frame.constants, 0.0))
        base = np.where(rest, fixed, values.low)
        A = C[:, columns] * values.width[columns]
        high = stack.b[terms] - C @ base
        low = np.where(stack.equal[terms], high, -np.inf)
        # parts that must be present keep away from zero
        below, above = (side[0, columns] for side in pattern.bounds(stack))
        A = np.concatenate([A, np.eye(len(columns))])
        low, high = np.concatenate([low, below]), np.concatenate([high, above])
        shares = values.low[columns] / values.width[columns]
        offsets = np.where(values.curved[columns], shares, np.inf)
        return polytope(A, low, high, offsets)


def _groups(keys: Mask) -> list[Indices]:
    """The places of equal rows, in the order in which they first appear."""
    found: dict[bytes, list[int]] = {}
    for place, row in enumerate(np.packbits(keys, axis=1)):
        found.setdefault(row.tobytes(), []).append(place)
    return [np.array(places, dtype=np.intp) for places in found.values()]
