"""Replicates and units: merging loses nothing, standardizing has no scale."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceibo.gp import GaussianProcess, Matern52
from ceibo.gp.observations import Observations, standardize
from tests.helpers import Array, Dense, kernel_oracle


def replicated(seed: int, noise_kind: str) -> tuple[Array, Array, Array]:
    """7 points measured 18 times in all; noise known, unknown, or both, also at one point."""
    rng = np.random.default_rng(seed)
    distinct = rng.random((7, 2))
    rows = np.concatenate([np.arange(7), rng.integers(0, 7, 11)])
    rng.shuffle(rows)
    X = distinct[rows]
    noise = np.exp(rng.uniform(np.log(1e-3), np.log(0.5), 18))
    unknown = {
        "known": np.zeros(18, bool),
        "unknown": np.ones(18, bool),
        "mixed": rng.random(18) < 0.5,
    }[noise_kind]
    y = np.sin(4 * X.sum(axis=1)) + 0.3 * rng.standard_normal(18)
    return X, y, np.where(unknown, np.nan, noise)


def log_density(X: Array, y: Array, noise: Array, kernel: Matern52) -> float:
    K = kernel_oracle(kernel, X, X) + np.diag(noise)
    return float(-0.5 * y @ np.linalg.solve(K, y) - 0.5 * np.linalg.slogdet(2 * np.pi * K)[1])


by_kind = pytest.mark.parametrize("kind", ["known", "unknown", "mixed"])


@by_kind
@pytest.mark.parametrize("seed", range(3))
def test_merging_keeps_posterior_and_likelihood(kind: str, seed: int) -> None:
    """The merged rows say of f what the raw rows say; the factors restore the raw density."""
    X, y, noise = replicated(seed, kind)
    data = standardize(X, y, noise)
    assert len(data.X) < len(X)
    inferred = 0.07
    raw_y = (y - data.centre) / data.scale
    raw_noise = np.where(np.isnan(noise), inferred, noise / data.scale**2)
    kernel = Matern52([0.4, 0.6], 1.3)
    merged = GaussianProcess(data.X, data.y, data.noise_with(inferred), kernel)
    raw = Dense(GaussianProcess(X, raw_y, raw_noise, kernel))
    A = np.random.default_rng(99).random((10, 2))
    mean, variance = merged.posterior(A)
    np.testing.assert_allclose(mean, raw.mean(A), rtol=1e-10)
    np.testing.assert_allclose(variance, raw.variance(A), rtol=1e-10)
    total = merged.log_likelihood + data.log_factor
    if data.infers_noise:
        total += data.replicate_term(np.log(inferred))[0]
    assert total == pytest.approx(log_density(X, raw_y, raw_noise, kernel), rel=1e-11)


@by_kind
def test_replicate_term_has_the_right_derivative(kind: str) -> None:
    data = standardize(*replicated(4, kind))
    h = 1e-5
    for log_noise in (-6.0, -2.0, 1.0):
        up, down = (data.replicate_term(log_noise + step)[0] for step in (h, -h))
        assert data.replicate_term(log_noise)[1] == pytest.approx(
            (up - down) / (2 * h), rel=1e-6, abs=1e-9
        )


def test_known_and_unknown_noise_at_one_point_stay_two_rows() -> None:
    data = standardize(
        np.array([[0.5], [0.5], [0.5]]), np.array([1.0, 2.0, 4.0]), np.array([0.1, np.nan, np.nan])
    )
    assert data.unknown.tolist() == [False, True]
    assert data.counts.tolist() == [1.0, 2.0]


def test_rows_keep_the_order_of_first_measurement() -> None:
    X = np.array([[0.9], [0.1], [0.9], [0.5]])
    data = standardize(X, np.arange(4.0), np.full(4, 0.1))
    assert data.X[:, 0].tolist() == [0.9, 0.1, 0.5]


def test_exact_repeats_are_a_limit_of_noisy_ones() -> None:
    """A noiseless value outweighs noisy ones at one point, as the limit of ever smaller noise."""
    X, y = np.array([[0.5], [0.5], [0.2]]), np.array([1.0, 3.0, 0.0])
    exact = standardize(X, y, np.array([0.0, 1.0, 0.1]))
    nearly = standardize(X, y, np.array([1e-14, 1.0, 0.1]))
    np.testing.assert_allclose(exact.y, nearly.y, atol=1e-12)
    assert exact.noise[0] == 0.0


@given(st.integers(0, 10**6), st.integers(-480, 480))
@settings(max_examples=40)
def test_a_power_of_two_changes_no_bit(seed: int, power: int) -> None:
    X, y, noise = replicated(seed, "mixed")
    a = 2.0**power
    one, other = standardize(X, y, noise), standardize(X, y * a, noise * a * a)
    for name in ("X", "y", "noise", "counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.scatter, one.log_factor, one.extra_unknown) == (
        other.scatter,
        other.log_factor,
        other.extra_unknown,
    )
    assert (one.centre * a, one.scale * a) == (other.centre, other.scale)


def test_values_are_centred_and_of_unit_variance() -> None:
    rng = np.random.default_rng(0)
    data = standardize(rng.random((50, 2)), 1e5 + 3e3 * rng.standard_normal(50), np.full(50, 9e6))
    assert np.mean(data.y) == pytest.approx(0, abs=1e-13)
    assert np.std(data.y) == pytest.approx(1, rel=1e-13)
    np.testing.assert_allclose(data.noise * data.scale**2, 9e6, rtol=1e-13)


@pytest.mark.parametrize("value", [0.0, 1.0, -3e150, 1e-150])
def test_constant_values_have_a_scale_all_the_same(value: float) -> None:
    data = standardize(np.random.default_rng(0).random((4, 1)), np.full(4, value), np.zeros(4))
    assert data.scale > 0
    assert np.all(np.abs(data.y) < 1e-12)


def test_a_subset_of_rows_stays_in_the_same_units() -> None:
    data: Observations = standardize(*replicated(5, "mixed"))
    part = data.rows(np.array([0, 2]))
    assert (part.centre, part.scale) == (data.centre, data.scale)
    np.testing.assert_array_equal(part.y, data.y[[0, 2]])
