"""Statistics of paired replications.

Two methods meet the same seeds, hence the same initial designs and noise: differences are taken
seed by seed. The test is Wilcoxon's signed-rank test, two-sided and exact (ties included), with
Holm's correction over a table. The effect size is the matched-pairs rank-biserial correlation, (W₊
− W₋)/(W₊ + W₋), from −1 to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np
from scipy.special import ndtr, stdtrit
from scipy.stats import rankdata

from ceibo.errors import InputError
from ceibo.gp.inputs import Array

SIGNIFICANT: Final = 0.05
_EXACT_BELOW: Final = 200  # pairs: beyond, the normal approximation is as good


@final
@dataclass(frozen=True)
class Comparison:
    """Differences d = first − second of n pairs: two-sided p, effect size, median, how often d < 0
    and > 0.
    """

    n: int
    p: float
    effect: float
    median: float
    below: int
    above: int


def compare(first: Sequence[float] | Array, second: Sequence[float] | Array) -> Comparison:
    """Wilcoxon's signed-rank test of paired values; pairs that are equal say nothing and are left
    out of the ranks.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise InputError(
            f"expected two lists of paired values, got shapes {a.shape} and {b.shape}."
        )
    differences = a - b
    if not np.all(np.isfinite(differences)):
        raise InputError("paired values must be finite.")
    moved = differences[differences != 0]
    median = float(np.median(differences)) if len(differences) else 0.0
    below, above = int(np.sum(moved < 0)), int(np.sum(moved > 0))
    if len(moved) == 0:
        return Comparison(len(a), 1.0, 0.0, median, below, above)
    ranks = rankdata(np.abs(moved))
    total = float(ranks.sum())
    effect = float((ranks[moved > 0].sum() - ranks[moved < 0].sum()) / total)
    return Comparison(
        len(a), _p_value(ranks, float(ranks[moved > 0].sum())), effect, median, below, above
    )


def _p_value(ranks: Array, positive: float) -> float:
    """P(|W₊ − W/2| at least as large as seen) when each rank's sign is a fair coin."""
    if len(ranks) > _EXACT_BELOW:
        spread = float(np.sqrt(np.sum(ranks**2) / 4.0))
        return float(min(1.0, 2.0 * ndtr(-abs(positive - ranks.sum() / 2.0) / spread)))
    doubled = np.rint(2.0 * ranks).astype(int)  # ranks of ties are halves
    total = int(doubled.sum())
    chances = np.zeros(total + 1)  # of each value of 2W₊
    chances[0] = 1.0
    for rank in doubled:
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: total + 1 - rank]
        chances = 0.5 * (chances + moved)
    gap = abs(round(2.0 * positive) - total / 2.0)
    return float(min(1.0, chances[np.abs(np.arange(total + 1) - total / 2.0) >= gap - 1e-9].sum()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p values that may be compared with one level whatever the number
    of tests.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0) if len(p) else []
    return [float(value) for value in adjusted]


class Band(NamedTuple):
    """Mean and 95 % confidence limits of it, each (k,)."""

    mean: Array
    low: Array
    high: Array


def band(rows: Sequence[Array] | Array) -> Band:
    """Mean over replications (rows) and its 95 % confidence band, by Student's t; no band for a
    single row.
    """
    values = np.asarray(rows, dtype=np.float64)
    n, mean = len(values), np.mean(values, axis=0)
    if n < 2:
        return Band(mean, mean, mean)
    half = float(stdtrit(n - 1, 0.975)) * np.std(values, axis=0, ddof=1) / np.sqrt(n)
    return Band(mean, mean - half, mean + half)


def kendall(values: Sequence[float] | Array) -> float:
    """Kendall's τ of a sequence against its order: 1 where it only grows, −1 where it only
    falls.
    """
    v = np.asarray(values, dtype=np.float64)
    pairs = [np.sign(v[j] - v[i]) for i in range(len(v)) for j in range(i + 1, len(v))]
    return float(np.mean(pairs)) if pairs else 0.0
