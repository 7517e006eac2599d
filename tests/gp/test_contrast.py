"""Differences close to a point: 50-digit arithmetic, from 1e-12 to 1 length scale."""

from typing import final

import mpmath
import numpy as np
import pytest

from ceibo.gp import Kernel
from tests.helpers import KERNELS, Array
from tests.near import exact_fall, exact_kernel

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
DISTANCES = 10.0 ** np.arange(-12.0, 1.0)


@by_kernel
def test_one_less_the_profile_is_exact(kernel: type[Kernel]) -> None:
    """1 − g, relative to its own size, at every distance."""
    r = np.concatenate([DISTANCES, np.linspace(0.1, 5.0, 60)])
    s = r**2
    got = kernel.fall(np.zeros_like(s), s, s)
    with mpmath.workdps(50):
        for value, at in zip(got.tolist(), s.tolist(), strict=True):
            true = exact_fall(kernel, mpmath.mpf(0), mpmath.mpf(at))
            assert abs(value - true) < 4e-15 * true


@by_kernel
def test_a_fall_of_the_profile_is_exact(kernel: type[Kernel]) -> None:
    """g(s) − g(s + step), with steps from far below s to far above."""
    r = 10.0 ** np.arange(-12.0, 1.1, 0.5)
    share = np.array([1e-12, 1e-7, 1e-3, 0.3, 0.9, 3.0, 1e4])
    s, step = (each.ravel() for each in np.meshgrid(r**2, share))
    step = s * step
    got = kernel.fall(s, s + step, step)
    with mpmath.workdps(50):
        for value, near, by in zip(got.tolist(), s.tolist(), step.tolist(), strict=True):
            true = exact_fall(kernel, mpmath.mpf(near), mpmath.mpf(near) + mpmath.mpf(by))
            # exp(−t) carries a rounding of t
            assert abs(value - true) <= 4e-15 * (1 + near) * true


@by_kernel
@pytest.mark.parametrize("categorical", [(), (1,), (0, 1, 2)], ids=str)
def test_a_contrast_is_exact(kernel: type[Kernel], categorical: tuple[int, ...]) -> None:
    """k(a, b) − k(p, b) for a near p, b far and near, at p and at a itself."""
    rng = np.random.default_rng(3)
    lengthscales = np.array([0.3, 2.0, 0.07])
    k = kernel(lengthscales, 1.7, categorical)
    p = np.array([0.41, 0.5, 0.83])
    for distance in DISTANCES:
        direction = rng.standard_normal((4, 3))
        A = p + distance * lengthscales * direction / np.linalg.norm(direction, axis=1)[:, None]
        A[:, list(categorical)] = p[list(categorical)]
        if 1 in categorical:
            A[1, 1] = 0.0
        B = np.concatenate([rng.random((5, 3)), p[None], A[:1], p + 3 * (A[1:2] - p)])
        got = k.contrast(A, p, B)
        scale = _scale(k, A, p)
        with mpmath.workdps(50):
            for i, j in np.ndindex(len(A), len(B)):
                true = exact_kernel(k, A[i], B[j]) - exact_kernel(k, p, B[j])
                assert abs(got.values[i, j] - true) <= 2e-15 * scale[i]
        # zero at p itself
        assert np.all(k.contrast(p[None], p, B).values == 0.0)


def _scale(kernel: Kernel, A: Array, p: Array) -> Array:
    """The size that differences from p have, v·min(r, 1)."""
    difference = A - p
    categorical = list(kernel.categorical)
    difference[:, categorical] = A[:, categorical] != p[categorical]
    r = np.linalg.norm(difference / kernel.lengthscales, axis=1)
    return np.asarray(kernel.variance * np.minimum(r, 1.0) * 4)


@final
class Heavy(Kernel):
    """A kernel of its profile alone, as another package may have it."""

    name = "heavy"
    label = "heavy"

    @staticmethod
    def profile(s: Array) -> tuple[Array, Array]:
        g = 1.0 / (1.0 + 0.5 * s)
        return g, -0.5 * g**2


def test_a_kernel_of_its_profile_alone_has_the_difference_of_two_values() -> None:
    k = Heavy([0.3, 0.7], 2.0)
    rng = np.random.default_rng(0)
    p, B = rng.random(2), rng.random((6, 2))
    A = p + 1e-3 * rng.standard_normal((4, 2))
    got = k.contrast(A, p, B)
    np.testing.assert_allclose(got.values, k(A, B) - k(p[None], B), rtol=0, atol=2e-15)
    weights = rng.standard_normal((4, 6))
    np.testing.assert_allclose(
        got.pullback(weights), k.cross(A, B).pullback(weights), rtol=1e-10, atol=1e-12
    )


def test_far_points_have_no_contrast() -> None:
    """Length scales so short that every square is enormous."""
    for kernel in KERNELS:
        k = kernel([1e-150, 1e-150])
        p = np.array([0.5, 0.5])
        B = np.array([[0.1, 0.2], [0.5, 0.5]])
        got = k.contrast(p[None], p, B)
        assert np.all(got.values == 0.0)
        assert np.all(got.pullback(np.ones((1, 2))) == 0.0)
