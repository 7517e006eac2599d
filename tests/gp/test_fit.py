"""The fit: a maximum indeed, the likelihood of the raw data, no scale, recorded fallbacks."""

import doctest
import importlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, minimize, minimize_scalar
from scipy.stats import multivariate_normal, norm

from ceibo import acquisition
from ceibo.errors import InputError, NotPositiveDefiniteError
from ceibo.gp import FitResult, FitStatus, GaussianProcess, Hyperparameters, basis, fit, fit_gp
from ceibo.gp.kernels import KERNELS as BY_NAME
from ceibo.gp.likelihood import Objective, Priors
from ceibo.gp.observations import standardize
from tests.helpers import Array, kernel_oracle

by_kind = pytest.mark.parametrize("kind", ["known", "unknown", "mixed"])
by_method = pytest.mark.parametrize("method", ["map", "ml"])
by_kernel = pytest.mark.parametrize("kernel", list(BY_NAME))


def data(seed: int, kind: str = "known", n: int = 30, d: int = 2) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    X[-3:] = X[:3]  # replicates
    noise = rng.uniform(0.01, 0.1, n)
    y = (
        5
        + np.sin(4 * X[:, 0])
        + np.cos(3 * X.sum(axis=1))
        + np.sqrt(noise) * rng.standard_normal(n)
    )
    unknown = {"known": np.zeros(n, bool), "unknown": np.ones(n, bool)}.get(
        kind, rng.random(n) < 0.5
    )
    return X, y, np.where(unknown, np.nan, noise)


def theta_of(result: FitResult) -> Array:
    return result.hyperparameters.to_theta(result.noise_variance is not None)


def objective_of(X: Array, y: Array, noise: Array, kernel: str, method: str) -> Objective:
    observations = standardize(X, y, noise)
    priors = Priors.default(X.shape[1], observations.infers_noise) if method == "map" else None
    return Objective(observations, BY_NAME[kernel], (), priors)


# -- a maximum -------------------------------------------------------------------------


@by_kernel
@by_method
@by_kind
def test_the_result_is_a_local_maximum(kernel: str, method: str, kind: str) -> None:
    """Another optimiser, started there, gains less than a hundredth of a unit of log density."""
    X, y, noise = data(1, kind)
    result = fit_gp(X, y, noise, kernel=kernel, method=method)
    assert result.status is FitStatus.CONVERGED
    objective = objective_of(X, y, noise, kernel, method)
    theta = theta_of(result)
    bounds = fit.search_bounds(X.shape[1], standardize(X, y, noise).infers_noise)

    def lowered(t: Array) -> tuple[float, Array]:
        value, gradient = objective(t)
        return -value, -gradient

    polished = minimize(lowered, theta, jac=True, bounds=Bounds(*bounds.T), options={"ftol": 1e-14})
    assert np.all((theta >= bounds[:, 0]) & (theta <= bounds[:, 1]))
    assert -polished.fun - objective(theta)[0] < 1e-2


@by_method
def test_gradient_at_the_result_is_small_or_points_out_of_the_range(method: str) -> None:
    X, y, noise = data(2, n=60, d=3)
    # y does not depend on it: its length scale runs to the end
    X[:, 2] = np.random.default_rng(0).random(60)
    result = fit_gp(X, y, noise, method=method)
    gradient = objective_of(X, y, noise, "matern52", method)(theta_of(result))[1]
    bounds = fit.search_bounds(X.shape[1], standardize(X, y, noise).infers_noise)
    theta = theta_of(result)
    outward = ((theta <= bounds[:, 0]) & (gradient < 0)) | (
        (theta >= bounds[:, 1]) & (gradient > 0)
    )
    # The search ends when a step promises less than 1e-3; with curvature of order n/2 the gradient
    # is then below sqrt(2·1e-3·n/2), a quarter; far from the end it is in the tens.
    assert np.all(np.abs(gradient[~outward]) < 0.25)


