"""Which observed points are among those that a search can find.

Data may lie outside the unit cube: measured beyond a range, or at a choice that is no longer
offered. They inform the model, but what is sought is to be better than what can be had.
"""

import numpy as np

from ceibo.gp.inputs import Array, Mask


def within(X: Array) -> Mask:
    """Which points (N, d) lie in the unit cube, (N,); all of them where none does."""
    inside = np.all((X >= 0.0) & (X <= 1.0), axis=1)
    return np.asarray(inside if inside.any() else ~inside)
