"""Limits and the incumbent among the points that hold them."""

import numpy as np
import pytest
from scipy.stats import norm

from ceibo.acquisition import Limit, chances, find_feasible_incumbent
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Matern52
from tests.helpers import Dense, assert_gradient, central_difference, make_gp
from tests.limited import make_case, scaled


def test_the_chance_is_that_of_a_normal_below_the_bound() -> None:
    gp, X = make_gp(0, d=2), np.random.default_rng(0).random((50, 2))
    dense = Dense(gp)
    z = (0.3 - dense.mean(X)) / np.sqrt(dense.variance(X))
    np.testing.assert_allclose(Limit(gp, 0.3).log_chance(X)[0], norm.logcdf(z), rtol=1e-9)


def test_the_chances_of_independent_limits_multiply() -> None:
    _, limits = make_case(0)
    X = np.random.default_rng(1).random((20, 2))
    each = [np.exp(limit.log_chance(X)[0]) for limit in limits]
    np.testing.assert_allclose(chances(limits, X), np.prod(each, axis=0), rtol=1e-14)
    np.testing.assert_array_equal(chances((), X), 1.0)


@pytest.mark.parametrize("bound", [-30.0, -1.0, 0.5, 8.0])
def test_the_gradient_is_that_of_the_logarithm(bound: float) -> None:
    limit, X = Limit(make_gp(2, d=3), bound), np.random.default_rng(2).random((6, 3))
    gradient = limit.log_chance(X)[1]
    numeric = [central_difference(lambda p: limit.log_chance(p[None])[0][0], x) for x in X]
    assert_gradient(gradient, np.array(numeric), atol=1e-12)


def test_where_nothing_is_uncertain_a_limit_holds_or_does_not() -> None:
    gp = GaussianProcess([[0.2], [0.8]], [1.0, -1.0], 0.0, Matern52([0.3]))
    limit = Limit(gp, float(gp.posterior([[0.2]])[0][0]))
    X = np.array([[0.2], [0.8]])
    assert gp.posterior(X)[1].max() < 1e-14
    exact = GaussianProcess(X, [1.0, -1.0], 0.0, Matern52([1e-3]))
    assert exact.posterior(X)[1].max() == 0.0
    logs, gradient = Limit(exact, 0.5).log_chance(X)
    np.testing.assert_array_equal(logs, [-np.inf, 0.0])
    assert np.all(np.isfinite(gradient))
    assert limit.log_chance([[0.8]])[0][0] == 0.0


@pytest.mark.parametrize("bound", [1e300, -1e300, np.inf, -np.inf])
def test_a_bound_may_be_as_far_as_numbers_go(bound: float) -> None:
    value, gradient = Limit(make_gp(1, d=2), bound).log_chance([[0.3, 0.4]])
    assert np.all(np.isfinite(gradient))
    assert (value[0] == 0.0) if bound > 0 else (value[0] < -1e50)


def test_a_bound_is_a_number() -> None:
    with pytest.raises(InputError, match="bound must be a number"):
        Limit(make_gp(0), float("nan"))


@pytest.mark.parametrize("power", [-498, -30, 40, 498])
def test_powers_of_two_change_no_bit(power: int) -> None:
    _, (limit, *_) = make_case(3)
    X, factor = np.random.default_rng(3).random((9, 2)), 2.0**power
    other = Limit(scaled(limit.gp, factor), limit.bound * factor)
    for got, expected in zip(other.log_chance(X), limit.log_chance(X), strict=True):
        np.testing.assert_array_equal(got, expected)


# -- the incumbent ---------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(6))
def test_the_incumbent_is_the_lowest_mean_of_those_that_hold(seed: int, confidence: float) -> None:
    goal, limits = make_case(seed, n=15, partly=seed % 3)
    found = find_feasible_incumbent(goal, limits, confidence)
    assert found is not None
    rows = range(seed % 3, 15)
    means, chance = Dense(goal).mean(goal.X), chances(limits, goal.X)
    sure = [row for row in rows if chance[row] >= confidence]
    expected = min(sure, key=lambda row: means[row]) if sure else max(rows, key=chance.__getitem__)
    assert found.index == expected
    assert found.indices == (expected - seed % 3,) * 3
    np.testing.assert_array_equal(found.x, goal.X[expected])
    assert found.mean == pytest.approx(means[expected], rel=1e-9)
    assert found.std == pytest.approx(np.sqrt(Dense(goal).variance(goal.X)[expected]), rel=1e-9)
    assert found.chance == pytest.approx(chance[expected], rel=1e-12)


def test_of_points_that_cannot_hold_the_lowest_mean_is_taken() -> None:
    goal, limits = make_case(1)
    never = [Limit(limit.gp, -np.inf) for limit in limits]
    found = find_feasible_incumbent(goal, never, 0.95)
    assert found is not None
    assert found.index == int(np.argmin(Dense(goal).mean(goal.X)))
    assert found.chance == 0.0


def test_no_point_measured_in_full_is_no_incumbent() -> None:
    goal, limits = make_case(2)
    apart = GaussianProcess(goal.X + 1e-12, goal.y, 0.1, goal.kernel)
    assert find_feasible_incumbent(goal, [*limits, Limit(apart, 0.0)], 0.5) is None


def test_pending_points_are_never_the_incumbent() -> None:
    goal, limits = make_case(4)
    rng = np.random.default_rng(4)
    half = GaussianProcess(goal.X[:4], goal.y[:4], 0.1, goal.kernel).condition(goal.X[4:])
    other = Limit(limits[0].gp.condition(rng.random((3, 2))), limits[0].bound)
    found = find_feasible_incumbent(half, [other], 0.99)
    assert found is not None
    assert found.index < 4
