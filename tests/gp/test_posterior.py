"""The posterior against dense formulas, and against itself when data come in another way."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Kernel, Matern12, Matern52
from tests.helpers import (
    KERNELS,
    Array,
    Dense,
    assert_gradient,
    central_difference,
    far_from,
    make_gp,
)

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
by_seed = pytest.mark.parametrize("seed", range(3))


def new_points(seed: int, n: int = 15, d: int = 3) -> Array:
    return np.random.default_rng(1000 + seed).random((n, d))


# -- the dense formulas ----------------------------------------------------------------


@by_kernel
@pytest.mark.parametrize("categorical", [(), (1,)], ids=str)
def test_posterior_equals_the_dense_formulas(
    kernel: type[Kernel], categorical: tuple[int, ...]
) -> None:
    gp = make_gp(5, n=25, kernel=kernel, categorical=categorical)
    A, B = new_points(5), new_points(6)
    A[:, list(categorical)] = np.round(2 * A[:, list(categorical)]) / 2
    dense = Dense(gp)
    mean, variance = gp.posterior(A)
    np.testing.assert_allclose(mean, dense.mean(A), rtol=1e-11)
    np.testing.assert_allclose(variance, dense.variance(A), rtol=1e-11)
    np.testing.assert_allclose(gp.covariance(A, B), dense.covariance(A, B), rtol=0, atol=1e-12)
    assert gp.log_likelihood == pytest.approx(dense.log_likelihood(), rel=1e-12)


# -- what a posterior is ---------------------------------------------------------------


def test_one_observation_by_hand() -> None:
    """k = 2, noise 0.5, y − mean = 3: at the point itself μ = 1 + 3·2/2.5 and σ² = 2 − 4/2.5."""
    gp = GaussianProcess([[0.5]], [4.0], 0.5, Matern52([0.3], 2.0), mean=1.0)
    mean, variance = gp.posterior([[0.5]])
    assert mean[0] == pytest.approx(1 + 3 * 2 / 2.5, rel=1e-15)
    assert variance[0] == pytest.approx(2 - 4 / 2.5, rel=1e-14)


def test_without_noise_the_posterior_passes_through_the_data() -> None:
    gp = make_gp(7, n=8, kernel=Matern12, noise=(0.0, 0.0))
    mean, variance = gp.posterior(gp.X)
    np.testing.assert_allclose(mean, gp.y, atol=1e-12)
    assert np.all(variance < 1e-12)


def test_far_from_the_data_the_posterior_is_the_prior() -> None:
    gp = GaussianProcess([[0.0]], [5.0], 0.1, Matern52([1e-3], 2.0), mean=-1.0)
    mean, variance = gp.posterior([[1.0]])
    assert (mean[0], variance[0]) == (-1.0, 2.0)


@by_kernel
def test_covariance_with_itself_is_the_variance_and_symmetric(kernel: type[Kernel]) -> None:
    gp, A = make_gp(8, kernel=kernel), new_points(8)
    covariance = gp.covariance(A, A)
    np.testing.assert_allclose(np.diag(covariance), gp.posterior(A)[1], rtol=1e-12)
    np.testing.assert_allclose(covariance, covariance.T, rtol=0, atol=1e-14)


@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([0.0, 1e-12, 1e-3, 1.0, 1e12]))
@settings(max_examples=60)
def test_variance_is_between_zero_and_the_prior(seed: int, n: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.random((n, 2)), 1)  # coincident rows are likely
    gp = GaussianProcess(X, rng.standard_normal(n), noise, Matern52([0.5, 2.0], 1.5))
    variance = gp.posterior(np.concatenate([X, rng.random((10, 2))]))[1]
    assert np.all(variance >= 0)
    assert np.all(variance <= 1.5)


@by_seed
def test_more_noise_never_means_less_variance(seed: int) -> None:
    gp, A = make_gp(seed), new_points(seed)
    noisier = GaussianProcess(gp.X, gp.y, 3 * gp.noise_variance, gp.kernel, gp.mean)
    assert np.all(noisier.posterior(A)[1] >= gp.posterior(A)[1])


# -- gradients -------------------------------------------------------------------------


@by_kernel
@by_seed
def test_gradients_of_mean_variance_and_covariance(kernel: type[Kernel], seed: int) -> None:
    gp = make_gp(seed, kernel=kernel)
    A, B = far_from(new_points(seed, n=40), gp.X, 0.1)[:5], new_points(seed + 3, n=4)
    A = far_from(A, B, 0.02)
    mean, variance = gp.posterior_gradient(A)
    covariance = gp.covariance_gradient(A, B)
    for i, a in enumerate(A):
        assert_gradient(mean[i], central_difference(lambda x: gp.posterior(x[None])[0][0], a))
        assert_gradient(variance[i], central_difference(lambda x: gp.posterior(x[None])[1][0], a))
        assert_gradient(
            covariance[i], central_difference(lambda x: gp.covariance(x[None], B)[0], a)
        )


def test_gradients_along_categorical_dimensions_are_zero_and_right_elsewhere() -> None:
    gp = make_gp(3, categorical=(1,))
    a = np.array([0.37, 0.5, 0.81])
    mean, variance = gp.posterior_gradient(a[None])
    assert mean[0, 1] == variance[0, 1] == 0.0

    def at(x: Array) -> Array:
        return np.array([x[0], 0.5, x[1]])[None]

    assert_gradient(
        mean[0, [0, 2]], central_difference(lambda x: gp.posterior(at(x))[0][0], a[[0, 2]])
    )
    assert_gradient(
        variance[0, [0, 2]], central_difference(lambda x: gp.posterior(at(x))[1][0], a[[0, 2]])
    )


# -- the parts acquisitions build on ---------------------------------------------------


@by_kernel
def test_anchored_prediction_is_the_difference_from_that_point(kernel: type[Kernel]) -> None:
    gp, A = make_gp(9, kernel=kernel), new_points(9)
    anchored = gp.predictor(anchor=4)(A)
    square, p = gp.unit**2, gp.X[[4]]
    covariance = gp.covariance(A, p)[:, 0]
    variance, at_p = gp.posterior(A)[1], gp.posterior(p)[1][0]
    np.testing.assert_allclose(
        square * anchored.difference_variance, variance + at_p - 2 * covariance, rtol=1e-11
    )
    np.testing.assert_allclose(square * anchored.gap, variance - covariance, rtol=1e-10, atol=1e-12)
    at_anchor = gp.predictor(anchor=4)(p)
    assert at_anchor.difference_variance[0] == 0.0
    assert at_anchor.gap[0] == 0.0


def test_difference_variance_keeps_its_accuracy_next_to_the_anchor() -> None:
    """Var[f(x) − f(p)] ~ distance² for a smooth kernel, also where differences are rounding."""
    gp = make_gp(10)
    p, direction = gp.X[4], np.array([0.6, 0.8, 0.0])
    steps = np.array([1e-3, 1e-5, 1e-6])
    D = gp.predictor(anchor=4)(p + steps[:, None] * direction).difference_variance
    # 1e-3 is not quite the limit
    np.testing.assert_allclose(D[1:] / steps[1:] ** 2, D[0] / steps[0] ** 2, rtol=2e-2)


def test_without_an_anchor_there_is_no_difference() -> None:
    gp = make_gp(9)
    prediction = gp.predictor()(gp.X)
    with pytest.raises(InputError, match="anchor"):
        _ = prediction.difference_variance


# -- more data -------------------------------------------------------------------------


@by_kernel
@by_seed
def test_append_equals_a_fresh_process(kernel: type[Kernel], seed: int) -> None:
    gp, A = make_gp(seed, n=14, kernel=kernel), new_points(seed)
    grown = GaussianProcess(gp.X[:10], gp.y[:10], gp.noise_variance[:10], gp.kernel, gp.mean)
    for i in range(10, 14):
        grown = grown.append(gp.X[i], float(gp.y[i]), float(gp.noise_variance[i]))
    np.testing.assert_array_equal(grown.X, gp.X)
    np.testing.assert_array_equal(grown.noise_variance, gp.noise_variance)
    for got, expected in zip(grown.posterior(A), gp.posterior(A), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9)
    np.testing.assert_allclose(grown.covariance(A, gp.X), gp.covariance(A, gp.X), rtol=0, atol=1e-9)
    assert grown.log_likelihood == pytest.approx(gp.log_likelihood, rel=1e-9)


def test_append_a_noiseless_repeat_stays_finite() -> None:
    gp = make_gp(1, noise=(0.0, 0.0))
    grown = gp.append(gp.X[0], float(gp.y[0]), 0.0)
    mean, variance = grown.posterior(grown.X)
    # the jitter that the repeat needs is visible
    np.testing.assert_allclose(mean, grown.y, atol=1e-6)
    assert np.all(np.isfinite(variance))
    assert np.all(variance >= 0)


@by_kernel
@by_seed
def test_pending_points_leave_the_mean_and_shrink_the_variance_as_data_would(
    kernel: type[Kernel], seed: int
) -> None:
    gp, A = make_gp(seed, kernel=kernel), new_points(seed)
    pending = new_points(seed + 7, n=3)
    waiting = gp.condition(pending, 0.05)
    both = np.concatenate([A, pending, gp.X])
    np.testing.assert_allclose(waiting.posterior(both)[0], gp.posterior(both)[0], rtol=1e-12)
    expected = Dense(gp, extra=pending, extra_noise=0.05)
    np.testing.assert_allclose(waiting.posterior(both)[1], expected.variance(both), rtol=1e-10)
    np.testing.assert_allclose(
        waiting.covariance(A, gp.X), expected.covariance(A, gp.X), rtol=0, atol=1e-11
    )
    assert np.all(waiting.posterior(both)[1] < gp.posterior(both)[1] + 1e-14)
    assert waiting.log_likelihood == pytest.approx(gp.log_likelihood, rel=1e-14)
    np.testing.assert_array_equal(waiting.pending, pending)
    assert len(gp.pending) == 0


def test_conditioning_in_two_steps_equals_one() -> None:
    gp, pending, A = make_gp(2), new_points(2, n=4), new_points(3)
    at_once = gp.condition(pending).posterior(A)[1]
    in_steps = gp.condition(pending[:1]).condition(pending[1:]).posterior(A)[1]
    np.testing.assert_allclose(in_steps, at_once, rtol=1e-12)


def test_pending_noise_is_by_default_what_is_expected() -> None:
    gp, pending, A = make_gp(2), new_points(2, n=4), new_points(3)
    assert gp.expected_noise == pytest.approx(np.mean(gp.noise_variance), rel=1e-15)
    default = gp.condition(pending).posterior(A)[1]
    np.testing.assert_array_equal(
        default, gp.condition(pending, np.mean(gp.noise_variance)).posterior(A)[1]
    )


# -- magnitudes ------------------------------------------------------------------------


@pytest.mark.parametrize("power", [-490, -100, -1, 1, 100, 490])
def test_a_power_of_two_passes_through_bit_for_bit(power: int) -> None:
    """y·2ᵖ with noise and variance times 4ᵖ: mean, variance, gradients scale exactly.

    2^±490 is about 1e±147.
    """
    gp, A = make_gp(4), new_points(4)
    a = 2.0**power
    kernel = Matern52(gp.kernel.lengthscales, gp.kernel.variance * a * a)
    scaled = GaussianProcess(gp.X, gp.y * a, gp.noise_variance * a * a, kernel, gp.mean * a)
    for got, expected, factor in zip(scaled.posterior(A), gp.posterior(A), (a, a * a), strict=True):
        np.testing.assert_array_equal(got, expected * factor)
    for got, expected, factor in zip(
        scaled.posterior_gradient(A), gp.posterior_gradient(A), (a, a * a), strict=True
    ):
        np.testing.assert_array_equal(got, expected * factor)
    shift = len(gp.X) * power * np.log(2)
    assert scaled.log_likelihood == pytest.approx(gp.log_likelihood - shift, rel=1e-13)


def test_a_process_is_frozen_and_owns_its_data() -> None:
    X, y = np.array([[0.2], [0.6]]), np.array([1.0, 2.0])
    gp = GaussianProcess(X, y, 0.1, Matern52([0.3]))
    X[0], y[0] = 9.0, 9.0
    assert (gp.X[0, 0], gp.y[0]) == (0.2, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        gp.y[0] = 5.0
    with pytest.raises(AttributeError):
        gp.mean = 3.0  # type: ignore[misc]


# -- bad input -------------------------------------------------------------------------

X2, Y2, K1 = [[0.1], [0.7]], [1.0, -1.0], Matern52([0.3])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.1, 0.7], Y2, 0.1, K1), ["X must have shape (n, d)", "(2,)", "X[:, None]"]),
        (([], Y2, 0.1, K1), ["X", "shape"]),
        ((np.zeros((0, 1)), [], 0.1, K1), ["X must hold at least one point", "(0, 1)"]),
        ((np.zeros((2, 0)), Y2, 0.1, K1), ["X must hold at least one point", "(2, 0)"]),
        (([[0.1, 0.2], [0.3, 0.4]], Y2, 0.1, K1), ["X must have 1 columns", "has 2"]),
        (([[0.1], [np.nan]], Y2, 0.1, K1), ["X must be finite", "X[1, 0]", "nan", "Leave out"]),
        (([[0.1], [-np.inf]], Y2, 0.1, K1), ["X must be finite", "inf"]),
        (([["a"], ["b"]], Y2, 0.1, K1), ["X must be an array of real numbers"]),
        (([[0.1], [0.2, 0.3]], Y2, 0.1, K1), ["X must be an array of real numbers"]),
        ((X2, [1.0], 0.1, K1), ["y must have shape (2,)", "(1,)"]),
        ((X2, [[1.0], [2.0]], 0.1, K1), ["y must have shape (2,)", "(2, 1)"]),
        ((X2, [1.0, np.nan], 0.1, K1), ["y must be finite", "y[1]", "nan", "leave it out"]),
        ((X2, [1.0, np.inf], 0.1, K1), ["y must be finite", "inf"]),
        ((X2, Y2, -0.1, K1), ["noise_variance must not be negative", "-0.1", "square"]),
        ((X2, Y2, [0.1, -1e-9], K1), ["noise_variance must not be negative", "-1e-09"]),
        ((X2, Y2, [0.1, np.inf], K1), ["noise_variance must be finite", "leave it out"]),
        ((X2, Y2, np.nan, K1), ["NaN", "Use fit_gp"]),
        ((X2, Y2, [0.1, 0.1, 0.1], K1), ["noise_variance", "shape (2,)", "(3,)"]),
        ((X2, Y2, 0.1, K1, np.nan), ["mean must be a finite number", "nan"]),
        ((X2, Y2, 0.1, K1, 0.0, -1.0), ["negative", "-1.0"]),
        (
            (X2, [1e300, 0.0], 0.1, Matern52([0.3], 1e-300)),
            ["y is up to 1e+300", "1e-150", "Use fit_gp"],
        ),
    ],
)
def test_bad_data_say_what_was_expected_what_came_and_what_to_try(
    arguments: tuple[Any, ...], words: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        GaussianProcess(*arguments)
    for word in words:
        assert word in str(caught.value)


def test_bad_questions_are_refused() -> None:
    gp = GaussianProcess(X2, Y2, 0.1, K1)
    for ask in (
        gp.posterior,
        gp.posterior_gradient,
        lambda x: gp.covariance(x, X2),
        lambda x: gp.covariance(X2, x),
    ):
        with pytest.raises(InputError, match="must have 1 columns"):
            ask([[0.1, 0.2]])
        with pytest.raises(InputError, match="must be finite"):
            ask([[np.nan]])
    with pytest.raises(InputError, match="x must be one point, got 2"):
        gp.append([[0.1], [0.2]], 1.0, 0.1)
    with pytest.raises(InputError, match="x must be an array of real numbers"):
        gp.append("left", 1.0, 0.1)
    with pytest.raises(InputError, match="x must be an array of real numbers"):
        gp.append([[0.1], [0.2, 0.3]], 1.0, 0.1)
    with pytest.raises(InputError, match="must be finite"):
        gp.append([0.1], np.nan, 0.1)
    with pytest.raises(InputError, match="negative"):
        gp.append([0.1], 1.0, -0.1)
    with pytest.raises(InputError, match="before conditioning"):
        gp.condition([[0.5]]).append([0.1], 1.0, 0.1)
    with pytest.raises(InputError, match="X_pending must have 1 columns"):
        gp.condition([[0.5, 0.5]])
    with pytest.raises(InputError, match="negative"):
        gp.condition([[0.5]], -1.0)
