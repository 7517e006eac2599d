"""Corrected EI with limits beside simulation and integration at random states.

    python -m soak.limits_closed_form                       100 states, 10^7 draws each
    python -m soak.limits_closed_form --cases 5 --draws 1e5

The definition is simulated: joint draws of the goal and of every limited outcome at x and x⁺. The
closed form must be within 4 standard errors at every state, and within 1e-8 of what numerical
integration gives at the first states.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from ceibo.acquisition import FeasibleIncumbent, Limit, build_joint
from ceibo.gp import GaussianProcess, Matern52
from ceibo.gp.inputs import Array

CHUNK = 1_000_000
PILOT = 20_000
LEAST_SHARE = 1e-3
MOST_ERRORS = 4.0
MOST_DIFFERENCE = 1e-8


@final
@dataclass(frozen=True, eq=False)
class State:
    """A goal, its limits and a point."""

    goal: GaussianProcess
    limits: tuple[Limit, ...]
    x: Array


def visible_state(rng: np.random.Generator) -> tuple[State, FeasibleIncumbent]:
    """A random state at which draws improve at least once in a thousand, and its x⁺."""
    while True:
        state = random_state(rng)
        acq: Any = build_joint("corrected-ei", [state.goal], state.limits)
        gains = _gains(state, acq.incumbent, PILOT, rng)
        if np.mean(gains > 0) >= LEAST_SHARE:
            return state, acq.incumbent


def random_state(rng: np.random.Generator) -> State:
    """Two to five dimensions, one to four limits, noise from next to none to most of the signal."""
    d, n = int(rng.integers(1, 5)), int(rng.integers(5, 15))
    X = rng.random((n, d))
    goal = _random_process(X, rng)
    limits = []
    for _ in range(int(rng.integers(1, 5))):
        gp = _random_process(X[int(rng.integers(0, 3)) :], rng)
        limits.append(Limit(gp, float(np.quantile(gp.y, rng.uniform(0.3, 1.0)))))
    centre = X[int(rng.integers(n))]
    near = np.clip(centre + 0.1 * rng.standard_normal(d), 0, 1)
    return State(goal, tuple(limits), near if rng.random() < 0.5 else rng.random(d))


def _random_process(X: Array, rng: np.random.Generator) -> GaussianProcess:
    noise = np.exp(rng.uniform(np.log(1e-4), np.log(0.5), len(X)))
    y = np.sin(4 * X @ rng.standard_normal(X.shape[1]) + rng.uniform(0, 6))
    y = y + np.sqrt(noise) * rng.standard_normal(len(X))
    kernel = Matern52(rng.uniform(0.2, 1.0, X.shape[1]), rng.uniform(0.5, 2.0))
    return GaussianProcess(X, y, noise, kernel, rng.uniform(-0.5, 0.5))


def simulate(
    state: State, best: FeasibleIncumbent, draws: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Mean improvement of x on x⁺ over joint draws, and its standard error."""
    total = squares = 0.0
    for start in range(0, draws, CHUNK):
        gains = _gains(state, best, min(CHUNK, draws - start), rng)
        total += float(gains.sum())
        squares += float((gains**2).sum())
    mean = total / draws
    return mean, float(np.sqrt(max(squares / draws - mean**2, 0.0) / draws))


def _gains(state: State, best: FeasibleIncumbent, count: int, rng: np.random.Generator) -> Array:
    at = np.array([state.x, best.x])
    booked = float(np.max(state.goal.posterior(state.goal.X)[0]))
    f = _draw(state.goal, at, count, rng)
    holds = np.ones((count, 2), dtype=bool)
    for limit in state.limits:
        holds &= _draw(limit.gp, at, count, rng) <= limit.bound
    answer = np.where(holds[:, 1], f[:, 1], booked)
    return np.where(holds[:, 0], np.maximum(answer - f[:, 0], 0.0), 0.0)


def _draw(gp: GaussianProcess, at: Array, count: int, rng: np.random.Generator) -> Array:
    mean, covariance = gp.posterior(at)[0], gp.covariance(at, at)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(mean + rng.standard_normal((count, 2)) @ root.T)


def integrate(state: State, best: FeasibleIncumbent) -> float:
    """The same expectation, by integrals over one variable."""
    at = np.array([state.x, best.x])
    mean, covariance = state.goal.posterior(at)[0], state.goal.covariance(at, at)
    spread = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    gain = positive_part(mean[1] - mean[0], spread)
    booked = float(np.max(state.goal.posterior(state.goal.X)[0]))
    instead = positive_part(booked - mean[0], np.sqrt(covariance[0, 0]))
    alone = both = 1.0
    for limit in state.limits:
        mean, covariance = limit.gp.posterior(at)[0], limit.gp.covariance(at, at)
        z = (limit.bound - mean) / np.sqrt(np.diag(covariance))
        rho = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
        alone *= norm.cdf(z[0])
        both *= jointly(z, rho)
    return float(both * gain + (alone - both) * instead)


def positive_part(u: float, s: float) -> float:
    """E[max(0, u + s Z)]."""
    low = max(-u / s, -12.0)

    def inside(z: float) -> float:
        return float((u + s * z) * norm.pdf(z))

    return float(quad(inside, low, max(low, 0.0) + 12.0, epsabs=0, limit=400)[0])


def jointly(z: Array, rho: float) -> float:
    """P(X ≤ z_0, Y ≤ z_1)."""
    s = np.sqrt((1 - rho) * (1 + rho))
    low, high = min(z[0], 0.0) - 12.0, min(z[0], 12.0)
    turn = float(np.clip(z[1] / rho, low, high))

    def inside(t: float) -> float:
        return float(norm.pdf(t) * norm.cdf((z[1] - rho * t) / s))

    return float(quad(inside, low, high, points=[turn], epsabs=0, limit=400)[0])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--integrated", type=int, default=20)
    parser.add_argument("--draws", type=float, default=1e7)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    errors, differences = [], []
    for case in range(options.cases):
        rng = np.random.default_rng([options.seed, case])
        state, best = visible_state(rng)
        acq = build_joint("corrected-ei", [state.goal], state.limits)
        value = float(acq.value(state.x[None])[0])
        mean, error = simulate(state, best, int(options.draws), rng)
        errors.append(abs(value - mean) / error)
        if case < options.integrated:
            differences.append(abs(value / integrate(state, best) - 1.0))
    worst, farthest = max(errors), max(differences, default=0.0)
    print(f"{'states':<34}{options.cases:>12}")
    print(f"{'worst difference, standard errors':<34}{worst:>12.2f}   at most {MOST_ERRORS:g}")
    print(f"{'root mean square of them':<34}{np.sqrt(np.mean(np.square(errors))):>12.2f}")
    print(f"{'worst relative to integration':<34}{farthest:>12.1e}   at most {MOST_DIFFERENCE:g}")
    return int(worst > MOST_ERRORS or farthest > MOST_DIFFERENCE)


if __name__ == "__main__":
    sys.exit(main())
