"""Which observations a model uses when there are very many.

Observations of one point, in the same blocks and of one kind of noise, known or unknown, form a
group. Merging a group is exact (gp/observations.py), so that a group costs the model as much as one
observation, and it is groups that are counted and chosen. All choices are functions of the
observations and their order alone.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.gp import GaussianProcess
from ceibo.gp.grid import evenly
from ceibo.gp.inputs import Array, Indices, Mask
from ceibo.gp.linalg import limited_blas

# Groups of each kind of noise in the data of a fit, at least, where there are as many: a noise
# variance cannot be inferred from less.
_HANDFUL: Final = 20
_BLOCK: Final = 256  # points predicted at a time: their matrices stay in the cache


@final
@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of n observations, in the order in which each began."""

    of: Indices  # (n,) the group of each observation
    first: Indices  # (g,) the first observation of each group
    unknown: Mask  # (g,) whether the noise of the group is unknown

    def __len__(self) -> int:
        return len(self.first)

    def rows(self, chosen: Indices) -> Indices:
        """The observations of the chosen groups, in order."""
        mask = np.zeros(len(self), dtype=bool)
        mask[chosen] = True
        return np.flatnonzero(mask[self.of])

    def spread(self, count: int) -> Indices:
        """At most so many groups spread evenly, known and unknown noise in proportion."""
        kinds = np.flatnonzero(self.unknown), np.flatnonzero(~self.unknown)
        fewer = min(kinds, key=len)
        least = min(len(fewer), _HANDFUL, count // 2)
        share = max(least, round(count * len(fewer) / len(self)))
        parts = []
        for kind in kinds:
            size = min(share if kind is fewer else count - share, len(kind))
            parts.append(kind[evenly(len(kind), size)])
        return np.sort(np.concatenate(parts))


def group(X: Array, noise: Array, block: Indices) -> Groups:
    """The groups of observations at points X (n, d), in blocks (n, b).

    Their noise (n,) is NaN where it is unknown.
    """
    unknown = np.isnan(noise)
    keys = np.column_stack([X + 0.0, unknown, block])  # −0.0 becomes 0.0
    places: dict[bytes, int] = {}
    rows = keys.view(f"V{keys.itemsize * keys.shape[1]}").ravel().tolist()
    of = np.array([places.setdefault(row, len(places)) for row in rows], dtype=np.intp)
    first = np.unique(of, return_index=True)[1]
    return Groups(of, first, unknown[first])


def most_telling(gp: GaussianProcess, X: Array, count: int) -> Indices:
    """Rows of the half with the best posterior means, and of an even spread over the rest."""
    order = np.argsort(_means(gp, X), kind="stable")
    best, rest = order[: count // 2], np.sort(order[count // 2 :])
    return np.sort(np.concatenate([best, rest[evenly(len(rest), count - count // 2)]]))


def _means(gp: GaussianProcess, X: Array) -> Array:
    """Posterior means at many points, less the prior mean, in units of `gp.unit`, (N,)."""
    state = gp.state
    with limited_blas(len(state.points)):
        blocks = np.array_split(X, len(X) // _BLOCK + 1)
        return np.concatenate(
            [gp.unit_kernel(block, state.points) @ state.alpha for block in blocks]
        )
