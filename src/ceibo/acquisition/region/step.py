"""The best step inside linear constraints: many small quadratic programs solved together.

Notation: B starts, d columns, m constraints. For each start, with H a positive definite matrix

    maximise gᵀs − ½ sᵀH⁻¹s   subject to   low ≤ A s ≤ high.

With multipliers λ the step is s = H(g − Aᵀλ), and with Q = A H Aᵀ what the constraints see of it is
w = A s = A H g − Q λ. A constraint is free (λ = 0), at its low side (λ ≤ 0) or at its high side
(λ ≥ 0). Block principal pivoting (Júdice and Pires 1994) changes the side of all constraints that
are violated or whose multiplier has the wrong sign at once. It ends in a few rounds or, seldom, not
at all; what is left is solved one by one as a least distance problem (Lawson and Hanson 1974).
"""

from typing import Final

import numpy as np

from ceibo.gp.inputs import Array, Indices, Mask

_ROUNDS: Final = 12
_SLACK: Final = 1e-12  # of a constraint or a multiplier, in the units of the metric
# keeps constraints that say the same from making the matrix singular
_RIDGE: Final = 1e-12


def constrained_step(A: Array, low: Array, high: Array, H: Array, g: Array) -> tuple[Array, Array]:
    """The steps (B, d), and the multipliers (B, m).

    Args:
        A: (B, m, d) constraints; a row of zeros is none.
        low: (B, m) lower sides, or −inf.
        high: (B, m) upper sides, or inf; equal to `low` for an equality.
        H: (B, d, d) metric, or its diagonal (B, d).
        g: (B, d) gradient.
    """
    is_full = H.ndim == A.ndim
    reach = A @ H if is_full else A * H[:, None, :]  # (B, m, d)
    Q = reach @ A.transpose(0, 2, 1)
    length = np.sqrt(np.maximum(np.einsum("bii->bi", Q), 0.0))
    # rows without length constrain nothing that can move
    empty = length <= 1e-14 * np.maximum(np.abs(A).max(axis=2), 1e-300)
    unit = np.where(empty, 0.0, 1.0 / np.where(empty, 1.0, length))
    Q = Q * unit[:, :, None] * unit[:, None, :]
    wish = (reach @ g[:, :, None])[:, :, 0] * unit
    lower = np.where(empty, -np.inf, low * np.where(empty, 1.0, unit))
    upper = np.where(empty, np.inf, high * np.where(empty, 1.0, unit))
    multipliers, unsolved = _pivot(Q, wish, lower, upper)
    for row in unsolved:
        multipliers[row] = _least_distance(Q[row], wish[row], lower[row], upper[row])
    multipliers *= unit
    free = (H @ g[:, :, None])[:, :, 0] if is_full else H * g
    return free - (reach.transpose(0, 2, 1) @ multipliers[:, :, None])[:, :, 0], multipliers


def _pivot(Q: Array, wish: Array, lower: Array, upper: Array) -> tuple[Array, Indices]:
    """Multipliers (B, m), where Q has a diagonal of ones, and the starts that are not solved."""
    result = np.zeros_like(wish)
    equal = lower == upper
    # −1 at the low side, 0 free, 1 at the high side
    side = np.where(equal, 1, (wish > upper).astype(int) - (wish < lower).astype(int))
    rows: Indices = np.arange(len(wish))
    for _ in range(_ROUNDS):
        multipliers, seen = _solve(Q, wish, lower, upper, side)
        result[rows] = multipliers
        to = _mended(multipliers, seen, lower, upper, side)
        wrong = (to != side) & ~equal
        going = wrong.any(axis=1)
        if not going.any():
            return result, rows[:0]
        rows = rows[going]
        side = np.where(wrong, to, side)[going]
        Q, wish, lower, upper, equal = (part[going] for part in (Q, wish, lower, upper, equal))
    return result, rows


def _least_distance(Q: Array, wish: Array, lower: Array, upper: Array) -> Array:
    """The same for one start, (m,): with L Lᵀ = Q, the shortest y with lower ≤ wish + L y ≤ upper.

    Its multipliers say which constraints are active; with these the equations are solved once more.
    """
    from scipy.optimize import nnls  # slow to import, and not needed without rules

    values, vectors = np.linalg.eigh(Q)
    L = vectors * np.sqrt(np.maximum(values, 0.0))
    above, below = np.isfinite(upper), np.isfinite(lower)
    rows = np.concatenate([-L[above], L[below]])
    sides = np.concatenate([(wish - upper)[above], (lower - wish)[below]])
    target = np.zeros(L.shape[1] + 1)
    target[-1] = 1.0
    try:
        shares = nnls(np.column_stack([rows, sides]).T, target)[0]
    except RuntimeError:  # too many iterations
        shares = np.zeros(len(sides))
    used = np.zeros((2, len(wish)))
    used[0, above], used[1, below] = shares[: above.sum()], shares[above.sum() :]
    active = np.flatnonzero((used.max(axis=0) > 0.0) | (lower == upper))
    at = np.where(used[0] >= used[1], upper, lower)[active]
    result = np.zeros_like(wish)
    result[active] = np.linalg.lstsq(Q[np.ix_(active, active)], (wish[active] - at), rcond=1e-12)[0]
    return result


def _solve(Q: Array, wish: Array, lower: Array, upper: Array, side: Array) -> tuple[Array, Array]:
    """Multipliers if the constraints stand at these sides, and what they see of the step."""
    active: Mask = side != 0
    at = np.where(active, np.where(side < 0, lower, upper), 0.0)
    matrix = np.where(active[:, :, None] & active[:, None, :], Q, 0.0)
    diagonal = np.einsum("bii->bi", matrix)
    diagonal += np.where(active, _RIDGE, 1.0)
    wanted = np.where(active, wish - at, 0.0)
    multipliers = np.linalg.solve(matrix, wanted[:, :, None])[:, :, 0]
    return multipliers, wish - (Q @ multipliers[:, :, None])[:, :, 0]


def _mended(multipliers: Array, seen: Array, lower: Array, upper: Array, side: Array) -> Array:
    """The sides that violated constraints and wrong multipliers ask for."""
    slack = _SLACK * (1.0 + np.abs(multipliers).max(axis=1, keepdims=True))
    to = np.where((side > 0) & (multipliers < -slack), 0, side)
    to = np.where((side < 0) & (multipliers > slack), 0, to)
    to = np.where((side == 0) & (seen > upper + slack), 1, to)
    return np.where((side == 0) & (seen < lower - slack), -1, to)
