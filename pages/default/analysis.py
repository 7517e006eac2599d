"""Ranks, tests, wins and losses of the suite's methods."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from scipy.stats import rankdata

from ceibo.gp.inputs import Array
from ceibo_lab.compare import SIGNIFICANT, Comparison, compare, compare_by_seed, holm
from ceibo_lab.library import Setting
from pages.default.runs import PRIMARY, Measure, Runs

DEFAULT: Final = "default"
RIVALS: Final = ("ei", "botorch-qlognei", "optuna-gp")  # which the default has to beat
RESAMPLES: Final = 10_000
TAUS: Final = np.logspace(0.0, 2.0, 81)


@final
@dataclass(frozen=True)
class Versus:
    """The default (first) against another method (second) in one case, by seed.

    Negative differences favour the default.
    """

    case: Setting
    method: str
    comparison: Comparison
    difference: float  # mean of the default's log regrets minus those of the other, over the pairs
    p: float = 1.0  # after Holm's correction over the table

    @property
    def outcome(self) -> str:
        """ "win", "tie" or "loss" of the default, after the correction."""
        return self._outcome(self.p)

    @property
    def raw_outcome(self) -> str:
        """The same without correction."""
        return self._outcome(self.comparison.p)

    def _outcome(self, p: float) -> str:
        if p >= SIGNIFICANT:
            return "tie"
        return "win" if self.comparison.effect < 0 else "loss"


def versus(
    runs: Runs, measure: Measure = PRIMARY, methods: Sequence[str] | None = None
) -> list[Versus]:
    """The default against each other method in each case, corrected over the whole table."""
    found = []
    for case in runs.cases:
        ours = runs.values(case, DEFAULT, measure)
        for method in runs.methods if methods is None else methods:
            theirs = runs.values(case, method, measure)
            seeds = sorted(set(ours) & set(theirs))
            if method == DEFAULT or not seeds:
                continue
            means = [np.mean([each[seed] for seed in seeds]) for each in (ours, theirs)]
            test = compare_by_seed(ours, theirs)
            found.append(Versus(case, method, test, float(means[0] - means[1])))
    corrected = holm([each.comparison.p for each in found])
    return [replace(each, p=p) for each, p in zip(found, corrected, strict=True)]


def tally(rows: Iterable[Versus], method: str, *, corrected: bool = True) -> tuple[int, int, int]:
    """Wins, ties and losses of the default against a method."""
    counts = Counter(
        row.outcome if corrected else row.raw_outcome for row in rows if row.method == method
    )
    return counts["win"], counts["tie"], counts["loss"]


@final
@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks by the mean over the seeds that all ranked methods have.

    1 is the best; equal means share their ranks.
    """

    methods: list[str]
    cases: list[Setting]
    seeds: list[int]  # how many, per case
    means: Array  # (cases, methods)
    ranks: Array  # (cases, methods)

    def column(self, method: str) -> Array:
        """(cases,) the ranks of a method."""
        return np.asarray(self.ranks[:, self.methods.index(method)])

    def mean(self, method: str) -> float:
        return float(np.mean(self.column(method)))


def rank(runs: Runs, measure: Measure = PRIMARY) -> Ranks:
    """Ranks of the methods with at least half as many runs as any.

    Only cases count in which all of these have a seed.
    """
    counts = {m: sum(len(runs.values(c, m, measure)) for c in runs.cases) for m in runs.methods}
    methods = [m for m, count in counts.items() if 2 * count >= max(counts.values())]
    cases, seeds, rows = list[Setting](), list[int](), list[list[float]]()
    for case in runs.cases:
        values = [runs.values(case, method, measure) for method in methods]
        common = sorted(set.intersection(*(set(each) for each in values))) if values else []
        if common:
            cases.append(case)
            seeds.append(len(common))
            rows.append([float(np.mean([each[seed] for seed in common])) for each in values])
    means = np.array(rows).reshape(len(rows), len(methods))
    ranks = np.array([rankdata(np.round(row, 9)) for row in means]).reshape(means.shape)
    return Ranks(methods, cases, seeds, means, ranks)


