"""Runs on problems of several outcomes: one design and noise for all methods, judged by truth."""

from dataclasses import replace

import numpy as np
import pytest

from ceibo.errors import InputError
from ceibo_lab.kinds.require import require
from ceibo_lab.methods.outcomes import OUTCOME_METHODS, outcome_method
from ceibo_lab.methods.outcomes.raw import raw_answer, raw_front
from ceibo_lab.outcomes import INITIAL, Measured, OutcomeRun, initial_design
from ceibo_lab.plans import experiment
from ceibo_lab.plans.outcomes import FIRST_SEED, FRONTS, SEEDS, TRIALS
from ceibo_lab.problems.outcomes import LIMITED, outcome_problem
from ceibo_lab.record import Cell, Record
from ceibo_lab.records import timeless
from ceibo_lab.replicate import replicate

LIMITS = Cell("limits", "gramacy", "plain", "homoscedastic", 0.02, "random", 1, 12)
FRONT = Cell("fronts", "branin-currin", "plain", "homoscedastic-untold", 0.1, "random", 1, 12)


def made(cell: Cell) -> Record:
    record = replicate(cell)
    assert record is not None
    assert record["status"] == "done", record.get("traceback")
    return record


def run_of(protocol: str, level: float, count: int) -> OutcomeRun:
    problem = outcome_problem("welded-beam")
    run = OutcomeRun.begin(problem, protocol, level, seed=4)
    for u in initial_design(problem, 4, count):
        run.measure(u)
    return run


def test_noise_is_a_share_of_each_range_and_told_or_not() -> None:
    run = run_of("homoscedastic", 0.02, 3)
    expected = np.tile(0.02 * run.problem.ranges, (3, 1))
    np.testing.assert_allclose(run.measured.noise, expected)
    assert np.all(np.isnan(run_of("homoscedastic-untold", 0.1, 3).measured.noise))


def test_errors_are_standard_normal_and_apart_between_outcomes() -> None:
    run = run_of("homoscedastic-untold", 0.1, 1)
    u = run.points[0]
    for _ in range(799):
        run.measure(u)
    errors = (run.measured.Y - run.truth) / (0.1 * run.problem.ranges)
    n = len(errors)
    assert np.all(np.abs(np.mean(errors, axis=0)) < 4 / np.sqrt(n))
    np.testing.assert_allclose(np.std(errors, axis=0), 1.0, atol=4 / np.sqrt(2 * n))
    correlation = np.corrcoef(errors.T) - np.eye(errors.shape[1])
    assert np.max(np.abs(correlation)) < 4.5 / np.sqrt(n)


@pytest.mark.parametrize("method", OUTCOME_METHODS)
def test_answers_after_a_shared_design_are_judged_by_the_truth(method: str) -> None:
    random, record = made(LIMITS), made(replace(LIMITS, method=method, steps=INITIAL + 1))
    for column in ("x", "y"):
        assert record["trace"][column][:INITIAL] == random["trace"][column][:INITIAL]
    points = np.array(record["trace"]["x"])
    assert len(points) == INITIAL + 1
    assert np.all((points >= 0) & (points <= 1))
    problem = outcome_problem("gramacy")
    for answer in record["answers"].values():
        truth = problem.at_unit(np.array([answer["x"]]))
        np.testing.assert_allclose(answer["truth"], truth[0], rtol=1e-4, atol=1e-8)
        assert answer["holds"] == problem.holds(truth)[0]
        assert answer["regret"] == pytest.approx(truth[0, 0] - problem.optimum, rel=1e-4)
        assert (answer["chance"] is None) == (method in ("random", "optuna-gp"))
    held = np.array(record["trace"]["holds"], dtype=bool)
    assert record["first_feasible"] == np.flatnonzero(held)[0]
    goals = np.array(record["trace"]["goals"])[:, 0]
    assert record["worst_feasible"] == np.max(goals[held])


@pytest.mark.parametrize("method", OUTCOME_METHODS)
def test_fronts_are_judged_by_the_truth(method: str) -> None:
    record = made(replace(FRONT, method=method, steps=INITIAL + 1))
    problem = outcome_problem("branin-currin")
    stated = np.array([each["means"] for each in record["front"]])
    truth = problem.at_unit(np.array([each["x"] for each in record["front"]]))
    volumes = record["hypervolume"]
    assert volumes["stated"] == pytest.approx(problem.hypervolume(stated), rel=1e-3, abs=1e-6)
    assert volumes["true"] == pytest.approx(problem.hypervolume(truth), rel=1e-3, abs=1e-6)
    assert volumes["true"] <= volumes["oracle"] <= problem.best


@pytest.mark.parametrize("method", OUTCOME_METHODS)
def test_a_run_again_is_the_same_run(method: str) -> None:
    cell = replace(LIMITS, method=method, steps=INITIAL + 1, seed=2)
    assert timeless(made(cell)) == timeless(made(cell))


def test_a_start_without_feasible_points_ends_with_the_first() -> None:
    record = made(replace(LIMITS, kind="starts", steps=60))
    held = record["trace"]["holds"]
    assert held == [0] * (len(held) - 1) + [1]
    assert INITIAL <= record["first_feasible"] == len(held) - 1 < 60
    short = made(replace(LIMITS, kind="starts", problem="welded-beam", steps=12))
    assert short["first_feasible"] is None
    assert len(short["trace"]["x"]) == 12


def test_raw_answers_are_the_best_measured() -> None:
    X = np.arange(8.0).reshape(4, 2)
    Y = np.array([[3.0, -1.0], [1.0, 0.5], [2.0, 0.0], [0.0, 2.0]])
    noise = np.full_like(Y, np.nan)
    np.testing.assert_array_equal(raw_answer(Measured(X, Y, noise, 1)).x, X[2])
    broken = Y + np.array([0.0, 5.0])
    np.testing.assert_array_equal(raw_answer(Measured(X, broken, noise, 1)).x, X[0])
    front = raw_front(Measured(X, np.array([[0, 2], [1, 1], [2, 2], [2, 0.0]]), noise, 2))
    assert [each.x.tolist() for each in front] == [X[0].tolist(), X[1].tolist(), X[3].tolist()]


def test_the_plan_has_the_cells_it_says() -> None:
    for name, problems, noises in (("limits", LIMITED, 2), ("starts", LIMITED, 2)):
        cells = experiment(f"outcomes-{name}").cells()
        assert len(cells) == len(problems) * noises * SEEDS * len(OUTCOME_METHODS)
        assert {cell.steps for cell in cells} == {TRIALS}
        assert {cell.seed for cell in cells} == set(range(FIRST_SEED, FIRST_SEED + SEEDS))
    fronts = experiment("outcomes-fronts")
    assert {cell.problem for cell in fronts.cells()} == set(FRONTS)
    assert {cell.problem for cell in fronts.cells(only=("vehicle-safety",))} == {"vehicle-safety"}
    require([*fronts.cells(), *experiment("outcomes-limits").cells()])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"problem": "dtlz2"}, "dtlz2 has 2 goals: not a problem for limits"),
        ({"method": "default"}, "method must be one of"),
        ({"protocol": "measured"}, "protocol must be one of"),
        ({"level": -1.0}, "level must be a share"),
        ({"kind": "fronts"}, "gramacy has 1 goals: not a problem for fronts"),
    ],
)
def test_cells_that_cannot_be_run_are_refused(change: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        require([Cell(**(LIMITS.to_json() | change))])


def test_a_method_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match=r"method must be one of ceibo.*got 'botorchs'"):
        outcome_method("botorchs")
