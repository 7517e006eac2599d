"""What is said of an outcome that cannot leave a range: a normal variable, clipped to it.

The process itself is not told of the range: the values keep their own scale, on which the noise is
told, and a measured value may lie a little outside. The outcome is y = min(max(f, a), b), and with
f ~ N(μ, σ²), α = (a − μ)/σ, β = (b − μ)/σ

    E[y]  = μ + σ (τ(α) − τ(−β))                     τ(z) = φ(z) + z Φ(z) = E[(z + Z)⁺]
    Var[y] = σ² Var[min(max(Z, α), β)]               from its two ends and what lies between

Quantiles of y are those of f, clipped. A limit holds for y if and only if it does for f.
"""

from typing import Final, NamedTuple, final

import numpy as np
import scipy

from ceibo.acquisition import normal
from ceibo.gp.inputs import Array

_LARGEST: Final = float(np.finfo(np.float64).max)
_FAR: Final = 1e8  # standard deviations: beyond, the range is as good as none


@final
class Range(NamedTuple):
    """What an outcome can be, in the user's units; ±inf where it has no end."""

    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def is_bounded(self) -> bool:
        return self.low > -np.inf or self.high < np.inf


def clipped_moments(mean: Array, std: Array, possible: Range) -> tuple[Array, Array]:
    """Mean and standard deviation of a normal variable clipped to a range, (N,) each."""
    if not possible.is_bounded:
        return mean, std
    inside = np.clip(mean, possible.low, possible.high)
    certain = std <= 0
    s = np.where(certain, 1.0, std)
    with np.errstate(over="ignore", invalid="ignore"):
        below = np.clip((possible.low - mean) / s, -_FAR, _FAR)  # α
        above = np.clip((possible.high - mean) / s, -_FAR, _FAR)  # β
        # in halves: the two parts of a mean may both be beyond the largest double, with other signs
        shift = 0.5 * s * (normal.tau(below) - normal.tau(-above))
        moved = 2.0 * (0.5 * mean + shift)
    clipped = np.clip(moved, max(possible.low, -_LARGEST), min(possible.high, _LARGEST))
    # nothing varies by more than half the range
    spread = np.minimum(s * np.sqrt(_variance(below, above)), 0.5 * possible.width)
    return np.where(certain, inside, clipped), np.where(certain, 0.0, spread)


def _variance(alpha: Array, beta: Array) -> Array:
    """Variance of a standard normal Z clipped to [α, β], (N,)."""
    # about the point of the range next to 0, so that nothing cancels far outside the range
    centre = np.clip(0.0, alpha, beta)
    below, above = normal.cdf(alpha), normal.cdf(-beta)
    middle = np.maximum(1.0 - below - above, 0.0)
    first = normal.pdf(alpha) - normal.pdf(beta)  # of Z between the ends
    second = middle + alpha * normal.pdf(alpha) - beta * normal.pdf(beta)
    a, b = alpha - centre, beta - centre
    mean = a * below + b * above + first - centre * middle
    square = a**2 * below + b**2 * above + second - 2.0 * centre * first + centre**2 * middle
    return np.asarray(np.maximum(square - mean**2, 0.0))


def clipped_interval(mean: Array, std: Array, possible: Range, level: float) -> tuple[Array, Array]:
    """The central interval of that probability, clipped to the range, (N,) each."""
    low, high = possible
    with np.errstate(over="ignore"):  # an end beyond the largest double is infinite
        half = float(scipy.special.ndtri(0.5 + 0.5 * level)) * std
        return np.clip(mean - half, low, high), np.clip(mean + half, low, high)
