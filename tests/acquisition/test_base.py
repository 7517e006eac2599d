"""What all acquisitions share: gradients, logarithms, units, pending points."""

import numpy as np
import pytest

from ceibo.acquisition import Acquisition, build
from ceibo.acquisition.monte_carlo import ParallelNoisyExpectedImprovement
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Kernel, Matern52
from tests.helpers import (
    ACQUISITION_NAMES,
    KERNELS,
    Array,
    assert_gradient,
    central_difference,
    far_from,
    make_gp,
)

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
by_name = pytest.mark.parametrize("name", ACQUISITION_NAMES)
by_log_name = pytest.mark.parametrize("name", [n for n in ACQUISITION_NAMES if n != "ucb"])
# of the central differences: error of the five-point formula about 1e-13, of rounding about 1e-11
STEP = 1e-4


def new_points(seed: int, n: int) -> Array:
    return np.random.default_rng(1000 + seed).random((n, 3))


def smooth_points(acq: Acquisition, count: int = 4) -> Array:
    """Points away from the data, and from the kinks of qNEI, the only one that has any."""
    A = far_from(0.02 + 0.96 * new_points(7, 400), acq.gp.state.points, 0.12)
    if isinstance(acq, ParallelNoisyExpectedImprovement):
        # near zero it rests on few draws, and rounds as they do
        A = A[acq.value(A) > 1e-2 * np.max(acq.value(A))]
        steps = np.concatenate([2 * STEP * np.eye(3), -2 * STEP * np.eye(3), np.zeros((1, 3))])
        signs = np.stack([acq.gains(acq.predictor(A + step))[0] > 0 for step in steps])
        A = A[np.all(signs == signs[0], axis=(0, 2))]
    assert len(A) >= count
    return A[:count]


@by_name
@by_kernel
@pytest.mark.parametrize("pending", [False, True], ids=["", "pending"])
def test_gradient_of_the_value(name: str, kernel: type[Kernel], pending: bool) -> None:
    gp = make_gp(11, kernel=kernel, noise=(0.05, 0.3))
    acq = build(
        name, gp, draws=10, next_noise_variance=0.2, pending=new_points(5, 2) if pending else None
    )
    A = smooth_points(acq)
    values, gradients = acq.value_and_gradient(A)
    np.testing.assert_array_equal(values, acq.value(A))
    for a, gradient in zip(A, gradients, strict=True):
        assert_gradient(
            gradient, central_difference(lambda x: acq.value(x[None])[0], a, STEP), atol=1e-11
        )


@by_log_name
@by_kernel
@pytest.mark.parametrize("pending", [False, True], ids=["", "pending"])
def test_gradient_of_the_logarithm(name: str, kernel: type[Kernel], pending: bool) -> None:
    gp = make_gp(11, kernel=kernel, noise=(0.05, 0.3))
    acq = build(
        name, gp, draws=10, next_noise_variance=0.2, pending=new_points(5, 2) if pending else None
    )
    A = smooth_points(acq)
    logs, gradients = acq.log_value_and_gradient(A)
    np.testing.assert_array_equal(logs, acq.log_value(A))
    for a, gradient in zip(A, gradients, strict=True):
        assert_gradient(gradient, central_difference(lambda x: acq.log_value(x[None])[0], a, STEP))


@by_name
def test_gradient_of_what_the_maximiser_climbs(name: str) -> None:
    acq = build(name, make_gp(11, noise=(0.05, 0.3)), draws=10)
    for a in far_from(0.02 + 0.96 * new_points(7, 100), acq.gp.X, 0.12)[:4]:
        prediction = acq.predictor(a[None])
        gradient = acq.climbable(prediction).gradient(prediction)[0]
        numeric = central_difference(
            lambda x: acq.climbable(acq.predictor(x[None])).value[0], a, STEP
        )
        assert_gradient(gradient, numeric)


@by_name
def test_gradients_along_categorical_dimensions_are_zero_and_right_elsewhere(name: str) -> None:
    gp = make_gp(12, categorical=(1,), noise=(0.05, 0.3))
    acq = build(name, gp, draws=10)
    a = np.array([0.431, 0.5, 0.767])
    gradient = acq.value_and_gradient(a[None])[1][0]
    assert gradient[1] == 0.0

    def along(x: Array) -> float:
        return float(acq.value(np.array([[x[0], 0.5, x[1]]]))[0])

    assert_gradient(gradient[[0, 2]], central_difference(along, a[[0, 2]], STEP), atol=1e-11)


