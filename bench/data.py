"""The data of the comparisons: a noisy function for speed, random surfaces for quality."""

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from scipy.stats import qmc

from ceibo.gp.inputs import Array

DIMENSION: Final = 6
KINDS: Final = ("spread", "run")
_CENTRE: Final = np.array([0.2, 0.7, 0.45, 0.9, 0.3, 0.6])
_WEIGHTS: Final = np.array([3.0, 2.0, 1.5, 1.0, 0.5, 0.2])
_RANGE: Final = 5.3  # of the function over the cube


@final
@dataclass(frozen=True, eq=False)
class Data:
    """Points in the unit cube (n, d), values (n,), and the known noise variance of each (n,)."""

    X: Array
    y: Array
    noise: Array


def noisy_function(n: int, seed: int, kind: str = "spread") -> Data:
    """A bowl with ripples in six dimensions, measured at n points.

    Each measurement's noise has a standard deviation drawn from 0 to 10 % of the function's range,
    and known.

    Args:
        kind: "spread", Sobol points; "run", points as an optimisation leaves them: a fifth of them
            (at least 3d) Sobol points, the others around the optimum, some close and some less so.
    """
    rng = np.random.default_rng((n, seed))
    X = sobol(n, DIMENSION, int(rng.integers(2**31)))
    if kind == "run":
        first = max(3 * DIMENSION, n // 5)
        widths = np.exp(rng.uniform(np.log(0.02), np.log(0.3), (max(n - first, 0), 1)))
        steps = widths * rng.standard_normal((len(widths), DIMENSION))
        X[first:] = np.clip(_CENTRE + steps, 0.0, 1.0)
    ripples = 0.4 * np.sin(7.0 * X[:, 0] + 4.0 * X[:, 1]) + 0.3 * np.cos(9.0 * X[:, 2] * X[:, 3])
    f = (X - _CENTRE) ** 2 @ _WEIGHTS + ripples
    noise_std = rng.uniform(0.0, 0.1, n) * _RANGE
    return Data(X, f + noise_std * rng.standard_normal(n), noise_std**2)


def random_surface(dimension: int, seed: int) -> Data:
    """Noisy values of a random function, at scattered points and around the best of them."""
    rng = np.random.default_rng((dimension, seed))
    n = int(rng.integers(3 * dimension, 12 * dimension + 1))
    # From rough, with many local maxima, to smooth; dimensions matter unequally.
    typical = np.sqrt(dimension) * np.exp(rng.uniform(np.log(0.05), np.log(0.8)))
    lengthscales = typical * np.exp(rng.uniform(-0.7, 0.7, dimension))
    # Random Fourier features of a Matérn-5/2 kernel: frequencies from a Student t with 5 degrees of
    # freedom.
    features = 512
    tails = np.sqrt(5.0 / rng.chisquare(5, features))
    frequencies = rng.standard_normal((features, dimension)) * tails[:, None] / lengthscales
    phases = rng.uniform(0, 2 * np.pi, features)
    weights = rng.standard_normal(features)

    def f(points: Array) -> Array:
        return np.asarray(
            np.sqrt(2.0 / features) * np.cos(points @ frequencies.T + phases) @ weights
        )

    X = sobol(n, dimension, int(rng.integers(2**31)))
    best = X[int(np.argmin(f(X)))]
    near = rng.random(n) < rng.uniform(0.0, 0.6)
    steps = 0.1 * lengthscales * rng.standard_normal((int(near.sum()), dimension))
    X[near] = np.clip(best + steps, 0.0, 1.0)
    noise_std = float(np.exp(rng.uniform(np.log(1e-2), np.log(0.5)))) * rng.uniform(0.3, 1.0, n)
    return Data(X, f(X) + noise_std * rng.standard_normal(n), noise_std**2)


def sobol(n: int, dimension: int, seed: int) -> Array:
    """n scrambled Sobol points; any n."""
    count = int(np.ceil(np.log2(max(n, 2))))
    return np.asarray(qmc.Sobol(dimension, seed=seed).random_base2(count)[:n])
