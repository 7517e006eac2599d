"""Columns that exist only in branches: where they do, and the coordinates they have elsewhere.

A search keeps a coordinate for every column, also where that does not exist, and looks at the
surface at the canonical point: when a step to another branch makes a column exist, its coordinate
is there already.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.acquisition.region.terms import Branch
from ceibo.gp.inputs import Array, Mask

_SAME: Final = 1e-9  # coordinates of two values of a parent are farther apart


@final
@dataclass(frozen=True)
class Branching:
    """Branches in an order in which the column of a parent comes before its children's."""

    branches: tuple[Branch, ...]

    @staticmethod
    def of(branches: Sequence[Branch]) -> "Branching | None":
        """The branches in order; None if there are none."""
        left, ordered = list(branches), []
        while left:
            waiting = {each.column for each in left}
            ready = [each for each in left if each.parent not in waiting]
            ordered += ready
            left = [each for each in left if each.parent in waiting]
            if not ready:
                raise ValueError("a column exists depending on itself")
        return Branching(tuple(ordered)) if ordered else None

    def active(self, X: Array) -> Mask:
        """Which columns exist at the points X (n, d), whatever their coordinates; (n, d)."""
        there = np.ones(X.shape, dtype=bool)
        for each in self.branches:
            gaps = np.abs(X[:, each.parent, None] - each.coordinates)
            there[:, each.column] &= there[:, each.parent] & np.any(gaps < _SAME, axis=1)
        return there

    def canonical(self, X: Array) -> Array:
        """The points with the coordinates of absence where a column does not exist, (n, d)."""
        there = self.active(X)
        X = X.copy()
        for each in self.branches:
            X[~there[:, each.column], each.column] = each.inactive
        return X
