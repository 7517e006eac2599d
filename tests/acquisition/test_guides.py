"""Guides: the search is led elsewhere, the values stay."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from ceibo.acquisition import Acquisition, Chance, Fence, Guide, build, maximize, posterior_mean
from ceibo.acquisition.guides import climbed
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Matern12, Matern52, fit_gp
from tests.helpers import (
    ACQUISITION_NAMES,
    Array,
    assert_gradient,
    central_difference,
    far_from,
    make_gp,
)

by_name = pytest.mark.parametrize("name", ACQUISITION_NAMES)
LEAST, NOISE = 0.05, 0.1


def climb_value(acq: Acquisition, X: Array, *guides: Guide) -> Array:
    return climbed(acq, acq.predictor(X), guides).value


def assert_gradient_of_what_is_climbed(acq: Acquisition, places: Array, *guides: Guide) -> None:
    for a in places:
        prediction = acq.predictor(a[None])
        gradient = climbed(acq, prediction, guides).gradient(prediction)[0]
        numeric = central_difference(lambda x: climb_value(acq, x[None], *guides)[0], a, 1e-4)
        assert_gradient(gradient, numeric)


# fences


@by_name
def test_what_is_climbed_falls_without_bound_towards_a_fence(name: str) -> None:
    acq = build(name, make_gp(1, noise=(0.05, 0.3)), draws=10)
    point = np.array([[0.3, 0.6, 0.5]])
    fence = Fence(point, acq.gp.kernel, 0.1)
    steps = np.array([1e-1, 1e-2, 1e-4, 1e-6])
    near = point + steps[:, None] * np.array([[1.0, 0.0, 0.0]])
    assert np.all(np.diff(climb_value(acq, near, fence) - climb_value(acq, near)) < 0)
    assert climb_value(acq, point, fence)[0] == -np.inf


@by_name
def test_gradient_of_what_is_climbed_beside_fences(name: str) -> None:
    acq = build(name, make_gp(2, noise=(0.05, 0.3)), draws=10)
    fence = Fence(np.array([[0.3, 0.6, 0.5], [0.8, 0.2, 0.4]]), acq.gp.kernel, 0.8)
    places = far_from(0.02 + 0.96 * np.random.default_rng(7).random((100, 3)), acq.gp.X, 0.12)
    assert_gradient_of_what_is_climbed(acq, places[:4], fence)


def test_the_maximum_is_found_off_a_fence() -> None:
    acq = build("corrected-ei", make_gp(3, n=8, d=2))
    first = maximize(acq)
    second = maximize(acq, guides=[Fence(first.x[None], acq.gp.kernel, 0.2)])
    assert np.linalg.norm((second.x - first.x) / acq.gp.kernel.lengthscales) > 0.1
    # what is returned is the acquisition's own value, fenced or not
    assert second.value == acq.value(second.x[None])[0] < first.value


def test_a_discrete_space_is_searched_off_a_fence() -> None:
    acq = build("corrected-ei", make_gp(3, n=8, d=2))
    levels = {0: np.linspace(0, 1, 5), 1: np.linspace(0, 1, 4)}
    first = maximize(acq, discrete=levels).x
    second = maximize(acq, discrete=levels, guides=[Fence(first[None], acq.gp.kernel, 0.1)]).x
    assert not np.array_equal(first, second)


def test_a_fence_without_points_changes_nothing() -> None:
    acq = build("ei", make_gp(4))
    found = maximize(acq, guides=[Fence(np.zeros((0, 3)), acq.gp.kernel, 0.1)])
    np.testing.assert_array_equal(found.x, maximize(acq).x)


def test_two_fences_add_up_in_value_and_gradient() -> None:
    acq = build("ei", make_gp(3, n=8, d=2))
    first = Fence(np.array([[0.2, 0.3]]), acq.gp.kernel, 0.1)
    second = Fence(np.array([[0.7, 0.6]]), acq.gp.kernel, 0.3)
    x = np.array([[0.45, 0.5]])
    added = sum(guide.guidance(x)[0] for guide in (first, second))
    np.testing.assert_allclose(
        climb_value(acq, x, first, second), climb_value(acq, x) + added, rtol=1e-14
    )
    assert_gradient_of_what_is_climbed(acq, x, first, second)


@pytest.mark.parametrize(
    ("points", "share", "words"),
    [
        ([[0.1, 0.2]], 0.1, ["points must have shape (m, 3)", "(1, 2)"]),
        ([0.1, 0.2, 0.3], 0.1, ["points must have shape (m, 3)", "(3,)"]),
        ([["a", "b", "c"]], 0.1, ["points must be an array of real numbers"]),
        ([[0.1, 0.2, 0.3]], 0.0, ["share", "above zero", "0.0"]),
    ],
)
def test_bad_fences_say_what_was_expected_and_what_came(
    points: list[Any], share: float, words: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        Fence(points, Matern52(np.full(3, 0.3)), share)  # type: ignore[arg-type]  # wrong on purpose
    for word in words:
        assert word in str(caught.value)


# chances of success


def outcomes() -> GaussianProcess:
    """Failures where the first coordinate is large."""
    X = np.random.default_rng(3).random((12, 3))
    kernel = Matern12(np.array([0.4, 2.0, 2.0]), 0.8)
    labels = np.where(X[:, 0] > 0.6, -1.0, 1.0)
    return GaussianProcess(X, labels, np.full(12, NOISE), kernel, mean=0.2)


def chance(gp: GaussianProcess, X: Array) -> Array:
    mean, variance = gp.posterior(X)
    return np.asarray(LEAST + (1 - LEAST) * norm.cdf(mean / np.sqrt(variance + NOISE)))


@by_name
def test_what_is_climbed_gains_the_logarithm_of_the_chance(name: str) -> None:
    acq, labels = build(name, make_gp(1, noise=(0.05, 0.3)), draws=10), outcomes()
    A = np.random.default_rng(1).random((20, 3))
    unit = np.sqrt(acq.gp.unit_kernel.variance) if name == "ucb" else 1.0
    for power in (1.0, 4.0):
        np.testing.assert_allclose(
            climb_value(acq, A, Chance(labels, caution=power)),
            climb_value(acq, A) + unit * power * np.log(chance(labels, A)),
            rtol=1e-9,
            atol=1e-9,
        )


@by_name
@pytest.mark.parametrize("likely_is_enough", [False, True])
def test_gradient_of_what_is_climbed_with_a_chance(name: str, likely_is_enough: bool) -> None:
    acq, labels = build(name, make_gp(2, noise=(0.05, 0.3)), draws=10), outcomes()
    places = 0.02 + 0.96 * np.random.default_rng(7).random((200, 3))
    places = far_from(places, np.concatenate([acq.gp.X, labels.X]), 0.12)
    if likely_is_enough:  # there is a kink where nine of ten succeed
        places = places[np.abs(chance(labels, places) - 0.9) > 0.02]
    guide = Chance(labels, caution=2.0, likely_is_enough=likely_is_enough)
    assert_gradient_of_what_is_climbed(acq, places[:4], guide)


def test_where_success_is_likely_the_minimiser_of_the_mean_is_untouched() -> None:
    gp, labels = make_gp(3, n=8, d=3), outcomes()
    mean = posterior_mean(gp)
    A = np.random.default_rng(2).random((200, 3))
    guide = Chance(labels, likely_is_enough=True)
    same = climb_value(mean, A, guide) == climb_value(mean, A)
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
    found = maximize(acq, guides=[Chance(labels, caution=4.0**3)])
    assert found.x[0] < 0.7
    assert found.value == acq.value(found.x[None])[0]


@pytest.mark.parametrize("factor", [1.3, 1.5, 1e3])
def test_the_units_of_y_do_not_matter(factor: float) -> None:
    """Also where values are climbed rather than logarithms, between two powers of two."""
    X = np.linspace(0.05, 0.95, 9)[:, None]
    y = (X[:, 0] - 0.8) ** 2
    failed = np.array([[0.75], [0.85]])
    labels = fit_gp(
        np.concatenate([X, failed]), np.repeat([1.0, -1.0], [9, 2]), kernel="matern12"
    ).gp
    guides = [Chance(labels, likely_is_enough=True)]
    found = [
        maximize(posterior_mean(fit_gp(X, a * y, a**2 * 1e-4).gp), guides=guides).x
        for a in (1.0, factor)
    ]
    np.testing.assert_allclose(found[1], found[0], atol=1e-5)
