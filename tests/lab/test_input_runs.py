"""Runs with rules and branches: one design and noise for all methods, judged by the truth."""

from dataclasses import replace

import numpy as np
import pytest

from ceibo.errors import InputError
from ceibo_lab.inputs import INITIAL, InputRun, initial_design
from ceibo_lab.kinds.require import require
from ceibo_lab.methods.inputs import BRANCHING, input_method
from ceibo_lab.methods.inputs.botorch import polytope
from ceibo_lab.plans import experiment
from ceibo_lab.plans.inputs import (
    BRANCH_METHODS,
    BRANCH_TRIALS,
    FIRST_SEED,
    RULE_METHODS,
    RULE_TRIALS,
    SEEDS,
)
from ceibo_lab.problems.inputs import BRANCHED, RULED, input_problem
from ceibo_lab.record import Cell, Record
from ceibo_lab.records import timeless
from ceibo_lab.replicate import replicate

RULES = Cell("rules", "scheffe-3", "plain", "homoscedastic", 0.02, "random", 1, 12)
BRANCHES = replace(RULES, kind="branches", problem="jenatton")
BEFORE = "optuna-ceibo-before"  # needs an environment of its own


def made(cell: Cell) -> Record:
    record = replicate(cell)
    assert record is not None
    assert record["status"] == "done", record.get("traceback")
    return record


def check(record: Record) -> None:
    """Trials and answers against the truth, from the settings that the record keeps."""
    problem = input_problem(record["cell"]["problem"])
    for answer in record["answers"].values():
        assert answer["obeys"] == problem.obeys(answer["params"])
        if answer["obeys"]:
            regret = problem.truth(answer["params"]) - problem.optimum
            near = pytest.approx(regret, rel=1e-4, abs=1e-9 * problem.range)
            assert answer["regret"] == near
        else:
            assert answer["regret"] == pytest.approx(problem.range, rel=1e-4)
    trace = record["trace"]
    broken = [not problem.obeys(params) for params in trace["params"]]
    assert record["impossible"] == sum(broken)
    assert [value is None for value in trace["y"]] == broken
    for params, regret in zip(trace["params"], trace["regret"], strict=True):
        assert problem.regret(params) == pytest.approx(regret, rel=1e-4, abs=1e-9 * problem.range)
    assert record["oracle"] == min(trace["regret"])


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        ("ceibo", "scheffe-3"),
        ("ceibo", "reflux"),
        ("ceibo", "blend-8"),
        ("ceibo-failures", "coupling"),
        ("botorch", "scheffe-3"),
        ("random", "coating-5"),
    ],
)
def test_rules_after_a_shared_design(method: str, problem: str) -> None:
    random = made(replace(RULES, problem=problem))
    record = made(replace(RULES, problem=problem, method=method, steps=INITIAL + 1))
    for column in ("params", "y"):
        assert record["trace"][column][:INITIAL] == random["trace"][column][:INITIAL]
    assert len(record["trace"]["params"]) == INITIAL + 1
    check(record)
    if method != "ceibo-failures":
        assert record["largest_excess"] <= 1e-9
        assert next(iter(record["answers"].values()))["obeys"]


@pytest.mark.parametrize("method", [name for name in BRANCHING if name != BEFORE])
@pytest.mark.parametrize("problem", BRANCHED)
def test_branches_after_a_shared_design(method: str, problem: str) -> None:
    random = made(replace(BRANCHES, problem=problem))
    record = made(replace(BRANCHES, problem=problem, method=method, steps=INITIAL + 2))
    assert record["trace"]["y"][:INITIAL] == random["trace"]["y"][:INITIAL]
    check(record)
    for params in record["trace"]["params"]:
        everything = {**dict.fromkeys(input_problem(problem).dimensions), **params}
        assert input_problem(problem).existing(everything) == params