@final
@dataclass(frozen=True)
class Interval:
    """A mean, and its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


def bootstrap(values: Array, groups: Sequence[object] | None = None) -> Interval:
    """The mean of values (k,), with values drawn again, or whole groups of them.

    The interval is the same every time.
    """
    names = list(dict.fromkeys(groups)) if groups is not None else []
    labels = (
        np.array([names.index(group) for group in groups])
        if groups is not None
        else np.arange(len(values))
    )
    count = int(labels.max()) + 1
    sums, sizes = np.bincount(labels, weights=values), np.bincount(labels)
    drawn = np.random.default_rng(0).integers(count, size=(RESAMPLES, count))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(np.mean(values)), float(low), float(high))


@final
@dataclass(frozen=True)
class Overall:
    """The default against a method over cases: Wilcoxon's test on ranks and on mean log regrets.

    The two cases of a problem are not independent, so the ranks are tested problem by problem too,
    each the mean over its cases. The p values are corrected over the methods the default was
    compared with.
    """

    method: str
    ranks: Comparison
    ranks_p: float
    problems_p: float
    means: Comparison
    means_p: float


def overall(found: Ranks, methods: Sequence[str] = RIVALS) -> list[Overall]:
    """The default against those of the methods that are ranked."""
    if DEFAULT not in found.methods or not found.cases:
        return []
    ours = found.methods.index(DEFAULT)
    columns = {name: found.methods.index(name) for name in methods if name in found.methods}
    ranks = [compare(found.ranks[:, ours], found.ranks[:, k]) for k in columns.values()]
    means = [compare(found.means[:, ours], found.means[:, k]) for k in columns.values()]
    names = [case.problem for case in found.cases]
    by_problem = np.array(
        [
            found.ranks[[name == each for name in names]].mean(axis=0)
            for each in dict.fromkeys(names)
        ]
    )
    problems = [compare(by_problem[:, ours], by_problem[:, k]) for k in columns.values()]
    corrected = [holm([each.p for each in row]) for row in (ranks, problems, means)]
    return [
        Overall(name, a, p, q, b, r)
        for name, a, b, p, q, r in zip(columns, ranks, means, *corrected, strict=True)
    ]


def over_cases(runs: Runs, method: str) -> tuple[Comparison, list[int]]:
    """The default's mean log regret against a method's, case by case.

    Each is over the seeds that both have; their numbers are returned too.
    """
    rows = versus(runs, methods=(method,))
    differences = [row.difference for row in rows]
    return compare(differences, [0.0] * len(rows)), [row.comparison.n for row in rows]


def over_runs(runs: Runs, method: str) -> Comparison:
    """The default's log regrets against a method's, over all pairs of runs."""
    pairs = [
        (ours[seed], theirs[seed])
        for case in runs.cases
        for ours, theirs in [(runs.values(case, DEFAULT), runs.values(case, method))]
        for seed in sorted(set(ours) & set(theirs))
    ]
    return compare([a for a, _ in pairs], [b for _, b in pairs])


def profile(
    runs: Runs, methods: Sequence[str], measure: Measure = PRIMARY, taus: Array = TAUS
) -> tuple[int, Array]:
    """How often each method is within a factor tau of the best one.

    Returns how many (case, seed) there are with all methods, and the shares (methods, taus) of them
    in which a method's regret is within a factor tau of the best one there.
    """
    gaps = list[Array]()
    for case in runs.cases:
        values = [runs.values(case, method, measure) for method in methods]
        for seed in sorted(set.intersection(*(set(each) for each in values))):
            row = np.array([each[seed] for each in values])
            gaps.append(row - row.min())
    if not gaps:
        return 0, np.zeros((len(methods), len(taus)))
    within = np.array(gaps)[:, :, None] <= np.log10(taus) + 1e-9  # (case and seed, methods, taus)
    return len(gaps), np.asarray(np.mean(within, axis=0))
