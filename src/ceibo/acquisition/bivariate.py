"""The bivariate normal distribution in logarithms, accurate relative to its own size in the tails.

X and Y are standard normal with correlation ρ; s = √(1 − ρ²). The derivative of P(X ≤ h, Y ≤ k) in
ρ is the density φ₂(h, k; ρ) (Plackett 1954), so that, for ρ ≥ 0,

    P(X ≤ h, Y ≤ k) = Φ(h) Φ(k) + ∫₀^ρ φ₂(h, k; r) dr
    P(X ≤ h, Y > k) = max(0, Φ(h) − Φ(k)) + ∫_ρ^1 φ₂(h, k; r) dr

and for ρ < 0 the other way round with −Y in place of Y. No term is negative: nothing cancels. With
r = tanh y and g = max(|h|, |k|) both integrals are

    (1/2π) e^(−g²/2) ∫ e^(−w²/2) sech y dy,      w(y) = (|h − k| e^y − |h + k| e^(−y))/2,

where w grows with y and w′ = √(w² + |h² − k²|). The part of the range that matters is known in
closed form and is integrated by Gauss's rule in the distance t from where |w| is smallest,

    w(y + t) − w(y) = 2 sinh(t/2) (w(y) sinh(t/2) + w′(y) cosh(t/2)),

relative to the value there, so that the result is right wherever its logarithm is a number. For two
values of one process at points close to each other, h − k and s are small differences of large
numbers; they are given, not computed here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final, Self, final

import numpy as np

from ceibo.acquisition import normal
from ceibo.gp.inputs import Array, Indices, Mask

_LOG_2PI: Final = float(np.log(2 * np.pi))
# what is smaller than e^−DROP of the largest is left out
_DROP: Final = 40.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
# Ends of the panels: equal ones, as shares of the range, or these where it is longer than LONG.
# There the integrand falls as e^(−t), so that fewer and fewer of its digits count.
_EQUAL: Final = np.linspace(0.0, 1.0, 4)
_GRADED: Final = np.array([0.0, 1.5, 3.0, 5.0, 7.0, 10.0, 14.0, 20.0, np.inf])
_LONG: Final = 4.0
# |h − k| below which Φ(h) − Φ(k) is an integral over the density, in units of 1/max(1, |h|, |k|)
_NARROW: Final = 1.0


@final
@dataclass(frozen=True, eq=False)
class Pair:
    """Bounds h and k of two correlated standard normals, (N,) each."""

    h: Array
    k: Array
    minus: Array  # h − k
    plus: Array  # h + k
    rho: Array
    s: Array  # √(1 − ρ²)

    @property
    def flipped(self) -> "Pair":
        """The same with −Y in place of Y: P(X ≤ h, Y > k) is then P(X ≤ h, −Y ≤ −k)."""
        return Pair(self.h, -self.k, self.plus, self.minus, -self.rho, self.s)

    @classmethod
    def joined(cls, pairs: Sequence["Pair"]) -> Self:
        """All of them in one, in order."""
        names = (each.name for each in fields(cls))
        return cls(*(np.concatenate([getattr(pair, name) for pair in pairs]) for name in names))

    def take(self, rows: Mask | Indices) -> "Pair":
        """Those at the given rows."""
        return Pair(*(getattr(self, each.name)[rows] for each in fields(self)))


def log_bivariate(pair: Pair) -> tuple[Array, Array, Array]:
    """log P(X ≤ h, Y ≤ k), (N,), and its derivatives in h and ρ."""
    value = np.empty_like(pair.h)
    positive = pair.rho >= 0
    value[positive] = _log_positive(pair.take(positive))
    value[~positive] = _log_negative(pair.take(~positive).flipped)
    return value, *_slopes(pair, value)


def _log_positive(pair: Pair) -> Array:
    """For ρ ≥ 0."""
    base = normal.log_cdf(pair.h) + normal.log_cdf(pair.k)
    rise = _rise(pair)
    value = base.copy()
    # the integral is at most φ(g) times the range of θ = asin r, over 2π
    rows = np.flatnonzero(_log_peak(pair) + _LOG_2PI > base - _DROP)
    near = pair.take(rows)
    arc = _log_arc(near, np.zeros(len(rows)), np.ones(len(rows)), np.log(rise[rows]))
    value[rows] = np.logaddexp(base[rows], arc)
    return value


def _log_negative(pair: Pair) -> Array:
    """P(X ≤ h, Y > k), for ρ ≥ 0."""
    base = _log_between(pair)
    value = base.copy()
    rows = np.flatnonzero((pair.s > 0) & (_log_peak(pair) + _LOG_2PI > base - _DROP))
    near, rise = pair.take(rows), _rise(pair)[rows]
    arc = _log_arc(near, np.log(rise), rise, np.full(len(rows), np.inf))
    value[rows] = np.logaddexp(base[rows], arc)
    return value


def _rise(pair: Pair) -> Array:
    """e^y where ρ = tanh y, for ρ ≥ 0."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray((1.0 + pair.rho) / pair.s)


