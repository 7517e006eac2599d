"""Comparisons of paired replications, tables of them, and the verdicts that follow.

Two methods meet the same seeds, hence the same initial designs and noise: differences are taken
seed by seed. The test is Wilcoxon's signed-rank test, two-sided and exact (ties included), with
Holm's correction over a table. The effect size is the matched-pairs rank-biserial correlation, (W₊
− W₋)/(W₊ + W₋), from −1 to 1.

A row of a table holds if its Holm-corrected p value is below 0.05 and the difference goes the way
the claim says, does not hold if it is below 0.05 and goes the other way, is equal if no pair
differs, and is undecided otherwise. A claim about every row holds if all rows hold, does not hold
if one of them does not, and is undecided otherwise. A row whose claim is that a difference is
small holds if its interval lies within a margin, and does not hold if it lies beyond.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Final, NamedTuple, final

import numpy as np
from scipy.special import ndtr, stdtrit
from scipy.stats import rankdata

from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo_lab.arithmetic import is_older
from ceibo_lab.interval import EXACT_UP_TO, Interval, detectable, interval, sign_chances
from ceibo_lab.library import Library, Setting
from ceibo_lab.record import Record

SIGNIFICANT: Final = 0.05


@final
@dataclass(frozen=True)
class Comparison:
    """Differences d = first − second of n pairs; `below` and `above` count d < 0 and d > 0."""

    n: int
    p: float
    effect: float
    median: float
    below: int
    above: int
    differences: Array = field(repr=False, compare=False)

    @cached_property
    def interval(self) -> Interval:
        """The Hodges-Lehmann estimate of the difference with its 95 % limits."""
        return interval(self.differences)

    def detectable(self, level: float) -> float:
        """The difference that the test finds at a level, with 80 % power."""
        spread = float(np.std(self.differences, ddof=1)) if self.n > 1 else 0.0
        return detectable(self.n, spread, level)


def compare(first: Sequence[float] | Array, second: Sequence[float] | Array) -> Comparison:
    """Wilcoxon's signed-rank test of paired values; equal pairs are left out of the ranks."""
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
        return Comparison(len(a), 1.0, 0.0, median, below, above, differences)
    ranks = rankdata(np.abs(moved))
    total = float(ranks.sum())
    effect = float((ranks[moved > 0].sum() - ranks[moved < 0].sum()) / total)
    p = _p_value(ranks, float(ranks[moved > 0].sum()))
    return Comparison(len(a), p, effect, median, below, above, differences)


def compare_by_seed(first: Mapping[int, float], second: Mapping[int, float]) -> Comparison:
    """The same for values by seed, over the seeds that both have."""
    seeds = sorted(first.keys() & second.keys())
    return compare([first[seed] for seed in seeds], [second[seed] for seed in seeds])


