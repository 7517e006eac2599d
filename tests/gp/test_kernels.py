"""Kernels: the textbook formulas, their derivatives, categorical dimensions, what they refuse."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceibo.errors import InputError
from ceibo.gp import Kernel, Matern52
from ceibo.gp.kernels import KERNELS as BY_NAME
from tests.helpers import (
    KERNELS,
    Array,
    assert_gradient,
    central_difference,
    kernel_oracle,
    profile_oracle,
)

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
by_categories = pytest.mark.parametrize("categorical", [(), (1,), (0, 2), (0, 1, 2)], ids=str)


def points(rng: np.random.Generator, n: int, categorical: tuple[int, ...]) -> Array:
    X = rng.random((n, 3))
    for k in categorical:
        X[:, k] = rng.integers(0, 3, n) / 2
    return X


@by_kernel
@by_categories
def test_values_are_the_textbook_formulas(
    kernel: type[Kernel], categorical: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(1)
    A, B = points(rng, 20, categorical), points(rng, 15, categorical)
    k = kernel([0.2, 0.7, 1.5], 2.3, categorical)
    np.testing.assert_allclose(k(A, B), kernel_oracle(k, A, B), rtol=1e-13)


@by_kernel
def test_a_kernel_matrix_is_symmetric_positive_and_has_the_variance_on_its_diagonal(
    kernel: type[Kernel],
) -> None:
    X = np.random.default_rng(2).random((30, 3))
    K = kernel([0.3, 0.4, 0.5], 1.7)(X, X)
    assert np.array_equal(K, K.T)
    assert np.all(np.diag(K) == 1.7)
    assert np.linalg.eigvalsh(K)[0] > -1e-13  # rounding of eigenvalues, 30·eps·‖K‖


@by_kernel
@by_categories
def test_gradient_in_x_is_the_central_difference(
    kernel: type[Kernel], categorical: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(3)
    A, B = points(rng, 6, categorical), points(rng, 5, categorical)
    k = kernel([0.4, 0.7, 1.1], 2.0, categorical)
    gradient = k.gradient(A, B)
    assert np.all(gradient[:, :, list(categorical)] == 0)
    ordered = [j for j in range(3) if j not in categorical]
    for i in range(len(A) if ordered else 0):

        def along(x: Array, i: int = i) -> Array:
            a = A[[i]].copy()
            a[0, ordered] = x
            return np.asarray(k(a, B)[0])

        assert_gradient(gradient[i][:, ordered], central_difference(along, A[i, ordered]))


@by_kernel
def test_cross_holds_the_same_values_and_contracted_gradients(kernel: type[Kernel]) -> None:
    rng = np.random.default_rng(4)
    A, B, weights = rng.random((6, 3)), rng.random((5, 3)), rng.standard_normal((6, 5))
    k = kernel([0.4, 0.7, 1.1], 2.0, (1,))
    cross = k.cross(A, B)
    np.testing.assert_array_equal(cross.values, k(A, B))
    expected = np.einsum("ij,ijk->ik", weights, k.gradient(A, B))
    # sums in another order
    np.testing.assert_allclose(cross.pullback(weights), expected, rtol=0, atol=1e-12)


@by_kernel
@given(s=st.floats(1e-12, 1e5))
def test_the_slope_is_the_derivative_of_the_profile(kernel: type[Kernel], s: float) -> None:
    """By mean value: (g(s+h) − g(s−h))/2h lies between the slopes at both ends.

    Every profile is convex in s.
    """
    ends = np.array([s * 0.999, s * 1.001])
    values, slopes = kernel.profile(ends)
    mean_slope = (values[1] - values[0]) / (ends[1] - ends[0])
    rounding = 4e-16 * values[0] / (ends[1] - ends[0])
    assert slopes[0] - rounding <= mean_slope <= slopes[1] + rounding


@by_kernel
def test_profiles_fall_from_one_to_zero_and_stay_finite(kernel: type[Kernel]) -> None:
    s = np.concatenate([[0.0], np.logspace(-300, 6, 500)])
    g, slope = kernel.profile(s.copy())
    assert g[0] == 1.0
    assert np.all(np.diff(g) <= 3e-16)  # rounding of values near one
    assert np.all(g >= 0)
    assert np.all(np.isfinite(slope))
    assert np.all(slope <= 0)
    np.testing.assert_allclose(g, profile_oracle(kernel, np.sqrt(s)), rtol=1e-12, atol=1e-300)


@by_kernel
def test_far_apart_is_exactly_uncorrelated_however_small_the_length_scale(
    kernel: type[Kernel],
) -> None:
    k = kernel([1e-150], 1.0)
    cross = k.cross(np.array([[0.0], [1.0]]), np.array([[1.0]]))
    assert cross.values.tolist() == [[0.0], [1.0]]
    assert np.all(np.isfinite(cross.slopes))


def test_coincident_points_are_exactly_zero_apart() -> None:
    X = np.array([[0.1, 1 / 3], [0.1, 1 / 3], [np.nextafter(0.1, 1), 1 / 3]])
    s = Matern52([1e-9, 1.0]).squared_distance(X, X)
    assert s[0, 1] == 0.0
    assert s[0, 2] > 0.0


def test_length_scales_are_frozen_copies() -> None:
    lengthscales = np.array([0.3, 0.4])
    k = Matern52(lengthscales)
    lengthscales[0] = 9.0
    assert k.lengthscales[0] == 0.3
    with pytest.raises(ValueError, match="read-only"):
        k.lengthscales[0] = 1.0


@pytest.mark.parametrize("name", BY_NAME)
def test_names_lead_to_classes(name: str) -> None:
    assert BY_NAME[name].name == name
    assert BY_NAME[name] in KERNELS


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.3, -0.1],), ["lengthscales", "above zero", "-0.1"]),
        (([0.3, 0.0],), ["lengthscales", "above zero"]),
        (([0.3, np.nan],), ["lengthscales", "finite", "nan"]),
        (([[0.3, 0.2]],), ["lengthscales", "shape"]),
        (([0.3], 0.0), ["variance", "above zero", "0.0"]),
        (([0.3], np.inf), ["variance", "finite", "inf"]),
        (([0.3], 1.0, (1,)), ["categorical", "from 0 to 0", "(1,)"]),
        (([0.3], 1.0, (-1,)), ["categorical", "(-1,)"]),
    ],
)
def test_bad_hyperparameters_say_what_was_expected_and_what_came(
    arguments: tuple[Any, ...], words: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        Matern52(*arguments)
    for word in words:
        assert word in str(caught.value)


def test_an_unknown_kernel_names_the_known_ones() -> None:
    with pytest.raises(
        InputError, match=r"matern12, matern32, matern52, squared-exponential, got 'rbf'"
    ):
        BY_NAME.find("rbf")
