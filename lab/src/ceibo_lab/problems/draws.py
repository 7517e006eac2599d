"""Functions drawn from a Gaussian process with a squared exponential kernel, in one dimension.

A draw is a table of values at equally spaced points; between them the function takes the value at
the nearest point. It is made as a Fourier series with normal coefficients, over a period P so long
that the series' covariance is the kernel's: by Poisson's summation formula

    Σ_m k(x + mP) = Σ_j c_j cos(ω_j x),   ω_j = 2πj/P,   c_j = (2 − [j = 0]) √(2π) ℓ/P exp(−ω_j²
    ℓ²/2),

and the terms m ≠ 0 are below rounding. No matrix is factorized, so a draw is the same on every
machine to rounding. A draw from a stationary kernel has no place of its own: another seed is its
randomly shifted variant.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, final

import numpy as np

from ceibo.gp import SquaredExponential
from ceibo.gp.inputs import Array
from ceibo_lab.problems.base import Problem, stream

LENGTHSCALE: Final = 3.0
POINTS: Final = 4000
# length scales from one end of the domain to the next period's beginning: exp(−50)
_MARGIN: Final = 10.0
_HIGHEST: Final = 9.0  # frequencies kept, in 1/ℓ: exp(−40)


@final
@dataclass(frozen=True, eq=False)
class Draw:
    """One function: values at POINTS equally spaced points of [0, width]; maximised in the
    paper.
    """

    width: float
    values: Array  # (POINTS,)

    def __call__(self, x: Array) -> Array:
        """Values at points of [0, width]: that of the nearest point of the table, the lower one of
        a tie.
        """
        places = np.ceil(np.asarray(x) / self.width * (POINTS - 1) - 0.5).astype(np.intp)
        return np.asarray(self.values[np.clip(places, 0, POINTS - 1)])

    def as_problem(self) -> Problem:
        """Minus the draw, to be minimised."""
        best = np.flatnonzero(self.values == self.values.max())
        places = (best / (POINTS - 1) * self.width)[:, None]
        ends = np.zeros(1), np.full(1, self.width)
        spread = float(np.ptp(self.values))
        return Problem(
            "gp-draw", *ends, lambda X: -self(X[:, 0]), places, -float(self.values.max()), spread
        )


def draw(width: float, seed: int, purpose: str = "gp-draw") -> Draw:
    """Draw number `seed` over [0, width]; `purpose` names an independent series of draws."""
    cosines, sines = _waves(width)
    rng = stream(seed, purpose)
    return Draw(
        width,
        cosines @ rng.standard_normal(cosines.shape[1])
        + sines @ rng.standard_normal(sines.shape[1]),
    )


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
