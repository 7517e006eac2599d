"""What the records of several outcomes say, by the rules of plans/outcomes.py.

There is no verdict before every planned cell has every planned seed of the methods compared.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ceibo_lab.library import Library, Setting
from ceibo_lab.measures import FLOOR
from ceibo_lab.plans.outcomes import FRONTS, HONEST, MARGIN, OUTCOMES
from ceibo_lab.problems.outcomes import LIMITED, outcome_problem
from ceibo_lab.record import Record
from ceibo_lab.verdicts.finding import (
    Finding,
    Pairwise,
    Versus,
    if_whole,
    interval,
    lost,
    own,
    planned,
    table,
    versus,
)

KINDS: Final = ("limits", "starts", "fronts")
OURS, THEIRS = "ceibo", "botorch"
APART: Final = 0.05  # by how much stated and true frequency may differ
OVERSTATED: Final = 0.02
_LIMITS, _STARTS, _FRONTS = OUTCOMES


def log_regret(record: Record, other: Record) -> float:
    """log10 of an answer's regret; one that breaks a limit is booked at the worst feasible value.

    That is the worst at a truly feasible point measured by either run, or else the problem's.
    """
    problem, answer = outcome_problem(record["cell"]["problem"]), own(record)
    measured = [
        worst for one in (record, other) if (worst := one["worst_feasible"]) is not None
    ] or [problem.worst]
    regret = answer["regret"] if answer["holds"] else max(measured) - problem.optimum
    return float(np.log10(max(regret, FLOOR * float(problem.ranges[0]))))


def first_feasible(record: Record, _other: Record) -> float:
    """The trial of the first truly feasible point; the number of trials if there is none."""
    first = record["first_feasible"]
    return float(record["cell"]["steps"] if first is None else first)


def share_of_volume(record: Record, _other: Record) -> float:
    """The true hypervolume of the reported front, as a share of the true front's."""
    best = outcome_problem(record["cell"]["problem"]).best
    return float(record["hypervolume"]["true"]) / best


def honesty(library: Library) -> Finding:
    """Whether answers hold as often as they are said to."""
    answers = [own(record) for record in _runs(library, "limits", OURS)]
    question = "answers under limits hold as often as stated"
    if not answers:
        return Finding(question, None, ())
    held = np.array([answer["holds"] for answer in answers], dtype=float)
    stated = np.array([answer["chance"] for answer in answers])
    sure = stated >= HONEST
    frequency = float(np.mean(held[sure])) if np.any(sure) else 1.0
    gap = float(np.mean(stated) - np.mean(held))
    lines = [
        f"stated with at least {HONEST}: {int(np.sum(sure))} of {len(held)}, of these"
        f" {frequency:.1%} hold",
        f"all: stated {np.mean(stated):.3f}, true {np.mean(held):.3f}, apart {gap:+.3f}",
    ]
    for method in _methods(library):
        others = [own(record)["holds"] for record in _runs(library, "limits", method)]
        if others:
            lines.append(f"{method}: {sum(others)} of {len(others)} answers hold")
    found = Finding(question, frequency >= HONEST and abs(gap) < APART, tuple(lines))
    return if_whole(found, library, planned(_LIMITS, (OURS,)))


def regret(library: Library) -> Finding:
    """Whether the regret is no worse than BoTorch's."""
    rows = _versus(library, "limits", log_regret)
    question = f"log10 regret under limits no worse than BoTorch's by {MARGIN}"
    if not rows:
        return Finding(question, None, ())
    means = np.array([row.mean for row in rows])
    low, high = interval(means)
    worse = lost(rows)
    said = f"mean {np.mean(means):+.3f} [{low:+.3f}, {high:+.3f}], {len(worse)} cells lost"
    found = Finding(question, high < MARGIN and not worse, (said, *table(rows)))
    return if_whole(found, library, planned(_LIMITS, (OURS, THEIRS)))


def starts(library: Library) -> Finding:
    """Whether the first feasible point is found no later than by BoTorch."""
    rows = _versus(library, "starts", first_feasible)
    question = "first feasible point no later than BoTorch's"
    if not rows:
        return Finding(question, None, ())
    mean, worse = float(np.mean([row.mean for row in rows])), lost(rows)
    said = f"mean {mean:+.2f} trials, {len(worse)} cells lost"
    found = Finding(question, mean <= 0.0 and not worse, (said, *table(rows)))
    return if_whole(found, library, planned(_STARTS, (OURS, THEIRS)))


def volume(library: Library) -> Finding:
    """Whether the true hypervolume of the reported front is at least BoTorch's."""
    rows = _versus(library, "fronts", share_of_volume)
    question = "true hypervolume of the front at least BoTorch's"
    if not rows:
        return Finding(question, None, ())
    worse = lost(rows, larger_is_worse=False)
    met = all(row.mean >= 0.0 for row in rows) and not worse
    found = Finding(question, met, (f"{len(worse)} cells lost", *table(rows)))
    return if_whole(found, library, planned(_FRONTS, (OURS, THEIRS)))


def overstatement(library: Library) -> Finding:
    """By how much the stated hypervolume is above the true one."""
    question = f"stated hypervolume at most {OVERSTATED:.0%} above the true one"
    above, lines = [], []
    for case in _cases(library, "fronts"):
        for method in library.methods(case):
            volumes = [record["hypervolume"] for record in library.runs(case.by(method)).values()]
            stated, raw = _above(volumes), _above([each["raw"] for each in volumes])
            lines.append(f"{case.problem}, {method}: {stated:+.1%}; raw front {raw:+.1%}")
            if method == OURS:
                above.append(stated)
    found = Finding(question, max(above) <= OVERSTATED if above else None, tuple(lines))
    return if_whole(found, library, planned(_FRONTS, (OURS,)))


def _above(volumes: Sequence[Record]) -> float:
    stated, true = (np.mean([each[name] for each in volumes]) for name in ("stated", "true"))
    return float(stated / true - 1.0) if true > 0.0 else float("inf" if stated > 0.0 else 0.0)


def _versus(library: Library, kind: str, value: Pairwise) -> list[Versus]:
    """Each cell of a kind, ceibo against BoTorch."""
    return versus(library, _cases(library, kind), (OURS, THEIRS), value)


def _runs(library: Library, kind: str, method: str) -> Iterator[Record]:
    for case in _cases(library, kind):
        yield from library.runs(case.by(method)).values()


def _cases(library: Library, kind: str) -> list[Setting]:
    """The cells of a kind that decide."""
    deciding = FRONTS if kind == "fronts" else LIMITED
    return [case for case in library.cases if case.kind == kind and case.problem in deciding]


def _methods(library: Library) -> list[str]:
    return sorted({name for case in library.cases for name in library.methods(case)})


QUESTIONS: Final = (honesty, regret, starts, volume, overstatement)
