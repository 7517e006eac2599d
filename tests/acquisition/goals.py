"""Several goals and limits for tests, and second ways to the same numbers."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import mpmath
import numpy as np

from ceibo.acquisition import Limit
from ceibo.gp import GaussianProcess, Kernel, Matern52
from tests.helpers import Array


def make_processes(
    seed: int,
    count: int,
    n: int = 7,
    d: int = 2,
    kernel: type[Kernel] = Matern52,
    noise: float = 0.1,
) -> list[GaussianProcess]:
    """Processes of the same points: squared distances from places of their own, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    processes = []
    for _ in range(count):
        y = 3.0 * np.sum((X - rng.random(d)) ** 2, axis=1) + noise * rng.standard_normal(n)
        of = kernel(rng.uniform(0.4, 1.0, d), rng.uniform(0.5, 2.0))
        processes.append(GaussianProcess(X, y, noise**2, of, float(y.mean())))
    return processes


def bounds_of(processes: Sequence[GaussianProcess], quantile: float = 0.6) -> list[Limit]:
    """Limits that this share of the measurements hold."""
    return [Limit(gp, float(np.quantile(gp.y, quantile))) for gp in processes]


def improvements(fronts: Array, reference: Array, at: Array) -> Array:
    """What each row of `at` (N, k) adds to the hypervolume of its front (N, m, k), (N,).

    By inclusion and exclusion over all sets of rows of the front: what a row covers, less what it
    covers that the front covers too.
    """
    total = np.prod(np.maximum(reference - at, 0.0), axis=1)
    m = fronts.shape[1]
    for size in range(1, m + 1):
        for rows in combinations(range(m), size):
            corner = np.maximum(fronts[:, list(rows)].max(axis=1), at)
            total += (-1.0) ** size * np.prod(np.maximum(reference - corner, 0.0), axis=1)
    return np.asarray(total)


def log_expected_improvement(front: Array, reference: Array, mean: Array, std: Array) -> float:
    """log E of the above at f ~ N(mean, std²) (k,), in 600 digits.

    The expectation of each product is one of integrals of Φ, from −∞ or a corner to the reference.
    """
    with mpmath.workdps(600):

        @cache
        def partial(t: float, k: int) -> mpmath.mpf:  # E(t − f)⁺
            u = mpmath.mpf(t) - mpmath.mpf(mean[k])
            z = u / mpmath.mpf(std[k])
            return mpmath.mpf(std[k]) * mpmath.npdf(z) + u * mpmath.ncdf(z)

        goals = range(len(reference))
        total = mpmath.fprod(partial(float(reference[k]), k) for k in goals)
        for size in range(1, len(front) + 1):
            for rows in combinations(front, size):
                corner = np.minimum(np.max(rows, axis=0), reference)
                total += (-1) ** size * mpmath.fprod(
                    partial(float(reference[k]), k) - partial(float(corner[k]), k) for k in goals
                )
        return float(mpmath.log(total))
