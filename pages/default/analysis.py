"""Ranks, tests, wins and losses of the suite's methods, from records.

A *case* is a problem under a noise setting. In it, methods that meet the same seed meet the same
problem, initial points and noise, so everything is compared seed by seed; a seed that one of them
lacks is left out for all where they are ranked, and for the two where two are compared. The value
of a run is

    log10 max(r, 1e-6·R),   r the regret, R the range of the problem,

at the end, or averaged over the checkpoints that all runs of the case have (the area under its
curve). The regret is that of one of three answers:

    own          what the tool itself recommends: ceibo the minimiser of its posterior mean, BoTorch
                 of its own, Optuna and random search the trial with the best measured value
    recommended  the minimiser of ceibo's posterior mean, whoever chose the points
    best         the measured point with the best posterior mean of ceibo's, whoever chose the
                 points
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple, final

import numpy as np
from scipy.stats import rankdata

from ceibo.gp.inputs import Array
from ceibo_lab.compare import SIGNIFICANT, Comparison, compare, compare_by_seed, holm
from ceibo_lab.library import Library, Setting, setting_of
from ceibo_lab.plans.suite import (
    COMPARED,
    DEVELOPMENT,
    LOCKED,
    LOCKED_SEEDS,
    PROBLEMS,
    suite_problem,
)
from ceibo_lab.record import Record

FLOOR: Final = 1e-6  # of the range: a smaller regret is as good as none
DEFAULT: Final = "default"
RIVALS: Final = ("ei", "botorch-qlognei", "optuna-gp")  # which the default has to beat
NOISELESS: Final = "noiseless"
RESAMPLES: Final = 10_000
TAUS: Final = np.logspace(0.0, 2.0, 81)


@final
@dataclass(frozen=True)
class Measure:
    """Which answer is judged, at the end or over the whole run."""

    answer: str = "own"  # or "recommended", "best", "raw", "oracle"
    area: bool = False


PRIMARY: Final = Measure()
MEASURES: Final = tuple(
    Measure(answer, area) for answer in ("own", "recommended", "best") for area in (False, True)
)


@lru_cache
def range_of(problem: str) -> float:
    """Maximum minus minimum of a problem: the same for every seed."""
    return suite_problem(problem, 0).range


def log_regrets(record: Record, answer: str) -> Array:
    """(checkpoints,) log10 of the regret at each checkpoint of a run, floored."""
    trace = record["trace"]
    found = trace.get("own", trace["recommended"]) if answer == "own" else trace[answer]
    regrets = np.array([np.nan if regret is None else regret for regret in found], dtype=np.float64)
    return np.asarray(np.log10(np.maximum(regrets, FLOOR * range_of(record["cell"]["problem"]))))


def case_of(record: Record) -> Setting:
    """The problem and the noise setting of a record."""
    return setting_of(record).by("")


def of_usual_length(records: Iterable[Record]) -> list[Record]:
    """The finished runs; where a case has runs of several lengths, those of the most frequent."""
    done = [record for record in records if record["status"] == "done"]
    lengths: dict[Setting, Counter[int]] = defaultdict(Counter)
    for record in done:
        lengths[case_of(record)][int(record["cell"]["steps"])] += 1
    usual = {
        case: max(counts, key=lambda steps: (counts[steps], steps))
        for case, counts in lengths.items()
    }
    return [record for record in done if record["cell"]["steps"] == usual[case_of(record)]]


@final
class Runs:
    """The finished runs of one experiment, those of one length in each case."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._library = Library(of_usual_length(records))
        self.cases: list[Setting] = sorted(self._library.cases, key=_place)
        # each computed once
        self._values: dict[tuple[Setting, str, Measure], dict[int, float]] = {}

    @property
    def methods(self) -> list[str]:
        """The compared ones first, in their order; then all others by name."""
        found = {method for case in self.cases for method in self._library.methods(case)}
        return [name for name in COMPARED if name in found] + sorted(found - set(COMPARED))

    def of(self, case: Setting, method: str) -> dict[int, Record]:
        """Seed -> record."""
        return self._library.runs(case.by(method))

    def of_case(self, case: Setting) -> Iterator[Record]:
        """The runs of all methods."""
        for method in self._library.methods(case):
            yield from self.of(case, method).values()

    def only(self, keep: Callable[[Setting], bool]) -> "Runs":
        """The runs of some of the cases."""
        return Runs(run for case in self.cases if keep(case) for run in self.of_case(case))

    def checkpoints(self, case: Setting) -> list[int]:
        """Numbers of trials at which all runs of a case were judged."""
        return sorted(set.intersection(*[set(run["trace"]["n"]) for run in self.of_case(case)]))

    def curves(self, case: Setting, method: str, answer: str) -> dict[int, Array]:
        """Seed -> (common checkpoints,) log regrets."""
        common = set(self.checkpoints(case))
        return {
            seed: log_regrets(run, answer)[
                [k for k, n in enumerate(run["trace"]["n"]) if n in common]
            ]
            for seed, run in self.of(case, method).items()
        }

    def values(self, case: Setting, method: str, measure: Measure = PRIMARY) -> dict[int, float]:
        """Seed -> log regret at the end, or its mean over the common checkpoints."""
        key = (case, method, measure)
        if key not in self._values:
            self._values[key] = self._computed(case, method, measure)
        return self._values[key]

    def _computed(self, case: Setting, method: str, measure: Measure) -> dict[int, float]:
        if measure.area:
            found = {
                seed: float(np.mean(curve))
                for seed, curve in self.curves(case, method, measure.answer).items()
            }
        else:
            found = {
                s: float(log_regrets(run, measure.answer)[-1])
                for s, run in self.of(case, method).items()
            }
        return {seed: value for seed, value in found.items() if np.isfinite(value)}