@by_log_name
def test_logarithm_is_the_logarithm(name: str) -> None:
    acq = build(name, make_gp(13, noise=(0.05, 0.3)))
    A = new_points(13, 100)
    values = acq.value(A)
    positive = values > 1e-300
    assert np.sum(positive) > 20
    np.testing.assert_allclose(
        acq.log_value(A)[positive], np.log(values[positive]), rtol=1e-10, atol=1e-10
    )


@by_name
@pytest.mark.parametrize("power", [-480, 7, 480])
def test_a_power_of_two_passes_through_bit_for_bit(name: str, power: int) -> None:
    gp, A = make_gp(14), new_points(14, 20)
    a = 2.0**power
    kernel = Matern52(gp.kernel.lengthscales, gp.kernel.variance * a * a)
    scaled = GaussianProcess(gp.X, gp.y * a, gp.noise_variance * a * a, kernel, gp.mean * a)
    one, other = build(name, gp), build(name, scaled)
    factor = 1.0 if name in ("pi", "corrected-pi") else a
    values, gradients = one.value_and_gradient(A)
    scaled_values, scaled_gradients = other.value_and_gradient(A)
    normal_numbers = np.abs(values) > 1e-100  # times 2^-480 still a normal number
    np.testing.assert_array_equal(scaled_values[normal_numbers], values[normal_numbers] * factor)
    large = np.abs(gradients) > 1e-100
    np.testing.assert_array_equal(scaled_gradients[large], gradients[large] * factor)
    assert one.incumbent.index == other.incumbent.index


@by_name
def test_a_shift_of_y_changes_values_by_nothing_or_by_itself(name: str) -> None:
    gp, A = make_gp(15), new_points(15, 20)
    shifted = GaussianProcess(gp.X, gp.y + 64.0, gp.noise_variance, gp.kernel, gp.mean + 64.0)
    offset = -64.0 if name == "ucb" else 0.0
    # y + 64 rounds y to 1e-14, and so the values.
    np.testing.assert_allclose(
        build(name, shifted).value(A), build(name, gp).value(A) + offset, rtol=1e-8, atol=1e-11
    )


@by_name
def test_pending_points_lower_what_a_point_next_to_them_promises(name: str) -> None:
    """At a pending point the value falls, and it rises nowhere."""
    gp = make_gp(16, noise=(0.01, 0.05))
    alone = build(name, gp)
    far = far_from(new_points(16, 400), gp.X, 0.3)
    # at less than even odds, less variance means a smaller probability
    promising = far[alone.value(far) < 0.4]
    x = promising[[np.argmax(alone.value(promising))]]
    waiting = build(name, gp, pending=x, next_noise_variance=0.01)
    assert waiting.value(x)[0] < alone.value(x)[0]
    assert waiting.incumbent.index == alone.incumbent.index


@by_name
def test_values_do_not_depend_on_the_company(name: str) -> None:
    """A batch is its points one by one, to the rounding of matrix products of another shape."""
    acq, A = build(name, make_gp(17)), new_points(17, 30)
    one_by_one = np.concatenate([acq.value(a[None]) for a in A])
    np.testing.assert_allclose(acq.value(A), one_by_one, rtol=1e-9, atol=1e-13)


@by_name
def test_at_data_points_and_the_incumbent_nothing_is_nan(name: str) -> None:
    for noise in ((0.0, 0.0), (1e-12, 1e-6), (0.1, 1.0)):
        gp = make_gp(18, noise=noise)
        acq = build(name, gp)
        values, gradients = acq.value_and_gradient(gp.X)
        assert np.all(np.isfinite(values))
        assert np.all(np.isfinite(gradients))
        prediction = acq.predictor(gp.X)
        jet = acq.climbable(prediction)
        assert not np.any(np.isnan(jet.value))
        assert not np.any(np.isnan(jet.gradient(prediction)))


@by_name
def test_points_of_another_shape_are_refused(name: str) -> None:
    acq = build(name, make_gp(1))
    for ask in (acq.value, acq.value_and_gradient):
        with pytest.raises(InputError, match="X must have 3 columns, one per dimension, but has 2"):
            ask([[0.1, 0.2]])
        with pytest.raises(InputError, match=r"X must have shape \(n, d\)"):
            ask([0.1, 0.2, 0.3])
        with pytest.raises(InputError, match="X must be finite"):
            ask([[0.1, np.nan, 0.3]])