@pytest.mark.parametrize("method", ["ceibo", "ceibo-failures", "random"])
def test_a_run_again_is_the_same_run(method: str) -> None:
    cell = replace(RULES, method=method, problem="blend-8", steps=INITIAL + 2, seed=2)
    assert timeless(made(cell)) == timeless(made(cell))


def test_an_impossible_setting_costs_a_trial_and_moves_no_noise() -> None:
    problem = input_problem("reflux")
    first = initial_design(problem, 5, 3)
    hot = {**first[1], "solvent": "THF", "temperature": 150.0}
    runs = [InputRun.begin(problem, "homoscedastic", 0.02, 5) for _ in range(2)]
    for run, second in zip(runs, (first[1], hot), strict=True):
        for params in (first[0], second, first[2]):
            run.measure(params)
    whole, broken = (run.trials for run in runs)
    assert broken.numbers == (0, 2)
    assert broken.impossible == {1: hot}
    np.testing.assert_array_equal(whole.values[[0, 2]], broken.values)
    np.testing.assert_allclose(whole.noise, 0.02 * problem.range)


def test_failures_get_the_part_that_is_missing() -> None:
    """Of a mixture the box has one part less, and every setting sums to one."""
    record = made(replace(RULES, problem="coating-5", method="ceibo-failures", steps=16))
    for params in record["trace"]["params"][INITIAL:]:
        parts = input_problem("coating-5").parts
        assert sum(params[name] for name in parts) == pytest.approx(1.0, abs=1e-9)
    check(record)


def test_botorch_is_given_the_polytope_of_the_rules() -> None:
    """Its linear constraints hold at random settings, and equalities exactly."""
    problem, rng = input_problem("coating-5"), np.random.default_rng(0)
    (choice,) = problem.choices
    where = polytope(problem, choice)
    assert (len(where.equalities), len(where.inequalities)) == (1, 2)
    for _ in range(50):
        params = problem.sample_in(choice, rng)
        u = np.array([problem.dimensions[name].to_unit(params[name]) for name in choice.free])
        for places, slopes, rest in where.equalities:
            assert float(slopes.numpy() @ u[places.numpy()]) == pytest.approx(rest, abs=1e-12)
        for places, slopes, rest in where.inequalities:
            assert float(slopes.numpy() @ u[places.numpy()]) >= rest - 1e-12
    thf = next(each for each in input_problem("reflux").choices if each.fixed["solvent"] == "THF")
    bounds = polytope(input_problem("reflux"), thf).bounds.numpy()
    np.testing.assert_allclose(bounds[:, 0], [0.0, (66.0 - 20.0) / 140.0])


def test_the_plan_has_the_cells_it_says() -> None:
    for name, problems, methods, trials in (
        ("rules", RULED, RULE_METHODS, RULE_TRIALS),
        ("branches", BRANCHED, BRANCH_METHODS, BRANCH_TRIALS),
    ):
        cells = experiment(f"inputs-{name}").cells()
        assert len(cells) == len(problems) * 2 * SEEDS * len(methods)
        assert {cell.steps for cell in cells} == {trials}
        assert {cell.seed for cell in cells} == set(range(FIRST_SEED, FIRST_SEED + SEEDS))
        require(cells)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"problem": "jenatton"}, "problem must be one of scheffe-3"),
        ({"method": "optuna-tpe"}, "method for rules must be one of ceibo"),
        ({"kind": "branches", "problem": "jenatton", "method": "botorch"}, "method for branches"),
        ({"method": "default"}, "method must be one of"),
        ({"protocol": "measured"}, "protocol must be one of"),
        ({"level": -1.0}, "level must be a share"),
        (
            {"kind": "branches", "problem": "jenatton", "method": "optuna-ceibo-before"},
            "the sampler of commit 9c871b0",
        ),
    ],
)
def test_cells_that_cannot_be_run_are_refused(change: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        require([Cell(**(RULES.to_json() | change))])


def test_a_method_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match=r"method must be one of ceibo.*got 'bofires'"):
        input_method("bofires")
