"""Limits f_j ≤ b_j on further outcomes, and the incumbent x⁺ among the points that hold them.

Each outcome has a Gaussian process of its own and these are independent, so that the chance that
every limit holds at x is the product over the limits of Φ(z_j), z_j = (b_j − μ_j(x))/σ_j(x).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, final

import numpy as np
from numpy.typing import ArrayLike

from ceibo.acquisition import normal
from ceibo.acquisition.base import chain_std
from ceibo.acquisition.common import FARTHEST, Bounded, common_rows, inside_units
from ceibo.acquisition.cube import reachable
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array, Mask, as_points
from ceibo.gp.linalg import limited_blas
from ceibo.gp.predictor import Predictor


class Held(Bounded, Protocol):
    """A limit, by one model of its outcome or by several, of which `gp` is the first."""

    def log_chance(self, X: ArrayLike, /) -> tuple[Array, Array]:
        """log P(f(x) ≤ bound) at the points X (N, d), (N,), and its gradient (N, d)."""


@final
@dataclass(frozen=True, eq=False)
class Limit:
    """An outcome that must not exceed a bound: f ≤ bound.

    Args:
        gp: the process of the outcome, conditioned on pending points.
        bound: in the units of gp.y.
    """

    gp: GaussianProcess = field(repr=False)
    bound: float
    # the bound in inside units, less the prior mean
    level: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if np.isnan(self.bound):
            raise InputError(f"bound must be a number, got {self.bound!r}.")
        object.__setattr__(self, "level", inside_units(self.gp, self.bound))

    def log_chance(self, X: ArrayLike) -> tuple[Array, Array]:
        """log P(f(x) ≤ bound) at the points X (N, d), (N,), and its gradient (N, d)."""
        points = as_points(X, "X", self.gp.kernel.dimension)
        with limited_blas(len(self.gp.state.points)):
            prediction = self.predictor(points)
            s = np.sqrt(prediction.variance)
            value, by_slack, by_s = log_holding(self.level - prediction.linear[:, 0], s)
            by_variance = chain_std(by_s, s)
            gradient = prediction.pullback(linear=-by_slack[:, None], variance=by_variance)
        return value, gradient

    @property
    def predictor(self) -> Predictor:
        """Of the mean and variance of the outcome."""
        return self.gp.predictor()


def log_holding(slack: Array, s: Array) -> tuple[Array, Array, Array]:
    """log P(s Z ≤ slack) = log Φ(slack/s), and its derivatives in both.

    Where s = 0 the limit is certain: it holds where slack ≥ 0.
    """
    certain = s <= 0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        z = np.where(certain, 0.0, slack / s)
    z = np.clip(z, -FARTHEST, FARTHEST)
    log_chance = normal.log_cdf(z)
    by_slack = np.divide(normal.inverse_mills(z), s, out=np.zeros_like(z), where=~certain)
    if certain.any():
        log_chance = np.where(certain, np.where(slack >= 0, 0.0, -np.inf), log_chance)
    return log_chance, by_slack, -z * by_slack


def log_chances(limits: Sequence[Held], X: ArrayLike) -> Array:
    """Logarithm of the probability that every limit holds, at the points X (N, d), (N,)."""
    total = np.zeros(len(np.asarray(X)))
    for limit in limits:
        total = total + limit.log_chance(X)[0]
    return total


def chances(limits: Sequence[Held], X: ArrayLike) -> Array:
    """Probability that every limit holds, at the points X (N, d), (N,); 1 without limits."""
    return np.asarray(np.exp(log_chances(limits, X)))


@final
@dataclass(frozen=True, eq=False)
class FeasibleIncumbent:
    """x⁺ under limits, and what is believed of the goal there, in the units of y."""

    index: int  # row of goal.X
    x: Array  # (d,)
    mean: float  # posterior mean of the goal
    std: float  # posterior standard deviation of the goal
    chance: float  # that every limit holds
    indices: tuple[int, ...]  # its row in the X of each limit's process


def find_feasible_incumbent(
    goal: GaussianProcess,
    limits: Sequence[Held],
    confidence: float = 0.95,
    among: Mask | None = None,
) -> FeasibleIncumbent | None:
    """The best of the points at which the goal and every limited outcome were observed.

    Best is the lowest posterior mean of the goal among the points that hold all limits with a
    chance of at least `confidence`. If there is none, it is the point with the highest chance, of
    equals the one with the lowest mean. None if no point was observed in full.

    Args:
        goal: the process of the outcome to be minimised.
        limits: on the other outcomes.
        confidence: between 0 and 1.
        among: (n,) which points of the goal may be it; by default those that a search could find.
    """
    rows = common_rows([goal.X, *(limit.gp.X for limit in limits)])
    if len(rows):
        rows = rows[(reachable(goal) if among is None else among)[rows[:, 0]]]
    if len(rows) == 0:
        return None
    points = goal.X[rows[:, 0]]
    with limited_blas(len(goal.state.points)):
        prediction = goal.predictor()(points)
    means, logs = prediction.linear[:, 0], log_chances(limits, points)
    sure = np.exp(logs) >= confidence
    contenders = np.flatnonzero(sure if sure.any() else logs == logs.max())
    at = int(contenders[np.argmin(means[contenders])])
    return FeasibleIncumbent(
        index=int(rows[at, 0]),
        x=points[at],
        mean=float(goal.mean + goal.unit * means[at]),
        std=float(goal.unit * np.sqrt(prediction.variance[at])),
        chance=float(np.exp(logs[at])),
        indices=tuple(int(row) for row in rows[at, 1:]),
    )


def merits(goal: GaussianProcess, limits: Sequence[Limit]) -> Array:
    """(n,) of the goal's observed points: lower, the more they promise to improve on M.

    Minus the logarithm of P(limits hold)·(M − μ).
    """
    means, logs = observed_means(goal), log_chances(limits, goal.X)
    gain = np.maximum(means.max() - means, np.finfo(np.float64).tiny)
    return np.asarray(-(logs + np.log(gain)))


def observed_means(gp: GaussianProcess) -> Array:
    """(n,) posterior means at the observed points, in inside units less the prior mean."""
    return np.asarray(gp.unit_kernel(gp.X, gp.state.points) @ gp.state.alpha)
