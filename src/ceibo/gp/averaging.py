"""Averaging over the hyperparameters, where a fit takes the best ones for the right ones.

The density that `method="map"` maximises is taken as that of θ (see ceibo.gp.likelihood). Values of
θ are drawn from a Student t around its maximum, as wide as the curvature there says,

    θ_j = θ̂ + R z_j s_j,    R Rᵀ = H⁻¹,  z_j ~ N(0, I),  s_j² = ν/χ²_ν,

with H the negative Hessian at θ̂, and weighted by w_j ∝ p(θ_j)/q(θ_j), p the density and q that of
the draws. Weights are cut off at √m times their mean (Ionides 2008, "Truncated importance
sampling"), and θ̂ is always among the draws, so that no single far draw speaks for all. The draws
are quasi-random and the same at every call. Each costs one Cholesky factor or two.
"""

from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ceibo.gp.fit import FitResult, search_bounds
from ceibo.gp.grid import spread_points
from ceibo.gp.inputs import Array, as_points
from ceibo.gp.likelihood import Objective
from ceibo.gp.linalg import limited_blas
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
    """Fits of other hyperparameters to the same data, and their weights, which sum to 1."""

    fits: tuple[FitResult, ...]
    weights: Array  # (m,)

    def entries(self, points: int) -> int:
        """The entries of all kernel matrices that the spread at so many points takes."""
        return len(self.fits) * len(self.fits[0].gp.state.points) * points

    def spread(self, X: ArrayLike, means: Array) -> Array:
        """E[(f(x) − mean)²] (N,) at points X (N, d), about means that may be any model's."""
        total = np.zeros(len(means))
        points = as_points(X, "X", self.fits[0].gp.kernel.dimension)
        with limited_blas(len(self.fits[0].gp.state.points)):  # once for all
            for weight, fitted in zip(self.weights, self.fits, strict=True):
                total += weight * _spread_of(fitted.gp, points, means)
        return total


def _spread_of(gp: GaussianProcess, points: Array, means: Array) -> Array:
    """The variance (N,) of one process about means; a triangular product, as this is done often."""
    state, kernel = gp.state, gp.unit_kernel
    K = kernel(points, state.points)
    apart = gp.unit * (K @ state.alpha) + (gp.mean - means)
    # W = L⁻¹ K(X, points), in the memory of K
    W = scipy.linalg.blas.dtrmm(1.0, state.factor.inverse.T, K.T, trans_a=1, overwrite_b=1)
    explained = np.einsum("ij,ij->j", W, W)
    return np.asarray(gp.unit**2 * np.maximum(kernel.variance - explained, 0.0) + apart**2)


def average_fits(fitted: FitResult, draws: int = DRAWS) -> Average:
    """Fits around one with `method="map"`, in proportion to their density.

    Args:
        fitted: the fit.
        draws: how many values of θ to draw.
    """
    basis = fitted.basis
    data, objective = basis.data, basis.objective()
    best = basis.theta(fitted.hyperparameters)
    bounds = search_bounds(data.X.shape[1], data.infers_noise, len(data.varying))
    with limited_blas(len(data.X)):
        thetas, logs = _draw(objective, np.clip(best, *bounds.T), bounds, draws)
        weights = _truncated(np.array([objective.value(theta) for theta in thetas]) - logs)
        kept = np.flatnonzero(weights >= _NEGLIGIBLE)
        fits = tuple(fit_with(fitted, theta) for theta in thetas[kept])
    return Average(fits, weights[kept] / weights[kept].sum())


def fit_with(fitted: FitResult, theta: Array) -> FitResult:
    """A fit with other hyperparameters."""
    basis = fitted.basis
    hyperparameters = basis.hyperparameters(theta)
    inferred = None
    if basis.data.infers_noise:
        inferred = hyperparameters.noise * basis.data.scale**2
    gp = replace(basis.process(hyperparameters), reachable=fitted.gp.reachable)
    return replace(fitted, gp=gp, hyperparameters=hyperparameters, noise_variance=inferred)


def _draw(objective: Objective, best: Array, bounds: Array, count: int) -> tuple[Array, Array]:
    """Values of θ (count + 1, p), the best first, and the log density q of each, up to a term."""
    p = len(best)
    curvature, directions = np.linalg.eigh(_curvature(objective, best))
    root = directions / np.sqrt(np.maximum(curvature, _LEAST_CURVATURE))
    uniform = spread_points(count, p + 1, np.random.default_rng(_SEED))
    uniform = np.clip(uniform, _LEAST, 1.0 - _LEAST)
    squares = scipy.special.chdtri(_DEGREES, uniform[:, p:])
    z = scipy.special.ndtri(uniform[:, :p]) * np.sqrt(_DEGREES / squares)
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
