"""The expected hypervolume improvement beside plain simulation, at random states.

    python -m soak.hypervolume                     100 states, 10,000,000 draws each
    python -m soak.hypervolume --cases 5 --draws 100000

A state is two or three goals and up to two limits with random processes, one joint draw of them at
their points, and a point x. The closed form is compared with the mean, over draws of every outcome
at x, of what the hypervolume grows by, which inclusion and exclusion give. At twenty of the states
it is also compared with integrals of Φ by quadrature. Beside them, gradients against differences.
"""

import argparse
import sys
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import final

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from ceibo.acquisition import Limit, nondominated
from ceibo.acquisition.common import draw_in_common
from ceibo.acquisition.hypervolume_improvement import NoisyHypervolumeImprovement, build_hypervolume
from ceibo.gp import GaussianProcess, Matern52
from ceibo.gp.inputs import Array

_CHUNK = 500_000
_ERRORS = 4.0  # standard errors
_QUADRATURES = 20


@final
@dataclass(frozen=True, eq=False)
class State:
    """One draw, and a normal belief of each outcome at x, in inside units."""

    acquisition: NoisyHypervolumeImprovement
    x: Array
    front: Array  # (m, k) of the points that hold the limits
    reference: Array  # (k,)
    means: Array  # of all outcomes
    stds: Array
    bounds: Array

    @property
    def goals(self) -> int:
        return len(self.reference)

    @property
    def value(self) -> float:
        """The closed form, in inside units."""
        return float(self.acquisition.value(self.x[None])[0] / self.acquisition.scale)


def random_state(rng: np.random.Generator) -> State:
    """Until there is one at which x may improve on the front."""
    while True:
        goals, limits, n, d = (int(rng.integers(*r)) for r in ((2, 4), (0, 3), (3, 7), (1, 4)))
        X = rng.random((n, d))
        processes = []
        for _ in range(goals + limits):
            noise, y = rng.uniform(0.01, 0.5), rng.standard_normal(n)
            kernel = Matern52(rng.uniform(0.2, 1.0, d), rng.uniform(0.5, 2.0))
            processes.append(GaussianProcess(X, y, noise, kernel))
        given = [Limit(gp, float(rng.normal())) for gp in processes[goals:]]
        seed = int(rng.integers(2**31))
        acq = build_hypervolume(processes[:goals], given, draws=1, seed=seed)
        drawn = draw_in_common(processes[:goals], given, 1, seed)
        front, x = drawn.goals[0][drawn.holds[0]], rng.random(d)
        each = acq.predictor(x[None]).each
        units = np.array([gp.unit for gp in processes[:goals]])
        state = State(
            acq,
            x,
            front[nondominated(front)] if len(front) else front,
            acq.reference / units,
            np.array([one.linear[0, 0] for one in each]),
            np.array([np.sqrt(one.variance[0]) for one in each]),
            drawn.bounds,
        )
        if state.value > 1e-4:  # the rest is for logarithms, which the tests compare in 600 digits
            return state


def simulated(state: State, count: int, rng: np.random.Generator) -> tuple[float, float]:
    """The mean growth of the hypervolume, and its standard error."""
    total, squares, done = 0.0, 0.0, 0
    while done < count:
        size = min(_CHUNK, count - done)
        f = state.means + state.stds * rng.standard_normal((size, len(state.means)))
        holds = np.all(f[:, state.goals :] <= state.bounds, axis=1)
        gains = holds * _growth(state, f[:, : state.goals])
        total, squares, done = total + gains.sum(), squares + (gains**2).sum(), done + size
    mean = total / count
    return mean, float(np.sqrt(max(squares / count - mean**2, 0.0) / count))


def _growth(state: State, at: Array) -> Array:
    """What each row of `at` (N, k) adds to the volume that the front covers."""
    total = np.prod(np.maximum(state.reference - at, 0.0), axis=1)
    for size in range(1, len(state.front) + 1):
        for rows in combinations(state.front, size):
            corner = np.maximum(np.max(rows, axis=0), at)
            total += (-1.0) ** size * np.prod(np.maximum(state.reference - corner, 0.0), axis=1)
    return np.asarray(total)


def integrated(state: State) -> float:
    """The same by quadrature of Φ from each corner to the reference point."""

    def part(low: float, k: int) -> float:
        high, mean, std = float(state.reference[k]), float(state.means[k]), float(state.stds[k])
        if low >= high:
            return 0.0
        breaks = np.clip(mean + std * np.array([-4.0, -1.0, 0.0, 1.0, 4.0]), low, high)
        edges = [low, *breaks.tolist(), high]
        return sum(
            quad(lambda t: norm.cdf((t - mean) / std), a, b, epsabs=1e-14, epsrel=1e-13)[0]
            for a, b in pairwise(edges)
            if b > a
        )

    goals = range(state.goals)
    lowest = [min(state.means[k] - 40.0 * state.stds[k], state.reference[k]) for k in goals]
    total = np.prod([part(float(lowest[k]), k) for k in goals])
    for size in range(1, len(state.front) + 1):
        for rows in combinations(state.front, size):
            corner = np.max(rows, axis=0)
            total += (-1.0) ** size * np.prod([part(float(corner[k]), k) for k in goals])
    z = (state.bounds - state.means[state.goals :]) / state.stds[state.goals :]
    return float(total * np.prod(norm.cdf(z)))


def gradient_error(state: State) -> float:
    """Of the logarithm's gradient, relative to its length, against central differences."""
    acq, h = state.acquisition, 3e-5
    steps = h * np.eye(len(state.x))
    near = acq.log_value(state.x + steps) - acq.log_value(state.x - steps)
    far = acq.log_value(state.x + 2 * steps) - acq.log_value(state.x - 2 * steps)
    numeric = (8.0 * near - far) / (12.0 * h)
    slope = acq.log_value_and_gradient(state.x[None])[1][0]
    return float(np.linalg.norm(slope - numeric) / np.linalg.norm(numeric))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--draws", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    rng = np.random.default_rng(args.seed)
    deviations, integrals, slopes = [], [], []
    for case in range(args.cases):
        state = random_state(rng)
        mean, error = simulated(state, args.draws, rng)
        deviations.append(abs(state.value - mean) / error)
        slopes.append(gradient_error(state))
        if case < _QUADRATURES:
            integrals.append(abs(integrated(state) / state.value - 1.0))
    within = sum(each < _ERRORS for each in deviations)
    rows = (
        (f"states within {_ERRORS:g} standard errors", f"{within} of {args.cases}"),
        ("largest deviation, standard errors", f"{max(deviations):.2f}"),
        ("root mean square of deviations", f"{np.sqrt(np.mean(np.square(deviations))):.2f}"),
        (f"largest relative error to quadrature ({len(integrals)})", f"{max(integrals):.1e}"),
        ("largest relative error of a gradient", f"{max(slopes):.1e}"),
    )
    for name, figure in rows:
        print(f"{name:48} {figure}")
    return int(within < args.cases or max(integrals) > 1e-8 or max(slopes) > 1e-6)


if __name__ == "__main__":
    sys.exit(main())
