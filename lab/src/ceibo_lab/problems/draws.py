"""Functions drawn from a Gaussian process.

In one dimension, with a squared exponential kernel, a draw is a table of values at equally spaced
points; between them the function takes the value at the nearest point. It is made as a Fourier
series with normal coefficients, over a period P so long that the series' covariance is the
kernel's: by Poisson's summation formula

    Σ_m k(x + mP) = Σ_j c_j cos(ω_j x),   ω_j = 2πj/P,   c_j = (2 − [j = 0]) √(2π) ℓ/P exp(−ω_j²
    ℓ²/2),

and the terms m ≠ 0 are below rounding. No matrix is factorized, so a draw is the same on every
machine to rounding. A draw from a stationary kernel has no place of its own: another seed is its
randomly shifted variant.

In more dimensions, with a Matérn-5/2 kernel of unit variance, it is a sum of random Fourier
features (Rahimi and Recht 2007).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, final

import numpy as np
from scipy.optimize import minimize

from ceibo.gp import SquaredExponential
from ceibo.gp.grid import spread_points
from ceibo.gp.inputs import Array
from ceibo_lab.problem import Problem, box, stream

LENGTHSCALE: Final = 3.0
POINTS: Final = 4000
# length scales from one end of the domain to the next period's beginning: exp(−50)
_MARGIN: Final = 10.0
_HIGHEST: Final = 9.0  # frequencies kept, in 1/ℓ: exp(−40)
_FEATURES: Final = 400
# six standard deviations: noise levels need a range that is the same for every draw
_RANGE: Final = 6.0


@final
@dataclass(frozen=True, eq=False)
class Draw:
    """One function: values at POINTS equally spaced points of [0, width]; to be maximised."""

    width: float
    values: Array  # (POINTS,)

    def __call__(self, x: Array) -> Array:
        """Values at points of [0, width]: those of the nearest table point, the lower of a tie."""
        places = np.ceil(np.asarray(x) / self.width * (POINTS - 1) - 0.5).astype(np.intp)
        return np.asarray(self.values[np.clip(places, 0, POINTS - 1)])


def draw(width: float, seed: int, purpose: str = "gp-draw") -> Draw:
    """Draw number `seed` over [0, width]; `purpose` names an independent series of draws."""
    cosines, sines = _waves(width)
    rng = stream(seed, purpose)
    even = cosines @ rng.standard_normal(cosines.shape[1])
    return Draw(width, even + sines @ rng.standard_normal(sines.shape[1]))


def kernel_matrix(width: float, points: int) -> Array:
    """k at `points` equally spaced points, for the picture of it."""
    X = np.linspace(0.0, width, points)[:, None]
    return SquaredExponential(np.array([LENGTHSCALE]))(X, X)


@lru_cache(maxsize=4)
def _waves(width: float) -> tuple[Array, Array]:
    """√c_j cos(ω_j x) and √c_j sin(ω_j x) at the table's points, (POINTS, J) each."""
    period = width + _MARGIN * LENGTHSCALE
    j = np.arange(int(_HIGHEST * period / (2.0 * np.pi * LENGTHSCALE)) + 1)
    omega = 2.0 * np.pi * j / period
    c = (
        np.where(j == 0, 1.0, 2.0)
        * np.sqrt(2.0 * np.pi)
        * LENGTHSCALE
        / period
        * np.exp(-0.5 * (omega * LENGTHSCALE) ** 2)
    )
    phases = np.linspace(0.0, width, POINTS)[:, None] * omega
    return np.sqrt(c) * np.cos(phases), np.sqrt(c) * np.sin(phases)


@lru_cache(maxsize=8)
def matern_draw(dimension: int, lengthscale: float, seed: int) -> Problem:
    """A draw of a Matérn-5/2 process of unit variance over the unit cube.

    The kernel's spectral density is a multivariate t distribution with five degrees of freedom.
    """
    rng = stream(seed, f"draw in {dimension} dimensions")
    shrink = np.sqrt(5.0 / rng.chisquare(5.0, (_FEATURES, 1)))
    frequencies = rng.standard_normal((_FEATURES, dimension)) * shrink / lengthscale
    phases = rng.uniform(0.0, 2.0 * np.pi, _FEATURES)
    weights = rng.standard_normal(_FEATURES) * np.sqrt(2.0 / _FEATURES)

    def values(U: Array) -> Array:
        return np.asarray(np.cos(U @ frequencies.T + phases) @ weights)

    def with_slope(u: Array) -> tuple[float, Array]:
        waves = frequencies @ u + phases
        return float(np.cos(waves) @ weights), -(np.sin(waves) * weights) @ frequencies

    starts = spread_points(4096, dimension, rng)
    order = np.argsort(values(starts), kind="stable")[:24]
    bounds = [(0.0, 1.0)] * dimension
    ends = [minimize(with_slope, starts[k], jac=True, bounds=bounds) for k in order]
    best = min(ends, key=lambda end: float(end.fun))
    name, places = f"draw-{dimension}d", np.array([best.x])
    return Problem(name, *box(0, 1, dimension), values, places, float(best.fun), _RANGE)
