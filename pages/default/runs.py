"""The runs of the suite as values: by case, method, answer and seed.

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
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, final

import numpy as np

from ceibo.gp.inputs import Array
from ceibo_lab.library import Library, Setting, setting_of
from ceibo_lab.plans.suite import (
    COMPARED,
    DEVELOPMENT,
    FINAL_FROM,
    LATER_FROM,
    LOCKED,
    LOCKED_SEEDS,
    PROBLEMS,
    noises,
    suite_problem,
)
from ceibo_lab.record import Record

FLOOR: Final = 1e-6  # of the range: a smaller regret is as good as none
NOISELESS: Final = "noiseless"


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
    """The finished runs by what they are for.

    On the locked half, on the development half, without noise, on the locked half's fresh seeds.
    """

    locked: Runs
    development: Runs
    noiseless: Runs
    fresh: Runs


def part_of(record: Record) -> str | None:
    """The name of the part that a record belongs to.

    Of none is a record of another kind, or of a problem, noise or seed that the suite did not plan,
    as those of plans/many.py and plans/answers.py are.
    """
    cell = record["cell"]
    if cell["kind"] != "suite" or cell["problem"] not in PROBLEMS:
        return None
    if cell["protocol"] == NOISELESS:
        return "noiseless"
    if (cell["protocol"], cell["level"]) not in noises(cell["problem"]):
        return None
    seed = cell["seed"]
    if cell["problem"] in LOCKED and seed < FINAL_FROM:
        return "locked" if seed < LOCKED_SEEDS else "fresh"
    return "development" if cell["problem"] in DEVELOPMENT and seed < LATER_FROM else None


def parts(records: Sequence[Record]) -> Parts:
    return Parts(
        *[Runs(record for record in records if part_of(record) == name) for name in Parts._fields]
    )


def _place(case: Setting) -> tuple[int, str, float]:
    """Settings are listed in the order of the suite's problems."""
    return PROBLEMS.index(case.problem), case.protocol, case.level


def seconds(records: Iterable[Record]) -> dict[str, dict[int, dict[tuple[Setting, int], float]]]:
    """Method -> number of trials -> (case, seed) -> seconds per suggestion.

    Seconds are the median of the run's last ten trials.
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
