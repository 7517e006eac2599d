"""Limits on outcomes: STAND-IN until the real file is merged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ceibo.acquisition import normal
from ceibo.acquisition.base import Surface
from ceibo.acquisition.build import build
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array


@final
@dataclass(frozen=True, eq=False)
class Limit:
    gp: GaussianProcess
    bound: float

    def log_chance(self, X: Array) -> tuple[Array, Array]:
        mean, variance = self.gp.posterior(X)
        by_mean, by_variance = self.gp.posterior_gradient(X)
        s = np.sqrt(np.maximum(variance, 1e-300))
        z = (self.bound - mean) / s
        steep = normal.inverse_mills(z)[:, None]
        slope = -by_mean / s[:, None] - 0.5 * (z / s**2)[:, None] * by_variance
        return normal.log_cdf(z), steep * slope


def chances(limits: Sequence[Limit], X: Array) -> Array:
    return np.exp(sum((limit.log_chance(X)[0] for limit in limits), np.zeros(len(X))))


@final
@dataclass(frozen=True, eq=False)
class FeasibleIncumbent:
    index: int
    x: Array
    mean: float
    std: float
    chance: float
    indices: tuple[int, ...]


def find_feasible_incumbent(
    goal: GaussianProcess, limits: Sequence[Limit], confidence: float
) -> FeasibleIncumbent | None:
    keys = [
        {x.tobytes(): row for row, x in reversed(list(enumerate(limit.gp.X)))} for limit in limits
    ]
    rows = [row for row, x in enumerate(goal.X) if all(x.tobytes() in each for each in keys)]
    if not rows:
        return None
    means, variances = goal.posterior(goal.X[rows])
    held = chances(limits, goal.X[rows])
    place = int(np.lexsort((means, -np.minimum(held, confidence)))[0])
    x = goal.X[rows[place]]
    where = tuple(each[x.tobytes()] for each in keys)
    std = float(np.sqrt(variances[place]))
    return FeasibleIncumbent(rows[place], x, float(means[place]), std, float(held[place]), where)


def build_joint(
    name: str,
    goals: Sequence[GaussianProcess],
    limits: Sequence[Limit] = (),
    *,
    confidence: float = 0.95,
    seed: int = 0,
    draws: int | None = None,
) -> Surface[Any]:
    return build(name, goals[0], seed=seed, draws=draws)


def nondominated(values: Array) -> Array:
    better = np.all(values[:, None] <= values[None], axis=2) & np.any(
        values[:, None] < values[None], axis=2
    )
    return ~np.any(better, axis=0)


def probability_efficient(
    goals: Sequence[GaussianProcess], limits: Sequence[Limit]
) -> tuple[Array, Array]:
    return goals[0].X, np.full(len(goals[0].X), 0.5)
