"""The standard normal and functions of it, exact to rounding over the whole range.

    φ(z) density, Φ(z) distribution, R(t) = Φ(−t)/φ(t) Mills' ratio
    τ(z) = φ(z) + z Φ(z) = E[max(0, z + Z)]

Left of −1 the two terms of τ cancel, so it is written as φ(z)·w(−z) with w(t) = 1 − t R(t) > 0, and
w for large t by its asymptotic series. With that, log τ and the ratios Φ/τ and φ/τ (its
derivatives) are accurate as far as float64 goes.
"""

from typing import Final

import numpy as np
import scipy

from ceibo.gp.inputs import Array

_LOG_SQRT_2PI: Final = 0.5 * np.log(2 * np.pi)
_SQRT_HALF: Final = np.sqrt(0.5)
_SQRT_HALF_PI: Final = np.sqrt(0.5 * np.pi)
_FARTHEST: Final = 1e150  # where z² still is a number
_TINY: Final = np.finfo(np.float64).tiny
# 1 − t R(t) loses accuracy as t² by cancellation; from here on the series is exact to rounding.
_SERIES_FROM: Final = 15.0
# w(t) = 1/t² − 3/t⁴ + 15/t⁶ − …, coefficients ±(2k − 1)!! in powers of 1/t², highest first.
_SERIES: Final = tuple(
    float((-1) ** (k + 1) * np.prod(np.arange(1, 2 * k, 2, dtype=float))) for k in range(12, 0, -1)
)


def pdf(z: Array) -> Array:
    """φ(z)."""
    return np.asarray(np.exp(_log_pdf(z)))


def cdf(z: Array) -> Array:
    """Φ(z)."""
    return np.asarray(scipy.special.ndtr(z))


def log_cdf(z: Array) -> Array:
    """log Φ(z)."""
    return np.asarray(scipy.special.log_ndtr(z))


def mills(t: Array) -> Array:
    """Mills' ratio Φ(−t)/φ(t), for t ≥ 0."""
    return np.asarray(_SQRT_HALF_PI * scipy.special.erfcx(t * _SQRT_HALF))


def inverse_mills(z: Array) -> Array:
    """φ(z)/Φ(z), the derivative of log Φ."""
    z = np.asarray(z)
    left = z < 0
    tail = 1.0 / mills(np.where(left, -z, 0.0))
    return np.where(left, tail, pdf(z) / cdf(np.where(left, 0.0, z)))


def tau(z: Array) -> Array:
    """τ(z) = φ(z) + z Φ(z)."""
    z = np.asarray(z)
    left = z < -1.0
    right = np.where(left, 0.0, z)
    tail = pdf(z) * _tail(np.where(left, -z, 1.0))[0]
    return np.where(left, tail, pdf(right) + right * cdf(right))


def log_tau(z: Array) -> tuple[Array, Array, Array]:
    """log τ(z), Φ(z)/τ(z) and φ(z)/τ(z).

    The ratios are the derivatives of log(s·τ(u/s)) in u and s, times s.
    """
    z = np.maximum(z, -_FARTHEST)
    left = z < -1.0
    if not left.any():
        return _log_tau_right(z)
    w, R = _tail(np.where(left, -z, 1.0))
    inverse = 1.0 / w
    parts = np.log(w) - 0.5 * z * z - _LOG_SQRT_2PI, R * inverse, inverse
    if left.all():
        return parts
    right = _log_tau_right(np.where(left, 0.0, z))
    value, by_u, by_s = (np.where(left, *pair) for pair in zip(parts, right, strict=True))
    return value, by_u, by_s


def _log_tau_right(z: Array) -> tuple[Array, Array, Array]:
    """The same for −1 ≤ z ≤ 1e150."""
    density, probability = np.exp(-0.5 * z * z - _LOG_SQRT_2PI), scipy.special.ndtr(z)
    value = density + z * probability
    inverse = 1.0 / value
    return np.log(value), probability * inverse, density * inverse


def _log_pdf(z: Array) -> Array:
    # beyond |z| = 1e154 the square is inf and the density 0, as it should be
    with np.errstate(over="ignore"):
        return np.asarray(-0.5 * np.square(z) - _LOG_SQRT_2PI)


def _tail(t: Array) -> tuple[Array, Array]:
    """w(t) = 1 − t R(t) and R(t), for t ≥ 1."""
    R = mills(t)
    if t.max(initial=0.0) < _SERIES_FROM:
        return 1.0 - t * R, R
    far = t >= _SERIES_FROM
    q = np.where(far, t, _SERIES_FROM) ** -2.0
    series = np.zeros_like(q)
    for coefficient in _SERIES:
        series = (series + coefficient) * q
    # At infinity w and R are 0; the smallest normal number keeps their logarithm and ratio finite.
    w = np.where(far, np.maximum(series, _TINY), 1.0 - np.where(far, 0.0, t) * R)
    return w, np.maximum(R, _TINY)
