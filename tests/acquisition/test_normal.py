"""φ, Φ, τ and their logarithms against 50-digit arithmetic, and the paper's inequalities."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceibo.acquisition import normal
from tests.helpers import Array

# Dense near zero, where branches change, and out to a thousand on both sides.
Z = np.unique(
    np.concatenate(
        [
            np.linspace(-45, 45, 721),
            -np.logspace(-12, 3, 121),
            np.logspace(-12, 3, 121),
            np.nextafter([-1.0, -15.0, 0.0, -5.0], -np.inf),
            [-1.0, -15.0, 0.0, -1.0 + 1e-9, -37.0, 8.0],
        ]
    )
)
TINY = np.finfo(float).tiny


def exact(f: Callable[[mpmath.mpf], mpmath.mpf], z: Array) -> list[mpmath.mpf]:
    with mpmath.workdps(60):
        return [f(mpmath.mpf(float(value))) for value in z]


def phi(z: mpmath.mpf) -> mpmath.mpf:
    return mpmath.npdf(z)


def capital_phi(z: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(-z / mpmath.sqrt(2)) / 2


def tau(z: mpmath.mpf) -> mpmath.mpf:
    """Terms of τ cancel left of zero: at z = −1000 six digits, never more than 10 of 60."""
    return phi(z) + z * capital_phi(z)


def worst_error(got: Array, expected: list[mpmath.mpf], *, absolute: bool = False) -> float:
    """Largest relative error; with `absolute`, relative or absolute, whichever allows more."""
    worst = mpmath.mpf(0)
    for value, true in zip(got.tolist(), expected, strict=True):
        error = abs(mpmath.mpf(value) - true)
        size = max(abs(true), mpmath.mpf(1)) if absolute else abs(true)
        worst = max(worst, error / size if size else error)
    return float(worst)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(normal.pdf, phi), (normal.cdf, capital_phi), (normal.tau, tau)],
    ids=["pdf", "cdf", "tau"],
)
def test_natural_values_are_exact_wherever_they_are_normal_numbers(
    ours: Callable[..., Any], theirs: Callable[..., Any]
) -> None:
    z = Z[(Z >= -37) & (np.abs(Z) < 37.5)]
    expected = exact(theirs, z)
    kept = [i for i, true in enumerate(expected) if true > TINY]
    assert len(kept) > 500
    assert worst_error(ours(z[kept]), [expected[i] for i in kept]) < 1e-12


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (
            normal.log_cdf,
            lambda z: mpmath.log(capital_phi(z)) if z < 5 else mpmath.log1p(-capital_phi(-z)),
        ),
        (lambda z: normal.log_tau(z)[0], lambda z: mpmath.log(tau(z))),
    ],
    ids=["log_cdf", "log_tau"],
)
def test_logarithms_are_exact_over_the_whole_range(
    ours: Callable[..., Any], theirs: Callable[..., Any]
) -> None:
    assert worst_error(ours(Z), exact(theirs, Z), absolute=True) < 1e-12


def test_mills_ratio() -> None:
    t = Z[Z >= 0]
    assert worst_error(normal.mills(t), exact(lambda t: capital_phi(-t) / phi(t), t)) < 1e-13


def test_inverse_mills_ratio() -> None:
    z = Z[Z < 37]
    assert worst_error(normal.inverse_mills(z), exact(lambda z: phi(z) / capital_phi(z), z)) < 1e-12


def test_ratios_to_tau() -> None:
    z = Z[Z < 37]
    _, by_u, by_s = normal.log_tau(z)
    assert worst_error(by_u, exact(lambda z: capital_phi(z) / tau(z), z)) < 1e-12
    assert worst_error(by_s, exact(lambda z: phi(z) / tau(z), z)) < 1e-12


@given(st.floats(-36, 36))
def test_the_papers_inequalities(z: float) -> None:
    """τ(z) ≤ φ(z) for z ≤ 0, τ(z) ≤ 1 + z for z ≥ 0, z = τ(z) − τ(−z), τ > 0."""
    at, mirrored, density = (
        float(f(np.array(x))) for f, x in ((normal.tau, z), (normal.tau, -z), (normal.pdf, z))
    )
    assert at > 0
    if z <= 0:
        assert at <= density * (1 + 1e-15)
    if z >= 0:
        assert at <= (1 + z) * (1 + 1e-15)
    assert at - mirrored == pytest.approx(z, rel=1e-15, abs=1e-15)


@given(st.floats(-1e3, 1e3), st.floats(1e-9, 10))
def test_tau_and_its_logarithm_rise(z: float, step: float) -> None:
    low, high = normal.log_tau(np.array([z, z + step]))[0]
    assert high >= low - 1e-15 * abs(low)


@pytest.mark.parametrize("z", [-np.inf, -1e200, -1e10, 1e10])
def test_the_ends_are_limits_not_nan(z: float) -> None:
    at = np.array([z])
    assert normal.tau(at)[0] == max(z, 0.0)
    assert not any(np.isnan(part[0]) for part in normal.log_tau(at))
    assert normal.cdf(at)[0] == float(z > 0)


def test_arrays_of_any_shape_and_plain_numbers_pass() -> None:
    grid = np.linspace(-20, 20, 12).reshape(3, 4)
    for f in (normal.pdf, normal.cdf, normal.log_cdf, normal.tau, normal.inverse_mills):
        np.testing.assert_array_equal(f(grid).ravel(), f(grid.ravel()))
    for got, expected in zip(normal.log_tau(grid), normal.log_tau(grid.ravel()), strict=True):
        np.testing.assert_array_equal(got.ravel(), expected)