@by_kind
@by_kernel
def test_log_likelihood_is_that_of_the_raw_data(kind: str, kernel: str) -> None:
    """In the units of y, replicates not merged, at the fitted values."""
    X, y, noise = data(3, kind)
    result = fit_gp(X, y, noise, kernel=kernel)
    variances = np.where(np.isnan(noise), result.noise_variance or 0.0, noise)
    K = kernel_oracle(result.gp.kernel, X, X) + np.diag(variances)
    residual = y - result.gp.mean
    expected = (
        -0.5 * residual @ np.linalg.solve(K, residual) - 0.5 * np.linalg.slogdet(2 * np.pi * K)[1]
    )
    assert result.log_likelihood == pytest.approx(expected, rel=1e-8)
    posterior = result.gp.mean + kernel_oracle(result.gp.kernel, X, X) @ np.linalg.solve(
        K, residual
    )
    np.testing.assert_allclose(result.gp.posterior(X)[0], posterior, rtol=1e-7)


def test_maximum_likelihood_has_the_higher_likelihood_and_map_the_higher_posterior() -> None:
    X, y, noise = data(4, "unknown")
    by_ml, by_map = (fit_gp(X, y, noise, method=method) for method in ("ml", "map"))
    for method, better, other in (("ml", by_ml, by_map), ("map", by_map, by_ml)):
        objective = objective_of(X, y, noise, "matern52", method)
        assert objective(theta_of(better))[0] >= objective(theta_of(other))[0] - 1e-2


@by_kind
def test_the_constant_mean_is_the_most_probable_one(kind: str) -> None:
    """Maximum a posteriori: no constant is more probable. Maximum likelihood: the average of y."""
    X, y, noise = data(8, kind)
    result = fit_gp(X, y, noise)
    variances = np.where(np.isnan(noise), result.noise_variance or 0.0, noise)
    K = kernel_oracle(result.gp.kernel, X, X) + np.diag(variances)

    def log_density(mean: float) -> float:
        prior = norm(y.mean(), y.std()).logpdf(mean)
        return float(multivariate_normal(np.full(len(y), mean), K).logpdf(y) + prior)

    found = minimize_scalar(
        lambda mean: -log_density(mean), bounds=(y.min(), y.max()), options={"xatol": 1e-10}
    )
    assert result.gp.mean == pytest.approx(found.x, abs=1e-6 * np.ptp(y))
    assert fit_gp(X, y, noise, method="ml").gp.mean == pytest.approx(y.mean(), rel=1e-12)


