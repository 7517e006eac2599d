"""The bivariate normal in logarithms: mpmath, Owen's function, sums, slopes, extremes."""

from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr, owens_t

from ceibo.acquisition.bivariate import Pair, log_bivariate
from tests.helpers import Array


def pair_of(h: Array, k: Array, distance: Array, sign: Array) -> Pair:
    """With correlation ρ = sign·(1 − distance), whose s then is exact."""
    h, k = np.asarray(h, dtype=float), np.asarray(k, dtype=float)
    s = np.sqrt(distance * (2.0 - distance))
    return Pair(h, k, h - k, h + k, sign * (1.0 - distance), s)


def random_pairs(seed: int, count: int, widest: float) -> Pair:
    """Bounds of all sizes, some equal or opposite to nearly all digits, correlations up to ±1."""
    rng = np.random.default_rng(seed)
    size = widest ** rng.random(count)
    h, k = size * rng.standard_normal(count), size * rng.standard_normal(count)
    close = h * (1 + 10 ** rng.uniform(-9, -1, count) * rng.choice([-1, 1], count))
    kind = rng.integers(0, 4, count)
    k = np.where(kind == 0, close, np.where(kind == 1, -close, k))
    distance = np.where(
        rng.random(count) < 0.5, 10 ** rng.uniform(-10, 0, count), rng.random(count)
    )
    return pair_of(h, k, distance, rng.choice([-1.0, 1.0], count))


def with_mpmath(h: float, k: float, distance: float, sign: float) -> mp.mpf:
    """P(X ≤ h, Y ≤ k) by integrating the density of X times the conditional chance of Y."""
    with mp.workdps(25):
        h, k, rho = mp.mpf(h), mp.mpf(k), sign * (1 - mp.mpf(distance))
        s = mp.sqrt((1 - rho) * (1 + rho))
        slope = mp.sqrt(1 + h * h + k * k)

        def inside(v: mp.mpf) -> mp.mpf:
            t = h - v
            return mp.exp(-t * t / 2) * mp.ncdf((k - rho * t) / s) / mp.sqrt(2 * mp.pi)

        # X given that Y is at its bound, and 0: where the integrand may be large
        centres = [mp.mpf(0), max(h, mp.mpf(0)), max(h - k / rho, mp.mpf(0)), h - rho * k]
        steps = [mp.mpf(2) ** j for j in range(-6, 8)]
        ends = {mp.mpf(0)}
        for centre in centres:
            for width in (s, 1 / slope):
                ends |= {centre + sign_ * width * step for step in steps for sign_ in (-1, 0, 1)}
        inner = sorted(end for end in ends if 0 <= end < 40 + abs(h) + abs(k))
        return mp.quad(inside, inner, maxdegree=4)


def test_it_is_mpmaths_in_the_tails() -> None:
    """To 1e-10 of its own size, also where it is 1e-200."""
    cases = [
        (-14.8707, 14.8778, 0.631887090735, -1.0),
        (-16.3278, -9.489, 0.599423781, -1.0),
        (7.75358, -17.0565, 0.38058, 1.0),
        (-1.8315, -1.8167, 0.0686, -1.0),
        (-20.0, -20.0 * (1 + 1e-6), 1e-6, 1.0),
    ]
    for h, k, distance, sign in cases:
        pair = pair_of(np.array([h]), np.array([k]), np.array([distance]), np.array([sign]))
        got = log_bivariate(pair)[0][0]
        expected = with_mpmath(h, k, distance, sign)
        assert abs(float(mp.exp(mp.mpf(got)) / expected - 1)) < 1e-10, (h, k, distance, sign)


