"""Close to x⁺: values, logarithms and gradients against 80 digits, from 1e-12 length scales on."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from ceibo.acquisition import build, find_incumbent
from ceibo.gp import GaussianProcess, Kernel
from tests.helpers import KERNELS, Array, make_gp
from tests.near import Exact, gradient

DISTANCES = 10.0 ** np.arange(-12.0, 1.0)
NOISES = {"noisy": (1e-3, 0.3), "quiet": (1e-8, 1e-6), "noiseless": (0.0, 0.0)}
by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
by_name = pytest.mark.parametrize("name", ["corrected-ei", "corrected-pi", "corrected-kg"])
by_noise = pytest.mark.parametrize("noise", list(NOISES))


def around(gp: GaussianProcess, seed: int) -> list[Array]:
    """A point at each distance from x⁺, each in a direction of its own."""
    rng = np.random.default_rng(seed)
    scales = gp.kernel.lengthscales
    steps = rng.standard_normal((len(DISTANCES), len(scales)))
    steps /= np.linalg.norm(steps, axis=1)[:, None]
    return list(find_incumbent(gp).x + DISTANCES[:, None] * steps * scales)


def truth(name: str, exact: Exact, next_noise: float) -> Callable[[Any], Any]:
    """The acquisition called `name`, a function of x."""
    if name == "corrected-ei":
        return exact.corrected_ei
    if name == "corrected-pi":
        return exact.corrected_pi
    return lambda x: exact.corrected_kg(x, next_noise)


def assert_exact(
    name: str,
    gp: GaussianProcess,
    points: list[Array],
    tolerance: float,
    next_noise: float | None = None,
) -> None:
    """Values, gradients, logarithms and their gradients, relative to their own sizes."""
    expected = float(gp.expected_noise or 0.0) if next_noise is None else next_noise
    acq = build(name, gp)
    values, gradients = acq.value_and_gradient(np.array(points))
    logs, log_gradients = acq.log_value_and_gradient(np.array(points))
    with mpmath.workdps(80):
        f = truth(name, Exact(gp, acq.incumbent.index), expected)
        for i, x in enumerate(points):
            true, slope = f(x), gradient(f, x)
            log_true, log_slope = mpmath.log(true), [each / true for each in slope]
            # exp(−z²/2) has the error of z, times z²
            exponent = max(-log_true, -mpmath.log1p(-true)) if name == "corrected-pi" else -log_true
            allowed = tolerance * float(1 + abs(exponent))
            assert abs(logs[i] - log_true) <= allowed
            assert_close(log_gradients[i], log_slope, allowed)
            if true > 1e-290:  # a normal number
                assert abs(values[i] - true) <= allowed * true
                assert_close(gradients[i], slope, allowed)


def assert_close(got: Array, true: list[Any], tolerance: float) -> None:
    size = max(abs(each) for each in true)
    assert max(abs(g - t) for g, t in zip(got.tolist(), true, strict=True)) <= tolerance * size


@by_kernel
@by_noise
@by_name
def test_values_and_gradients_are_exact(name: str, kernel: type[Kernel], noise: str) -> None:
    seed = len(name + noise + kernel.__name__)  # several data sets
    gp = make_gp(seed, n=5, d=2, kernel=kernel, noise=NOISES[noise])
    points = around(gp, seed)
    assert_exact(name, gp, points[:8], 1e-11)  # up to 1e-5 length scales
    assert_exact(name, gp, points[8:], 1e-9)


@by_name
def test_the_two_ways_to_compute_agree_where_one_takes_over(name: str) -> None:
    """On both sides of 1 − g = 1e-5 values differ by what the distance explains."""
    for kernel in KERNELS:
        gp = make_gp(3, kernel=kernel)
        acq = build(name, gp)
        low, high = 1e-7, 1.0
        for _ in range(80):
            middle = np.sqrt(low * high)
            close = acq.predictor(near(gp, middle)).close is not None
            low, high = (middle, high) if close else (low, middle)
        ends = np.concatenate([near(gp, low), near(gp, high)])
        assert 0 < high - low < 1e-12 * low
        logs, gradients = acq.log_value_and_gradient(ends)
        # the gap of corrected KG is smaller still than 1 − g
        allowed = 1e-9 if name == "corrected-kg" else 1e-10
        assert abs(logs[1] - logs[0]) < allowed * (1 + abs(logs[0]))
        np.testing.assert_allclose(gradients[1], gradients[0], rtol=10 * allowed)


def near(gp: GaussianProcess, distance: float) -> Array:
    """A point so many length scales from x⁺."""
    step = gp.kernel.lengthscales / np.sqrt(gp.kernel.dimension)
    return np.array([find_incumbent(gp).x + distance * step])


@by_name
def test_pending_points_and_replicates_at_the_incumbent(name: str) -> None:
    base = make_gp(4, n=4, d=2)
    row = find_incumbent(base).index
    rows = [0, 1, 2, 3, row, row]
    X = base.X[rows]
    gp = GaussianProcess(X, base.y[rows], base.noise_variance[rows], base.kernel, base.mean)
    beside = gp.X[row] + 1e-9
    for process in (gp, gp.condition([beside, [0.3, 0.3]])):
        assert_exact(name, process, around(process, 1)[:8], 1e-12)


@by_name
def test_categories_whose_length_scale_is_endless(name: str) -> None:
    """Another category is then as close as the smallest step of another dimension."""
    X = np.array([[0.0, 0.0], [0.5, 0.3], [1.0, 0.8], [0.0, 0.6]])
    for kernel in KERNELS:
        k = kernel([1e6, 0.4], 1.3, (0,))
        gp = GaussianProcess(X, [0.3, -0.4, 0.2, 0.9], 0.01, k)
        acq = build(name, gp)
        point = acq.incumbent.x.copy()
        point[0] = 1.0
        with mpmath.workdps(80):
            f = truth(name, Exact(gp, acq.incumbent.index), 0.01)
            assert abs(acq.log_value(point[None])[0] - mpmath.log(f(point))) < 1e-11


@by_name
@by_noise
def test_the_limit_is_the_incumbent_itself(name: str, noise: str) -> None:
    """Zero there, with gradients that are numbers, in a discrete space too."""
    for categorical in ((), (0, 1, 2)):
        for kernel in KERNELS:
            gp = make_gp(5, kernel=kernel, noise=NOISES[noise], categorical=categorical)
            acq = build(name, gp)
            at = acq.incumbent.x[None]
            assert acq.value(at)[0] == 0.0
            assert acq.log_value(at)[0] == -np.inf
            assert np.all(np.isfinite(acq.value_and_gradient(at)[1]))
            assert np.all(np.isfinite(acq.log_value_and_gradient(at)[1]))


def test_what_the_review_saw() -> None:
    """At 1e-9 length scales the probability is close to one half, not zero."""
    gp = make_gp(1)
    found = build("corrected-pi", gp).value(near(gp, 1e-9))[0]
    assert found == pytest.approx(build("corrected-pi", gp).value(near(gp, 1e-3))[0], abs=0.01)
    assert build("corrected-ei", gp).log_value(near(gp, 1e-9))[0] > -30
