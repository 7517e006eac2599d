"""Averages over hyperparameters against brute force over a grid, and their limits."""

import numpy as np
import pytest

from ceibo.gp import GaussianProcess, Matern52, fit_gp
from ceibo.gp.averaging import average_fits
from ceibo.gp.inputs import Array
from ceibo.gp.likelihood import Objective, Priors
from ceibo.gp.observations import standardize

NEW = np.array([[0.05], [0.32], [0.5], [0.98]])


def problem(n: int, noise: float = 0.2, seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    y = np.sin(5.0 * X[:, 0]) + noise * rng.standard_normal(n)
    return X, y, np.full(n, noise**2)


def integrated(X: Array, y: Array, noise: Array, means: Array) -> Array:
    """E[(f − mean)²] by a sum over a grid of (log ℓ, log v), with a Gaussian process at each."""
    data = standardize(X, y, noise)
    objective = Objective(data, Matern52, (), Priors.default(1, infers_noise=False))
    logs, parts = [], []
    for log_scale in np.linspace(np.log(0.02), np.log(60.0), 70):
        for log_variance in np.linspace(np.log(0.01), np.log(300.0), 60):
            logs.append(objective.value(np.array([log_scale, log_variance])))
            kernel = Matern52([np.exp(log_scale)], np.exp(log_variance) * data.scale**2)
            gp = GaussianProcess(X, y, noise, kernel, data.centre).with_estimated_mean(data.scale)
            mean, variance = gp.posterior(NEW)
            parts.append(variance + (mean - means) ** 2)
    weights = np.exp(np.array(logs) - max(logs))
    return np.asarray(weights @ np.array(parts) / weights.sum())


def test_the_spread_is_that_of_a_sum_over_a_grid_of_hyperparameters() -> None:
    X, y, noise = problem(14)
    fitted = fit_gp(X, y, noise)
    means, variances = fitted.gp.posterior(NEW)
    exact = np.sqrt(integrated(X, y, noise, means))
    many = average_fits(fitted, draws=2000).spread(NEW, means)
    few = average_fits(fitted).spread(NEW, means)
    assert np.sqrt(many) == pytest.approx(exact, rel=0.02)
    assert np.sqrt(few) == pytest.approx(exact, rel=0.10)
    # what is averaged differs from the plug-in by more than that
    assert np.max(exact / np.sqrt(variances)) > 1.2


def test_with_many_data_nothing_is_left_to_average() -> None:
    ratios = []
    for n in (10, 400):
        X, y, noise = problem(n)
        fitted = fit_gp(X, y, noise)
        means, variances = fitted.gp.posterior(NEW[1:3])
        spread = average_fits(fitted).spread(NEW[1:3], means)
        ratios.append(float(np.mean(np.sqrt(spread / variances))))
    assert ratios[0] > 1.1
    assert ratios[1] == pytest.approx(1.0, abs=0.03)


def test_the_average_contains_the_fit_and_its_weights_sum_to_one() -> None:
    X, y, _ = problem(25)
    fitted = fit_gp(X, y)
    found = average_fits(fitted)
    first, weights = found.fits[0], found.weights
    assert first.gp.posterior(NEW)[0] == pytest.approx(fitted.gp.posterior(NEW)[0], rel=1e-9)
    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() > 0
    assert first.noise_variance == pytest.approx(fitted.noise_variance)


@pytest.mark.parametrize("exponent", [-400, -3, 77, 400])
def test_a_power_of_two_scales_the_spread_exactly(exponent: int) -> None:
    X, y, noise = problem(12)
    unit = 2.0**exponent
    plain, scaled = fit_gp(X, y, noise), fit_gp(X, unit * y, noise * unit**2)
    means = plain.gp.posterior(NEW)[0]
    one = average_fits(plain).spread(NEW, means)
    other = average_fits(scaled).spread(NEW, unit * means)
    assert np.array_equal(other, one * unit**2)


def test_blocks_and_counts_are_averaged_over_as_they_are_fitted() -> None:
    X, y, _ = problem(24)
    blocks = np.arange(24) % 4
    y = y + 0.6 * np.array([1.0, -1.0, 0.5, -0.5])[blocks]
    fitted = fit_gp(X, y, np.full(24, 0.04), counts=np.full(24, 3.0), blocks=blocks)
    found = average_fits(fitted)
    assert len(found.fits) > 4
    spreads = [each.gp.blocks.variances[0] for each in found.fits if each.gp.blocks is not None]
    assert len(spreads) == len(found.fits)
    assert np.std(np.log(spreads)) > 0.1
    means, variances = fitted.gp.posterior(NEW)
    assert np.all(found.spread(NEW, means) > 0.8 * variances)
