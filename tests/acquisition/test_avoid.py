"""Fences around points: the search turns away, the values stay."""

import numpy as np
import pytest

from ceibo.acquisition import build, maximize
from ceibo.acquisition.avoid import avoid
from ceibo.gp.inputs import Array
from tests.helpers import ACQUISITION_NAMES, assert_gradient, central_difference, far_from, make_gp

by_name = pytest.mark.parametrize("name", ACQUISITION_NAMES)


@by_name
def test_values_stay_and_what_is_climbed_falls_without_bound_towards_a_fence(name: str) -> None:
    acq = build(name, make_gp(1, noise=(0.05, 0.3)), draws=10)
    fence = np.array([[0.3, 0.6, 0.5]])
    fenced = avoid(acq, fence, 0.1)
    A = np.random.default_rng(1).random((20, 3))
    np.testing.assert_array_equal(fenced.value(A), acq.value(A))
    steps = np.array([1e-1, 1e-2, 1e-4, 1e-6])
    near = fence + steps[:, None] * np.array([[1.0, 0.0, 0.0]])
    penalty = [f.climbable(f.predictor(near)).value for f in (fenced, acq)]
    assert np.all(np.diff(penalty[0] - penalty[1]) < 0)
    assert fenced.climbable(fenced.predictor(fence)).value[0] == -np.inf


@by_name
def test_gradient_of_what_is_climbed(name: str) -> None:
    acq = build(name, make_gp(2, noise=(0.05, 0.3)), draws=10)
    fenced = avoid(acq, np.array([[0.3, 0.6, 0.5], [0.8, 0.2, 0.4]]), 0.8)
    for a in far_from(0.02 + 0.96 * np.random.default_rng(7).random((100, 3)), acq.gp.X, 0.12)[:4]:
        prediction = fenced.predictor(a[None])
        gradient = fenced.climbable(prediction).gradient(prediction)[0]
        numeric = central_difference(
            lambda x: fenced.climbable(fenced.predictor(x[None])).value[0], a, 1e-4
        )
        assert_gradient(gradient, numeric)


def test_the_maximum_is_found_elsewhere() -> None:
    acq = build("corrected-ei", make_gp(3, n=8, d=2))
    first = maximize(acq).x
    second = maximize(avoid(acq, first[None], 0.2)).x
    assert np.linalg.norm((second - first) / acq.gp.kernel.lengthscales) > 0.1


def test_no_points_no_fence() -> None:
    acq = build("ei", make_gp(4))
    assert avoid(acq, np.zeros((0, 3)), 0.1) is acq


def test_two_fences_add_up_in_value_and_gradient() -> None:
    acq = build("ei", make_gp(3, n=8, d=2))
    first, second = np.array([[0.2, 0.3]]), np.array([[0.7, 0.6]])
    both = avoid(avoid(acq, first, 0.1), second, 0.3)

    def climbed(X: Array) -> Array:
        return both.climbable(both.predictor(X)).value

    x = np.array([[0.45, 0.5]])
    prediction = both.predictor(x)
    gradient = both.climbable(prediction).gradient(prediction)[0]
    step = 1e-6
    numeric = [
        float((climbed(x + step * e) - climbed(x - step * e))[0]) / (2 * step) for e in np.eye(2)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5)  # central differences of step 1e-6
