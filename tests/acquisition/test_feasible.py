"""Weighing by the chance of success: the values stay, what is climbed gains the logarithm of the
chance.
"""

import numpy as np
import pytest
from scipy.stats import norm

from ceibo.acquisition import build, feasible, maximize, posterior_mean
from ceibo.gp import GaussianProcess, Matern12, fit_gp
from ceibo.gp.inputs import Array
from tests.helpers import ACQUISITION_NAMES, assert_gradient, central_difference, far_from, make_gp

by_name = pytest.mark.parametrize("name", ACQUISITION_NAMES)
LEAST = 0.05


def outcomes() -> GaussianProcess:
    """Failures where the first coordinate is large."""
    X = np.random.default_rng(3).random((12, 3))
    return GaussianProcess(
        X, np.where(X[:, 0] > 0.6, -1.0, 1.0), 0.1, Matern12([0.4, 2.0, 2.0], 0.8), mean=0.2
    )


def chance(gp: GaussianProcess, X: Array) -> Array:
    mean, variance = gp.posterior(X)
    return np.asarray(LEAST + (1 - LEAST) * norm.cdf(mean / np.sqrt(variance + gp.expected_noise)))


@by_name
def test_values_stay_and_what_is_climbed_gains_the_chance(name: str) -> None:
    acq, labels = build(name, make_gp(1, noise=(0.05, 0.3)), draws=10), outcomes()
    weighed, wary = feasible(acq, labels), feasible(acq, labels, caution=4.0)
    A = np.random.default_rng(1).random((20, 3))
    np.testing.assert_array_equal(weighed.value(A), acq.value(A))
    plain = acq.climbable(acq.predictor(A)).value
    unit = np.sqrt(acq.gp.unit_kernel.variance) if name == "ucb" else 1.0
    for function, power in ((weighed, 1.0), (wary, 4.0)):
        climbed = function.climbable(function.predictor(A)).value
        np.testing.assert_allclose(
            climbed, plain + unit * power * np.log(chance(labels, A)), rtol=1e-9, atol=1e-9
        )


@by_name
@pytest.mark.parametrize("likely_is_enough", [False, True])
def test_gradient_of_what_is_climbed(name: str, likely_is_enough: bool) -> None:
    acq, labels = build(name, make_gp(2, noise=(0.05, 0.3)), draws=10), outcomes()
    weighed = feasible(acq, labels, caution=2.0, likely_is_enough=likely_is_enough)
    places = 0.02 + 0.96 * np.random.default_rng(7).random((200, 3))
    places = far_from(places, np.concatenate([acq.gp.X, labels.X]), 0.12)
    if likely_is_enough:  # there is a kink where nine of ten succeed
        places = places[np.abs(chance(labels, places) - 0.9) > 0.02]
    for a in places[:4]:
        prediction = weighed.predictor(a[None])
        gradient = weighed.climbable(prediction).gradient(prediction)[0]
        numeric = central_difference(
            lambda x: weighed.climbable(weighed.predictor(x[None])).value[0], a, 1e-4
        )
        assert_gradient(gradient, numeric)


def test_where_success_is_likely_the_minimiser_of_the_mean_is_untouched() -> None:
    gp, labels = make_gp(3, n=8, d=3), outcomes()
    mean = posterior_mean(gp)
    weighed = feasible(mean, labels, likely_is_enough=True)
    A = np.random.default_rng(2).random((200, 3))
    same = weighed.climbable(weighed.predictor(A)).value == mean.climbable(mean.predictor(A)).value
    np.testing.assert_array_equal(same, chance(labels, A) >= 0.9)
    assert 0 < same.sum() < len(A)


def test_the_maximum_is_found_where_measurements_succeed() -> None:
    """The model thinks best of a large x, where all has failed, three times in a row."""
    X = np.linspace(0.05, 0.6, 8)[:, None]
    acq = build("corrected-ei", fit_gp(X, -X[:, 0], 1e-4).gp)
    assert maximize(acq).x[0] > 0.9
    failed = np.array([[0.7], [0.8], [0.95]])
    labels = fit_gp(
        np.concatenate([X, failed]), np.repeat([1.0, -1.0], [8, 3]), kernel="matern12"
    ).gp
    assert maximize(feasible(acq, labels, caution=4.0**3)).x[0] < 0.7


@pytest.mark.parametrize("factor", [1.3, 1.5, 1e3])
def test_the_units_of_y_do_not_matter(factor: float) -> None:
    """Also where values are climbed rather than logarithms, and between the powers of two of the
    process's own unit.
    """
    X = np.linspace(0.05, 0.95, 9)[:, None]
    y = (X[:, 0] - 0.8) ** 2
    failed = np.array([[0.75], [0.85]])
    labels = fit_gp(
        np.concatenate([X, failed]), np.repeat([1.0, -1.0], [9, 2]), kernel="matern12"
    ).gp
    found = [
        maximize(
            feasible(
                posterior_mean(fit_gp(X, a * y, a**2 * 1e-4).gp), labels, likely_is_enough=True
            )
        ).x
        for a in (1.0, factor)
    ]
    np.testing.assert_allclose(found[1], found[0], atol=1e-5)
