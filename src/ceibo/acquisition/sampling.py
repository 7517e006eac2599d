"""Quasi-random draws, the same for the same seed."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from ceibo.gp.inputs import Array


def unit_draws(count: int, dimension: int, seed: int) -> Array:
    """`count` points of a scrambled Sobol sequence in the open unit cube, (count, dimension)."""
    sobol = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(seed))
    power = int(np.ceil(np.log2(max(count, 1))))
    return np.clip(sobol.random_base2(power)[:count], 2.0**-32, 1.0 - 2.0**-32)


def normal_draws(count: int, dimension: int, seed: int) -> Array:
    """Quasi-random standard normal draws, (count, dimension)."""
    return np.asarray(ndtri(unit_draws(count, dimension, seed)))
