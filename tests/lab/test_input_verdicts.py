"""Verdicts on rules and branches, from records made up so that the answer is known."""

import numpy as np

from ceibo_lab.library import Library
from ceibo_lab.plans.inputs import INPUTS
from ceibo_lab.record import Cell, Record
from ceibo_lab.verdicts import inputs
from ceibo_lab.verdicts.finding import planned
from ceibo_lab.verdicts.inputs import OURS


def made(cell: Cell, log_regret: float, excess: float = 0.0) -> Record:
    answer = {"regret": 10.0**log_regret, "excess": excess, "obeys": excess <= 1e-6}
    beside = {"regret": 1e9, "excess": 1.0, "obeys": False}  # decides nothing
    return {
        "cell": cell.to_json(),
        "answers": {"own": answer, "beside": beside},
        "largest_excess": excess,
        "impossible": 0,
    }


def runs(kind: str, methods: dict[str, float], excess: float = 0.0) -> list[Record]:
    """Every planned run of these methods; a method's log10 regrets lie around a level."""
    plan = next(each for each in INPUTS if each.cells()[0].kind == kind)
    records = []
    for cell in planned(plan, list(dict.fromkeys((OURS, *methods)))):
        if cell.method in methods:
            rng = np.random.default_rng([len(cell.method), len(cell.problem), cell.seed])
            level = methods[cell.method] + 0.02 * rng.standard_normal()
            records.append(made(cell, level, excess))
    return records


def library(kind: str, methods: dict[str, float], excess: float = 0.0) -> Library:
    return Library(runs(kind, methods, excess))


def test_no_worse_is_within_the_margin_without_a_lost_cell() -> None:
    assert inputs.botorch(library("rules", {"ceibo": -1.0, "botorch": -1.0})).met
    assert inputs.botorch(library("rules", {"ceibo": -2.0, "botorch": -1.0})).met
    lost = inputs.botorch(library("rules", {"ceibo": -0.95, "botorch": -1.0}))
    assert lost.met is False  # within the margin in the mean, and every cell lost
    assert "10 lost of 10" in str(lost)
    assert inputs.bofire(library("rules", {"ceibo": -0.8, "bofire": -1.0})).met is False
    assert inputs.bofire(library("rules", {"ceibo": -1.0})).met is None


def test_better_than_failures_wins_half_of_the_cells() -> None:
    assert inputs.failures(library("rules", {"ceibo": -1.2, "ceibo-failures": -1.0})).met
    same = inputs.failures(library("rules", {"ceibo": -1.0, "ceibo-failures": -1.0}))
    assert same.met is False


def test_branches_are_won_everywhere_against_both() -> None:
    levels = {"ceibo": -2.0, "optuna-ceibo": -2.0, "optuna-tpe": -1.0, "optuna-ceibo-before": -1.0}
    assert inputs.branches(library("branches", levels)).met
    assert inputs.branches(library("branches", levels | {"optuna-ceibo": -1.0})).met is False


def test_there_is_no_verdict_while_planned_runs_are_missing() -> None:
    some = inputs.branches(library("branches", {"ceibo": -2.0, "optuna-tpe": -1.0}))
    assert some.met is None
    assert "jenatton, optuna-ceibo: 0 of 40 runs" in str(some)
    assert inputs.branches(library("branches", {"ceibo": -1.0, "optuna-tpe": -2.0})).met is None
    first, *others = runs("rules", {"ceibo": -2.0, "botorch": -1.0})
    assert inputs.botorch(Library([first, *others])).met
    assert first["cell"]["method"] == "ceibo"
    for ask in (inputs.botorch, inputs.obedience):
        found = ask(Library(others))
        assert found.met is None
        assert "scheffe-3, ceibo: 39 of 40 runs" in str(found)


def test_obedience_is_of_ceibo_alone() -> None:
    assert inputs.obedience(library("rules", {"ceibo": -1.0}, 5e-10)).met
    assert inputs.obedience(library("rules", {"ceibo": -1.0}, 2e-9)).met is False
    assert inputs.obedience(library("rules", {"botorch": -1.0}, 1.0)).met is None