class Parts(NamedTuple):
    """The runs on the locked half, on the development half, without noise, and on the locked half's
    fresh seeds.
    """

    locked: Runs
    development: Runs
    noiseless: Runs
    fresh: Runs


def part_of(record: Record) -> str | None:
    """The name of the part that a record belongs to."""
    cell = record["cell"]
    if cell["kind"] != "suite":
        return None
    if cell["protocol"] == NOISELESS:
        return "noiseless"
    if cell["problem"] in LOCKED:
        return "locked" if cell["seed"] < LOCKED_SEEDS else "fresh"
    return "development" if cell["problem"] in DEVELOPMENT else None


def parts(records: Sequence[Record]) -> Parts:
    return Parts(
        *[Runs(record for record in records if part_of(record) == name) for name in Parts._fields]
    )


def _place(case: Setting) -> tuple[int, str, float]:
    """Settings are listed in the order of the suite's problems."""
    return PROBLEMS.index(case.problem), case.protocol, case.level


@final
@dataclass(frozen=True)
class Versus:
    """The default (first) against another method (second) in one case, by seed; negative
    differences favour it.
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
    """The default against each other method in each case there are pairs for, corrected over the
    whole table.
    """
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
    """Ranks by the mean over the seeds that all ranked methods have: 1 is the best, equal means
    share their ranks.
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
    """Ranks of the methods with at least half as many runs as any, in the cases where all of these
    have a seed.
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
    """The mean of values (k,), with values drawn again, or whole groups of them; the same interval
    every time.
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
    """The default against a method over cases: Wilcoxon's test on their ranks and on their mean log
    regrets.

    The two cases of a problem are no independent witnesses, so the ranks are tested problem by
    problem too, each the mean over its cases. The p values are corrected over the methods the
    default was compared with.
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
    """The default's mean log regret against a method's, case by case, each over the seeds both
    have; and how many.
    """
    rows = versus(runs, methods=(method,))
    differences = [row.difference for row in rows]
    return compare(differences, [0.0] * len(rows)), [row.comparison.n for row in rows]


def over_runs(runs: Runs, method: str) -> Comparison:
    """The default's log regrets against a method's, over all pairs of runs of the same case and
    seed.
    """
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
    """How many (case, seed) there are with all methods, and the (methods, taus) shares of them in
    which a method's regret is within a factor tau of the best one there.
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


def seconds(records: Iterable[Record]) -> dict[str, dict[int, dict[tuple[Setting, int], float]]]:
    """Method -> number of trials -> (case, seed) -> seconds per suggestion, median of the run's
    last ten trials.
    """
    found: dict[str, dict[int, dict[tuple[Setting, int], float]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for record in records:
        cell, last = record["cell"], record.get("run", {}).get("last")
        if record["status"] == "done" and last is not None:
            place = case_of(record), int(cell["seed"])
            found[cell["method"]][int(cell["steps"])][place] = float(last)
    return {method: dict(lengths) for method, lengths in found.items()}
