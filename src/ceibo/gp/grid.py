"""Even choices: of indices, of points in the cube, of the levels of a dimension."""

from collections.abc import Mapping

import numpy as np

from ceibo.gp.inputs import Array, Indices


def evenly(n: int, count: int) -> Indices:
    """(count,) indices spread evenly over 0..n−1, both ends included; repeated if count > n."""
    return np.linspace(0, n - 1, count).round().astype(np.intp)


def spread_points(count: int, dimension: int, rng: np.random.Generator) -> Array:
    """A Latin hypercube, (count, dimension): in every coordinate one point per equal cell."""
    # Cheaper than Sobol points, for any count, and without holes in any number of dimensions.
    cells = rng.permuted(np.tile(np.arange(count), (dimension, 1)), axis=1).T
    return np.asarray((cells + rng.random((count, dimension))) / count)


def snap(U: Array, levels: Mapping[int, Array]) -> Array:
    """Points of the unit cube (N, d), with the columns in `levels` moved to one of its values.

    Each of m values takes an equal share, 1/m, of the unit interval.
    """
    X = U.copy()
    for k, values in levels.items():
        X[:, k] = values[np.minimum((U[:, k] * len(values)).astype(int), len(values) - 1)]
    return X
