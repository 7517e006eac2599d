"""Many starts climbing together: a batched quasi-Newton (BFGS) ascent in the unit cube.

Each start keeps its own inverse Hessian, step and state, but all evaluations of a step are one batch, which for
small models costs little more than one point. Bounds are kept by projection: a coordinate at a bound whose gradient
points outward is held.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from ceibo.gp.inputs import Array

Evaluate = Callable[[Array], tuple[Array, Array]]  # (B, d) -> values (B,), gradients (B, d)

_SUFFICIENT: Final = 1e-4  # share of the predicted gain that a step must bring (Armijo)
_LONGEST: Final = 0.5  # longest step in a coordinate, in widths
_SHORTEST: Final = 1e-12  # a backtracked step this short ends a start


def climb(evaluate: Evaluate, X: Array, widths: Array, iterations: int, tolerance: float) -> tuple[Array, Array]:
    """Climbs from each row of X (B, d) inside the unit cube; never ends lower than it began.

    Args:
        evaluate: values and gradients at a batch of points.
        widths: (d,) the natural length of a step in each coordinate; 0 holds a coordinate.
        iterations: batches evaluated, at most.
        tolerance: a start ends when a step gains less than this.

    Returns:
        The points reached (B, d) and their values (B,).
    """
    X = X.copy()
    values, gradients = evaluate(X)
    values = np.where(np.isnan(values), -np.inf, values)
    scale = widths**2
    H = np.broadcast_to(np.diag(scale), (len(X), X.shape[1], X.shape[1])).copy()
    fresh = np.ones(len(X), dtype=bool)  # H is still the first guess, which has no units
    step = np.ones(len(X))
    active = np.isfinite(values) & np.all(np.isfinite(gradients), axis=1)
    short = np.zeros(len(X), dtype=int)  # steps in a row that gained less than the tolerance
    for _ in range(iterations):
        rows = np.flatnonzero(active)
        if len(rows) == 0:
            break
        x, f, g = X[rows], values[rows], gradients[rows]
        held = ((x <= 0.0) & (g < 0.0)) | ((x >= 1.0) & (g > 0.0)) | (widths == 0.0)
        g = np.where(held, 0.0, g)
        direction = np.where(held, 0.0, np.einsum("bij,bj->bi", H[rows], g))
        rise = np.einsum("bi,bi->b", direction, g)
        size = np.max(np.abs(direction) / np.where(widths > 0, widths, np.inf), axis=1)
        longest = np.where(fresh[rows], 0.1, _LONGEST)
        shrink = np.minimum(1.0, longest / np.maximum(size, 1e-300))
        trial = np.clip(x + (step[rows] * shrink)[:, None] * direction, 0.0, 1.0)
        moved = trial - x
        new_f, new_g = evaluate(trial)
        predicted = np.einsum("bi,bi->b", moved, g)
        good = (new_f >= f + _SUFFICIENT * predicted) & (predicted > 0) & np.all(np.isfinite(new_g), axis=1)

        # Backtrack where the step failed: to the maximum of the parabola through what is known, within limits.
        with np.errstate(divide="ignore", invalid="ignore"):
            parabola = 0.5 * predicted / (predicted - (new_f - f))
        factor = np.clip(np.where(np.isfinite(parabola), parabola, 0.1), 0.1, 0.5)
        step[rows] = np.where(good, 1.0, step[rows] * factor)
        tiny = (~good) & ((step[rows] < _SHORTEST) | (np.max(np.abs(moved), axis=1) < _SHORTEST))

        gained = np.where(good, new_f - f, np.inf)
        short[rows] = np.where(good, np.where(gained < tolerance, short[rows] + 1, 0), short[rows])
        taken = rows[good]
        _update(H, fresh, taken, moved[good], (gradients[taken] - new_g[good]), scale)
        X[taken], values[taken], gradients[taken] = trial[good], new_f[good], new_g[good]
        ended = tiny | (rise <= 0) | (short[rows] >= 2)
        active[rows[ended]] = False
    return X, values


def _update(H: Array, fresh: Array, rows: Array, s: Array, y: Array, scale: Array) -> None:
    """BFGS update of the inverse Hessians of −f at `rows`, from moves s and changes y of −gradient; (b, d) each."""
    curvature = np.einsum("bi,bi->b", s, y)
    usable = curvature > 1e-10 * np.linalg.norm(s, axis=1) * np.linalg.norm(y, axis=1)
    rows, s, y, curvature = rows[usable], s[usable], y[usable], curvature[usable]
    if len(rows) == 0:
        return
    first = fresh[rows]
    if np.any(first):  # size of the first guess, from the curvature just seen
        size = curvature[first] / np.maximum(np.einsum("bi,i,bi->b", y[first], scale, y[first]), 1e-300)
        H[rows[first]] = size[:, None, None] * np.diag(scale)
        fresh[rows[first]] = False
    rho = 1.0 / curvature
    Hy = np.einsum("bij,bj->bi", H[rows], y)
    factor = rho * (1.0 + rho * np.einsum("bi,bi->b", y, Hy))
    cross = rho[:, None, None] * s[:, :, None] * Hy[:, None, :]
    H[rows] += factor[:, None, None] * s[:, :, None] * s[:, None, :] - cross - np.swapaxes(cross, 1, 2)
