"""Corrected EI, EI, corrected PI, PI and UCB: 50-digit arithmetic, Monte Carlo, limits."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceibo.acquisition import build
from ceibo.acquisition.closed_form import (
    expected_improvement,
    log_expected_improvement,
    log_probability_of_improvement,
    probability_of_improvement,
)
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Kernel, Matern52
from tests.helpers import KERNELS, Array, Dense, assert_within_error, make_gp

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
by_seed = pytest.mark.parametrize("seed", range(3))

Z = np.concatenate(
    [[0.0, -1.0, -15.0], np.linspace(-40, 40, 33), -np.logspace(-6, 3, 28), np.logspace(-6, 3, 28)]
)
S = np.array([1e-150, 1e-100, 1e-12, 1e-3, 0.7, 1.0, 3.0, 1e8, 1e100, 1e150])


def new_points(seed: int, n: int) -> Array:
    return np.random.default_rng(1000 + seed).random((n, 3))  # not the data's own stream


def pairs() -> tuple[Array, Array]:
    z, s = np.meshgrid(Z, S)
    return (z * s).ravel(), s.ravel()


def ei_exact(u: float, s: float) -> mpmath.mpf:
    u, s = mpmath.mpf(u), mpmath.mpf(s)
    z = u / s
    return s * mpmath.npdf(z) + u * mpmath.erfc(-z / mpmath.sqrt(2)) / 2


def pi_exact(u: float, s: float) -> mpmath.mpf:
    return mpmath.erfc(-mpmath.mpf(u) / mpmath.mpf(s) / mpmath.sqrt(2)) / 2


def error(got: float, true: mpmath.mpf, floor: float) -> float:
    return float(abs(mpmath.mpf(got) - true) / max(abs(true), mpmath.mpf(floor)))


# -- the formulas, to rounding ---------------------------------------------------------


def test_log_expected_improvement_is_exact_over_the_whole_range() -> None:
    """To 1e-12, relative or absolute, for z from −1e3 to 1e3 and s from 1e-150 to 1e150."""
    u, s = pairs()
    got = log_expected_improvement(u, s)[0]
    with mpmath.workdps(60):
        worst = max(
            error(g, mpmath.log(ei_exact(*p)), 1.0)
            for g, *p in zip(got.tolist(), u, s, strict=True)
        )
    assert worst < 1e-12


def test_expected_improvement_is_exact_wherever_it_is_a_normal_number() -> None:
    u, s = pairs()
    got = expected_improvement(u, s)[0]
    checked = 0
    with mpmath.workdps(60):
        for value, *pair in zip(got.tolist(), u, s, strict=True):
            true = ei_exact(*pair)
            if pair[0] / pair[1] >= -37 and true > np.finfo(float).tiny:
                assert error(value, true, 0.0) < 1e-12
                checked += 1
    assert checked > 600


def test_probability_of_improvement_and_its_logarithm_are_exact() -> None:
    u, s = pairs()
    natural, logarithm = (
        probability_of_improvement(u, s)[0],
        log_probability_of_improvement(u, s)[0],
    )
    with mpmath.workdps(60):
        for p, log_p, *pair in zip(natural.tolist(), logarithm.tolist(), u, s, strict=True):
            true = pi_exact(*pair)
            if true > np.finfo(float).tiny:
                assert error(p, true, 0.0) < 1e-12
            log_true = (
                mpmath.log(true) if pair[0] < 0 else mpmath.log1p(-pi_exact(-pair[0], pair[1]))
            )
            assert error(log_p, log_true, 1.0) < 1e-12


@pytest.mark.parametrize(
    "f",
    [
        expected_improvement,
        log_expected_improvement,
        probability_of_improvement,
        log_probability_of_improvement,
    ],
    ids=lambda f: f.__name__,
)
def test_derivatives_in_u_and_s_are_exact(f: Callable[[Array, Array], Any]) -> None:
    """Against 50-digit derivatives of the defining formulas."""
    exact = ei_exact if "expected" in f.__name__ else pi_exact
    natural = exact if "log" not in f.__name__ else lambda u, s: mpmath.log(exact(u, s))
    rng = np.random.default_rng(0)
    s: Array = np.exp(rng.uniform(-5, 5, 60))
    u: Array = s * rng.uniform(-30, 6, 60)
    _, by_u, by_s = f(u, s)
    with mpmath.workdps(60):
        for i in range(60):
            in_u = mpmath.diff(lambda t, i=i: natural(t, float(s[i])), mpmath.mpf(u[i]))
            in_s = mpmath.diff(lambda t, i=i: natural(float(u[i]), t), mpmath.mpf(s[i]))
            assert error(by_u[i], in_u, 1e-290) < 1e-11
            assert error(by_s[i], in_s, 1e-290) < 1e-11


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.floats(0, 1e6))
def test_expected_improvement_is_positive_and_never_falls_with_uncertainty(
    u: float, s: float, more: float
) -> None:
    low, high = expected_improvement(np.array([u, u]), np.array([s, s + more]))[0]
    assert low >= max(u, 0.0) * (1 - 1e-15)
    assert high >= low * (1 - 1e-12)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_logarithm_and_value_agree(u: float, s: float) -> None:
    value, log_value = (
        expected_improvement(np.array([u]), np.array([s]))[0],
        log_expected_improvement(np.array([u]), np.array([s]))[0],
    )
    if value[0] > 1e-300:
        assert np.log(value[0]) == pytest.approx(log_value[0], rel=1e-12, abs=1e-12)


def test_no_uncertainty_is_a_limit() -> None:
    u, s = np.array([2.0, 0.0, -2.0]), np.zeros(3)
    assert expected_improvement(u, s)[0].tolist() == [2.0, 0.0, 0.0]
    assert log_expected_improvement(u, s)[0].tolist() == [np.log(2.0), -np.inf, -np.inf]
    assert probability_of_improvement(u, s)[0].tolist() == [1.0, 0.0, 0.0]
    assert log_probability_of_improvement(u, s)[0].tolist() == [0.0, -np.inf, -np.inf]
    for f in (expected_improvement, log_expected_improvement, probability_of_improvement):
        assert not any(np.any(np.isnan(part)) for part in f(u, s))


# -- corrected EI and PI ---------------------------------------------------------------


@by_kernel
@by_seed
def test_corrected_values_follow_their_definition(kernel: type[Kernel], seed: int) -> None:
    """u and σ̃ from the dense formulas, the expectation from 50 digits."""
    gp = make_gp(seed, kernel=kernel)
    A = new_points(seed, 10)
    acq, dense = build("corrected-ei", gp), Dense(gp)
    best = acq.incumbent.x[None]
    u = dense.mean(best) - dense.mean(A)
    s = np.sqrt(dense.variance(A) + dense.variance(best) - 2 * dense.covariance(A, best)[:, 0])
    with mpmath.workdps(50):
        ei = np.array([float(ei_exact(*pair)) for pair in zip(u, s, strict=True)])
        pi = np.array([float(pi_exact(*pair)) for pair in zip(u, s, strict=True)])
    # u and s carry the rounding of two solvers
    np.testing.assert_allclose(acq.value(A), ei, rtol=1e-9)
    np.testing.assert_allclose(build("corrected-pi", gp).value(A), pi, rtol=1e-9)


@by_seed
def test_corrected_ei_and_pi_equal_monte_carlo(seed: int) -> None:
    """E[max(0, f(x⁺) − f(x))] and P(f(x) < f(x⁺)) over joint draws of the two."""
    gp = make_gp(seed, noise=(0.05, 0.5))
    ei, pi = build("corrected-ei", gp), build("corrected-pi", gp)
    rng = np.random.default_rng(2000 + seed)
    for x in rng.random((5, 3)):
        both = np.stack([x, ei.incumbent.x])
        dense = Dense(gp)
        f = rng.multivariate_normal(dense.mean(both), dense.covariance(both, both), 400_000)
        gain = f[:, 1] - f[:, 0]
        assert_within_error(ei.value(x[None])[0], np.maximum(gain, 0))
        assert_within_error(pi.value(x[None])[0], (gain > 0).astype(float))


@by_kernel
@pytest.mark.parametrize("noise", [(0.0, 0.0), (1e-9, 1e-3), (0.1, 10.0)], ids=str)
def test_corrected_ei_is_exactly_zero_at_the_incumbent(
    kernel: type[Kernel], noise: tuple[float, float]
) -> None:
    for seed in range(5):
        acq = build("corrected-ei", make_gp(seed, kernel=kernel, noise=noise))
        assert acq.value(acq.incumbent.x[None])[0] == 0.0
        assert acq.log_value(acq.incumbent.x[None])[0] == -np.inf
        values, gradients = acq.value_and_gradient(acq.incumbent.x[None])
        assert values[0] == 0.0
        assert np.all(np.isfinite(gradients))


def test_corrected_ei_is_zero_at_replicates_of_the_incumbent() -> None:
    rng = np.random.default_rng(1)
    X = np.repeat(rng.random((4, 2)), 3, axis=0)
    acq = build(
        "corrected-ei", GaussianProcess(X, rng.standard_normal(12), 0.3, Matern52([0.5, 0.5]))
    )
    assert acq.value(acq.incumbent.x[None])[0] == 0.0


@by_kernel
def test_without_noise_corrected_equals_plain(kernel: type[Kernel]) -> None:
    for seed in range(4):
        gp = make_gp(seed, kernel=kernel, noise=(0.0, 0.0))
        A = new_points(seed, 40)
        A = A[gp.posterior(A)[1] > 1e-4 * gp.kernel.variance]  # well above the jitter
        assert len(A) > 10
        np.testing.assert_allclose(
            build("corrected-ei", gp).value(A), build("ei", gp).value(A), rtol=1e-6
        )
        np.testing.assert_allclose(
            build("corrected-pi", gp).value(A), build("pi", gp).value(A), rtol=1e-6
        )


@by_seed
def test_with_uncorrelated_values_the_incumbents_uncertainty_only_adds(seed: int) -> None:
    """As the length scale goes to zero, σ̃² = σ²(x) + σ²(x⁺): more variance than EI has."""
    plain = make_gp(seed)
    gp = GaussianProcess(
        plain.X, plain.y, plain.noise_variance, Matern52([1e-4] * 3, 2.0), plain.mean
    )
    corrected, ei = build("corrected-ei", gp), build("ei", gp)
    A = np.random.default_rng(seed + 50).random((20, 3))
    u = np.full(20, corrected.incumbent.mean - gp.mean)  # far from the data the mean is the prior's
    s = np.full(20, np.sqrt(2.0 + corrected.incumbent.std**2))
    np.testing.assert_allclose(corrected.value(A), expected_improvement(u, s)[0], rtol=1e-12)
    assert np.all(corrected.value(A) > ei.value(A))


@by_kernel
def test_standard_deviation_of_the_difference_is_below_the_sum(kernel: type[Kernel]) -> None:
    """σ̃ ≤ σ(x) + σ(x⁺), and ≥ their difference."""
    gp = make_gp(3, kernel=kernel)
    acq = build("corrected-ei", gp)
    A = new_points(3, 50)
    difference = gp.unit * np.sqrt(acq.predictor(A).difference_variance)
    at_x, at_best = np.sqrt(gp.posterior(A)[1]), acq.incumbent.std
    assert np.all(difference <= (at_x + at_best) * (1 + 1e-12))
    assert np.all(difference >= np.abs(at_x - at_best) * (1 - 1e-12))


def test_ucb_in_the_units_of_y() -> None:
    gp = make_gp(2)
    mean, variance = gp.posterior(gp.X)
    np.testing.assert_allclose(
        build("ucb", gp, beta=4.0).value(gp.X), -mean + 2 * np.sqrt(variance), rtol=1e-12
    )


def test_ucb_has_no_logarithm() -> None:
    with pytest.raises(InputError, match=r"may be negative. Use value\(\)"):
        build("ucb", make_gp(1)).log_value([[0.1, 0.2, 0.3]])
