"""Verdicts on rules and branches, from records made up so that the answer is known."""

from dataclasses import replace

import numpy as np

from ceibo_lab.library import Library
from ceibo_lab.problems.inputs import BRANCHED, RULED
from ceibo_lab.record import Cell, Record
from ceibo_lab.verdicts import inputs

CELL = Cell("rules", "reflux", "plain", "homoscedastic", 0.02, "ceibo", 0, 30)


def made(cell: Cell, log_regret: float, excess: float = 0.0) -> Record:
    answer = {"regret": 10.0**log_regret, "excess": excess, "obeys": excess <= 1e-6}
    beside = {"regret": 1e9, "excess": 1.0, "obeys": False}  # decides nothing
    return {
        "cell": cell.to_json(),
        "answers": {"own": answer, "beside": beside},
        "largest_excess": excess,
        "impossible": 0,
    }


def library(kind: str, methods: dict[str, float], excess: float = 0.0) -> Library:
    """Twenty seeds a cell; a method's log10 regrets lie around a level."""
    problems = RULED if kind == "rules" else BRANCHED
    records = []
    for problem in problems:
        for method, level in methods.items():
            rng = np.random.default_rng([len(method), len(problem)])
            for seed in range(20):
                cell = replace(CELL, kind=kind, problem=problem, method=method, seed=seed)
                records.append(made(cell, level + 0.02 * rng.standard_normal(), excess))
    return Library(records)


def test_no_worse_is_within_the_margin_without_a_lost_cell() -> None:
    assert inputs.botorch(library("rules", {"ceibo": -1.0, "botorch": -1.0})).met
    assert inputs.botorch(library("rules", {"ceibo": -2.0, "botorch": -1.0})).met
    lost = inputs.botorch(library("rules", {"ceibo": -0.95, "botorch": -1.0}))
    assert lost.met is False  # within the margin in the mean, and every cell lost
    assert "5 lost of 5" in str(lost)
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
    one = inputs.branches(library("branches", {"ceibo": -2.0, "optuna-tpe": -1.0}))
    assert "optuna-ceibo against optuna-tpe: no runs" in str(one)


def test_branches_that_were_not_run_against_all_are_not_won() -> None:
    some = library("branches", {"ceibo": -2.0, "optuna-tpe": -1.0})
    assert inputs.branches(some).met is None
    assert inputs.branches(library("branches", {"ceibo": -1.0, "optuna-tpe": -2.0})).met is False


def test_obedience_is_of_ceibo_alone() -> None:
    assert inputs.obedience(library("rules", {"ceibo": -1.0}, 5e-10)).met
    assert inputs.obedience(library("rules", {"ceibo": -1.0}, 2e-9)).met is False
    assert inputs.obedience(library("rules", {"botorch": -1.0}, 1.0)).met is None
