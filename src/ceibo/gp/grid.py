"""Even choices: indices spread over a sequence, coordinates moved to the levels of a dimension."""

from collections.abc import Mapping

import numpy as np

from ceibo.gp.inputs import Array, Indices


def evenly(n: int, count: int) -> Indices:
    """(count,) indices spread evenly over 0..n−1, both ends included; repeated if count > n."""
    return np.linspace(0, n - 1, count).round().astype(np.intp)


def snap(U: Array, levels: Mapping[int, Array]) -> Array:
    """Points of the unit cube (N, d), with the columns in `levels` moved to one of its values.

    Each of m values takes an equal share, 1/m, of the unit interval.
    """
    X = U.copy()
    for k, values in levels.items():
        X[:, k] = values[np.minimum((U[:, k] * len(values)).astype(int), len(values) - 1)]
    return X
