"""Discrete moves: what a climb over continuous columns cannot do.

From a point: another value of one listed column; of two listed columns in the same equality, one up
and the other down; of a count, one part in place of another, one more, or one less; and another
alternative of a requirement. What a move breaks is mended afterwards by the region.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import permutations
from typing import Final, final

import numpy as np

from ceibo.acquisition.region.frame import Frame
from ceibo.acquisition.region.patterns import pattern_at
from ceibo.acquisition.region.terms import Count
from ceibo.gp.grid import evenly
from ceibo.gp.inputs import Array, Indices

_WIDEST: Final = 64  # values of one column tried at a time
_MOST_PAIRS: Final = 132  # pairs of columns between which amounts are exchanged
_SHIFTS: Final = (1, -1, 2, -2, 5, -5)  # levels, in an exchange
_NEW_PART: Final = 0.25  # share of its range at which a part comes in


class Move(ABC):
    """A kind of move. Abstract."""

    @abstractmethod
    def tried(self, X: Array) -> tuple[Array, Indices]:
        """Points (N, d) one move away from those of X (B, d), and the place in X of each.

        They may break rules.
        """


def moves_of(frame: Frame) -> list[Move]:
    """All kinds of moves in a region."""
    listed = [k for k, allowed in frame.values.discrete.items() if len(allowed) > 1]
    kinds: list[Move] = [Level(frame, k) for k in listed]
    stack = frame.stack
    pairs: dict[tuple[int, int, int], None] = {}
    for term in np.flatnonzero(stack.equal):
        together = [k for k in frame.stepped if stack.C[term, k] != 0.0]
        pairs.update(dict.fromkeys((j, k, int(term)) for j, k in permutations(together, 2)))
    if pairs:
        kinds.append(Exchange(frame, tuple(pairs)[:_MOST_PAIRS]))
    for index, choice in enumerate(stack.choices):
        for place, alternative in enumerate(choice.alternatives):
            kinds += [Parts(frame, count) for count in alternative.counts]
            if len(choice.alternatives) > 1 and not alternative.is_listed:
                kinds.append(Detour(frame, index, place))
    return kinds


@final
@dataclass(frozen=True, eq=False)
class Level(Move):
    """Another value of one listed column: any, or of very many the nearest and an even spread."""

    frame: Frame
    column: int

    def tried(self, X: Array) -> tuple[Array, Indices]:
        allowed, at = self.frame.values.discrete[self.column], X[:, self.column]
        if len(allowed) <= _WIDEST:
            values = np.broadcast_to(allowed, (len(X), len(allowed)))
        else:
            quarter = _WIDEST // 4
            even = np.broadcast_to(evenly(len(allowed), _WIDEST // 2), (len(X), _WIDEST // 2))
            near = np.searchsorted(allowed, at)[:, None] + np.arange(-quarter, quarter + 1)
            places = np.concatenate([np.clip(near, 0, len(allowed) - 1), even], axis=1)
            values = allowed[places]
        rows, which = np.nonzero(np.abs(values - at[:, None]) > 1e-12)
        found = X[rows]
        found[:, self.column] = values[rows, which]
        active = self.frame.canonical(X)[1][rows, self.column]
        return found[active], rows[active]


@final
@dataclass(frozen=True, eq=False)
class Exchange(Move):
    """An amount taken from one listed column and given to another, in the same equality."""

    frame: Frame
    pairs: tuple[tuple[int, int, int], ...]  # from, to, the equality

    def tried(self, X: Array) -> tuple[Array, Indices]:
        values = self.frame.values
        V = values.at(X)
        found, rows = [], []
        for j, k, term in self.pairs:
            levels, others = values.values_of(j), values.values_of(k)
            places = np.argmin(np.abs(V[:, j, None] - levels), axis=1)
            ratio = self.frame.stack.C[term, j] / self.frame.stack.C[term, k]
            targets = [np.clip(places + shift, 0, len(levels) - 1) for shift in _SHIFTS]
            # the amount of the other, so that the two change places
            targets.append(np.argmin(np.abs(V[:, k, None] - levels), axis=1))
            for target in targets:
                wanted = V[:, k] - ratio * (levels[target] - V[:, j])
                other = np.argmin(np.abs(wanted[:, None] - others), axis=1)
                moved = X.copy()
                moved[:, j] = values.discrete[j][target]
                moved[:, k] = values.discrete[k][other]
                exact = np.abs(others[other] - wanted) <= 1e-9 * values.width[k]
                changed = np.flatnonzero(exact & (target != places))
                found.append(moved[changed])
                rows.append(changed)
        return np.concatenate(found), np.concatenate(rows)


@final
@dataclass(frozen=True, eq=False)
class Parts(Move):
    """Of the parts of a count: one in place of another, one more, one less."""

    frame: Frame
    count: Count

    def tried(self, X: Array) -> tuple[Array, Indices]:
        values, columns = self.frame.values, np.array(self.count.columns)
        V, may_leave = values.at(X)[:, columns], ~np.isnan(values.zeros[columns])
        inside = ~self.frame.stack.is_zero(X)[:, columns]
        size = inside.sum(axis=1)
        leaves = inside & may_leave
        out = np.nonzero(leaves & (size > self.count.least)[:, None])
        new = np.nonzero(~inside & (size < self.count.most)[:, None])
        swap = np.nonzero(leaves[:, :, None] & ~inside[:, None, :])
        rows = np.concatenate([out[0], new[0], swap[0]])
        gone = np.concatenate([out[1], np.full(len(new[0]), -1), swap[1]])
        comes = np.concatenate([np.full(len(out[0]), -1), new[1], swap[2]])
        amounts = np.where(gone >= 0, V[rows, gone], np.nan)
        found = X[rows]
        for place, k in enumerate(columns.tolist()):
            found[gone == place, k] = values.zeros[k]
            there = comes == place
            if there.any():
                found[there, k] = self._unit(amounts[there], k)
        return found, rows

    def _unit(self, amounts: Array, k: int) -> Array:
        """Coordinates of amounts (n,) of a column, not zero; a new part's where one is NaN."""
        values = self.frame.values
        new = values.low[k] + _NEW_PART * values.width[k]
        new = new if new != 0.0 else values.high[k]
        wanted = np.clip(np.where(np.isnan(amounts), new, amounts), values.low[k], values.high[k])
        if k not in values.discrete:
            return values.unit(k, wanted)
        levels = values.values_of(k)
        gaps = np.where(levels == 0.0, np.inf, np.abs(wanted[:, None] - levels))
        return np.asarray(values.discrete[k][np.argmin(gaps, axis=1)])


@final
@dataclass(frozen=True, eq=False)
class Detour(Move):
    """To the nearest point that obeys another alternative of a requirement."""

    frame: Frame
    choice: int
    alternative: int

    def tried(self, X: Array) -> tuple[Array, Indices]:
        frame = self.frame
        wanted = frame.stack.choices[self.choice].alternatives[self.alternative]
        X = X.copy()
        for among in wanted.among:
            nearest = np.argmin(np.abs(X[:, among.column, None] - among.coordinates), axis=1)
            X[:, among.column] = among.coordinates[nearest]
        X, here = frame.canonical(X)
        pattern = pattern_at(frame.stack, X, here, (self.choice, self.alternative))
        X = np.where(pattern.zero & here, frame.values.zeros, X)
        return frame.projected(X, here, pattern), np.arange(len(X))