def test_the_mean_of_a_biased_sample_is_not_the_average() -> None:
    """Where most measurements are near the minimum the average is low, the constant is not."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.random((10, 2)), 0.5 + 0.03 * rng.standard_normal((40, 2))])
    y = -np.exp(-30.0 * np.sum((X - 0.5) ** 2, axis=1))
    assert np.mean(y) < -0.7
    assert fit_gp(X, y, 1e-4).gp.mean > -0.4


def test_unknown_noise_is_found() -> None:
    """300 values with noise variance 0.04: the estimate's own error is about √(2/300) = 8 %."""
    rng = np.random.default_rng(5)
    X = rng.random((300, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(300)
    result = fit_gp(X, y)
    assert result.noise_variance == pytest.approx(0.04, rel=0.4)
    assert result.gp.expected_noise == result.noise_variance


def test_a_deterministic_objective_of_unknown_noise_is_seen_to_be_one() -> None:
    rng = np.random.default_rng(9)
    X = rng.random((25, 2))
    result = fit_gp(X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2)
    assert result.noise_variance is not None
    assert np.sqrt(result.noise_variance) < 0.02


def test_replicates_alone_tell_the_noise() -> None:
    rng = np.random.default_rng(6)
    X = np.repeat(rng.random((5, 2)), 40, axis=0)
    y = X[:, 0] + 0.5 * rng.standard_normal(200)
    # four times √(2/195)
    assert fit_gp(X, y, method="ml").noise_variance == pytest.approx(0.25, rel=0.4)


def test_an_irrelevant_dimension_gets_a_long_length_scale() -> None:
    rng = np.random.default_rng(7)
    X = rng.random((60, 2))
    lengthscales = fit_gp(X, np.sin(8 * X[:, 0]), 1e-4).gp.kernel.lengthscales
    assert lengthscales[1] > 5 * lengthscales[0]


@pytest.mark.parametrize(
    ("noise", "expected"),
    [(0.04, 0.04), ([0.01] * 10 + [0.03] * 10, 0.02), ([0.01] * 10 + [np.nan] * 10, 0.01)],
    ids=["known", "different", "mixed"],
)
def test_the_noise_expected_next_is_the_mean_of_the_known(
    noise: ArrayLike, expected: float
) -> None:
    X, y, _ = data(8, n=20)
    assert fit_gp(X, y, noise).gp.expected_noise == pytest.approx(expected, rel=1e-12)


# -- warm starts -----------------------------------------------------------------------


@by_method
@pytest.mark.parametrize("seed", range(4))
def test_a_warm_start_is_never_worse_than_none(seed: int, method: str) -> None:
    X, y, noise = data(seed, "mixed")
    objective = objective_of(X, y, noise, "matern52", method)
    cold = fit_gp(X, y, noise, method=method)
    starts = [
        cold.hyperparameters,
        Hyperparameters(np.array([0.05, 3.0]), 5.0, 1e-4),
        Hyperparameters(np.array([50.0, 50.0]), 1e-3),
    ]
    for start in starts:
        warm = fit_gp(X, y, noise, method=method, start=start)
        assert objective(theta_of(warm))[0] >= objective(theta_of(cold))[0] - 1e-9


def test_a_start_outside_the_range_is_brought_inside() -> None:
    X, y, noise = data(1)
    assert (
        fit_gp(X, y, noise, start=Hyperparameters(np.array([1e-9, 1e9]), 1e-30)).status
        is FitStatus.CONVERGED
    )


# -- fallbacks -------------------------------------------------------------------------


def fail(_self: Objective, theta: Array) -> tuple[float, Array]:
    return -np.inf, np.zeros_like(theta)


def test_a_failed_search_uses_the_start_given_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, noise = data(1)
    monkeypatch.setattr(Objective, "__call__", fail)
    start = Hyperparameters(np.array([0.3, 0.4]), 1.5)
    result = fit_gp(X, y, noise, start=start)
    assert result.status is FitStatus.PREVIOUS
    assert "start values" in result.message
    np.testing.assert_allclose(result.hyperparameters.lengthscales, [0.3, 0.4], rtol=1e-14)
    assert np.isfinite(result.log_likelihood)


@by_kind
def test_a_failed_search_without_a_start_uses_defaults_and_says_so(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, noise = data(1, kind)
    monkeypatch.setattr(Objective, "__call__", fail)
    result = fit_gp(X, y, noise)
    assert result.status is FitStatus.DEFAULT
    assert "default" in result.message
    assert np.all(np.isfinite(result.gp.posterior(X)[0]))


def test_a_search_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, noise = data(1)
    monkeypatch.setattr(fit, "_STEPS", 1)
    result = fit_gp(X, y, noise)
    assert result.status is FitStatus.STOPPED
    assert "early" in result.message


def test_fitted_values_that_cannot_be_used_give_way_to_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, noise = data(1)
    calls = []

    def once_broken(*arguments: Any) -> GaussianProcess:
        calls.append(arguments)
        if len(calls) == 1:
            raise NotPositiveDefiniteError("no factor")
        return GaussianProcess(*arguments)

    monkeypatch.setattr(basis, "GaussianProcess", once_broken)
    result = fit_gp(X, y, noise)
    assert result.status is FitStatus.DEFAULT
    assert "no factor" in result.message
    assert len(calls) == 2


# -- no scale --------------------------------------------------------------------------


def suggestion(X: Array, y: Array, noise: Array, name: str = "corrected-ei") -> Array:
    gp = fit_gp(X, y, noise).gp
    return acquisition.maximize(acquisition.build(name, gp, seed=0), seed=0).x


@by_kind
@pytest.mark.parametrize("power", [-480, -1, 1, 480])
def test_a_power_of_two_changes_no_bit_of_a_suggestion(kind: str, power: int) -> None:
    X, y, noise = data(9, kind)
    a = 2.0**power
    np.testing.assert_array_equal(suggestion(X, a * y, a * a * noise), suggestion(X, y, noise))


@by_kind
@pytest.mark.parametrize("factor", [3e-150, 0.7, 1e6, 3e149])
def test_any_factor_changes_a_suggestion_by_rounding_only(kind: str, factor: float) -> None:
    X, y, noise = data(9, kind)
    for name in ("corrected-ei", "knowledge-gradient"):
        scaled = suggestion(X, factor * y, factor * factor * noise, name)
        np.testing.assert_allclose(scaled, suggestion(X, y, noise, name), atol=1e-6)  # of the box


@by_kind
def test_a_shift_changes_a_suggestion_by_rounding_only(kind: str) -> None:
    X, y, noise = data(9, kind)
    np.testing.assert_allclose(suggestion(X, y + 100.0, noise), suggestion(X, y, noise), atol=1e-6)


def test_likelihood_and_hyperparameters_carry_the_units() -> None:
    X, y, noise = data(10, "mixed")
    one, other = fit_gp(X, y, noise), fit_gp(X, 8 * y, 64 * noise)
    assert other.gp.kernel.variance == 64 * one.gp.kernel.variance
    assert other.noise_variance == 64 * (one.noise_variance or 0.0)
    assert other.log_likelihood == pytest.approx(one.log_likelihood - len(y) * np.log(8), rel=1e-12)
    assert other.hyperparameters.variance == one.hyperparameters.variance


@by_kind
def test_the_same_data_give_the_same_fit_bit_for_bit(kind: str) -> None:
    X, y, noise = data(11, kind, n=140)
    one, other = fit_gp(X, y, noise), fit_gp(X, y, noise)
    np.testing.assert_array_equal(one.gp.kernel.lengthscales, other.gp.kernel.lengthscales)
    assert one.log_likelihood == other.log_likelihood


def test_categorical_columns_are_compared_by_equality() -> None:
    """Names for the categories do not matter, only which rows share one."""
    X, y, noise = data(12, n=40, d=2)
    X[:, 1] = np.random.default_rng(0).integers(0, 3, 40) / 2
    y = y + 2.0 * (X[:, 1] == 0.5)
    renamed = X.copy()
    renamed[:, 1] = np.choose((2 * X[:, 1]).astype(int), [0.9, 0.05, 0.4])
    one, other = fit_gp(X, y, noise, categorical=[1]), fit_gp(renamed, y, noise, categorical=[1])
    np.testing.assert_allclose(one.gp.kernel.lengthscales, other.gp.kernel.lengthscales, rtol=1e-6)
    assert one.gp.kernel.categorical == (1,)


# -- bad input -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": [0.1, 0.2]}, ["X must have shape (n, d)", "(2,)", "X[:, None]"]),
        ({"X": np.zeros((0, 2)), "y": []}, ["at least one point", "(0, 2)"]),
        ({"X": [[0.1, np.nan]] * 2}, ["X must be finite", "Leave out"]),
        ({"y": [1.0]}, ["y must have shape (2,)", "(1,)"]),
        ({"y": [1.0, np.inf]}, ["y must be finite", "inf", "leave it out"]),
        ({"y": ["a", "b"]}, ["y must be an array of real numbers"]),
        ({"y": [1j, 2j]}, ["y must be an array of real numbers"]),
        ({"noise_variance": -1.0}, ["noise_variance must not be negative", "-1.0", "square"]),
        ({"noise_variance": [np.nan, -1.0]}, ["noise_variance must not be negative", "-1.0"]),
        ({"noise_variance": np.inf}, ["noise_variance must be finite"]),
        ({"noise_variance": [0.1]}, ["noise_variance", "shape (2,)", "(1,)"]),
        ({"kernel": "rbf"}, ["kernel must be one of", "matern52", "'rbf'"]),
        ({"method": "bayes"}, ["method must be 'map' or 'ml'", "'bayes'"]),
        ({"categorical": [2]}, ["categorical", "from 0 to 1", "got (2,)"]),
        (
            {"start": Hyperparameters(np.array([1.0]), 1.0)},
            ["start must have 2 lengthscales", "got 1"],
        ),
    ],
    ids=str,
)
def test_bad_data_say_what_was_expected_what_came_and_what_to_try(
    change: dict[str, Any], words: list[str]
) -> None:
    arguments = {"X": [[0.1, 0.2], [0.3, 0.4]], "y": [1.0, 2.0], "noise_variance": 0.1, **change}
    with pytest.raises(InputError) as caught:
        fit_gp(**arguments)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        ([0.1, -1.0], 1.0),
        ([0.1], 0.0),
        ([np.nan], 1.0),
        ([0.1], np.inf),
        ([0.1], 1.0, -0.1),
        ([0.1], 1.0, 0.0),
    ],
)
def test_hyperparameters_must_be_above_zero(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InputError, match="above zero"):
        Hyperparameters(*arguments)


# -- the examples in the docstrings ----------------------------------------------------


@pytest.mark.parametrize(
    "module",
    ["fit", "posterior", "kernels", "likelihood", "linalg", "observations", "inputs", "ascent"],
)
def test_examples_in_the_docstrings_run(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"ceibo.gp.{module}")).failed == 0
