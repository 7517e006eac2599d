"""Verdicts on several outcomes, from records made up so that the answer is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ceibo_lab.library import Library
from ceibo_lab.problems.outcomes import outcome_problem
from ceibo_lab.record import Cell, Record
from ceibo_lab.verdicts import outcomes as verdicts

CELL = Cell("limits", "gramacy", "plain", "homoscedastic", 0.02, "ceibo", 0, 40)
FRONT = replace(CELL, kind="fronts", problem="dtlz2")


def limited(
    method: str, seed: int, regret: float, holds: bool = True, worst: float | None = 1.5
) -> Record:
    answer = {"regret": regret, "holds": holds, "chance": 0.99}
    cell = replace(CELL, method=method, seed=seed)
    other = {"regret": 9.0, "holds": False, "chance": 0.0}  # beside the first, decides nothing
    return {
        "cell": cell.to_json(),
        "answers": {"own": answer, "beside": other},
        "worst_feasible": worst,
    }


def front(method: str, seed: int, true: float, stated: float) -> Record:
    volumes: dict[str, Any] = {"true": true, "stated": stated}
    cell = replace(FRONT, method=method, seed=seed)
    return {"cell": cell.to_json(), "hypervolume": {**volumes, "raw": volumes}}


def start(method: str, seed: int, first: int | None) -> Record:
    cell = replace(CELL, kind="starts", method=method, seed=seed)
    return {"cell": cell.to_json(), "first_feasible": first}


def test_a_broken_limit_is_booked_at_the_worst_feasible_value_of_the_pair() -> None:
    optimum = outcome_problem("gramacy").optimum
    broken = limited("ceibo", 0, -0.3, holds=False, worst=1.2)
    better, none = limited("botorch", 0, 0.01), limited("botorch", 0, 0.1, worst=None)
    assert verdicts.log_regret(better, broken) == pytest.approx(-2.0)
    assert verdicts.log_regret(broken, better) == pytest.approx(np.log10(1.5 - optimum))
    assert verdicts.log_regret(broken, none) == pytest.approx(np.log10(1.2 - optimum))
    alone = limited("ceibo", 0, -0.3, holds=False, worst=None)
    worst = outcome_problem("gramacy").worst
    assert verdicts.log_regret(alone, none) == pytest.approx(np.log10(worst - optimum))


@pytest.mark.parametrize(("factor", "met"), [(1.0, True), (1.2, True), (1.35, False), (0.5, True)])
def test_regret_is_met_within_the_margin(factor: float, met: bool) -> None:
    # alternately above and below by more than the factor, so that no test sees a difference
    rng = np.random.default_rng(1)
    noise = 10.0 ** rng.normal(scale=2.0, size=20)
    noise /= np.exp(np.mean(np.log(noise)))
    records = [limited("botorch", seed, 0.1) for seed in range(20)]
    records += [limited("ceibo", seed, 0.1 * factor * noise[seed]) for seed in range(20)]
    untold = {"protocol": "homoscedastic-untold", "level": 0.10}
    again = [record | {"cell": record["cell"] | untold} for record in records]
    assert verdicts.regret(Library([*records, *again])).met is met
    assert verdicts.regret(Library(records)).met is False  # of one cell alone nothing follows


def test_a_cell_lost_significantly_is_not_met_within_the_margin() -> None:
    records = [limited("botorch", seed, 0.1) for seed in range(20)]
    records += [limited("ceibo", seed, 0.11) for seed in range(20)]
    found = verdicts.regret(Library(records))
    assert found.met is False
    assert "1 cells lost" in found.lines[0]


@pytest.mark.parametrize(("broken", "met"), [(0, True), (1, True), (2, False)])
def test_answers_hold_as_often_as_stated(broken: int, met: bool) -> None:
    records = [limited("ceibo", seed, 0.1, holds=seed >= broken) for seed in range(20)]
    assert verdicts.honesty(Library(records)).met is met


@pytest.mark.parametrize(("first", "met"), [(12, True), (14, True), (15, False), (None, False)])
def test_a_start_is_no_later(first: int | None, met: bool) -> None:
    records = [start("botorch", seed, 14) for seed in range(20)]
    records += [start("ceibo", seed, first) for seed in range(20)]
    found = verdicts.starts(Library(records))
    assert found.met is met
    late = {12: "-2.00", 14: "+0.00", 15: "+1.00", None: "+26.00"}[first]
    assert late in found.lines[0]


def test_fronts_are_compared_and_overstatement_is_a_ratio_of_means() -> None:
    records = [front("botorch", seed, 0.2, 0.3) for seed in range(10)]
    better = [front("ceibo", seed, 0.3 * (seed % 2), 0.152) for seed in range(10)]
    library = Library([*records, *better])
    assert verdicts.volume(library).met is False  # 0.15 in the mean
    assert verdicts.overstatement(library).met is True  # 0.152 over 0.15
    assert any("botorch: +50.0%" in line for line in verdicts.overstatement(library).lines)
    third = [front("ceibo", seed, 1.0, 9.0) for seed in range(10)]
    for record in third:
        record["cell"]["problem"] = "vehicle-safety"
    assert verdicts.overstatement(Library([*better, *third])).met is True  # it decides nothing
    larger = [front("ceibo", seed, 0.21, 0.23) for seed in range(10)]
    assert verdicts.volume(Library([*records, *larger])).met is True
    assert verdicts.overstatement(Library([*records, *larger])).met is False


def test_without_runs_nothing_is_said() -> None:
    asked = (verdicts.honesty, verdicts.regret, verdicts.starts, verdicts.volume)
    for ask in (*asked, verdicts.overstatement):
        assert ask(Library([])).met is None