def _log_peak(pair: Pair) -> Array:
    """log φ(g)/√2π, the most that the density of r can be times √(1 − r²)."""
    return np.asarray(-0.5 * np.maximum(np.abs(pair.h), np.abs(pair.k)) ** 2 - _LOG_2PI)


def _log_arc(pair: Pair, low: Array, rise: Array, high: Array) -> Array:
    """log of the integral of the density from tanh(low) to tanh(high); rise = e^low."""
    a, b = np.abs(pair.minus), np.abs(pair.plus)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # where w = −1 or later the integrand falls at least as e^−y
        falling = np.maximum(low, np.log(b / (1.0 + np.sqrt(1.0 + a * b))))
        high = np.minimum(high, falling + _DROP + 1.0)
        w_low = 0.5 * (a * rise - b / rise)
        w_high = 0.5 * (a * np.exp(high) - b * np.exp(-high))
        crossing = 0.5 * np.log(b / a)
    after, before = w_low >= 0, w_high <= 0
    at = np.where(after, low, np.where(before, high, crossing))
    w = np.where(after, w_low, np.where(before, w_high, 0.0))
    left = np.where(after, 0.0, -np.minimum(_reach(-w, a * b, _DROP + at - low), at - low))
    right = np.where(after | ~before, np.minimum(_reach(w, a * b, _DROP), high - at), 0.0)
    inside = _log_panels(w, np.sqrt(w * w + a * b), at, (left, right))
    return np.asarray(inside - 0.5 * w * w + _log_peak(pair))


def _reach(w: Array, product: Array, drop: Array | float) -> Array:
    """How far from a point with w ≥ 0 until w²/2 has grown by `drop`; w below 0 counts as 0."""
    w = np.maximum(w, 0.0)
    slope = np.sqrt(w * w + product)
    far = np.sqrt(w * w + 2.0 * drop)
    far_slope = np.sqrt(slope * slope + 2.0 * drop)
    with np.errstate(divide="ignore", over="ignore"):  # without a slope it is without end
        ahead = 2.0 * drop / (far + w) + 2.0 * drop / (far_slope + slope)
        return np.asarray(np.log1p(ahead / (w + slope)))


def _log_panels(w: Array, slope: Array, at: Array, ends: tuple[Array, Array]) -> Array:
    """log of ∫ e^((w² − w(t)²)/2) sech(at + t) dt between the ends."""
    left, right = ends
    length = right - left
    value = np.empty_like(w)
    long = length > _LONG
    for rows, breaks in (
        (~long, _EQUAL * length[~long, None]),
        (long, np.minimum(_GRADED, length[long, None])),
    ):
        t, weights = _nodes(left[rows, None] + breaks)
        value[rows] = _log_sum(t, weights, (w[rows, None], slope[rows, None], at[rows, None]))
    return value


