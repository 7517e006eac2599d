"""How much each parameter matters: its shares of the variance of the posterior mean.

With f the posterior mean and x uniform on the unit cube, parameter i has the first-order share
S_i = Var[E[f | x_i]] / Var[f], what it does on its own, and the total share T_i = E[Var[f | the
others]] / Var[f], what would remain uncertain if all others were known. T_i − S_i is what it does
together with others. Estimated from quasi-random points by the pick-and-freeze estimators of
Saltelli (2010) and Jansen (1999). The coordinate of a parameter that does not exist at a point has
no influence there.

With rules x is uniform where they hold, and parameters depend on each other. S_i is then estimated
from the means of f within groups of points of nearly equal x_i. For T_i a point takes x_i from
another one and moves the parameters of the same equalities along (ruled.py): what changes is what
moving the parameter does. Points that would break a rule are left out.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from scipy.stats import qmc

from ceibo.decide.space import Space
from ceibo.decide.surface.existence import canonical, fill
from ceibo.decide.surface.ruled import holding, moved, sample_inside
from ceibo.gp import GaussianProcess
from ceibo.gp.grid import snap
from ceibo.gp.inputs import Array, Indices
from ceibo.gp.linalg import limited_blas

MOST_PARAMETERS: Final = 100
"""Parameters looked at: of more, those with the shortest length scales; the others count as 0."""
_POINTS: Final = 512
_GROUPS: Final = 16  # of points of nearly equal coordinates, with rules
_FEWEST: Final = 32  # points from which something is estimated
_BLOCK: Final = 2048  # points evaluated at a time


@final
@dataclass(frozen=True, eq=False)
class Importance:
    """Shares of the variance, (d,) each, in [0, 1]; all zero where the posterior mean is flat."""

    alone: Array
    total: Array

    @property
    def order(self) -> Indices:
        """Parameters from the most to the least important."""
        return np.argsort(-self.total, kind="stable")


def importance(gp: GaussianProcess, space: Space, seed: int = 0) -> Importance:
    """The importance of each parameter for the posterior mean."""
    if space.rules:
        return _within_rules(gp, space, seed)
    d = len(space)
    draws = qmc.Sobol(2 * d, scramble=True, rng=np.random.default_rng(seed)).random(_POINTS)
    A, B = snap(draws[:, :d], space.discrete), snap(draws[:, d:], space.discrete)
    fa, fb = _means(gp, canonical(space, A)), _means(gp, canonical(space, B))
    fab = np.tile(fa, (d, 1))
    # one by one, as all together would take memory in proportion to d²
    for column in np.argsort(gp.kernel.lengthscales, kind="stable")[:MOST_PARAMETERS]:
        swapped = A.copy()
        swapped[:, column] = B[:, column]
        fab[column] = _means(gp, canonical(space, swapped))
    variance = float(np.var(np.concatenate([fa, fb])))
    scale = max(float(np.max(np.abs(values))) for values in (fa, fb, fab))
    if not variance > (1e-12 * scale) ** 2:
        return Importance(np.zeros(d), np.zeros(d))
    total = np.mean((fa - fab) ** 2, axis=1) / 2 / variance
    alone = np.mean(fb * (fab - fa), axis=1) / variance
    return Importance(np.clip(np.minimum(alone, total), 0, 1), np.clip(total, 0, 1))


def _within_rules(gp: GaussianProcess, space: Space, seed: int) -> Importance:
    """The importance of each parameter where rules hold."""
    d = len(space)
    A, B = np.split(sample_inside(space, 2 * _POINTS, np.random.default_rng(seed)), 2)
    fa, fb = _means(gp, A), _means(gp, B)
    together = np.concatenate([fa, fb])
    variance, scale = float(np.var(together)), float(np.max(np.abs(together)))
    alone, total = np.zeros(d), np.zeros(d)
    if not variance > (1e-12 * scale) ** 2:
        return Importance(alone, total)
    for column in np.argsort(gp.kernel.lengthscales, kind="stable")[:MOST_PARAMETERS]:
        X = A.copy()
        X[:, column] = B[:, column]
        swapped = canonical(space, moved(space, X, (int(column),)))
        held = holding(space, swapped)
        alone[column] = _explained(np.concatenate([A, B])[:, column], together)
        if held is not None and np.sum(held) >= _FEWEST:
            changes = fa[held] - _means(gp, swapped[held])
            total[column] = np.mean(changes**2) / 2 / variance
        else:
            total[column] = alone[column]
    return Importance(np.clip(np.minimum(alone, total), 0, 1), np.clip(total, 0, 1))


def _explained(x: Array, f: Array) -> float:
    """The share of the variance of f (n,) between groups of nearly equal x, freed of chance."""
    values, level = np.unique(x, return_inverse=True)
    if len(values) > _GROUPS:
        level = np.argsort(np.argsort(x, kind="stable"), kind="stable") * _GROUPS // len(x)
    counts = np.bincount(level)
    means = np.bincount(level, weights=f) / np.maximum(counts, 1)
    groups = int(np.sum(counts > 0))
    within = float(np.mean((f - means[level]) ** 2)) * len(x) / max(len(x) - groups, 1)
    return 1.0 - within / (float(np.var(f)) * len(x) / (len(x) - 1))


def _means(gp: GaussianProcess, X: Array) -> Array:
    """Posterior means less the prior mean, in units of `gp.unit`, computed without variances."""
    state = gp.state
    with limited_blas(len(state.points)):
        parts = []
        for start in range(0, len(X), _BLOCK):
            block = X[start : start + _BLOCK]
            parts.append(gp.unit_kernel(block, state.points) @ state.alpha)
        return np.concatenate(parts)


def posterior_means(gp: GaussianProcess, X: Array) -> Array:
    """Posterior means at many points, in the units of the process, (N,)."""
    return gp.mean + gp.unit * _means(gp, X)


def filled(space: Space, place: Array, gp: GaussianProcess) -> Array:
    """A place (d,) with coordinates also of the parameters that do not exist there."""
    if space.conditions is None:
        return place
    return fill(space, place, gp.X, posterior_means(gp, gp.X))
