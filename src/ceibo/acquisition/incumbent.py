"""The incumbent x⁺: the observed point with the best posterior mean, and how sure that is.

It is not the point with the best noisy value, and f(x⁺) is not known.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.acquisition.cube import reachable
from ceibo.acquisition.sampling import normal_draws, root_of
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array, Mask
from ceibo.gp.linalg import limited_blas

_DRAWS: Final = 4096
# Points whose posterior mean lies this many standard deviations (of the difference) above the
# incumbent's have a chance of about 1e-9 of being better, and are left out of the simulation.
_CONTENDER: Final = 6.0


@final
@dataclass(frozen=True, eq=False)
class Incumbent:
    """x⁺, and what is believed of f there, in the units of y."""

    index: int  # row of gp.X
    x: Array  # (d,)
    mean: float  # posterior mean
    std: float  # posterior standard deviation


def find_incumbent(gp: GaussianProcess, among: Mask | None = None) -> Incumbent:
    """The observed (not pending) point with the lowest posterior mean, the earliest of equals.

    Args:
        gp: the model.
        among: (n,) which observed points may be it; by default those that a search could find.
    """
    with limited_blas(len(gp.state.points)):
        means = gp.unit_kernel(gp.X, gp.state.points) @ gp.state.alpha
        index = int(np.argmin(np.where(reachable(gp) if among is None else among, means, np.inf)))
        mean, variance = gp.posterior(gp.X[index][None, :])
    return Incumbent(index, gp.X[index], float(mean[0]), float(np.sqrt(variance[0])))


def probability_best(gp: GaussianProcess, index: int, seed: int = 0, draws: int = _DRAWS) -> float:
    """Probability that f at observed point `index` is the lowest of f at those it competes with.

    These are the observed points that a search could find (ceibo.acquisition.cube). Estimated from
    quasi-random joint draws (of 4,096 the standard error is at most 0.008). Repeated points count
    as one.
    """
    if not 0 <= index < len(gp.X):
        raise InputError(f"index must be a row of gp.X, from 0 to {len(gp.X) - 1}, got {index!r}.")
    with limited_blas(len(gp.state.points)):
        points = np.unique(np.concatenate([gp.X[index][None, :], gp.X[reachable(gp)]]), axis=0)
        anchored = gp.predictor(anchor=index)(points)
        best = anchored.predictor.anchor_row[0] @ gp.state.alpha
        gap = (anchored.linear[:, 0] - best) / _CONTENDER
        variance = anchored.difference_variance
        rivals = (variance > 0) & (gap**2 * np.sign(gap) < variance)
        if not np.any(rivals):
            return 1.0
        # Joint draws of f(rival) − f(incumbent): covariance of differences, via L⁻¹(k_x − k_p).
        shifted = anchored.shifted[rivals]
        kernel, prior = gp.unit_kernel, anchored.prior_gap[rivals]
        between = kernel(points[rivals], points[rivals]) - kernel.variance
        covariance = between + prior[:, None] + prior[None, :] - shifted @ shifted.T
        mean = gap[rivals] * _CONTENDER
        root = root_of(covariance)
        drawn = mean + normal_draws(draws, root.shape[1], seed) @ root.T
    return float(np.mean(np.all(drawn >= 0.0, axis=1)))
