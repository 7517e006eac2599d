"""What the records about many parameters say, by the rules of plans/many.py."""

from typing import Final

import numpy as np

from ceibo_lab.library import Library
from ceibo_lab.methods import TWO_EACH
from ceibo_lab.plans.many import BOTORCH, BOTORCH_MARGIN, CAPPED, FLOOR, GAIN, MARGIN
from ceibo_lab.plans.suite import HIDDEN, TWENTY, suite_problem
from ceibo_lab.record import Record
from ceibo_lab.verdicts.finding import Finding, interval, lost, table, versus

KINDS: Final = ("suite",)


def log_regret(record: Record, _other: Record) -> float:
    """log10 of the regret of `recommended` at the end."""
    cell = record["cell"]
    span = suite_problem(cell["problem"], cell["seed"]).range
    return float(np.log10(max(record["trace"]["recommended"][-1], FLOOR * span)))


def gain(library: Library) -> Finding:
    """Whether a design of twenty points is better where few of many parameters matter."""
    question = f"twenty initial points better than two for each parameter by {-GAIN}"
    return _found(library, question, HIDDEN, TWO_EACH, 0.0, GAIN)


def no_loss(library: Library) -> Finding:
    """Whether it loses nothing in 12 and 20 parameters."""
    question = f"twenty initial points no worse in 12 and 20 parameters by {MARGIN}"
    return _found(library, question, TWENTY, TWO_EACH, MARGIN)


def botorch(library: Library) -> Finding:
    """Whether it is no worse than BoTorch with as many initial points."""
    question = f"no worse than BoTorch with twenty initial points by {BOTORCH_MARGIN}"
    return _found(library, question, HIDDEN, BOTORCH, BOTORCH_MARGIN)


def _found(
    library: Library,
    question: str,
    problems: tuple[str, ...],
    other: str,
    margin: float,
    mean: float = np.inf,
) -> Finding:
    """The interval ends below the margin, the mean is at most `mean`, and no cell is lost."""
    cases = [case for case in library.cases if case.problem in problems]
    rows = versus(library, cases, (CAPPED, other), log_regret)
    if not rows:
        return Finding(question, None, ())
    means = np.array([row.mean for row in rows])
    low, high = interval(means)
    said = f"mean {np.mean(means):+.3f} [{low:+.3f}, {high:+.3f}], {len(lost(rows))} cells lost"
    met = high < margin and float(np.mean(means)) <= mean and not lost(rows)
    return Finding(question, met, (said, *table(rows)))


QUESTIONS: Final = (gain, no_loss, botorch)
