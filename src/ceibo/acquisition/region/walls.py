"""The bounds of a climb under linear rules between the values of columns.

Notation: B starts, d columns, m linear terms Σ_k C_ik v_k ≤ b_i (or =) in the values v of the
coordinates u. A step is the best one of a quadratic model under all bounds (step.py), which are
linear in a step s of the coordinates of evenly spaced columns, and in v' s, with v' = dv/du, for
logarithmic ones. Those move along v + v' s, not along u + s, so that a point that obeys the terms
obeys them after any share of a step.
"""

from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from ceibo.acquisition.region.step import constrained_step
from ceibo.acquisition.region.values import Values
from ceibo.gp.ascent import Bounds, Hessians
from ceibo.gp.inputs import Array, Mask
from ceibo.gp.limited import LimitedHessians

_ROUNDING: Final = 1e-14  # of a term's scale, within which it holds as well as it can
_REACH: Final = 0.5  # longest step, in widths, for which the quadratic model is asked
_CURVED_REACH: Final = 0.5  # the largest relative change of a value on a logarithmic scale


@final
@dataclass(frozen=True, eq=False)
class Walls(Bounds):
    """Linear terms, bounds of coordinates and columns held, for each start.

    Args:
        values: of the columns.
        widths: (d,) natural length of a step; 0 in discrete columns.
        C: (m, d) coefficients.
        b: (m,) bounds of the terms.
        equal: (m,) which terms are equalities.
        applies: (B, m) which terms a start obeys.
        lower, upper: (B, d) bounds of the coordinates; equal where a column is held.
    """

    values: Values
    widths: Array
    C: Array
    b: Array
    equal: Mask
    applies: Mask
    lower: Array
    upper: Array

    def keep(self, mask: Mask) -> "Walls":
        """The walls of the starts in a mask (B,)."""
        parts = {name: getattr(self, name)[mask] for name in ("applies", "lower", "upper")}
        return replace(self, **parts)

    def directed(self, x: Array, gradient: Array, H: Hessians) -> tuple[Array, Array]:
        """The gradient without the columns held, and the best step inside the walls."""
        metric = _dense(H, self.widths)
        g = np.where(self._moving, gradient, 0.0)
        reach = np.where(self.values.curved & self.widths.astype(bool), self._curved_reach, np.inf)
        reach = np.minimum(np.maximum(_REACH * self.widths, 1e-12), reach)
        size = (np.abs(np.einsum("bij,bj->bi", metric, g)) / reach).max(axis=1)
        share = np.minimum(1.0, 1.0 / np.maximum(size, 1e-300))
        return g, self._step(x, g, metric * share[:, None, None])

    def moved(self, x: Array, step: Array) -> Array:
        """Along the values of logarithmic columns, and along the coordinates of others."""
        curved = self.values.curved
        if curved.any():
            L = np.where(curved, self.values.decades, 1.0)
            bent = np.log1p(np.maximum(step * L, -1.0 + 1e-12)) / L
            step = np.where(curved, bent, step)
        return np.clip(x + step, self.lower, self.upper)

    def nearest(self, x: Array) -> Array:
        """The points nearest to x (B, d) in units of the widths, from anywhere; (B, d)."""
        x = np.clip(x, self.lower, self.upper)
        walls, rows = self, np.arange(len(x))
        slack = _ROUNDING * (np.abs(self.C) @ self.values.width + np.abs(self.b))
        # The second step removes the rounding of the first.
        for _ in range(2):
            here = x[rows]
            metric = np.broadcast_to(np.diag(self.widths**2), (len(here), *2 * x.shape[1:]))
            x[rows] = walls.moved(here, walls._step(here, None, metric))
            room = np.where(walls.applies, self.b - self.values.at(x[rows]) @ self.C.T, 0.0)
            broken: Mask = np.where(self.equal, np.abs(room), -room) > slack
            again = np.asarray(broken.any(axis=1))
            walls, rows = walls.keep(again), rows[again]
            if len(rows) == 0:
                break
        return x

    @property
    def _curved_reach(self) -> Array:
        return _CURVED_REACH / np.where(self.values.curved, self.values.decades, 1.0)

    @property
    def _moving(self) -> Mask:
        return (self.widths > 0.0) & (self.lower < self.upper)

    def _step(self, x: Array, g: Array | None, metric: Array) -> Array:
        """The best step among the columns that move in any start; the shortest if g is None."""
        moving = self._moving
        used = np.flatnonzero(self.applies.any(axis=0))
        if g is None:
            g = np.zeros_like(x)
            moving = moving & (self.C[used] != 0.0).any(axis=0)
        columns = np.flatnonzero(moving.any(axis=0))
        if len(columns) == 0:
            return np.zeros_like(x)
        V = self.values.at(x)
        slopes = self.values.slopes(V)
        C, applies = self.C[used], self.applies[:, used]
        room = np.where(applies, self.b[used] - V @ C.T, np.inf)
        floor = np.where(applies & self.equal[used], room, -np.inf)
        A = C[:, columns] * np.where(moving, slopes, 0.0)[:, None, columns] * applies[:, :, None]
        below, above = self._sides(x, V, slopes)
        identity = np.broadcast_to(np.eye(len(columns)), (len(x), len(columns), len(columns)))
        step = np.zeros_like(x)
        step[:, columns] = constrained_step(
            np.concatenate([A, identity], axis=1),
            np.concatenate([floor, below[:, columns]], axis=1),
            np.concatenate([room, above[:, columns]], axis=1),
            metric[:, columns[:, None], columns],
            g[:, columns],
        )[0]
        return step

    def _sides(self, x: Array, V: Array, slopes: Array) -> tuple[Array, Array]:
        """How far steps may go down and up in each column, (B, d) each."""
        below, above = self.lower - x, self.upper - x
        curved = self.values.curved
        if curved.any():
            safe = np.where(curved, slopes, 1.0)
            below = np.where(curved, (self.values.at(self.lower) - V) / safe, below)
            above = np.where(curved, (self.values.at(self.upper) - V) / safe, above)
        return below, above


def _dense(H: Hessians, widths: Array) -> Array:
    """Inverse Hessians as matrices; of those in many dimensions, their first guess."""
    if isinstance(H, LimitedHessians):
        return np.asarray(H.scale[:, None, None] * np.diag(widths**2))
    return H
