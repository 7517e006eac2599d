"""Averaging over the hyperparameters, where a fit takes the best ones for the right ones.

The density that `method="map"` maximises is taken as that of θ (see ceibo.gp.likelihood). Values of
θ are drawn from a Student t around its maximum, as wide as the curvature there says,

    θ_j = θ̂ + R z_j s_j,    R Rᵀ = H⁻¹,  z_j ~ N(0, I),  s_j² = ν/χ²_ν,

with H the negative Hessian at θ̂, and weighted by w_j ∝ p(θ_j)/q(θ_j), p the density and q that of
the draws. Weights are cut off at √m times their mean (Ionides 2008, "Truncated importance
sampling"), and θ̂ is always among the draws, so that no single far draw speaks for all. The draws
are quasi-random and the same at every call. Each costs one Cholesky factor or two.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, ndtri

from ceibo.gp.fit import FitResult, process_of, search_bounds
from ceibo.gp.grid import spread_points
from ceibo.gp.inputs import Array, as_noise, as_points, as_values
from ceibo.gp.likelihood import Objective, Priors
from ceibo.gp.linalg import limited_blas
from ceibo.gp.observations import standardize
from ceibo.gp.posterior import GaussianProcess

DRAWS: Final = 32
_DEGREES: Final = 5.0  # ν
_STEP: Final = 1e-3  # of finite differences of the gradient, in θ
# Directions of which the data say less than this are no wider than the priors nearly are.
_LEAST_CURVATURE: Final = 0.1
_NEGLIGIBLE: Final = 1e-4  # weight of a draw below which it is left out
_LEAST: Final = 2.0**-53  # a uniform number of exactly 0 has no quantile
_SEED: Final = 0


@final
@dataclass(frozen=True, eq=False)
class Average:
    """Processes of other hyperparameters on the same data, and their weights, which sum to 1."""

    processes: tuple[GaussianProcess, ...]
    weights: Array  # (m,)
    noise: Array  # (m,) inferred noise variances of one measurement; NaN if all noise is known

    def spread(self, X: ArrayLike, means: Array) -> Array:
        """E[(f(x) − mean)²] (N,) at points X (N, d), about means that may be any model's."""
        total = np.zeros(len(means))
        for weight, gp in zip(self.weights, self.processes, strict=True):
            mean, variance = gp.posterior(X)
            total += weight * (variance + (mean - means) ** 2)
        return total

    def reconditioned(self, X: Array, y: Array, noise_variance: Array) -> "Average":
        """The same hyperparameters and weights on other data; noise is NaN where unknown."""
        processes = []
        for gp, inferred in zip(self.processes, self.noise, strict=True):
            noise = np.where(np.isnan(noise_variance), inferred, noise_variance)
            processes.append(GaussianProcess(X, y, noise, gp.kernel, gp.mean, gp.expected_noise))
        return Average(tuple(processes), self.weights, self.noise)


def average_gp(
    X: ArrayLike,
    y: ArrayLike,
    noise_variance: ArrayLike,
    fitted: FitResult,
    *,
    breadth: int | None = None,
    draws: int = DRAWS,
) -> Average:
    """Processes around a fit with `method="map"`, in proportion to their density.

    Args:
        X, y, noise_variance: all data of the fit, as given to `fit_gp`.
        fitted: the fit.
        breadth: as given to `fit_gp`.
        draws: how many values of θ to draw.
    """
    points = as_points(X)
    n, d = points.shape
    data = standardize(points, as_values(y, n), as_noise(noise_variance, n, unknown=True))
    kernel, infers = fitted.gp.kernel, data.infers_noise
    priors = Priors.default(d, infers, breadth)
    objective = Objective(data, type(kernel), kernel.categorical, priors)
    best = fitted.hyperparameters.to_theta(infers)
    with limited_blas(len(data.X)):
        thetas, logs = _draw(objective, best, search_bounds(d, infers), draws)
        weights = _truncated(np.array([objective.value(theta) for theta in thetas]) - logs)
        kept = np.flatnonzero(weights >= _NEGLIGIBLE)
        processes, noises = [], []
        for theta in thetas[kept]:
            noise = float(np.exp(theta[d + 1])) if infers else float("nan")
            own = type(kernel)(np.exp(theta[:d]), float(np.exp(theta[d])), kernel.categorical)
            expected = None if np.all(data.unknown) else fitted.gp.expected_noise
            processes.append(process_of(data, own, noise, expected, estimates_mean=True))
            noises.append(noise * data.scale**2)
    shares = weights[kept] / weights[kept].sum()
    return Average(tuple(processes), shares, np.array(noises))


def _draw(objective: Objective, best: Array, bounds: Array, count: int) -> tuple[Array, Array]:
    """Values of θ (count + 1, p), the best first, and the log density q of each, up to a term."""
    p = len(best)
    curvature, directions = np.linalg.eigh(_curvature(objective, best))
    root = directions / np.sqrt(np.maximum(curvature, _LEAST_CURVATURE))
    uniform = spread_points(count, p + 1, np.random.default_rng(_SEED))
    uniform = np.clip(uniform, _LEAST, 1.0 - _LEAST)
    z = ndtri(uniform[:, :p]) * np.sqrt(_DEGREES / chdtri(_DEGREES, uniform[:, p:]))
    z = np.concatenate([np.zeros((1, p)), z])
    logs = -0.5 * (_DEGREES + p) * np.log1p(np.sum(z**2, axis=1) / _DEGREES)
    return np.clip(best + z @ root.T, *bounds.T), logs


def _curvature(objective: Objective, theta: Array) -> Array:
    """−∇² of the log density at θ, (p, p), by central differences of its gradient."""
    rows = []
    for step in _STEP * np.eye(len(theta)):
        rows.append((objective(theta - step)[1] - objective(theta + step)[1]) / (2.0 * _STEP))
    return np.asarray(0.5 * (np.array(rows) + np.array(rows).T))


def _truncated(logs: Array) -> Array:
    """Weights (m,) from their logarithms, up to a common term; those too large are cut off."""
    highest = float(np.max(logs))
    if not np.isfinite(highest):  # no draw has a density: the first, which is the fit, stands
        return np.asarray(np.eye(len(logs))[0])
    weights = np.exp(logs - highest)
    weights = np.minimum(weights, np.sqrt(len(weights)) * weights.mean())
    return np.asarray(weights / weights.sum())
