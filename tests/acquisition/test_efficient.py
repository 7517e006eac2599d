"""Chances of being on the front: counted in independent draws, known cases, repeated points."""

import numpy as np
import pytest
from scipy.stats import norm

from ceibo.acquisition import Limit
from ceibo.acquisition.common import common_rows
from ceibo.acquisition.efficient import probability_efficient
from ceibo.acquisition.fronts import nondominated
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Matern52
from tests.acquisition.goals import bounds_of, make_processes
from tests.helpers import Array, Dense

by_goals = pytest.mark.parametrize("goals", [2, 3])


def counted(goals: list[GaussianProcess], limits: list[Limit], X: Array, count: int) -> Array:
    """The same by the definition, draw by draw, from the textbook posterior."""
    rng = np.random.default_rng(99)
    f, *bounded = [
        [
            rng.multivariate_normal(
                Dense(gp).mean(X), Dense(gp).covariance(X, X), count, method="eigh"
            )
            for gp in processes
        ]
        for processes in (goals, [limit.gp for limit in limits])
    ]
    values = np.stack(f, axis=-1)
    holds = np.ones(values.shape[:2], dtype=bool)
    for draws, limit in zip(bounded[0], limits, strict=True):
        holds &= draws <= limit.bound
    total = np.zeros(len(X))
    for rows, eligible in zip(values, holds, strict=True):
        places = np.flatnonzero(eligible)
        if len(places):
            total[places[nondominated(rows[places])]] += 1.0
    return total / count


@by_goals
@pytest.mark.parametrize("limits", [0, 2])
def test_chances_are_those_of_independent_draws(goals: int, limits: int) -> None:
    processes = make_processes(goals, goals + limits, n=15, noise=0.4)
    given = bounds_of(processes[goals:])
    got = probability_efficient(processes[:goals], given)
    expected = counted(processes[:goals], given, processes[0].X, 4000)
    error = np.sqrt(np.maximum(expected * (1 - expected), 1e-3) * (1 / 4000 + 1 / 4096))
    assert np.all(np.abs(got - expected) < 5 * error)
    assert np.ptp(got) > 0.5


@by_goals
def test_without_noise_the_front_is_certain(goals: int) -> None:
    processes = make_processes(3, goals, n=20, noise=0.0)
    front = nondominated(np.column_stack([gp.y for gp in processes]))
    np.testing.assert_array_equal(probability_efficient(processes), front.astype(float))


def test_one_point_is_efficient_when_it_holds_its_limits() -> None:
    *goals, limit = make_processes(4, 3, n=5, noise=0.5)
    x = np.array([[0.4, 0.6]])
    bound = Limit(limit, float(np.median(limit.y)))
    mean, variance = limit.posterior(x)
    (got,) = probability_efficient(goals, [bound], x)
    expected = norm.cdf((bound.bound - mean[0]) / np.sqrt(variance[0]))
    assert got == pytest.approx(expected, abs=1 / 4096)  # one draw for each share of the chance
    assert probability_efficient(goals, points=x) == 1.0


def test_where_no_point_can_hold_the_limits_none_is_efficient() -> None:
    *goals, limit = make_processes(5, 3, n=8)
    chances = probability_efficient(goals, [Limit(limit, float(limit.y.min()) - 100.0)])
    np.testing.assert_array_equal(chances, np.zeros(8))


def test_limits_of_others_raise_a_points_chance() -> None:
    """A dominated point is efficient once what dominates it breaks its limit."""
    X = np.array([[0.2], [0.8]])
    goals = [GaussianProcess(X, [0.0, 1.0], 1e-4, Matern52([0.2])) for _ in range(2)]
    limit = GaussianProcess(X, [5.0, 0.0], 1e-4, Matern52([0.2]))
    np.testing.assert_allclose(probability_efficient(goals), [1.0, 0.0])
    np.testing.assert_allclose(probability_efficient(goals, [Limit(limit, 1.0)]), [0.0, 1.0])


@by_goals
def test_repeated_points_share_their_chance(goals: int) -> None:
    processes = make_processes(6, goals, n=6, noise=0.4)
    X = processes[0].X
    once = probability_efficient(processes, points=X)
    twice = probability_efficient(processes, points=np.concatenate([X, X[::-1]]))
    np.testing.assert_array_equal(twice, np.concatenate([once, once[::-1]]))


def test_points_by_default_are_those_that_all_have_observed() -> None:
    one, two = make_processes(7, 2, n=8, noise=0.3)
    later = GaussianProcess(two.X[[5, 2, 7]], two.y[[5, 2, 7]], 0.09, two.kernel, two.mean)
    rows = common_rows([one.X, later.X])
    np.testing.assert_array_equal(rows, [[2, 1], [5, 0], [7, 2]])
    chances = probability_efficient([one, later])
    np.testing.assert_array_equal(
        chances, probability_efficient([one, later], points=one.X[rows[:, 0]])
    )
    apart = GaussianProcess(two.X / 3, two.y, 0.09, two.kernel, two.mean)
    assert probability_efficient([one, apart]).shape == (0,)


def test_units_do_not_matter() -> None:
    one, two = make_processes(8, 2, n=10, noise=0.3)
    factor = 2.0**-498
    kernel = Matern52(two.kernel.lengthscales, two.kernel.variance * factor**2)
    scaled = GaussianProcess(
        two.X, two.y * factor, two.noise_variance * factor**2, kernel, two.mean * factor
    )
    np.testing.assert_array_equal(
        probability_efficient([one, scaled]), probability_efficient([one, two])
    )


def test_many_points_take_fewer_draws_and_leave_out_the_hopeless() -> None:
    processes = make_processes(9, 3, n=300, d=2, noise=0.3)
    chances = probability_efficient(processes)
    means = np.column_stack([gp.posterior(gp.X)[0] for gp in processes])
    assert 1.0 <= chances.sum() <= 300
    # the most likely ones are where the front of the means is
    assert np.all(chances[nondominated(means)] > 0.01)


def test_minus_zero_is_zero() -> None:
    np.testing.assert_array_equal(
        common_rows([np.array([[0.0, 1.0]]), np.array([[-0.0, 1.0]])]), [[0, 0]]
    )


def test_one_goal_is_refused() -> None:
    with pytest.raises(InputError, match="2 or 3 goals, got 1"):
        probability_efficient(make_processes(0, 1))
