"""Quasi-random points, the same for the same seed.

SciPy's statistics take most of a second to import, so they are imported when first needed.
"""

import numpy as np
from scipy.special import ndtri

from ceibo.gp.inputs import Array


def spread_points(count: int, dimension: int, rng: np.random.Generator) -> Array:
    """`count` evenly spread points in the unit cube, (count, dimension): a randomly shifted Kronecker lattice.

    Multiples of (1/g, 1/g², …) modulo 1, where g is the root of g^(d+1) = g + 1, the golden ratio for d = 1 (Roberts
    2018, "The unreasonable effectiveness of quasirandom sequences"). Cheaper than Sobol points, and as even for the
    few hundred points that a search is begun with.
    """
    g = 2.0
    for _ in range(64):  # a contraction: converged to the last bit long before
        g = (1.0 + g) ** (1.0 / (dimension + 1))
    steps = g ** -np.arange(1.0, dimension + 1)
    return np.asarray((rng.random(dimension) + np.arange(1, count + 1)[:, None] * steps) % 1.0)


def normal_draws(count: int, dimension: int, seed: int) -> Array:
    """Standard normal draws from a scrambled Sobol sequence, (count, dimension)."""
    from scipy.stats import qmc

    sobol = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(seed))
    power = int(np.ceil(np.log2(max(count, 1))))
    uniform = np.clip(sobol.random_base2(power)[:count], 2.0**-32, 1.0 - 2.0**-32)
    return np.asarray(ndtri(uniform))
