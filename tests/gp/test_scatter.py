"""Noise that differs over the space: its evidence, its likelihood, what is not enough for it."""

import numpy as np
import pytest

from ceibo.gp import GaussianProcess, Matern52, fit_gp
from ceibo.gp.likelihood import Objective, Priors
from ceibo.gp.observations import Observations, standardize
from ceibo.gp.scatter import NoiseShape, find_mode, shape_of_noise
from tests.helpers import Array

LEVEL = 10.0  # the prior variance of the common level
REQUIRED = float(np.log(20.0))


def measured(seed: int, n: int, count: int, ratio: float) -> tuple[Array, Array]:
    """Raw rows: replicates of a bowl, whose noise is `ratio` times as large where x > 0.7."""
    rng = np.random.default_rng([seed, n, count])
    X = rng.random((n, 2))
    std = np.where(X[:, 0] > 0.7, 0.05 * ratio, 0.05)
    y = np.sum((X - 0.4) ** 2, axis=1)[:, None] + std[:, None] * rng.standard_normal((n, count))
    return np.repeat(X, count, axis=0), y.ravel()


def observed(X: Array, y: Array) -> Observations:
    return standardize(X, y, np.full(len(y), np.nan))


def log_integral(matrix: Array, extras: Array, r: Array) -> float:
    """log Z of one row or two by the trapezoidal rule."""
    K = matrix + LEVEL
    centre = K @ find_mode(matrix, extras, r).slope
    steps = np.linspace(-1.0, 1.0, 801) * 14.0 / np.sqrt(np.min(extras))
    grid = np.stack(np.meshgrid(*[steps] * len(r), indexing="ij"), axis=-1).reshape(-1, len(r))
    eta = centre + grid
    prior = np.sum(eta * np.linalg.solve(K, eta.T).T, axis=1) + np.linalg.slogdet(2 * np.pi * K)[1]
    logs = -0.5 * (eta @ extras + np.exp(-eta) @ r + prior)
    return float(np.logaddexp.reduce(logs)) + len(r) * float(np.log(steps[1] - steps[0]))


@pytest.mark.parametrize(("extras", "apart"), [(1.0, 0.2), (2.0, 0.1), (9.0, 0.03), (60.0, 0.005)])
def test_the_evidence_is_the_integral_of_the_likelihood(extras: float, apart: float) -> None:
    ν = np.full(1, extras)
    for ratio in (0.3, 1.0, 4.0):
        found = find_mode(np.eye(1), ν, ratio * ν).log_evidence
        assert abs(found - log_integral(np.eye(1), ν, ratio * ν)) < apart
    ν, r = np.array([extras, extras]), np.array([0.4 * extras, 1.6 * extras])
    matrix = 9.0 * np.array([[1.0, 0.5], [0.5, 1.0]])
    assert abs(find_mode(matrix, ν, r).log_evidence - log_integral(matrix, ν, r)) < 2 * apart


@pytest.mark.parametrize("spread", [0.0, 0.3, 3.0, 12.0])
def test_the_mode_is_one_whatever_the_scatters(spread: float) -> None:
    rng = np.random.default_rng(4)
    X, extras = rng.random((25, 2)), rng.integers(1, 9, 25).astype(float)
    r = extras * np.exp(spread * rng.standard_normal(25))
    r *= np.sum(extras) / np.sum(r)
    matrix = 9.0 * np.exp(-np.sum((X[:, None] - X) ** 2, axis=2) / 0.1)
    mode = find_mode(matrix, extras, r)
    eta = (matrix + LEVEL) @ mode.slope
    np.testing.assert_allclose(mode.slope, 0.5 * (r * np.exp(-eta) - extras), atol=0.05)
    assert mode.log_likelihood == pytest.approx(-0.5 * float(extras @ eta + r @ np.exp(-eta)))


def some_shape(X: Array) -> NoiseShape:
    rng = np.random.default_rng(2)
    return NoiseShape(Matern52([0.4, 0.7], 2.0), X[:8], rng.standard_normal(8), -0.3)


