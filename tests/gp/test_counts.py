"""A mean told with its standard error and count is the replicates that it was computed from."""

import numpy as np
import pytest

from ceibo.errors import InputError
from ceibo.gp import FitResult, fit_gp
from ceibo.gp.observations import standardize
from tests.helpers import Array

SIZES = np.array([1, 3, 2, 5, 1, 4, 3, 2, 1, 6, 3, 3, 2, 4])


def replicates(seed: int = 0) -> tuple[Array, Array, list[Array]]:
    """Points, and the values measured at each."""
    rng = np.random.default_rng(seed)
    X = rng.random((len(SIZES), 2))
    f = np.cos(3 * X.sum(axis=1))
    return X, f, [each + 0.3 * rng.standard_normal(k) for each, k in zip(f, SIZES, strict=True)]


def told(values: list[Array]) -> tuple[Array, Array, Array]:
    """Means, squares of standard errors (NaN of one value), counts."""
    means = np.array([np.mean(each) for each in values])
    errors = [np.var(each, ddof=1) / len(each) if len(each) > 1 else np.nan for each in values]
    return means, np.array(errors), SIZES.astype(float)


def assert_same_fit(one: FitResult, other: FitResult) -> None:
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-9)
    assert one.log_density == pytest.approx(other.log_density, rel=1e-9)
    assert one.noise_variance == pytest.approx(other.noise_variance, rel=1e-7)
    assert one.gp.expected_noise == pytest.approx(other.gp.expected_noise, rel=1e-7)
    X_new = np.random.default_rng(1).random((9, 2))
    for a, b in zip(one.gp.posterior(X_new), other.gp.posterior(X_new), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["map", "ml"])
@pytest.mark.parametrize("blocked", [False, True])
def test_the_fit_is_that_of_the_raw_replicates(method: str, blocked: bool) -> None:
    X, _, values = replicates()
    means, variances, counts = told(values)
    of = np.arange(len(X)) % 3
    blocks, raw_blocks = (of, np.repeat(of, SIZES)) if blocked else (None, None)
    restarts = 2 if method == "ml" else None
    rows = np.repeat(X, SIZES, axis=0), np.concatenate(values)
    raw = fit_gp(*rows, method=method, restarts=restarts, blocks=raw_blocks)
    counted = fit_gp(
        X, means, variances, counts=counts, method=method, restarts=restarts, blocks=blocks
    )
    assert_same_fit(counted, raw)


def test_several_means_at_a_point_and_values_of_known_noise_beside_them() -> None:
    X, f, values = replicates(2)
    means, variances, counts = told(values)
    rng = np.random.default_rng(3)
    # a second mean at the first points, and exact values elsewhere
    again = [f[i] + 0.3 * rng.standard_normal(3) for i in range(4)]
    known, known_y = rng.random((5, 2)), rng.standard_normal(5)
    counted = fit_gp(
        np.concatenate([X, X[:4], known]),
        np.concatenate([means, [np.mean(each) for each in again], known_y]),
        np.concatenate([variances, [np.var(each, ddof=1) / 3 for each in again], np.full(5, 0.01)]),
        counts=np.concatenate([counts, np.full(4, 3.0), np.ones(5)]),
    )
    raw = fit_gp(
        np.concatenate([np.repeat(X, SIZES, axis=0), np.repeat(X[:4], 3, axis=0), known]),
        np.concatenate([*values, *again, known_y]),
        np.concatenate([np.full(SIZES.sum() + 12, np.nan), np.full(5, 0.01)]),
    )
    assert_same_fit(counted, raw)


def test_values_that_agree_exactly_have_a_standard_error_of_zero() -> None:
    X = np.random.default_rng(4).random((8, 2))
    y = np.cos(3 * X.sum(axis=1))
    counted = fit_gp(X, y, np.zeros(8), counts=np.full(8, 3.0))
    raw = fit_gp(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert_same_fit(counted, raw)
    # one lucky triple among others is not believed
    rng = np.random.default_rng(5)
    errors = np.full(8, 0.1**2)
    errors[2] = 0.0
    lucky = fit_gp(X, y + 0.1 * rng.standard_normal(8), errors, counts=np.full(8, 3.0))
    assert lucky.gp.noise_variance[2] == lucky.gp.noise_variance[3] > 0.05**2


def test_means_of_unknown_spread_have_the_noise_of_their_count() -> None:
    X, _, values = replicates(6)
    means, _, counts = told(values)
    data = standardize(X, means, np.full(len(X), np.nan), counts)
    assert data.extra_unknown == data.scatter == 0
    np.testing.assert_allclose(data.noise_with(0.6), 0.6 / counts)
    # exact as a density of the means: merging two means at one point changes nothing
    twice = standardize(
        np.concatenate([X, X[:3]]),
        np.concatenate([means, means[:3] + 0.2]),
        np.full(len(X) + 3, np.nan),
        np.concatenate([counts, [2.0, 2.0, 5.0]]),
    )
    np.testing.assert_array_equal(twice.counts[:3] - counts[:3], [2.0, 2.0, 5.0])
    assert twice.extra_unknown == 3


@pytest.mark.parametrize("exponent", [-300, 250])
def test_counted_errors_are_free_of_scale(exponent: int) -> None:
    X, _, values = replicates()
    means, variances, counts = told(values)
    one = fit_gp(X, means, variances, counts=counts)
    scaled = np.ldexp(np.ldexp(variances, exponent), exponent)
    other = fit_gp(X, np.ldexp(means, exponent), scaled, counts=counts)
    assert (
        one.hyperparameters.lengthscales.tobytes() == other.hyperparameters.lengthscales.tobytes()
    )
    assert one.hyperparameters.noise == other.hyperparameters.noise


def test_counts_that_are_none_are_refused() -> None:
    for counts in ([1.0, 2.0], [0.5] * 3, [np.nan] * 3, ["a"] * 3):
        with pytest.raises(InputError, match="counts"):
            fit_gp(np.eye(3), np.arange(3.0), 0.1, counts=counts)
