"""What the records of spaces with rules and branches say, by the rules of plans/inputs.py.

There is no verdict before every planned cell has every planned seed of the methods compared.
"""

from collections.abc import Sequence
from itertools import product
from typing import Final

import numpy as np

from ceibo_lab.library import Library, Setting
from ceibo_lab.measures import FLOOR
from ceibo_lab.plans.inputs import INPUTS, MARGIN, OBEDIENCE
from ceibo_lab.problems.inputs import input_problem
from ceibo_lab.record import Record
from ceibo_lab.verdicts.finding import (
    Finding,
    Versus,
    if_whole,
    interval,
    lost,
    own,
    planned,
    table,
    versus,
)

KINDS: Final = ("rules", "branches")
OURS: Final = "ceibo"
_RULES, _BRANCHES = INPUTS


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
    found = Finding(question, high < MARGIN and not lost(rows), (said, *table(rows)))
    return if_whole(found, library, planned(_RULES, (OURS, other)))


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
    found = Finding(question, met, (said, *table(rows)))
    return if_whole(found, library, planned(_RULES, (OURS, "ceibo-failures")))


def branches(library: Library) -> Finding:
    """Whether suggestions inside branches are better than those of TPE and of before."""
    question = "log10 regret in branches below Optuna's TPE and the sampler of before"
    ours, others = (OURS, "optuna-ceibo"), ("optuna-tpe", "optuna-ceibo-before")
    lines: list[str] = []
    met: list[bool] = []
    for one, other in product(ours, others):
        if rows := _compared(library, "branches", one, other):
            met.append(len(_won(rows)) == len(rows))
            lines += [f"{one} against {other}: {_summary(rows)[0]}", *table(rows)]
    found = Finding(question, all(met), tuple(lines))
    return if_whole(found, library, planned(_BRANCHES, (*ours, *others)))


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
    found = Finding(question, max(largest) <= OBEDIENCE if largest else None, tuple(lines))
    return if_whole(found, library, planned(_RULES, (OURS,)))


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
