"""Many starts climbing together: a batched quasi-Newton (BFGS) ascent in a box or other bounds.

Each start keeps its own inverse Hessian and step, but all evaluations of a step are one batch,
which for small models costs little more than one point. A box is kept by projection: a coordinate
at a bound whose gradient points outward is held. A start ends when the quadratic model promises
less than the tolerance from another step, or when it has fallen far behind the best compared with
what its last step gained.

The hyperparameter fit climbs with it too, handing on the inverse Hessian learnt on a subset.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Final, final

import numpy as np

from ceibo.gp.inputs import Array, Indices, Mask
from ceibo.gp.limited import MOST_DENSE, LimitedHessians

# of −f, inverse: (B, d, d), or what is kept of them in many dimensions
Hessians = Array | LimitedHessians
# (B, d) -> values (B,), gradients (B, d)
Evaluate = Callable[[Array], tuple[Array, Array]]

# share of the predicted gain that a step must bring (Armijo)
_SUFFICIENT: Final = 1e-4
_SHORTEST: Final = 1e-12  # a step this short, in widths, ends a start
_TINY: Final = np.finfo(np.float64).tiny
# the last gain must be within this many tolerances for a start to end by its model's word
_SETTLED: Final = 100.0


class Bounds(ABC):
    """Where starts may climb, and the natural length of a step in each coordinate. Abstract."""

    widths: Array  # (d,); a coordinate of width 0 is held

    @abstractmethod
    def directed(self, x: Array, gradient: Array, H: Hessians) -> tuple[Array, Array]:
        """The gradient without the coordinates held, and the step to take; (B, d) each."""

    @abstractmethod
    def moved(self, x: Array, step: Array) -> Array:
        """Where a share of a step of `directed` leads, inside the bounds; (B, d) each."""

    def keep(self, mask: Mask) -> "Bounds":  # noqa: ARG002 - a box is the same for every start
        """The bounds of the starts in a mask (B,)."""
        return self


@final
@dataclass(frozen=True, eq=False)
class Box(Bounds):
    """Bounds, and the natural length of a step in each coordinate, (d,) each; width 0 holds it."""

    lower: Array
    upper: Array
    widths: Array

    def moved(self, x: Array, step: Array) -> Array:
        """The nearest point of the box."""
        trial = x + step
        np.minimum(np.maximum(trial, self.lower, out=trial), self.upper, out=trial)
        return trial

    def directed(self, x: Array, gradient: Array, H: Hessians) -> tuple[Array, Array]:
        """The gradient without the coordinates held, and H times it; (B, d) each."""
        bound = ((x <= self.lower) & (gradient < 0.0)) | ((x >= self.upper) & (gradient > 0.0))
        held = bound | (self.widths == 0.0)
        slope = np.where(held, 0.0, gradient)
        if isinstance(H, LimitedHessians):
            return slope, H.times(slope, self.widths, held)
        direction = H @ slope[:, :, None]
        bound &= self.widths > 0.0
        if bound.any():
            # The inverse Hessian of the free coordinates alone is the Schur complement
            # H_ff − H_fb H_bb⁻¹ H_bf.
            H_bb = np.where(bound[:, :, None] & bound[:, None, :], H, 0.0)
            diagonal = np.einsum("bii->bi", H_bb)
            # keeps rounding from making it singular
            diagonal += np.where(bound, 1e-10 * diagonal + _TINY, 1.0)
            direction -= H @ np.linalg.solve(H_bb, direction * bound[:, :, None])
        return slope, np.where(held, 0.0, direction[:, :, 0])


@final
@dataclass(frozen=True)
class Rules:
    """When to stop, and how far a step may go."""

    iterations: int  # batches evaluated, at most
    tolerance: float  # ends when another step promises less
    # longest step in a coordinate, in widths, before any curvature is known
    first_step: float = 0.2
    longest_step: float = 1.0  # and after
    patience: int = 8  # steps before a start may give up
    # gives up when this many steps like its last would not reach the best
    hopeless: float = 30.0


@final
@dataclass(frozen=True, eq=False)
class Ascent:
    """Where each start ended."""

    x: Array  # (B, d)
    values: Array  # (B,)
    H: Array  # (B, d, d) inverse Hessians of −f; empty, (B, 0, 0), in many dimensions
    ended: Mask  # (B,) whether it ended before the limit on iterations


@final
@dataclass(frozen=True, eq=False)
class _Starts:
    """The starts still climbing; every array has one row per start."""

    row: Indices  # (B,) where the start stands in the result
    x: Array  # (B, d)
    value: Array  # (B,)
    gradient: Array  # (B, d)
    slope: Array  # (B, d) the gradient without the coordinates held
    direction: Array  # (B, d) H·slope
    H: Hessians
    fresh: Mask  # (B,) H is still the first guess, which has no units
    step: Array  # (B,) share of the full step to try
    gain: Array  # (B,) of the last step taken

    def keep(self, mask: Mask) -> "_Starts":
        return _Starts(*(getattr(self, each.name)[mask] for each in fields(self)))


def climb(
    evaluate: Evaluate, X: Array, box: Bounds, rules: Rules, H: Array | None = None
) -> Ascent:
    """Climbs from each row of X (B, d) inside its bounds; never ends lower than it began.

    Args:
        evaluate: values and gradients at a batch of points.
        X: (B, d) starts inside the bounds.
        box: where to search.
        rules: when to stop.
        H: (B, d, d) inverse Hessians of −f to begin with, if known; not used in many dimensions.
    """
    count, d = X.shape
    if d > MOST_DENSE:
        H = None
    values, gradients = evaluate(X)
    values = np.where(np.isnan(values), -np.inf, values)
    guess = _first_guess(count, box) if H is None else H
    kept = np.empty((count, 0, 0)) if isinstance(guess, LimitedHessians) else guess.copy()
    result = Ascent(X.copy(), values.copy(), kept, np.zeros(count, dtype=bool))
    starts = _Starts(
        np.arange(count),
        X,
        values,
        gradients,
        *box.directed(X, gradients, guess),
        guess,
        np.full(count, H is None),
        np.ones(count),
        np.full(count, np.inf),
    )
    sound = np.isfinite(values) & np.isfinite(gradients).all(axis=1)
    starts, box = starts.keep(sound), box.keep(sound)
    for iteration in range(rules.iterations if len(starts.row) else 0):
        starts, ended = _advance(evaluate, starts, box, rules)
        result.x[starts.row], result.values[starts.row] = starts.x, starts.value
        if iteration >= rules.patience:
            ended |= starts.value + rules.hopeless * starts.gain < result.values.max()
        if ended.any():
            _keep_hessians(result, starts)
            result.ended[starts.row] = ended
            starts, box = starts.keep(~ended), box.keep(~ended)
        if len(starts.row) == 0:
            break
    _keep_hessians(result, starts)
    return result


def _first_guess(count: int, box: Bounds) -> Hessians:
    d = len(box.widths)
    if d > MOST_DENSE:
        return LimitedHessians.guess(count, d)
    return np.broadcast_to(np.diag(box.widths**2), (count, d, d))


def _keep_hessians(result: Ascent, starts: _Starts) -> None:
    if not isinstance(starts.H, LimitedHessians):
        result.H[starts.row] = starts.H


def _advance(
    evaluate: Evaluate, starts: _Starts, box: Bounds, rules: Rules
) -> tuple[_Starts, Mask]:
    """One step of every start, and which of them have ended."""
    x, value, gradient = starts.x, starts.value, starts.gradient
    moved, trial = _trial(starts, box, rules)
    new_value, new_gradient = evaluate(trial)
    predicted = _dot(moved, starts.slope)
    gain = new_value - value
    good = (
        (gain >= _SUFFICIENT * predicted)
        & (predicted > 0.0)
        & np.isfinite(new_gradient).all(axis=1)
    )
    H, fresh = _updated(starts, good, moved, gradient - new_gradient, box.widths)
    # A quasi-Newton step cut off at the bounds may lead down; a step along the gradient cannot, so
    # begin again with it.
    lost = ~(predicted > 0.0) & ~starts.fresh
    ended = ((np.abs(moved) <= _SHORTEST * box.widths).all(axis=1) | ~(predicted > 0.0)) & ~lost
    step = np.ones(len(x))
    if not good.all():
        # Backtrack to the top of the parabola through what is known, within limits.
        with np.errstate(divide="ignore", invalid="ignore"):
            parabola = 0.5 * predicted / (predicted - gain)
        factor = np.minimum(np.maximum(np.where(np.isfinite(parabola), parabola, 0.1), 0.1), 0.5)
        taken = good[:, None]
        trial, new_gradient = np.where(taken, trial, x), np.where(taken, new_gradient, gradient)
        new_value, gain = np.where(good, new_value, value), np.where(good, gain, starts.gain)
        step = np.where(good | lost, 1.0, starts.step * factor)
        if isinstance(H, LimitedHessians):
            H = H.forgotten(lost)
        else:
            H = np.where(lost[:, None, None], np.diag(box.widths**2), H)
        fresh = fresh | lost
    slope, direction = box.directed(trial, new_gradient, H)
    promise = 0.5 * _dot(slope, direction)
    ended |= (promise < rules.tolerance) & (gain < _SETTLED * rules.tolerance) & ~fresh
    return (
        _Starts(starts.row, trial, new_value, new_gradient, slope, direction, H, fresh, step, gain),
        ended,
    )


def _trial(starts: _Starts, box: Bounds, rules: Rules) -> tuple[Array, Array]:
    """How far each start is to move, and where to; (B, d) each."""
    size = (np.abs(starts.direction) / np.maximum(box.widths, _SHORTEST)).max(axis=1)
    longest = np.where(starts.fresh, rules.first_step, rules.longest_step)
    share = starts.step * np.minimum(1.0, longest / np.maximum(size, 1e-300))
    trial = box.moved(starts.x, share[:, None] * starts.direction)
    return trial - starts.x, trial


def _updated(
    starts: _Starts, good: Mask, s: Array, y: Array, widths: Array
) -> tuple[Hessians, Mask]:
    """Inverse Hessians of −f after moves s, −gradient changing by y (B, d): the BFGS formula."""
    H, fresh = starts.H, starts.fresh
    curvature = _dot(s, y)
    usable = good & (curvature > 1e-10 * np.sqrt(_dot(s, s) * _dot(y, y)))
    if isinstance(H, LimitedHessians):
        return H.after(usable, s, y, widths), fresh & ~usable
    safe = np.where(usable, curvature, 1.0)
    first = fresh & usable
    if first.any():  # size of the first guess, from the curvature just seen
        weighted = _dot(y * widths, y * widths)
        H = np.where(
            first[:, None, None], H * (safe / np.where(first, weighted, 1.0))[:, None, None], H
        )
        fresh = fresh & ~usable
    a = s * (usable / safe)[:, None]
    Hy = (H @ y[:, :, None])[:, :, 0]
    # where nothing is learnt a is zero, and so must its factor be finite
    half = np.where(usable, 0.5 * (safe + _dot(y, Hy)), 0.0)
    v = half[:, None] * a - Hy
    outer = a[:, :, None] * v[:, None, :]
    return H + outer + outer.transpose(0, 2, 1), fresh


def _dot(a: Array, b: Array) -> Array:
    """Row by row, (B,)."""
    return np.asarray(np.einsum("bi,bi->b", a, b))
