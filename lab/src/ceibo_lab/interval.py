"""What paired differences say beside a p value: how much, how surely, and what they could show.

Notation: d_1 … d_n the differences, s their standard deviation; Walsh averages (d_i + d_j)/2, i ≤
j, m = n(n + 1)/2 of them, sorted; W₊ the sum of the ranks of n positive differences where every
sign is a fair coin.

    estimate    the median of the Walsh averages (Hodges and Lehmann)
    interval    from the c-th Walsh average to the (m + 1 − c)-th, c the largest number with P(W₊ <
                c) ≤ (1 − confidence)/2; it belongs to the signed-rank test
    detectable  the difference that the test finds with a probability of 80 %,
                (t₁₋ₐ + t₀.₈) s/√(3n/π): 3/π is the test's efficiency beside the t test for normal
                differences, a half of the level. For tails that are heavier it is on the safe side.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from ceibo.gp.inputs import Array

CONFIDENCE: Final = 0.95
POWER: Final = 0.8
EXACT_UP_TO: Final = 200  # pairs: beyond, the normal approximation is as good
_EFFICIENCY: Final = 3.0 / np.pi


class Interval(NamedTuple):
    """An estimate with its limits, which are infinite where there are too few pairs for any."""

    estimate: float
    low: float
    high: float


def interval(differences: Sequence[float] | Array) -> Interval:
    """The Hodges-Lehmann estimate of the differences (at least one) and its 95 % interval."""
    d = np.asarray(differences, dtype=np.float64)
    first, second = np.triu_indices(len(d))
    walsh = np.sort((d[first] + d[second]) / 2.0)
    outside = _outside(len(d), (1.0 - CONFIDENCE) / 2.0)
    estimate = float(np.median(walsh))
    if outside == 0:
        return Interval(estimate, -np.inf, np.inf)
    return Interval(estimate, float(walsh[outside - 1]), float(walsh[-outside]))


def _outside(n: int, tail: float) -> int:
    """The largest c with P(W₊ < c) ≤ tail."""
    if n > EXACT_UP_TO:
        spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
        return max(0, int(n * (n + 1) / 4.0 + float(ndtri(tail)) * spread))
    # twice the ranks, as `sign_chances` counts; odd sums do not occur
    chances = sign_chances(2.0 * np.arange(1.0, n + 1.0))[::2]
    return int(np.searchsorted(np.cumsum(chances), tail, side="right"))


def sign_chances(doubled: Array) -> Array:
    """P(2W₊ = k) for k = 0, 1, … from twice the ranks, which ties make halves."""
    whole = np.asarray(doubled, dtype=int)
    total = int(whole.sum())
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    for rank in whole:
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: total + 1 - rank]
        chances = 0.5 * (chances + moved)
    return chances


def detectable(n: int, spread: float, level: float) -> float:
    """The difference found with 80 % power at a two-sided level; infinite if n is too small."""
    if n < 2 or 0.5 ** (n - 1) > level:  # even n wins of n are not enough
        return float("inf")
    quantiles = float(stdtrit(n - 1, 1.0 - level / 2.0)) + float(stdtrit(n - 1, POWER))
    return quantiles * spread / float(np.sqrt(_EFFICIENCY * n))
