"""Which observed points are among those that a search can find.

Data may lie outside the unit cube: measured beyond a range, or at a choice that is no longer
offered. They inform the model, but what is sought is to be better than what can be had. Where rules
came later, they may also be settings that break one: of these the process knows.
"""

import numpy as np

from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array, Mask


def within(X: Array) -> Mask:
    """Which points (N, d) lie in the unit cube, (N,); all of them where none does."""
    inside = np.all((X >= 0.0) & (X <= 1.0), axis=1)
    return np.asarray(inside if inside.any() else ~inside)


def reachable(gp: GaussianProcess) -> Mask:
    """Which observed points (n,) of a process are among them; all where none is."""
    return within(gp.X) if gp.reachable is None else gp.reachable


def conditioning(gp: GaussianProcess) -> Mask:
    """The same of all points (m,) that it is conditioned on; pending ones are among them."""
    points = gp.state.points
    if gp.reachable is None:
        return within(points)
    return np.concatenate([gp.reachable, np.ones(len(points) - len(gp.reachable), dtype=bool)])