def _p_value(ranks: Array, positive: float) -> float:
    """P(|W₊ − W/2| at least as large as seen) when each rank's sign is a fair coin."""
    if len(ranks) > EXACT_UP_TO:
        spread = float(np.sqrt(np.sum(ranks**2) / 4.0))
        return float(min(1.0, 2.0 * ndtr(-abs(positive - ranks.sum() / 2.0) / spread)))
    chances = sign_chances(np.rint(2.0 * ranks))
    centre = (len(chances) - 1) / 2.0
    gap = abs(round(2.0 * positive) - centre)
    return float(min(1.0, chances[np.abs(np.arange(len(chances)) - centre) >= gap - 1e-9].sum()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p values that may be compared with one level, however many there are."""
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
    """Mean over replications (rows) with its 95 % band by Student's t; none for a single row."""
    values = np.asarray(rows, dtype=np.float64)
    n, mean = len(values), np.mean(values, axis=0)
    if n < 2:
        return Band(mean, mean, mean)
    half = float(stdtrit(n - 1, 0.975)) * np.std(values, axis=0, ddof=1) / np.sqrt(n)
    return Band(mean, mean - half, mean + half)


def kendall(values: Sequence[float] | Array) -> float:
    """Kendall's τ of a sequence against its order: 1 where it only grows, −1 where it falls."""
    v = np.asarray(values, dtype=np.float64)
    pairs = [np.sign(v[j] - v[i]) for i in range(len(v)) for j in range(i + 1, len(v))]
    return float(np.mean(pairs)) if pairs else 0.0


# -- tables and verdicts ----------------------------------------------------------------


class Verdict(Enum):
    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    EQUAL = "equal"  # in every pair
    NOT_RUN = "not run"


@final
@dataclass(frozen=True)
class Row:
    """One comparison of a table.

    Args:
        label: what is compared.
        comparison: the paired differences.
        lower_favours: whether the claim says that the first is lower.
        corrected_p: the p value after Holm's correction over the table.
        level: at which a p value alone counts in its table, however small the others are.
        margin: the claim says that the difference is within it; None: it has a direction.
        older: how many of the records behind it are of an older arithmetic.
    """

    label: str
    comparison: Comparison
    lower_favours: bool
    corrected_p: float = 1.0
    level: float = SIGNIFICANT
    margin: float | None = None
    older: int = 0

    @property
    def favour(self) -> float:
        """Effect size, positive in the direction of the claim."""
        return -self.comparison.effect if self.lower_favours else self.comparison.effect

    @property
    def wins(self) -> int:
        """Pairs that went the way the claim says."""
        return self.comparison.below if self.lower_favours else self.comparison.above

    @property
    def detectable(self) -> float:
        """The difference that the row would be decided by, with 80 % power."""
        return self.comparison.detectable(self.level)

    @property
    def verdict(self) -> Verdict:
        if self.margin is not None:
            return self._smallness(self.margin)
        if self.comparison.below + self.comparison.above == 0:
            return Verdict.EQUAL
        if self.corrected_p >= SIGNIFICANT:
            return Verdict.UNDECIDED
        return Verdict.HOLDS if self.favour > 0 else Verdict.FAILS

    def _smallness(self, margin: float) -> Verdict:
        _, low, high = self.comparison.interval
        if -margin < low and high < margin:
            return Verdict.HOLDS
        return Verdict.FAILS if low > margin or high < -margin else Verdict.UNDECIDED


@final
@dataclass(frozen=True)
class Table:
    """Comparisons corrected together."""

    title: str
    rows: list[Row]

    @property
    def verdict(self) -> Verdict:
        found = [row.verdict for row in self.rows]
        if not found:
            return Verdict.NOT_RUN
        if Verdict.FAILS in found:
            return Verdict.FAILS
        return Verdict.HOLDS if set(found) == {Verdict.HOLDS} else Verdict.UNDECIDED

    @property
    def counts(self) -> str:
        found = [row.verdict for row in self.rows]
        each = [(verdict, found.count(verdict)) for verdict in Verdict]
        return (
            ", ".join(f"{verdict.value} in {count}" for verdict, count in each if count)
            + f" of {len(found)}"
        )


@final
@dataclass(frozen=True)
class Claim:
    """A statement of the paper and the table under the honest protocol, which decides.

    Beside it, without deciding: the table under the protocol of the authors' code, and others.
    """

    statement: str
    table: Table
    reference: Table | None = None
    beside: list[Table] = field(default_factory=list)
    remark: str = ""

    @property
    def tables(self) -> list[Table]:
        """All of them, in the order in which they are shown."""
        reference = [] if self.reference is None else [self.reference]
        return [self.table, *reference, *self.beside]

    @property
    def verdict(self) -> Verdict:
        return self.table.verdict


def table(title: str, rows: Iterable[Row | None]) -> Table:
    """A table of the rows there are, with Holm's correction over them."""
    found = [row for row in rows if row is not None]
    corrected = holm([row.comparison.p for row in found])
    level = SIGNIFICANT / max(len(found), 1)
    judged = [
        replace(row, corrected_p=p, level=level) for row, p in zip(found, corrected, strict=True)
    ]
    return Table(title, judged)


def paired(
    library: Library,
    label: str,
    settings: tuple[Setting, Setting],
    value: Callable[[Record], float],
    lower: bool = True,
) -> Row | None:
    """The row comparing a value of two settings seed by seed; None if there are no pairs."""
    pairs = library.pairs(*settings)
    if not pairs:
        return None
    first, second = [value(one) for one, _ in pairs], [value(two) for _, two in pairs]
    older = sum(is_older(record) for both in pairs for record in both)
    return Row(label, compare(first, second), lower, older=older)
