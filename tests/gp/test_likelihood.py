"""The objective of the fit: log marginal likelihood and priors, with their gradients."""

from typing import final

import numpy as np
import pytest
from scipy.stats import cauchy, lognorm, multivariate_normal

from ceibo.gp import Kernel, Matern52
from ceibo.gp.likelihood import NUGGET, Objective, Priors
from ceibo.gp.observations import Observations, standardize
from tests.helpers import KERNELS, Array, assert_gradient, central_difference, kernel_oracle

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
by_kind = pytest.mark.parametrize("kind", ["known", "unknown", "mixed"])
by_categories = pytest.mark.parametrize("categorical", [(), (1,), (0, 1, 2)], ids=str)


def observations(
    kind: str, categorical: tuple[int, ...], seed: int = 0
) -> tuple[Observations, Array, Array, Array]:
    """Standardized data with replicates, and the raw rows they come from."""
    rng = np.random.default_rng(seed)
    X = rng.random((14, 3))
    for k in categorical:
        X[:, k] = rng.integers(0, 3, 14) / 2
    X = np.concatenate([X, X[:5]])
    noise = np.exp(rng.uniform(np.log(1e-2), np.log(0.5), len(X)))
    unknown = {"known": False, "unknown": True}.get(kind, rng.random(len(X)) < 0.4)
    noise = np.where(unknown, np.nan, noise)
    y = np.cos(3 * X.sum(axis=1)) + 0.2 * rng.standard_normal(len(X))
    return standardize(X, y, noise), X, y, noise


def theta_of(data: Observations, seed: int) -> Array:
    d = data.X.shape[1]
    rng = np.random.default_rng(seed)
    theta = np.concatenate(
        [rng.uniform(-1.2, 0.5, d), rng.uniform(-0.7, 0.7, 1), rng.uniform(-4, -0.5, 1)]
    )
    return theta if data.infers_noise else theta[:-1]


@by_kernel
@by_kind
@by_categories
@pytest.mark.parametrize("priors", [False, True])
def test_the_value_alone_is_the_same_value(
    kernel: type[Kernel], kind: str, categorical: tuple[int, ...], priors: bool
) -> None:
    data, *_ = observations(kind, categorical)
    given = Priors.default(3, data.infers_noise) if priors else None
    objective = Objective(data, kernel, categorical, given)
    for seed in range(3):
        theta = theta_of(data, seed)
        assert objective.value(theta) == pytest.approx(objective(theta)[0], rel=1e-12)
    assert objective.evaluations == 6


@by_kernel
@by_kind
@by_categories
def test_value_is_the_density_of_the_raw_data(
    kernel: type[Kernel], kind: str, categorical: tuple[int, ...]
) -> None:
    data, X, y, noise = observations(kind, categorical)
    theta = theta_of(data, 1)
    value, _ = Objective(data, kernel, categorical, None)(theta)
    k = kernel(np.exp(theta[:3]), np.exp(theta[3]), categorical)
    variances = np.where(np.isnan(noise), np.exp(theta[-1]), noise / data.scale**2)
    K = kernel_oracle(k, X, X) + np.diag(variances)
    expected = multivariate_normal(np.zeros(len(X)), K).logpdf((y - data.centre) / data.scale)
    # The nugget of 1e-10·v changes the value by about that much times the trace of the inverse.
    assert value == pytest.approx(
        expected, abs=NUGGET * k.variance * np.trace(np.linalg.inv(K)) * 20 + 1e-9
    )


@by_kernel
@by_kind
@by_categories
@pytest.mark.parametrize("with_priors", [False, True], ids=["ml", "map"])
def test_gradient_is_the_central_difference(
    kernel: type[Kernel], kind: str, categorical: tuple[int, ...], with_priors: bool
) -> None:
    data = observations(kind, categorical)[0]
    objective = Objective(
        data, kernel, categorical, Priors.default(3, data.infers_noise) if with_priors else None
    )
    for seed in range(3):
        theta = theta_of(data, seed)
        assert_gradient(
            objective(theta)[1], central_difference(lambda t: objective(t)[0], theta, h=1e-3)
        )


def test_calls_do_not_disturb_each_other() -> None:
    """The work arrays are reused: another θ in between must leave no trace."""
    data = observations("mixed", (1,))[0]
    objective = Objective(data, Matern52, (1,), None)
    one, two = theta_of(data, 1), theta_of(data, 2)
    value, gradient = objective(one)
    objective(two)
    again, gradient_again = objective(one)
    assert value == again
    np.testing.assert_array_equal(gradient, gradient_again)
    assert objective.evaluations == 3


def test_one_observation_is_enough() -> None:
    data = standardize(np.array([[0.3, 0.7]]), np.array([2.0]), np.array([0.1]))
    value, gradient = Objective(data, Matern52, (), None)(np.zeros(3))
    assert np.isfinite(value)
    assert np.all(gradient[:2] == 0)


@final
class _Impossible(Kernel):
    """Correlations of two: no covariance, so that a factorization must fail."""

    @staticmethod
    def profile(s: Array) -> tuple[Array, Array]:
        return np.full_like(s, 2.0), np.zeros_like(s)


def test_a_matrix_that_cannot_be_factorized_is_a_wall() -> None:
    data = observations("known", ())[0]
    value, gradient = Objective(data, _Impossible, (), None)(np.zeros(4))
    assert value == -np.inf
    assert np.all(gradient == 0)


@pytest.mark.parametrize("infers_noise", [False, True])
def test_priors_are_scipys_log_normals_and_cauchy(infers_noise: bool) -> None:
    priors = Priors.default(3, infers_noise)
    theta = np.array([-2.0, 0.1, 3.0, 0.4, -5.0])[: 4 + infers_noise]
    value, slope = priors.log_density(theta)
    location, scale = priors.location, priors.scale
    expected = np.sum(lognorm(s=scale[:4], scale=np.exp(location[:4])).logpdf(np.exp(theta[:4])))
    expected += np.sum(cauchy(location[4:], scale[4:]).logpdf(theta[4:]))
    assert value == pytest.approx(expected, rel=1e-13)
    assert_gradient(slope, central_difference(lambda x: priors.log_density(x)[0], theta))


def test_the_length_scale_prior_grows_with_the_root_of_the_dimension() -> None:
    one, many = Priors.default(1, False), Priors.default(36, False)
    np.testing.assert_allclose(many.location[:36] - one.location[0], np.log(6), rtol=1e-14)
    assert set(many.scale[:36]) == {one.scale[0]}