def _nodes(breaks: Array) -> tuple[Array, Array]:
    """Gauss's nodes and weights between the ends of the panels, (N, panels + 1)."""
    half = 0.5 * np.diff(breaks, axis=1)[:, :, None]
    middle = breaks[:, :-1, None] + half
    shape = len(breaks), half.shape[1] * len(_NODES)
    return (middle + half * _NODES).reshape(shape), (half * _WEIGHTS).reshape(shape)


def _log_sum(t: Array, weights: Array, start: tuple[Array, Array, Array]) -> Array:
    """log of the weighted sum of the integrand; w, w′ and y at t = 0."""
    w, slope, at = start
    up = np.sinh(0.5 * t)
    ahead = 2.0 * up * (w * up + slope * np.sqrt(1.0 + up * up))
    fall = np.exp(-t)
    weights = weights * fall / (1.0 + np.exp(-2.0 * at) * fall * fall)
    total = np.einsum("ij,ij->i", weights, np.exp(-0.5 * ahead * (ahead + 2.0 * w)))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(2.0 * total) - at[:, 0])


def _log_between(pair: Pair) -> Array:
    """log of max(0, Φ(h) − Φ(k))."""
    # both bounds on the left, or one on either side
    width = np.maximum(pair.minus, 0.0)
    high = np.where(pair.k > 0, -pair.k, pair.h)
    low = high - width
    size = np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
    narrow = width * size < _NARROW
    value = np.full_like(width, -np.inf)
    rows = np.flatnonzero(narrow & (width > 0))
    v = 0.5 * width[rows, None] * (1.0 + _NODES)  # distance below `high`
    exponent = high[rows, None] * v - 0.5 * v * v
    total = 0.5 * width[rows] * (np.exp(exponent) @ _WEIGHTS)
    value[rows] = np.log(total) - 0.5 * high[rows] ** 2 - 0.5 * _LOG_2PI
    rows = np.flatnonzero(~narrow)
    top, bottom = high[rows], low[rows]
    left, right = np.minimum(top, 0.0), np.maximum(top, 0.0)
    # Φ(bottom)/Φ(left), at most 1/e where both are on the left
    ratio = normal.mills(-np.minimum(bottom, left)) / normal.mills(-left)
    ratio *= np.exp(np.minimum(width[rows] * (left - 0.5 * width[rows]), 0.0))
    value[rows] = np.where(
        top <= 0,
        normal.log_cdf(left) + np.log1p(-np.where(top <= 0, ratio, 0.0)),
        np.log1p(-np.where(top <= 0, 0.0, normal.cdf(-right) + normal.cdf(bottom))),
    )
    return value


def _slopes(pair: Pair, value: Array) -> tuple[Array, Array]:
    """Derivatives of the logarithm `value` in h and ρ: φ(h) Φ(c) and φ(h) φ(c)/s over the value."""
    h, s = pair.h, pair.s
    certain = (s <= 0) | ~np.isfinite(value)
    safe = np.where(certain, 1.0, s)
    # c = (k − ρh)/s without its cancellation
    toward = np.where(pair.rho >= 0, -pair.minus, pair.plus)
    back = np.where(pair.rho >= 0, h, -h) * safe / (1.0 + np.abs(pair.rho))
    c = toward / safe + back
    log_density = -0.5 * h * h - 0.5 * _LOG_2PI - np.where(certain, 0.0, value)
    most = np.log1p(np.abs(h) + np.abs(pair.k)) - 2.0 * np.log(safe) + 2.0
    by_h = np.exp(np.minimum(log_density + normal.log_cdf(c), most))
    log_joint = log_density - 0.5 * c * c - 0.5 * _LOG_2PI - np.log(safe)
    by_rho = np.exp(np.minimum(log_joint, 2.0 * most))
    # at s = 0 the value is Φ(min(h, k)), and ρ cannot change to both sides
    edge = np.where(pair.minus <= 0, normal.inverse_mills(h), 0.0)
    edge = np.where(np.isfinite(value) & (pair.rho > 0), edge, 0.0)
    return np.where(certain, edge, by_h), np.where(certain, 0.0, by_rho)
