"""How far f at one point may lie above the lowest of f at others, by joint draws.

Draws are of the differences f(x_j) − f(x), whose covariance follows from one set of joint
covariances, so that the draw at x itself is exactly zero. What takes long, K(points, X) times the
inverse of the Cholesky factor, is computed once and serves means, variances and covariances.
"""

from typing import Final, NamedTuple, final

import numpy as np

from ceibo.acquisition.closed_form import expected_improvement
from ceibo.acquisition.sampling import normal_draws, triangular_root_of
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array, Indices
from ceibo.gp.linalg import limited_blas

# Points whose mean lies so many standard deviations of the difference above that of x are left out,
# and of more than _MOST rivals those that are expected to be lower by least.
_CONTENDER: Final = 6.0
_MOST: Final = 800


@final
class Regrets(NamedTuple):
    """Draws (S,) of f(x) − min(f(x), min_j f(x_j)), and which x_j was lowest (−1: x itself)."""

    values: Array
    lowest: Indices


def draw_regrets(gp: GaussianProcess, x: Array, rivals: Array, count: int, seed: int) -> Regrets:
    """Draws how much lower f may be at rivals (N, d) than at x (d,), in the units of y."""
    state, kernel = gp.state, gp.unit_kernel
    with limited_blas(len(state.points)):
        points = np.concatenate([x[None, :], rivals])
        K = kernel(points, state.points)
        whitened = K @ state.factor.inverse.T  # (N + 1, m): covariances take off its products
        means = gp.unit * (K @ state.alpha)
        explained = np.einsum("ij,ij->i", whitened, whitened)
        between = kernel(points[:1], points)[0] - whitened @ whitened[0]
        variances = kernel.variance - explained + (kernel.variance - explained[0]) - 2.0 * between
        gaps = means[1:] - means[0]
        stds = gp.unit * np.sqrt(np.maximum(variances[1:], 0.0))
        promise = expected_improvement(-gaps, stds)[0]
        order = np.argsort(-promise, kind="stable")[:_MOST]
        kept = order[gaps[order] < _CONTENDER * stds[order]]
        if not len(kept):
            return Regrets(np.zeros(count), np.full(count, -1, dtype=np.intp))
        chosen = np.concatenate([[0], kept + 1])
        few, left = points[chosen], whitened[chosen]
        joint = gp.unit**2 * (kernel(few, few) - left @ left.T)
        differences = joint[1:, 1:] - joint[1:, :1] - joint[:1, 1:] + joint[0, 0]
        root = triangular_root_of(differences)
        draws = gaps[kept] + normal_draws(count, root.shape[1], seed) @ root.T
    lowest = np.argmin(draws, axis=1)
    values = np.maximum(-draws[np.arange(count), lowest], 0.0)
    return Regrets(values, np.where(values > 0.0, kept[lowest], -1))
