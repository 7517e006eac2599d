"""Verdicts on several outcomes, from records made up so that the answer is known."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ceibo_lab.library import Library
from ceibo_lab.plans.outcomes import OUTCOMES
from ceibo_lab.plans.plan import Experiment
from ceibo_lab.problems.outcomes import outcome_problem
from ceibo_lab.record import Cell, Record
from ceibo_lab.verdicts import outcomes as verdicts

LIMITS, STARTS, FRONTS = OUTCOMES
CELL = LIMITS.cells()[0]
Make = Callable[[Cell], Record]


def limited(cell: Cell, regret: float, holds: bool = True, worst: float | None = 1.5) -> Record:
    answer = {"regret": regret, "holds": holds, "chance": 0.99}
    other = {"regret": 9.0, "holds": False, "chance": 0.0}  # beside the first, decides nothing
    answers = {"own": answer, "beside": other}
    return {"cell": cell.to_json(), "answers": answers, "worst_feasible": worst}


def front(cell: Cell, true: float, stated: float) -> Record:
    volumes: dict[str, Any] = {"true": true, "stated": stated}
    return {"cell": cell.to_json(), "hypervolume": {**volumes, "raw": volumes}}


def start(cell: Cell, first: int | None) -> Record:
    return {"cell": cell.to_json(), "first_feasible": first}


def every(plan: Experiment, method: str, make: Make) -> list[Record]:
    """Every planned run of a method."""
    return [make(cell) for cell in plan.cells() if cell.method == method]


def test_a_broken_limit_is_booked_at_the_worst_feasible_value_of_the_pair() -> None:
    cell = replace(CELL, problem="gramacy")
    optimum = outcome_problem("gramacy").optimum
    broken = limited(cell, -0.3, holds=False, worst=1.2)
    better, none = limited(cell, 0.01), limited(cell, 0.1, worst=None)
    assert verdicts.log_regret(better, broken) == pytest.approx(-2.0)
    assert verdicts.log_regret(broken, better) == pytest.approx(np.log10(1.5 - optimum))
    assert verdicts.log_regret(broken, none) == pytest.approx(np.log10(1.2 - optimum))
    alone = limited(cell, -0.3, holds=False, worst=None)
    worst = outcome_problem("gramacy").worst
    assert verdicts.log_regret(alone, none) == pytest.approx(np.log10(worst - optimum))


@pytest.mark.parametrize(("factor", "met"), [(1.0, True), (1.2, True), (1.35, False), (0.5, True)])
def test_regret_is_met_within_the_margin(factor: float, met: bool) -> None:
    # above and below by much more than the factor, so that no test of a cell sees a difference
    noise = 10.0 ** np.random.default_rng(1).normal(scale=2.0, size=20)
    noise /= np.exp(np.mean(np.log(noise)))
    theirs = every(LIMITS, "botorch", lambda cell: limited(cell, 1e4))
    ours = every(LIMITS, "ceibo", lambda cell: limited(cell, 1e4 * factor * noise[cell.seed - 100]))
    assert verdicts.regret(Library([*theirs, *ours])).met is met
    part = verdicts.regret(Library([*theirs, *ours[:-1]]))
    assert part.met is None  # a planned run is missing
    assert ", ceibo: 39 of 40 runs" in str(part)


def test_a_cell_lost_significantly_is_not_met_within_the_margin() -> None:
    records = every(LIMITS, "botorch", lambda cell: limited(cell, 0.1))
    records += every(LIMITS, "ceibo", lambda cell: limited(cell, 0.11))
    found = verdicts.regret(Library(records))
    assert found.met is False
    assert "12 cells lost" in found.lines[0]


@pytest.mark.parametrize(("broken", "met"), [(0, True), (1, True), (2, False)])
def test_answers_hold_as_often_as_stated(broken: int, met: bool) -> None:
    records = every(
        LIMITS, "ceibo", lambda cell: limited(cell, 0.1, holds=cell.seed >= 100 + broken)
    )
    assert verdicts.honesty(Library(records)).met is met


@pytest.mark.parametrize(("first", "met"), [(12, True), (14, True), (15, False), (None, False)])
def test_a_start_is_no_later(first: int | None, met: bool) -> None:
    records = every(STARTS, "botorch", lambda cell: start(cell, 14))
    records += every(STARTS, "ceibo", lambda cell: start(cell, first))
    found = verdicts.starts(Library(records))
    assert found.met is met
    late = {12: "-2.00", 14: "+0.00", 15: "+1.00", None: "+26.00"}[first]
    assert late in found.lines[0]


def test_fronts_are_compared_and_overstatement_is_a_ratio_of_means() -> None:
    theirs = every(FRONTS, "botorch", lambda cell: front(cell, 0.2, 0.3))
    ours = every(FRONTS, "ceibo", lambda cell: front(cell, 0.3 * (cell.seed % 2), 0.152))
    library = Library([*theirs, *ours])
    assert verdicts.volume(library).met is False  # 0.15 in the mean
    assert verdicts.overstatement(library).met is True  # 0.152 over 0.15
    assert any("botorch: +50.0%" in line for line in verdicts.overstatement(library).lines)
    three = [replace(CELL, kind="fronts", problem="vehicle-safety", seed=seed) for seed in range(9)]
    more = [front(cell, 1.0, 9.0) for cell in three]
    assert verdicts.overstatement(Library([*ours, *more])).met is True  # they decide nothing
    larger = every(FRONTS, "ceibo", lambda cell: front(cell, 0.21, 0.23))
    assert verdicts.volume(Library([*theirs, *larger])).met is True
    assert verdicts.overstatement(Library([*theirs, *larger])).met is False


def test_without_runs_nothing_is_said() -> None:
    asked = (verdicts.honesty, verdicts.regret, verdicts.starts, verdicts.volume)
    for ask in (*asked, verdicts.overstatement):
        assert ask(Library([])).met is None