@pytest.mark.parametrize("counted", [False, True])
def test_the_likelihood_is_that_of_the_raw_values(counted: bool) -> None:
    X, y = measured(0, 20, 3, 6.0)
    shape = some_shape(X[::3])
    if counted:
        values = y.reshape(20, 3)
        means, errors = values.mean(axis=1), values.var(axis=1, ddof=1) / 3
        fit = fit_gp(X[::3], means, errors, counts=np.full(20, 3.0), noise_shape=shape)
    else:
        fit = fit_gp(X, y, noise_shape=shape)
    assert fit.noise_variance is not None
    noise = fit.noise_variance * shape.relative(X)
    raw = GaussianProcess(X, y, noise, fit.gp.kernel, fit.gp.mean)
    assert fit.log_likelihood == pytest.approx(raw.log_likelihood, rel=1e-9)
    for a, b in zip(fit.gp.posterior(X[::7]), raw.posterior(X[::7]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def test_gradients_under_a_shape_are_finite_differences() -> None:
    X, y = measured(1, 14, 2, 6.0)
    data = observed(X, y)
    data = data.shaped(some_shape(X[::2]).relative(data.X))
    objective = Objective(data, Matern52, (), Priors.default(2, data.infers_noise))
    theta = np.array([-0.7, 0.2, 0.3, -2.0])
    for k, step in enumerate(1e-5 * np.eye(4)):
        slope = (objective(theta + step)[0] - objective(theta - step)[0]) / 2e-5
        assert objective(theta)[1][k] == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_a_shape_of_one_everywhere_changes_nothing() -> None:
    data = observed(*measured(2, 12, 3, 1.0))
    same = data.shaped(np.ones(12))
    assert same.log_factor == data.log_factor
    assert same.scatter == pytest.approx(data.scatter, rel=1e-14)
    assert np.array_equal(same.counts, data.counts)


def test_a_region_of_more_noise_is_found_where_it_is() -> None:
    data = observed(*measured(3, 30, 4, 15.0))
    found = shape_of_noise(data)
    assert found is not None
    assert found.log_bayes > 3 * REQUIRED
    ratio = np.sqrt(found.shape.relative(data.X))
    wild = data.X[:, 0] > 0.7
    typical = float(np.exp(np.mean(np.log(ratio[wild])) - np.mean(np.log(ratio[~wild]))))
    assert 10 < typical < 22


def test_one_level_is_hardly_ever_taken_for_several() -> None:
    """A Bayes factor above 20 has a chance of at most 1 in 20; in the mean far less."""
    found = [shape_of_noise(observed(*measured(seed, 20, 3, 1.0))) for seed in range(100)]
    assert sum(each is not None and each.log_bayes > REQUIRED for each in found) <= 3


def test_nothing_is_said_of_equal_scatters_of_few_rows_or_of_rounded_values() -> None:
    X = np.repeat(np.random.default_rng(0).random((20, 2)), 2, axis=0)
    y = np.repeat(X[::2, 0], 2) + np.tile([-0.1, 0.1], 20)
    assert shape_of_noise(observed(X, y)) is None
    assert shape_of_noise(observed(*measured(3, 5, 4, 15.0))) is None
    assert shape_of_noise(observed(X[::2], y[::2])) is None  # no replicates
    exact = np.repeat(X[::2, 0], 2)
    assert shape_of_noise(observed(X, exact)) is None
    exact[:8] += np.tile([-0.1, 0.1], 4)  # what differs is of four rows, too few
    assert shape_of_noise(observed(X, exact)) is None


def test_a_power_of_two_changes_no_bit() -> None:
    X, y = measured(3, 20, 3, 15.0)
    one, other = (shape_of_noise(observed(X, np.ldexp(y, k))) for k in (0, 200))
    assert one is not None
    assert other is not None
    assert np.array_equal(one.shape.weights, other.shape.weights)
    assert one[1:] == other[1:]


def test_categories_and_one_dimension() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(30), rng.integers(0, 3, 30) / 3.0])
    std = np.where(X[:, 1] == 0.0, 1.0, 0.05)
    rows = np.repeat(X, 3, axis=0), (std[:, None] * rng.standard_normal((30, 3))).ravel()
    found = shape_of_noise(observed(*rows), (1,))
    assert found is not None
    assert found.log_bayes > REQUIRED
    loud, quiet = found.shape.relative(np.array([[0.5, 0.0], [0.5, 1 / 3]]))
    assert loud > 30 * quiet
    X, y = measured(3, 20, 3, 15.0)
    line = shape_of_noise(observed(X[:, :1], y))
    assert line is not None
    assert line.log_bayes > REQUIRED
