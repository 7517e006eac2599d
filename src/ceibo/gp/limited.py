"""Inverse Hessians in many dimensions, from the last few steps alone (L-BFGS).

Notation: B starts, d dimensions, m steps kept. s_i are steps, y_i the changes of −gradient along
them, and H_0 = scale·diag(widths²). The product of H with a vector comes from the two-loop
recursion (Nocedal and Wright 2006, algorithm 7.4) at the price of 4·m·d, where a matrix would take
d² of time and memory. Where coordinates are held at a bound, the parts of s_i and y_i along the
others take their place: what is left is a positive definite matrix of the free coordinates.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.gp.inputs import Array, Mask

MOST_DENSE: Final = 102
"""Dimensions up to which inverse Hessians are matrices: 100 length scales, a variance, a noise."""
_KEPT: Final = 12  # steps
# A step is used only where it shows at least this curvature, relative to its length.
_LEAST_CURVATURE: Final = 1e-10


@final
@dataclass(frozen=True, eq=False)
class LimitedHessians:
    """Inverse Hessians of −f of B starts; an unused place among the steps holds zeros."""

    steps: Array  # (B, m, d), latest last
    changes: Array  # (B, m, d)
    scale: Array  # (B,)

    @staticmethod
    def guess(count: int, dimension: int) -> "LimitedHessians":
        """Those of a start that has not moved."""
        nothing = np.zeros((count, _KEPT, dimension))
        return LimitedHessians(nothing, nothing, np.ones(count))

    def __getitem__(self, rows: Mask) -> "LimitedHessians":
        return LimitedHessians(self.steps[rows], self.changes[rows], self.scale[rows])

    def times(self, slope: Array, widths: Array, held: Mask) -> Array:
        """H times the slopes (B, d), of the coordinates that are not held; zero in those."""
        free = ~held
        S, Y = self.steps * free[:, None, :], self.changes * free[:, None, :]
        curvature = np.einsum("bmd,bmd->bm", S, Y)
        lengths = np.einsum("bmd,bmd->bm", S, S) * np.einsum("bmd,bmd->bm", Y, Y)
        usable = curvature > _LEAST_CURVATURE * np.sqrt(lengths)
        rho = usable / np.where(usable, curvature, 1.0)
        q = slope.copy()
        shares = np.zeros_like(rho)
        for k in reversed(range(_KEPT)):
            shares[:, k] = rho[:, k] * np.einsum("bd,bd->b", S[:, k], q)
            q -= shares[:, k, None] * Y[:, k]
        q *= self.scale[:, None] * widths**2
        for k in range(_KEPT):
            back = rho[:, k] * np.einsum("bd,bd->b", Y[:, k], q)
            q += (shares[:, k] - back)[:, None] * S[:, k]
        return np.where(free, q, 0.0)

    def after(self, usable: Mask, s: Array, y: Array, widths: Array) -> "LimitedHessians":
        """After moves s, −gradient changing by y, (B, d) each, of the starts that are usable."""
        moved = usable[:, None, None]
        steps = np.concatenate([self.steps[:, 1:], s[:, None, :]], axis=1)
        changes = np.concatenate([self.changes[:, 1:], y[:, None, :]], axis=1)
        weighted = np.einsum("bd,bd->b", y * widths, y * widths)
        # the size of the first guess, from the curvature just seen
        seen = np.einsum("bd,bd->b", s, y) / np.where(usable, weighted, 1.0)
        return LimitedHessians(
            np.where(moved, steps, self.steps),
            np.where(moved, changes, self.changes),
            np.where(usable, seen, self.scale),
        )

    def forgotten(self, lost: Mask) -> "LimitedHessians":
        """With those of the lost starts as they were before their first move."""
        kept = ~lost[:, None, None]
        scale = np.where(lost, 1.0, self.scale)
        return LimitedHessians(self.steps * kept, self.changes * kept, scale)