def test_it_is_owens_where_that_is_accurate() -> None:
    pair = random_pairs(0, 4000, 4.0)
    h, k, rho, s = pair.h, pair.k, pair.rho, pair.s
    rest = s * s / (1 + np.abs(rho))  # 1 − |ρ|
    by_h = np.where(rho > 0, -pair.minus + rest * h, pair.plus - rest * h) / (h * s)
    by_k = np.where(rho > 0, pair.minus + rest * k, pair.plus - rest * k) / (k * s)
    expected = 0.5 * (ndtr(h) + ndtr(k)) - owens_t(h, by_h) - owens_t(k, by_k) - 0.5 * (h * k < 0)
    np.testing.assert_allclose(np.exp(log_bivariate(pair)[0]), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("widest", [5.0, 100.0, 1e4])
def test_both_and_only_one_add_up(widest: float) -> None:
    """P(X ≤ h, Y ≤ k) + P(X ≤ h, Y > k) = Φ(h), two integrals that share nothing but the nodes."""
    pair = random_pairs(1, 5000, widest)
    both, only = log_bivariate(pair)[0], log_bivariate(pair.flipped)[0]
    expected = log_ndtr(pair.h)
    error = np.abs(np.logaddexp(both, only) - expected)
    assert np.all(error <= 1e-13 * (10 + np.abs(expected)))


def test_it_is_symmetric() -> None:
    pair = random_pairs(2, 2000, 30.0)
    swapped = Pair(pair.k, pair.h, -pair.minus, pair.plus, pair.rho, pair.s)
    one, other = log_bivariate(pair)[0], log_bivariate(swapped)[0]
    assert np.all(np.abs(one - other) <= 1e-13 * (10 + np.abs(one)))


def test_independent_variables_multiply() -> None:
    h, k = np.linspace(-30, 9, 50), np.linspace(5, -40, 50)
    value = log_bivariate(pair_of(h, k, np.ones(50), np.ones(50)))[0]
    np.testing.assert_allclose(value, log_ndtr(h) + log_ndtr(k), rtol=1e-15)


def test_slopes_are_those_of_the_value() -> None:
    rng = np.random.default_rng(3)
    h, k = rng.uniform(-8, 3, 300), rng.uniform(-8, 3, 300)
    rho = rng.uniform(-0.95, 0.95, 300)

    def value(h: Array, rho: Array) -> Array:
        return log_bivariate(Pair(h, k, h - k, h + k, rho, np.sqrt((1 - rho) * (1 + rho))))[0]

    _, by_h, by_rho = log_bivariate(Pair(h, k, h - k, h + k, rho, np.sqrt(1 - rho**2)))

    def numeric(ahead: Callable[[float], Array], e: float = 1e-4) -> Array:
        return (8 * (ahead(e) - ahead(-e)) - (ahead(2 * e) - ahead(-2 * e))) / (12 * e)

    in_h, in_rho = numeric(lambda t: value(h + t, rho)), numeric(lambda t: value(h, rho + t))
    np.testing.assert_allclose(by_h, in_h, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(by_rho, in_rho, rtol=1e-6, atol=1e-9)


def test_at_correlations_of_one_it_is_a_single_normal() -> None:
    h, k = np.array([-3.0, 1.0, -1.0, 0.5]), np.array([-2.0, 0.0, -1.0, 2.0])
    same = Pair(h, k, h - k, h + k, np.ones(4), np.zeros(4))
    np.testing.assert_allclose(log_bivariate(same)[0], log_ndtr(np.minimum(h, k)), rtol=1e-13)
    only = log_bivariate(same.flipped)[0]
    with np.errstate(divide="ignore"):
        expected = np.log(np.maximum(ndtr(h) - ndtr(k), 0.0))
    np.testing.assert_allclose(only, expected, rtol=1e-13)


@pytest.mark.parametrize("size", [1e-310, 1e-307, 1e-200, 1e3, 1e8, 1e50, 1e100])
def test_extremes_are_finite(size: float) -> None:
    rng = np.random.default_rng(4)
    h, k = size * rng.standard_normal(200), size * rng.standard_normal(200)
    distance = 10 ** rng.uniform(-16, 0, 200)
    value, by_h, by_rho = log_bivariate(pair_of(h, k, distance, rng.choice([-1.0, 1.0], 200)))
    assert np.all(value <= 0)
    assert np.all(np.isfinite(value) & np.isfinite(by_h) & np.isfinite(by_rho))
