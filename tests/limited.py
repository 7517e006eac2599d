"""States of one goal under limits, and plain ways to compute what is believed of them."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

from ceibo.acquisition import FeasibleIncumbent, Limit
from ceibo.gp import GaussianProcess, Matern52
from soak.limits_closed_form import jointly, positive_part
from tests.helpers import Array, Dense, make_gp


def make_limits(
    goal: GaussianProcess,
    seed: int,
    count: int = 3,
    noise: tuple[float, float] = (1e-2, 0.3),
    partly: int = 0,
) -> tuple[Limit, ...]:
    """Limits on outcomes that were measured at the goal's points but for the first `partly`."""
    rng = np.random.default_rng(1000 + seed)
    d = goal.X.shape[1]
    limits = []
    for j in range(count):
        X = goal.X[partly:]
        y = np.cos(4 * X @ rng.standard_normal(d) + j) + 0.1 * rng.standard_normal(len(X))
        kernel = Matern52(rng.uniform(0.3, 0.9, d), rng.uniform(0.5, 2.0))
        gp = GaussianProcess(X, y, rng.uniform(*noise, len(X)), kernel, rng.uniform(-0.3, 0.3))
        limits.append(Limit(gp, float(np.quantile(y, rng.uniform(0.3, 0.9)))))
    return tuple(limits)


def make_case(
    seed: int, n: int = 9, d: int = 2, count: int = 3, partly: int = 0
) -> tuple[GaussianProcess, tuple[Limit, ...]]:
    goal = make_gp(seed, n=n, d=d, noise=(1e-2, 0.3))
    return goal, make_limits(goal, seed, count, partly=partly)


def scaled(gp: GaussianProcess, factor: float) -> GaussianProcess:
    """The same process in other units."""
    kernel = Matern52(gp.kernel.lengthscales, gp.kernel.variance * factor * factor)
    return GaussianProcess(
        gp.X, gp.y * factor, gp.noise_variance * factor * factor, kernel, gp.mean * factor
    )


def booked_value(goal: GaussianProcess) -> float:
    """M: the worst posterior mean at a measured point."""
    return float(np.max(Dense(goal).mean(goal.X)))


def simulated_improvements(
    goal: GaussianProcess,
    limits: Sequence[Limit],
    points: tuple[Array, FeasibleIncumbent],
    count: int,
    rng: np.random.Generator,
) -> Array:
    """Improvements of x on x⁺ in joint draws of everything: the definition, without formulas."""
    x, incumbent = points
    both = np.array([x, incumbent.x])

    def draws(gp: GaussianProcess) -> Array:
        dense = Dense(gp)
        covariance = dense.covariance(both, both)
        return rng.multivariate_normal(dense.mean(both), covariance, count, method="eigh")

    f = draws(goal)
    holds = np.ones((count, 2), dtype=bool)
    for limit in limits:
        holds &= draws(limit.gp) <= limit.bound
    answer = np.where(holds[:, 1], f[:, 1], booked_value(goal))
    return np.where(holds[:, 0], np.maximum(answer - f[:, 0], 0.0), 0.0)


def integrated_improvement(
    goal: GaussianProcess, limits: Sequence[Limit], x: Array, incumbent: FeasibleIncumbent
) -> float:
    """The same expectation by numerical integration over one variable at a time."""
    at = np.array([x, incumbent.x])
    mean, covariance = _moments(goal, at)
    u = mean[1] - mean[0]
    spread = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    gain = positive_part(u, spread)
    instead = positive_part(booked_value(goal) - mean[0], np.sqrt(covariance[0, 0]))
    alone = both = 1.0
    for limit in limits:
        mean, covariance = _moments(limit.gp, at)
        z = (limit.bound - mean) / np.sqrt(np.diag(covariance))
        rho = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
        alone *= norm.cdf(z[0])
        both *= jointly(z, rho)
    return float(both * gain + (alone - both) * instead)


def _moments(gp: GaussianProcess, at: Array) -> tuple[Array, Array]:
    dense = Dense(gp)
    return dense.mean(at), dense.covariance(at, at)
