"""What test files share: data, a second posterior, finite differences, sampling errors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceibo import gp
from ceibo.acquisition import ACQUISITIONS
from ceibo.gp import GaussianProcess, Kernel, Matern12, Matern32, Matern52, SquaredExponential
from ceibo.gp.inputs import Array as Array  # also for the tests that import it from here

KERNELS = tuple(gp.KERNELS.values())
ACQUISITION_NAMES = tuple(ACQUISITIONS)


def wrong(value: Any) -> Any:
    """A value of a type that is not allowed, given on purpose."""
    return value


def make_gp(
    seed: int,
    n: int = 12,
    d: int = 3,
    kernel: type[Kernel] = Matern52,
    noise: tuple[float, float] = (1e-3, 0.3),
    categorical: Sequence[int] = (),
) -> GaussianProcess:
    """A process with random data and hyperparameters, and its own noise variance per point."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    for k in categorical:
        X[:, k] = rng.integers(0, 3, n) / 2
    noise_variance = (
        np.exp(rng.uniform(np.log(noise[0]), np.log(noise[1]), n)) if noise[1] > 0 else np.zeros(n)
    )
    lengthscales = rng.uniform(0.3, 0.9, d)
    variance = rng.uniform(0.5, 3.0)
    y = np.sin(5 * X.sum(axis=1)) + X[:, 0] + np.sqrt(noise_variance) * rng.standard_normal(n)
    mean = rng.uniform(-1, 1)
    return GaussianProcess(
        X, y, noise_variance, kernel(lengthscales, variance, tuple(categorical)), mean
    )


def profile_oracle(kernel: type[Kernel], r: Array) -> Array:
    """The kernels' formulas as textbooks print them, in the scaled distance r."""
    a, b = np.sqrt(3) * r, np.sqrt(5) * r
    formulas: dict[type[Kernel], Array] = {
        Matern12: np.exp(-r),
        Matern32: (1 + a) * np.exp(-a),
        Matern52: (1 + b + b**2 / 3) * np.exp(-b),
        SquaredExponential: np.exp(-(r**2) / 2),
    }
    return formulas[kernel]


def kernel_oracle(kernel: Kernel, A: Array, B: Array) -> Array:
    """k(A, B) pair by pair, without any of the kernel's own code."""
    difference = A[:, None, :] - B[None, :, :]
    for k in kernel.categorical:
        difference[:, :, k] = A[:, None, k] != B[None, :, k]
    r = np.sqrt(np.sum((difference / kernel.lengthscales) ** 2, axis=2))
    return kernel.variance * profile_oracle(type(kernel), r)


@dataclass(frozen=True)
class Dense:
    """The posterior by the textbook formulas and a general solver.

    `extra` rows take part in the variance only.
    """

    gp: GaussianProcess
    extra: Array | None = None
    extra_noise: float = 0.0

    def covariance(self, A: Array, B: Array) -> Array:
        points, noise = self._conditioning()
        K = kernel_oracle(self.gp.kernel, points, points) + np.diag(noise)
        left, right = (
            kernel_oracle(self.gp.kernel, A, points),
            kernel_oracle(self.gp.kernel, points, B),
        )
        return kernel_oracle(self.gp.kernel, A, B) - left @ np.linalg.solve(K, right)

    def variance(self, A: Array) -> Array:
        return np.diag(self.covariance(A, A))

    def mean(self, A: Array) -> Array:
        gp = self.gp
        K = kernel_oracle(gp.kernel, gp.X, gp.X) + np.diag(gp.noise_variance)
        return gp.mean + kernel_oracle(gp.kernel, A, gp.X) @ np.linalg.solve(K, gp.y - gp.mean)

    def log_likelihood(self) -> float:
        gp = self.gp
        K = kernel_oracle(gp.kernel, gp.X, gp.X) + np.diag(gp.noise_variance)
        residual = gp.y - gp.mean
        log_determinant = np.linalg.slogdet(2 * np.pi * K)[1]
        return float(-0.5 * residual @ np.linalg.solve(K, residual) - 0.5 * log_determinant)

    def _conditioning(self) -> tuple[Array, Array]:
        if self.extra is None:
            return self.gp.X, self.gp.noise_variance
        noise = np.concatenate([self.gp.noise_variance, np.full(len(self.extra), self.extra_noise)])
        return np.concatenate([self.gp.X, self.extra]), noise


def central_difference(f: Callable[[Array], Any], x: Array, h: float = 3e-4) -> Array:
    """Derivatives of f in each coordinate of x (d,), stacked last.

    By the five-point central formula, whose error is of order h⁴.
    """
    columns = []
    for k in range(len(x)):
        step = np.zeros_like(x)
        step[k] = h
        near = np.asarray(f(x + step)) - np.asarray(f(x - step))
        far = np.asarray(f(x + 2 * step)) - np.asarray(f(x - 2 * step))
        columns.append((8 * near - far) / (12 * h))
    return np.stack(columns, axis=-1)


def assert_gradient(analytic: Array, numeric: Array, rtol: float = 1e-6, atol: float = 0.0) -> None:
    """Each gradient (last axis) agrees to `rtol` of its own length, whatever its components."""
    error = np.linalg.norm(np.asarray(analytic) - numeric, axis=-1)
    size = np.linalg.norm(numeric, axis=-1)
    assert np.all(error <= rtol * size + atol), (
        f"worst relative error {np.max(error / np.maximum(size, 1e-300)):.2e}"
    )


def far_from(points: Array, others: Array, distance: float) -> Array:
    """The rows of `points` further than `distance` from every row of `others`."""
    gaps = np.linalg.norm(points[:, None, :] - others[None, :, :], axis=2)
    kept = points[gaps.min(axis=1) > distance]
    assert len(kept) >= 3, "the test needs points away from the data"
    return np.asarray(kept)


def assert_within_error(value: float, draws: Array, sigmas: float = 5.0) -> None:
    """`value` is the mean that independent `draws` estimate, within `sigmas` standard errors.

    Five standard errors err once in two million.
    """
    error = float(np.std(draws) / np.sqrt(len(draws)))
    assert abs(value - float(np.mean(draws))) <= sigmas * error + 1e-12
