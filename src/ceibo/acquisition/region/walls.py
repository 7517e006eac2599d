"""The bounds of a climb under linear rules between the values of columns.

Notation: B starts, d columns, m linear terms Σ_k C_ik v_k ≤ b_i (or =) in the values v of the
coordinates u. A step is the best one of a quadratic model under all bounds (step.py), which are
linear in a step s of the coordinates of evenly spaced columns, and in v' s, with v' = dv/du, for
logarithmic ones. Those move along v + v' s, not along u + s, so that a point that obeys the terms
obeys them after any share of a step.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, final

import numpy as np

from ceibo.acquisition.region.step import constrained_step
from ceibo.acquisition.region.values import Values
from ceibo.gp.ascent import Bounds, Hessians
from ceibo.gp.inputs import Array, Indices, Mask
from ceibo.gp.limited import MOST_DENSE, LimitedHessians

_ROUNDING: Final = 1e-14  # of a term's scale, within which it holds as well as it can
_TURNS: Final = 20  # in which columns reach their bounds, where they are many
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
        metric = _metric(H, self.widths)
        g = np.where(self._moving, gradient, 0.0)
        free = metric * g if metric.ndim == x.ndim else (metric @ g[:, :, None])[:, :, 0]
        size = (np.abs(free) / self._reach).max(axis=1)
        share = np.minimum(1.0, 1.0 / np.maximum(size, 1e-300))
        return g, self._step(x, g, metric * np.expand_dims(share, tuple(range(1, metric.ndim))))

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
            squares = self.widths**2
            metric = np.diag(squares) if len(squares) <= MOST_DENSE else squares
            metric = np.broadcast_to(metric, (len(here), *metric.shape))
            x[rows] = walls.moved(here, walls._step(here, None, metric))
            room = np.where(walls.applies, self.b - self.values.at(x[rows]) @ self.C.T, 0.0)
            broken: Mask = np.where(self.equal, np.abs(room), -room) > slack
            again = np.asarray(broken.any(axis=1))
            walls, rows = walls.keep(again), rows[again]
            if len(rows) == 0:
                break
        return x

    @cached_property
    def _reach(self) -> Array:
        """(d,) how far a step may go in each column for its model to be believed."""
        decades = np.where(self.values.curved, self.values.decades, 1.0)
        curved = np.where(self.values.curved & (self.widths > 0.0), _CURVED_REACH / decades, np.inf)
        return np.asarray(np.minimum(np.maximum(_REACH * self.widths, 1e-12), curved))

    @cached_property
    def _moving(self) -> Mask:
        return np.asarray((self.widths > 0.0) & (self.lower < self.upper))

    def _step(self, x: Array, g: Array | None, metric: Array) -> Array:
        """The best step among the columns that move in any start; the shortest if g is None."""
        plan = self._shortest if g is None else self._best
        columns = plan.columns
        step = np.zeros_like(x)
        if len(columns) == 0:
            return step
        V = self.values.at(x)
        room = np.where(plan.applies, plan.b - V @ plan.C.T, np.inf)
        floor = np.where(plan.equal, room, -np.inf)
        slopes = self.values.slopes(V) if plan.is_curved else self.values.width
        A = plan.A * slopes[..., None, columns]
        below, above = (self.lower - x)[:, columns], (self.upper - x)[:, columns]
        if plan.is_curved:
            curved = self.values.curved[columns]
            safe = np.where(curved, slopes[:, columns], 1.0)
            below = np.where(curved, (plan.lowest - V[:, columns]) / safe, below)
            above = np.where(curved, (plan.highest - V[:, columns]) / safe, above)
        slope = np.zeros((len(x), len(columns))) if g is None else g[:, columns]
        if metric.ndim == x.ndim:
            sides = (floor, room), (below, above)
            step[:, columns] = _step_of_many(A, *sides, metric[:, columns], slope)
            return step
        step[:, columns] = constrained_step(
            np.concatenate([A, plan.identity], axis=1),
            np.concatenate([floor, below], axis=1),
            np.concatenate([room, above], axis=1),
            metric[:, columns[:, None], columns],
            slope,
        )[0]
        return step

    @cached_property
    def _best(self) -> "_Plan":
        return self._plan(self._moving)

    @cached_property
    def _shortest(self) -> "_Plan":
        """Only columns that terms speak of need to move."""
        used = self.applies.any(axis=0)
        return self._plan(self._moving & (self.C[used] != 0.0).any(axis=0))

    def _plan(self, moving: Mask) -> "_Plan":
        columns = np.flatnonzero(moving.any(axis=0))
        used = np.flatnonzero(self.applies.any(axis=0))
        applies, d = self.applies[:, used], len(columns)
        A = self.C[used][:, columns] * (moving[:, None, columns] & applies[:, :, None])
        return _Plan(
            columns,
            self.C[used],
            self.b[used],
            applies,
            applies & self.equal[used],
            A,
            np.broadcast_to(np.eye(d), (len(applies), d, d)),
            bool(self.values.curved[columns].any()),
            self.values.at(self.lower)[:, columns],
            self.values.at(self.upper)[:, columns],
        )


@final
@dataclass(frozen=True, eq=False)
class _Plan:
    """What the steps of all starts have in common: c columns that move, t terms that apply."""

    columns: Indices  # (c,)
    C: Array  # (t, d)
    b: Array  # (t,)
    applies: Mask  # (B, t)
    equal: Mask  # (B, t)
    A: Array  # (B, t, c) coefficients, zero where a column is held
    identity: Array  # (B, c, c)
    is_curved: bool
    lowest: Array  # (B, c) values
    highest: Array  # (B, c)


def _metric(H: Hessians, widths: Array) -> Array:
    """Inverse Hessians as matrices (B, d, d); in many dimensions the diagonal (B, d) of a guess."""
    if isinstance(H, LimitedHessians):
        return np.asarray(H.scale[:, None] * widths**2)
    return H


def _step_of_many(
    A: Array, terms: tuple[Array, Array], bounds: tuple[Array, Array], metric: Array, g: Array
) -> Array:
    """Steps (B, c) of many columns in a diagonal metric: bounds are reached by turns.

    Columns that a step would take out of their bounds are put there, and the others step again.
    """
    (floor, room), (below, above) = terms, bounds
    fixed, held = np.zeros_like(g), np.zeros(g.shape, dtype=bool)
    for _ in range(_TURNS):
        taken = np.einsum("btc,bc->bt", A, fixed)
        free = A * ~held[:, None, :]
        found = constrained_step(free, floor - taken, room - taken, metric, np.where(held, 0.0, g))
        step = np.where(held, fixed, found[0])
        low, high = ~held & (step < below), ~held & (step > above)
        if not (low | high).any():
            return step
        fixed = np.where(low, below, np.where(high, above, fixed))
        held |= low | high
    side = np.where(step < 0.0, below, above)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(step == 0.0, 1.0, side / step).min(axis=1)
    return np.asarray(np.clip(share, 0.0, 1.0)[:, None] * step)
