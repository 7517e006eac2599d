"""What the records about many parameters say, by the rules of plans/many.py."""

from dataclasses import replace
from typing import Final

import numpy as np

from ceibo_lab.compare import SIGNIFICANT, holm
from ceibo_lab.library import Library
from ceibo_lab.methods import FORTY_INITIAL, TWO_EACH
from ceibo_lab.plans.many import (
    BOTORCH,
    BOTORCH_MARGIN,
    CAPPED,
    FLOOR,
    GAIN,
    LARGEST,
    MARGIN,
    NOISES,
    PLAN_BOTORCH,
    PLAN_FORTY,
    PLAN_HIDDEN,
    PLAN_TWENTY,
)
from ceibo_lab.plans.plan import Experiment
from ceibo_lab.plans.suite import suite_problem
from ceibo_lab.record import Record
from ceibo_lab.verdicts.finding import Finding, interval, judged, lost, planned

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


def forty(library: Library) -> Finding:
    """Whether at most forty points are better in 100 parameters, and no worse in fewer."""
    question = "forty initial points better in 100 parameters, and nowhere worse"
    methods = (FORTY_INITIAL, TWO_EACH)
    cells = planned(PLAN_FORTY, methods[::-1])
    found, rows = judged(library, question, cells, methods, log_regret)
    if not rows:
        return found
    corrected = holm([row.comparison.p for row in rows])
    won = [
        row.case.problem
        for row, p in zip(rows, corrected, strict=True)
        if p < SIGNIFICANT and row.comparison.effect < 0
    ]
    high = interval(np.array([row.mean for row in rows]))[1]
    met = high < MARGIN and not lost(rows) and won.count(LARGEST) == len(NOISES)
    return replace(found, met=met)


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
    cells = planned(plan, (other, CAPPED))
    found, rows = judged(library, question, cells, (CAPPED, other), log_regret)
    if not rows:
        return found
    means = np.array([row.mean for row in rows])
    met = interval(means)[1] < margin and float(np.mean(means)) <= mean and not lost(rows)
    return replace(found, met=met)


QUESTIONS: Final = (gain, no_loss, botorch, forty)
