"""What the records about many parameters say, by the rules of plans/many.py."""

from collections import Counter
from dataclasses import replace
from typing import Final

import numpy as np

from ceibo_lab.library import Library
from ceibo_lab.methods import TWO_EACH
from ceibo_lab.plans.many import (
    BOTORCH,
    BOTORCH_MARGIN,
    CAPPED,
    FLOOR,
    GAIN,
    MARGIN,
    PLAN_BOTORCH,
    PLAN_HIDDEN,
    PLAN_TWENTY,
)
from ceibo_lab.plans.plan import Experiment
from ceibo_lab.plans.suite import suite_problem
from ceibo_lab.record import Cell, Record
from ceibo_lab.verdicts.finding import Finding, interval, lost, table, versus

KINDS: Final = ("suite",)


def log_regret(record: Record, _other: Record) -> float:
    """log10 of the regret, at the end, of what the method itself recommends."""
    cell, trace = record["cell"], record["trace"]
    span = suite_problem(cell["problem"], cell["seed"]).range
    regret = trace.get("own", trace["recommended"])[-1]
    return float(np.log10(max(regret, FLOOR * span)))


def gain(library: Library) -> Finding:
    """Whether a design of twenty points is better where few of many parameters matter."""
    question = f"twenty initial points better than two for each parameter by {-GAIN}"
    return _found(library, question, (PLAN_HIDDEN, TWO_EACH), 0.0, GAIN)


def no_loss(library: Library) -> Finding:
    """Whether it loses nothing in 12 and 20 parameters."""
    question = f"twenty initial points no worse in 12 and 20 parameters by {MARGIN}"
    return _found(library, question, (PLAN_TWENTY, TWO_EACH), MARGIN)


def botorch(library: Library) -> Finding:
    """Whether it is no worse than BoTorch with as many initial points."""
    question = f"no worse than BoTorch with twenty initial points by {BOTORCH_MARGIN}"
    return _found(library, question, (PLAN_BOTORCH, BOTORCH), BOTORCH_MARGIN)


def _found(
    library: Library,
    question: str,
    against: tuple[Experiment, str],
    margin: float,
    mean: float = np.inf,
) -> Finding:
    """The interval ends below the margin, the mean is at most `mean`, and no cell is lost.

    There is no verdict before every planned cell has every planned seed of both methods; `against`
    names the plan and the other method.
    """
    plan, other = against
    rivals = [cell for cell in plan.cells() if cell.method == other]
    planned = [replace(cell, method=name) for cell in rivals for name in (CAPPED, other)]
    found = {cell: library.record(cell) for cell in planned}
    if any(record is None for record in found.values()):
        return Finding(question, None, tuple(_lacking(found)))
    alone = Library(record for record in found.values() if record is not None)
    rows = versus(alone, alone.cases, (CAPPED, other), log_regret)
    means = np.array([row.mean for row in rows])
    low, high = interval(means)
    said = f"mean {np.mean(means):+.3f} [{low:+.3f}, {high:+.3f}], {len(lost(rows))} cells lost"
    met = high < margin and float(np.mean(means)) <= mean and not lost(rows)
    return Finding(question, met, (said, *table(rows)))


def _lacking(found: dict[Cell, Record | None]) -> list[str]:
    """How many of the planned runs there are, by problem and method."""
    planned = Counter((cell.problem, cell.method) for cell in found)
    there = Counter((cell.problem, cell.method) for cell in found if found[cell] is not None)
    return [
        f"{problem}, {method}: {there[problem, method]} of {count} runs"
        for (problem, method), count in planned.items()
    ]


QUESTIONS: Final = (gain, no_loss, botorch)
