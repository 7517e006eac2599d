"""Problems of several outcomes: BoTorch's formulas, and the figures a referee knows, as oracles."""

from typing import Any

import numpy as np
import pytest
import torch
from botorch.test_functions import multi_objective, synthetic
from botorch.utils.multi_objective.box_decompositions.dominated import DominatedPartitioning

from ceibo.errors import InputError
from ceibo_lab.outcomes import initial_design
from ceibo_lab.problems.outcomes import LIMITED, OUTCOME_PROBLEMS, outcome_problem
from ceibo_lab.problems.outcomes import reference as figures

ORACLES: dict[str, Any] = {
    "gramacy": synthetic.ConstrainedGramacy(),
    "hartmann-6-norms": synthetic.ConstrainedHartmann(dim=6),
    "pressure-vessel": synthetic.PressureVessel(),
    "welded-beam": synthetic.WeldedBeamSO(),
    "speed-reducer": synthetic.SpeedReducer(),
    "tension-string": synthetic.TensionCompressionString(),
    "branin-currin": multi_objective.BraninCurrin(),
    "c2-dtlz2": multi_objective.C2DTLZ2(dim=4, num_objectives=2),
    "dtlz2": multi_objective.DTLZ2(dim=6, num_objectives=2),
    "vehicle-safety": multi_objective.VehicleSafety(),
}


def points(name: str, power: int = 9) -> np.ndarray[Any, np.dtype[np.float64]]:
    return figures.sobol(outcome_problem(name).dimension, power)


@pytest.mark.parametrize("name", OUTCOME_PROBLEMS)
def test_outcomes_are_botorchs(name: str) -> None:
    problem, oracle, U = outcome_problem(name), ORACLES[name], points(name)
    ours = problem.at_unit(U)
    X = torch.tensor(problem.box[:, 0] + np.ptp(problem.box, axis=1) * U)
    np.testing.assert_array_equal(problem.box.T, oracle.bounds.numpy())
    theirs = oracle.evaluate_true(X).reshape(len(U), -1).numpy()
    if problem.limits:
        slack = oracle.evaluate_slack_true(X).numpy()
        if name == "hartmann-6-norms":  # BoTorch has the Euclidean norm alone
            slack = np.column_stack([3.0 - X.sum(dim=1).numpy(), slack])
        theirs = np.column_stack([theirs, -slack])
    single = name == "hartmann-6-norms"  # BoTorch keeps its constants in single precision
    np.testing.assert_allclose(ours, theirs, rtol=1e-6 if single else 1e-9, atol=1e-12)


@pytest.mark.parametrize("name", OUTCOME_PROBLEMS)
def test_ranges_are_found_again(name: str) -> None:
    problem = outcome_problem(name)
    Y = problem.at_unit(points(name, 12))
    span = np.ptp(Y, axis=0)
    middle = np.diff(np.quantile(Y, (0.05, 0.95), axis=0), axis=0)[0]
    heavy = span > figures.HEAVY * middle
    assert np.all(span[~heavy] <= problem.ranges[~heavy] * (1 + 1e-9))
    assert np.all(span[~heavy] >= 0.6 * problem.ranges[~heavy])
    np.testing.assert_allclose(problem.ranges[heavy], middle[heavy], rtol=0.1)
    assert np.any(heavy) == (name in ("welded-beam", "tension-string"))


@pytest.mark.parametrize("name", LIMITED)
def test_no_feasible_point_is_better_than_the_optimum_nor_worse_than_the_worst(name: str) -> None:
    problem = outcome_problem(name)
    Y = problem.at_unit(points(name, 15))
    goal = Y[problem.holds(Y), 0]
    slack = 1e-6 * problem.ranges[0]
    assert len(goal) > 10
    assert problem.optimum - slack <= np.min(goal) < np.max(goal) <= problem.worst + slack


