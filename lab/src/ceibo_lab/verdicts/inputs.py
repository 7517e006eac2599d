"""What the records of spaces with rules and branches say, by the rules of plans/inputs.py."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ceibo_lab.library import Library, Setting
from ceibo_lab.measures import FLOOR
from ceibo_lab.plans.inputs import MARGIN, OBEDIENCE
from ceibo_lab.problems.inputs import input_problem
from ceibo_lab.record import Record
from ceibo_lab.verdicts.finding import Finding, Versus, interval, lost, own, table, versus

KINDS: Final = ("rules", "branches")
OURS: Final = "ceibo"


def log_regret(record: Record, _other: Record) -> float:
    """log10 of the regret of a method's own answer."""
    span = input_problem(record["cell"]["problem"]).range
    return float(np.log10(max(own(record)["regret"], FLOOR * span)))


def no_worse_than(library: Library, other: str) -> Finding:
    """Whether the regret under rules is no worse than another method's."""
    question = f"log10 regret under rules no worse than {other}'s by {MARGIN}"
    rows = _compared(library, "rules", OURS, other)
    if not rows:
        return Finding(question, None, ())
    said, high = _summary(rows)
    return Finding(question, high < MARGIN and not lost(rows), (said, *table(rows)))


def botorch(library: Library) -> Finding:
    """Whether ceibo is no worse than BoTorch."""
    return no_worse_than(library, "botorch")


def bofire(library: Library) -> Finding:
    """Whether ceibo is no worse than BoFire."""
    return no_worse_than(library, "bofire")


def failures(library: Library) -> Finding:
    """Whether rules are better than telling impossible settings as failures."""
    question = "log10 regret with rules below that of telling failures"
    rows = _compared(library, "rules", OURS, "ceibo-failures")
    if not rows:
        return Finding(question, None, ())
    said, high = _summary(rows)
    met = high < 0.0 and not lost(rows) and 2 * len(_won(rows)) >= len(rows)
    return Finding(question, met, (said, *table(rows)))


def branches(library: Library) -> Finding:
    """Whether suggestions inside branches are better than those of TPE and of before."""
    question = "log10 regret in branches below Optuna's TPE and the sampler of before"
    lines: list[str] = []
    met: list[bool] = []
    whole = True
    for ours in (OURS, "optuna-ceibo"):
        for other in ("optuna-tpe", "optuna-ceibo-before"):
            rows = _compared(library, "branches", ours, other)
            if not rows:
                lines.append(f"{ours} against {other}: no runs")
                whole = False
                continue
            met.append(len(_won(rows)) == len(rows))
            lines += [f"{ours} against {other}: {_summary(rows)[0]}", *table(rows)]
    # what is lost is lost; won is only what was run against all
    verdict = False if not all(met) else True if whole else None
    return Finding(question, verdict, tuple(lines))


def obedience(library: Library) -> Finding:
    """Whether every trial and answer of ceibo obeys the rules."""
    question = f"no rule broken by more than {OBEDIENCE:g} of its scale"
    lines, largest = [], []
    for method in sorted({name for case in library.cases for name in library.methods(case)}):
        runs = [
            record
            for case in _cases(library, "rules")
            for record in library.runs(case.by(method)).values()
        ]
        if not runs:
            continue
        trials = max(record["largest_excess"] for record in runs)
        answers = max(own(record)["excess"] for record in runs)
        impossible = sum(record["impossible"] for record in runs)
        lines.append(
            f"{method}: trials {trials:.2g}, answers {answers:.2g}; {impossible} impossible trials"
            f" in {len(runs)} runs"
        )
        if method == OURS:
            largest.append(max(trials, answers))
    return Finding(question, max(largest) <= OBEDIENCE if largest else None, tuple(lines))


def _compared(library: Library, kind: str, ours: str, other: str) -> list[Versus]:
    return versus(library, _cases(library, kind), (ours, other), log_regret)


def _cases(library: Library, kind: str) -> list[Setting]:
    return [case for case in library.cases if case.kind == kind]


def _won(rows: Sequence[Versus]) -> list[Versus]:
    return lost(rows, larger_is_worse=False)


def _summary(rows: Sequence[Versus]) -> tuple[str, float]:
    """The mean over cells with its interval, cells won and lost; the interval's upper end."""
    means = np.array([row.mean for row in rows])
    low, high = interval(means)
    counts = f"{len(_won(rows))} cells won, {len(lost(rows))} lost of {len(rows)}"
    return f"mean {np.mean(means):+.3f} [{low:+.3f}, {high:+.3f}], {counts}", high


QUESTIONS: Final = (obedience, botorch, bofire, failures, branches)
