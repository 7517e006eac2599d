"""Where a search for hyperparameters starts again, when one start is not enough.

Without priors the likelihood has many local maxima. They differ mostly in which dimensions matter:
a length scale is either comparable to the cube or so long that its dimension is as good as absent,
and a climb rarely goes from one to the other. Hence fresh starts spread over all combinations,
screened by their likelihood, and then the best end with one dimension at a time switched over.
"""

from typing import Final

import numpy as np

from ceibo.gp.grid import spread_points
from ceibo.gp.inputs import Array, Indices

# Ranges of fresh starts, in standard units: of length scales, of the variance, of inferred noise,
# of blocks.
_LENGTHSCALES: Final = (0.05, 20.0)
_VARIANCES: Final = (0.1, 10.0)
_NOISES: Final = (1e-4, 1.0)
_BLOCKS: Final = (1e-3, 1.0)
# A length scale above the first is switched to the second, one below it to the third.
_MATTERS_BELOW, _MATTERING, _INERT = 3.0, 0.3, 50.0
# Ends whose log densities are closer than this are one maximum.
_SAME: Final = 0.01
_SEED: Final = 0


def spread_starts(count: int, dimension: int, infers_noise: bool, blocks: int = 0) -> Array:
    """(count, len(θ)) values of θ, spread evenly; the same at every call."""
    ranges = [_LENGTHSCALES] * dimension + [_VARIANCES] + [_NOISES] * infers_noise
    ranges += [_BLOCKS] * blocks
    low, high = np.log(np.array(ranges)).T
    points = spread_points(count, len(ranges), np.random.default_rng(_SEED))
    return np.asarray(low + points * (high - low))


def switched(theta: Array, dimension: int) -> Array:
    """(d, len(θ)) copies of θ, in each of which one dimension begins or ceases to matter."""
    copies = np.tile(theta, (dimension, 1))
    matters = theta[:dimension] < np.log(_MATTERS_BELOW)
    copies[np.diag_indices(dimension)] = np.log(np.where(matters, _INERT, _MATTERING))
    return copies


def distinct(values: Array) -> Indices:
    """Indices of one value of each maximum, the highest first."""
    chosen: list[int] = []
    for index in np.argsort(-values, kind="stable"):
        known = chosen and values[chosen[-1]] - values[index] < _SAME
        if np.isfinite(values[index]) and not known:
            chosen.append(int(index))
    return np.array(chosen, dtype=np.intp)