@pytest.mark.parametrize("name", ["gramacy", "tension-string"])
def test_a_search_finds_the_optimum_again(name: str) -> None:
    problem = outcome_problem(name)
    assert figures.extreme(problem, points(name, 12), 1.0) == pytest.approx(problem.optimum, 1e-4)


@pytest.mark.parametrize("name", ["gramacy", "hartmann-6-norms", "speed-reducer", "tension-string"])
def test_optima_are_those_of_the_literature(name: str) -> None:
    # Of the other two BoTorch changed the box or a formula, and quotes the optimum before that.
    oracle = ORACLES[name]
    assert outcome_problem(name).optimum == pytest.approx(oracle.optimal_value, rel=2e-3)
    if name != "hartmann-6-norms":
        assert outcome_problem(name).worst == pytest.approx(oracle._worst_feasible_value, rel=1e-4)


def test_the_cheapest_vessel_is_one_that_holds() -> None:
    problem = outcome_problem("pressure-vessel")
    assert figures.cheapest_vessel() == pytest.approx(problem.optimum, rel=1e-9)
    shares, step = np.array([0.0193, 0.00954]), 0.0625
    radius = np.linspace(35.0, 50.0, 30001)
    length = (1296000.0 - 4.0 / 3.0 * np.pi * radius**3) / (np.pi * radius**2) + 1e-6
    plates = np.maximum(
        shares * radius[:, None],
        np.ceil((shares * radius[:, None] - step / 2) / step) * step - step / 2 + 1e-9,
    )
    vessels = np.column_stack([plates, radius, length])[(length >= 150.0) & (length <= 200.0)]
    Y = problem.function(vessels)
    held = problem.holds(Y)
    assert np.mean(held) > 0.9
    assert np.min(Y[held, 0]) == pytest.approx(problem.optimum, rel=2e-3)
    assert np.min(Y[held, 0]) >= problem.optimum * (1 - 1e-9)


@pytest.mark.parametrize("name", ["dtlz2", "c2-dtlz2"])
def test_the_front_is_found_again(name: str) -> None:
    problem = outcome_problem(name)
    assert figures.BEST[name]() == pytest.approx(problem.best, rel=1e-9)
    assert problem.best == pytest.approx(ORACLES[name]._max_hv, rel=2e-3)


@pytest.mark.parametrize("name", ["branin-currin", "c2-dtlz2", "dtlz2", "vehicle-safety"])
def test_no_sample_has_more_volume_than_the_front(name: str) -> None:
    problem = outcome_problem(name)
    assert 0.0 < problem.hypervolume(problem.at_unit(points(name))) <= problem.best


@pytest.mark.parametrize("name", ["branin-currin", "c2-dtlz2", "vehicle-safety"])
def test_hypervolume_is_botorchs_of_what_holds(name: str) -> None:
    problem = outcome_problem(name)
    assert problem.reference is not None
    values = problem.at_unit(points(name, 6))
    goals = -torch.tensor(values[problem.holds(values), : problem.goals])
    partition = DominatedPartitioning(-torch.tensor(problem.reference), Y=goals)
    expected = float(partition.compute_hypervolume())
    assert problem.hypervolume(values) == pytest.approx(expected, rel=1e-9)
    assert problem.hypervolume(values[:0]) == 0.0


@pytest.mark.parametrize("name", LIMITED)
def test_designs_are_the_sobol_sequence_with_or_without_feasible_points(name: str) -> None:
    problem = outcome_problem(name)
    plain, without = (initial_design(problem, 3, 10, feasible) for feasible in (True, False))
    assert not np.any(problem.holds(problem.at_unit(without)))
    kept = plain[~problem.holds(problem.at_unit(plain))]
    np.testing.assert_array_equal(without[: len(kept)], kept)


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match=r"problem must be one of gramacy.*got 'gramaci'"):
        outcome_problem("gramaci")
    with pytest.raises(ValueError, match="one goal"):
        outcome_problem("gramacy").hypervolume(np.zeros((1, 3)))
