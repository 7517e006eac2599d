"""Which columns exist at a point: branches."""

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from ceibo.acquisition.region.terms import Branch
from ceibo.gp.inputs import Array, Mask

_SAME: Final = 1e-9  # coordinates of a list this close are one


def is_listed(u: Array, coordinates: Array) -> Mask:
    """Whether each coordinate (N,) is one of a list."""
    if len(coordinates) == 0:
        return np.zeros(u.shape, dtype=bool)
    return np.asarray((np.abs(u[:, None] - coordinates) <= _SAME).any(axis=1))


@final
class Activity:
    """Which columns are active, and the coordinates of those that are not."""

    def __init__(self, branches: Sequence[Branch], dimension: int) -> None:
        self.branches, self.dimension = tuple(branches), dimension
        self.parents = sorted({branch.parent for branch in branches})

    def active(self, X: Array) -> Mask:
        """(N, d) which columns exist at points (N, d)."""
        here = np.ones(X.shape, dtype=bool)
        listed = [is_listed(X[:, each.parent], each.coordinates) for each in self.branches]
        # A branch of a branch ends with it; chains are no longer than the list.
        for _ in self.branches:
            before = here.copy()
            for each, among in zip(self.branches, listed, strict=True):
                here[:, each.column] &= here[:, each.parent] & among
            if np.array_equal(before, here):
                break
        return here

    def canonical(self, X: Array) -> tuple[Array, Mask]:
        """The points with inactive columns at their coordinates, and which columns are active."""
        if not self.branches:
            return X, np.ones(X.shape, dtype=bool)
        here = self.active(X)
        X = X.copy()
        for each in self.branches:
            gone = ~here[:, each.column]
            X[gone, each.column] = each.inactive
        return X, here
