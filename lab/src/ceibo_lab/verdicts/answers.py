"""What the records about answers say, by the rules of plans/answers.py."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from ceibo_lab.compare import SIGNIFICANT, Comparison, compare
from ceibo_lab.library import Library
from ceibo_lab.methods import BELIEVING
from ceibo_lab.methods.last_look import LAST_LOOK
from ceibo_lab.plans.answers import BOTORCH, DEFAULT, DEVELOPED, FINAL, FLOOR, GAIN, MARGIN
from ceibo_lab.plans.suite import suite_problem
from ceibo_lab.record import Record
from ceibo_lab.verdicts.finding import Finding, Pairwise, Versus, interval, judged, lost, planned

KINDS: Final = ("suite",)
ANSWERS: Final = ("recommended", "best")


def log_regret(answer: str) -> Pairwise:
    """log10 of the regret of an answer at the end; of an outside tool that of its own."""

    def value(record: Record, _other: Record) -> float:
        cell, trace = record["cell"], record["trace"]
        span = suite_problem(cell["problem"], cell["seed"]).range
        regret = trace.get("own", trace[answer])[-1]
        return float(np.log10(max(regret, FLOOR * span)))

    return value


def no_loss(library: Library) -> Finding:
    """Whether doubts and levels of noise cost no regret."""
    question = f"regret no worse by {MARGIN} for doubting values and for levels of noise"
    return _both(library, question, (DEFAULT, BELIEVING), lambda high, _: high < MARGIN)


def last_look(library: Library) -> Finding:
    """Whether the default should end with a last look."""
    question = "a last look is better at equal trials"
    return _both(
        library,
        question,
        (LAST_LOOK, DEFAULT),
        lambda high, answer: high < 0.0 or answer != ANSWERS[0],
    )


def final(library: Library) -> Finding:
    """How much a last look is worth on the locked half; nothing is asked of it."""
    question = "a last look on the locked half, against none"
    methods = (LAST_LOOK, DEFAULT)
    found, rows = judged(
        library, question, planned(FINAL, methods), methods, log_regret(ANSWERS[0])
    )
    return replace(found, lines=(_by_seed(rows), *found.lines)) if rows else found


def botorch(library: Library) -> Finding:
    """Whether it is better than BoTorch's qLogNEI there."""
    question = f"a last look better than qLogNEI on the locked half by {-GAIN}"
    methods = (LAST_LOOK, BOTORCH)
    found, rows = judged(
        library, question, planned(FINAL, methods), methods, log_regret(ANSWERS[0])
    )
    if not rows:
        return found
    means, test = np.array([row.mean for row in rows]), _over_seeds(rows)
    met = float(np.mean(means)) <= GAIN and test.p < SIGNIFICANT and test.effect < 0
    return replace(found, met=met, lines=(_by_seed(rows), *found.lines))


def _both(
    library: Library, question: str, methods: tuple[str, str], within: Callable[[float, str], bool]
) -> Finding:
    """No cell is lost in either answer, and the ends of their intervals are as they should be."""
    lines: list[str] = []
    met = True
    for answer in ANSWERS:
        cells = planned(DEVELOPED, methods)
        found, rows = judged(library, question, cells, methods, log_regret(answer))
        if not rows:
            return found
        high = interval(np.array([row.mean for row in rows]))[1]
        met &= within(high, answer) and not lost(rows)
        lines += [f"{answer}: {_by_seed(rows)}", *found.lines]
    return Finding(question, met, tuple(lines))


def _over_seeds(rows: list[Versus]) -> Comparison:
    """The test of the means over the cells, seed by seed."""
    means = np.mean([row.comparison.differences for row in rows], axis=0)
    return compare(means, np.zeros(len(means)))


def _by_seed(rows: list[Versus]) -> str:
    test = _over_seeds(rows)
    return f"mean over {len(rows)} cells by seed: p = {test.p:.3g} of {test.n} seeds"


QUESTIONS: Final = (no_loss, last_look, final, botorch)
