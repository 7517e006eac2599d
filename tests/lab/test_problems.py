"""Problems agree with BoTorch's, take their minima where they say, and have the ranges that noise
refers to.
"""

import itertools

import numpy as np
import pytest
import torch
from botorch.test_functions import Griewank, Hartmann, Levy, Powell, SyntheticTestFunction
from scipy.optimize import Bounds, minimize

from ceibo.errors import InputError
from ceibo_lab.problems import PROBLEMS, Problem, problem
from ceibo_lab.problems.draws import LENGTHSCALE, POINTS, draw, kernel_matrix
from tests.helpers import Array


def botorch_oracles() -> dict[str, SyntheticTestFunction]:
    """BoTorch keeps Hartmann's constants in the default precision of the moment it is made."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return {
            "hartmann": Hartmann(dim=3),
            "griewank": Griewank(dim=6),
            "levy": Levy(dim=4),
            "powell": Powell(dim=5),
        }
    finally:
        torch.set_default_dtype(before)


ORACLES = botorch_oracles()


def sample(target: Problem, count: int, seed: int = 0) -> Array:
    return target.from_unit(np.random.default_rng(seed).random((count, target.dimension)))


@pytest.mark.parametrize("name", sorted(ORACLES))
def test_values_and_box_are_those_of_botorch(name: str) -> None:
    target, oracle = problem(name), ORACLES[name]
    X = sample(target, 500)
    expected = oracle(torch.tensor(X)).numpy()
    np.testing.assert_allclose(target(X), expected, rtol=1e-9, atol=1e-9)
    box = torch.as_tensor(oracle.bounds).numpy()
    np.testing.assert_array_equal(np.stack([target.low, target.high]), box)


@pytest.mark.parametrize("name", sorted(ORACLES))
def test_optima_are_those_of_botorch(name: str) -> None:
    target, oracle = problem(name), ORACLES[name]
    there = oracle(torch.tensor(target.optimisers)).numpy()
    np.testing.assert_allclose(there, target.minimum, rtol=0, atol=1e-9)
    # BoTorch prints Hartmann's to six digits.
    optimisers = torch.as_tensor(oracle.optimizers)
    np.testing.assert_allclose(target.optimisers, optimisers.numpy(), atol=4e-5)
    assert target.minimum == pytest.approx(oracle.optimal_value, abs=2e-6)
    assert target.minimum <= oracle.evaluate_true(optimisers).numpy().min() + 1e-12


@pytest.mark.parametrize("variant", ["plain", "shifted"])
@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_nothing_in_the_box_is_below_the_minimum(name: str, variant: str) -> None:
    for seed in range(3):
        target = problem(name, variant, seed)
        np.testing.assert_allclose(target(target.optimisers), target.minimum, rtol=0, atol=1e-12)
        assert np.all((target.optimisers >= target.low) & (target.optimisers <= target.high))
        X = sample(target, 4000, seed)
        assert target(X).min() >= target.minimum
        starts = X[np.argsort(target(X))[:3]]
        assert lowest(target, starts) >= target.minimum - 1e-9 * target.range


def lowest(target: Problem, starts: Array, sign: float = 1.0) -> float:
    """The least of sign · f that local searches find, one from each start."""

    def signed(x: Array) -> float:
        return sign * float(target(x[None, :])[0])

    bounds = Bounds(target.low, target.high)
    return min(
        float(minimize(signed, start, bounds=bounds, method="L-BFGS-B").fun) for start in starts
    )


def largest(target: Problem, starts: Array) -> float:
    return -lowest(target, starts, sign=-1.0)


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_the_range_is_maximum_minus_minimum_over_the_box(name: str) -> None:
    target = problem(name)
    inner = sample(target, 20000)
    starts = [*inner[np.argsort(-target(inner))[:10]]]
    for corner in itertools.product((0.0, 1.0), repeat=target.dimension):
        at = np.array(corner)
        starts += [target.from_unit(at), target.from_unit(0.004 + 0.992 * at)]
    found = largest(target, np.array(starts)) - target.minimum
    assert found == pytest.approx(target.range, rel=1e-9)


def test_shifts_move_the_optimum_by_at_most_a_quarter_and_leave_the_shape() -> None:
    for name in ("hartmann", "griewank", "levy", "powell", "sphere"):
        plain = problem(name)
        moves = []
        for seed in range(40):
            target = problem(name, "shifted", seed)
            move = target.optimisers[0] - plain.optimisers[0]
            assert np.all(np.abs(move) <= 0.25 * plain.width)
            X = sample(plain, 5, seed)
            np.testing.assert_allclose(target(X + move), plain(X), rtol=1e-9, atol=1e-9)
            moves.append(move / plain.width)
        assert np.std(moves) > 0.05
        assert target.range == plain.range


def test_powell_has_an_inert_coordinate_that_only_one_distance_counts() -> None:
    target = problem("powell")
    X = np.array([[0.0, 0.0, 0.0, 0.0, 3.0]])
    assert target(X)[0] == 0.0
    assert target.distance(X)[0] == 3.0
    assert target.distance(X, active_only=True)[0] == 0.0


def test_draws_have_the_covariance_of_their_kernel() -> None:
    width, count = 12.0, 4000
    places = np.array([0.0, 1.5, 3.0, 6.0, 12.0])
    values = np.array([draw(width, seed)(places) for seed in range(count)])
    expected = np.exp(-0.5 * ((places[:, None] - places) / LENGTHSCALE) ** 2)
    found = values.T @ values / count
    # The table's nearest point is within width/(2·3999) of each place; the sampling error is about
    # 1/√4000.
    np.testing.assert_allclose(found, expected, atol=5 / np.sqrt(count))
    np.testing.assert_allclose(
        kernel_matrix(width, 5)[0], np.exp(-0.5 * (np.arange(5) * 1.0) ** 2), atol=1e-12
    )


def test_a_draw_takes_the_value_of_the_nearest_point() -> None:
    found = draw(40.0, 3)
    grid = np.linspace(0.0, 40.0, POINTS)
    x = np.random.default_rng(0).uniform(0, 40, 200)
    nearest = np.argmin(np.abs(x[:, None] - grid), axis=1)
    np.testing.assert_array_equal(found(x), found.values[nearest])
    as_problem = found.as_problem()
    assert as_problem.minimum == -found.values.max()
    assert as_problem(as_problem.optimisers)[0] == as_problem.minimum


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(InputError, match="hartmann, griewank, levy, powell, sphere, scenario"):
        problem("branin")
    with pytest.raises(InputError, match="plain, shifted"):
        problem("levy", "rotated")
