"""Verdicts on the size of the initial design, from records made up so that the answer is known."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ceibo_lab.library import Library
from ceibo_lab.methods import FORTY_INITIAL, TWO_EACH
from ceibo_lab.plans.many import (
    BOTORCH,
    BOTORCH_SEEDS,
    CAPPED,
    MANY,
    NOISES,
    PLAN_BOTORCH,
    PLAN_HIDDEN,
    PLAN_TWENTY,
)
from ceibo_lab.plans.plan import Experiment
from ceibo_lab.plans.suite import suite_problem
from ceibo_lab.record import Cell, Record
from ceibo_lab.verdicts import many
from ceibo_lab.verdicts.finding import Finding, interval

PLANNED = [cell for plan in MANY for cell in plan.cells()]


def made(cell: Cell, log: float) -> Record:
    """A run whose own recommendation is so many powers of ten below the range."""
    span = suite_problem(cell.problem, 0).range
    rng = np.random.default_rng([cell.seed, len(cell.problem), len(cell.method)])
    regret = span * 10.0 ** (log + 0.02 * rng.standard_normal())
    trace = {"recommended": [span, regret], "best": [0.0, 0.0]}
    if cell.method == BOTORCH:  # the minimiser of ceibo's model of its points decides nothing
        trace = {"recommended": [span, 1e-6 * span], "own": [span, regret]}
    return {"cell": cell.to_json(), "trace": trace}


def library(levels: dict[str, float], without: Cell | None = None) -> Library:
    """Every planned run of these methods; log10 shares of the range lie around a level."""
    cells = [cell for cell in PLANNED if cell.method in levels and cell != without]
    return Library([made(cell, levels[cell.method]) for cell in cells])


def test_a_gain_is_large_and_in_every_cell() -> None:
    assert many.gain(library({CAPPED: -1.0, TWO_EACH: -0.5})).met
    small = many.gain(library({CAPPED: -1.0, TWO_EACH: -0.8}))
    assert small.met is False  # below zero for sure, and less than was asked for
    assert "mean -0.19" in str(small)


def test_no_loss_is_within_the_margin_without_a_lost_cell() -> None:
    assert many.no_loss(library({CAPPED: -1.2, TWO_EACH: -1.0})).met
    lost = many.no_loss(library({CAPPED: -0.96, TWO_EACH: -1.0}))
    assert lost.met is False
    assert "6 cells lost" in str(lost)


def test_forty_points_win_where_there_are_most_parameters_and_lose_nowhere() -> None:
    assert many.forty(library({FORTY_INITIAL: -1.2, TWO_EACH: -1.0})).met
    assert many.forty(library({FORTY_INITIAL: -1.0, TWO_EACH: -1.0})).met is False
    assert many.forty(library({FORTY_INITIAL: -0.8, TWO_EACH: -1.0})).met is False
    assert many.forty(library({FORTY_INITIAL: -1.0})).met is None


def test_botorch_is_judged_by_its_own_recommendation() -> None:
    assert many.botorch(library({CAPPED: -1.0, BOTORCH: -1.0})).met
    assert many.botorch(library({CAPPED: -1.0, BOTORCH: -1.2})).met is False


@pytest.mark.parametrize(
    ("question", "other", "plan"),
    [
        (many.gain, TWO_EACH, PLAN_HIDDEN),
        (many.no_loss, TWO_EACH, PLAN_TWENTY),
        (many.botorch, BOTORCH, PLAN_BOTORCH),
    ],
)
def test_a_missing_seed_leaves_no_verdict(
    question: Callable[[Library], Finding], other: str, plan: Experiment
) -> None:
    last = [cell for cell in plan.cells() if cell.method == other][-1]
    found = question(library({CAPPED: -2.0, other: -1.0}, without=last))
    assert found.met is None
    count = len([c for c in plan.cells() if (c.method, c.problem) == (other, last.problem)])
    assert f"{last.problem}, {other}: {count - 1} of {count} runs" in str(found)
    assert question(library({CAPPED: -2.0})).met is None


def test_seeds_that_were_not_planned_decide_nothing() -> None:
    levels = {CAPPED: -1.0, BOTORCH: -1.0}
    cells = [cell for cell in PLANNED if cell.method in levels]
    more = [replace(cell, seed=cell.seed + 100) for cell in cells]
    beside = [made(cell, 3.0 if cell.method == CAPPED else 0.0) for cell in more]
    both = Library([*(made(cell, levels[cell.method]) for cell in cells), *beside])
    assert str(many.botorch(both)) == str(many.botorch(library(levels)))


def test_botorchs_seeds_are_planned() -> None:
    planned = [(cell.problem, cell.seed) for cell in PLAN_BOTORCH.cells()]
    for problem, seeds in BOTORCH_SEEDS.items():
        expected = [seed for seed in range(seeds) for _ in NOISES]
        assert [seed for name, seed in planned if name == problem] == expected


def test_regrets_below_a_millionth_of_the_range_count_as_that() -> None:
    assert many.no_loss(library({CAPPED: -7.0, TWO_EACH: -9.0})).met


def test_the_interval_over_cells_is_students() -> None:
    means = np.array([-0.4, 0.1, -0.2, -0.5, 0.0, -0.3])
    expected = stats.t.interval(0.95, 5, loc=means.mean(), scale=stats.sem(means))
    assert interval(means) == pytest.approx(expected)
    assert interval(means[:1]) == (-np.inf, np.inf)
