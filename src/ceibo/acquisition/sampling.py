"""Quasi-random points, the same for the same seed.

SciPy's statistics take most of a second to import, so they are imported when first needed.
"""

import numpy as np
from scipy.special import ndtri

from ceibo.gp.inputs import Array


def spread_points(count: int, dimension: int, rng: np.random.Generator) -> Array:
    """A Latin hypercube, (count, dimension): in every coordinate one point in each of `count` equal cells.

    Cheaper than Sobol points, without their need for powers of two, and without holes in any number of dimensions.
    """
    cells = rng.permuted(np.tile(np.arange(count), (dimension, 1)), axis=1).T
    return np.asarray((cells + rng.random((count, dimension))) / count)


def normal_draws(count: int, dimension: int, seed: int) -> Array:
    """Standard normal draws from a scrambled Sobol sequence, (count, dimension)."""
    from scipy.stats import qmc

    sobol = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(seed))
    power = int(np.ceil(np.log2(max(count, 1))))
    uniform = np.clip(sobol.random_base2(power)[:count], 2.0**-32, 1.0 - 2.0**-32)
    return np.asarray(ndtri(uniform))
