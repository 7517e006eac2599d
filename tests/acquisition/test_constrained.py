"""Corrected EI with limits: Monte Carlo, integration, special cases, the neighbourhood of x⁺."""

from typing import Any

import numpy as np
import pytest

from ceibo.acquisition import Limit, build, build_joint, chances
from ceibo.acquisition.base import Surface
from ceibo.acquisition.closed_form import expected_improvement
from ceibo.gp import GaussianProcess, Matern52
from tests.helpers import Array, assert_within_error, make_gp
from tests.limited import (
    booked_value,
    integrated_improvement,
    make_case,
    make_limits,
    simulated_improvements,
)

by_seed = pytest.mark.parametrize("seed", range(4))


def corrected(goal: GaussianProcess, limits: tuple[Limit, ...]) -> Any:
    return build_joint("corrected-ei", [goal], limits)


def new_points(seed: int, n: int = 5, d: int = 2) -> Array:
    return np.random.default_rng(2000 + seed).random((n, d))


@by_seed
def test_it_is_the_mean_improvement_of_joint_draws(seed: int) -> None:
    goal, limits = make_case(seed, partly=seed % 2)
    acq, x = corrected(goal, limits), new_points(seed, 1)[0]
    rng = np.random.default_rng(seed)
    draws = simulated_improvements(goal, limits, (x, acq.incumbent), 200_000, rng)
    assert_within_error(acq.value(x[None])[0], draws)


@by_seed
def test_it_is_what_integration_gives(seed: int) -> None:
    goal, limits = make_case(seed)
    acq = corrected(goal, limits)
    for x in new_points(seed, 3):
        expected = integrated_improvement(goal, limits, x, acq.incumbent)
        assert acq.value(x[None])[0] == pytest.approx(expected, rel=1e-8)


def test_without_limits_it_is_what_build_gives() -> None:
    goal, X = make_gp(0, d=2), new_points(0, 20)
    for name in ("corrected-ei", "noisy-ei", "ucb"):
        joint, plain = build_joint(name, [goal], seed=3), build(name, goal, seed=3)
        assert type(joint) is type(plain)
        np.testing.assert_array_equal(joint.value(X), plain.value(X))


@by_seed
def test_limits_that_certainly_hold_change_nothing(seed: int) -> None:
    goal, limits = make_case(seed)
    certain = tuple(Limit(limit.gp, 1e3) for limit in limits)
    X = new_points(seed, 50)
    plain = build("corrected-ei", goal)
    joint = corrected(goal, certain)
    np.testing.assert_allclose(joint.value(X), plain.value(X), rtol=1e-12)
    got, expected = joint.log_value_and_gradient(X)[1], plain.log_value_and_gradient(X)[1]
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@by_seed
def test_without_noise_it_is_ei_times_the_chance(seed: int) -> None:
    goal = make_gp(seed, n=9, d=2, noise=(0.0, 0.0))
    limits = make_limits(goal, seed, noise=(0.0, 0.0))
    acq, X = corrected(goal, limits), new_points(seed, 40)
    assert acq.incumbent.chance == 1.0
    mean, variance = goal.posterior(X)
    ei = expected_improvement(acq.incumbent.mean - mean, np.sqrt(variance))[0]
    expected = ei * chances(limits, X)
    np.testing.assert_allclose(acq.value(X), expected, rtol=1e-6, atol=1e-9 * expected.max())


@by_seed
def test_with_no_point_known_to_hold_it_seeks_one(seed: int) -> None:
    """P(limits hold)·E[max(0, M − f)], with a slope everywhere."""
    goal, limits = make_case(seed)
    apart = make_limits(make_gp(50 + seed, n=9, d=2), seed)
    X = new_points(seed, 30)
    acq = corrected(goal, (*limits, apart[0]))
    assert acq.incumbent is None
    mean, variance = goal.posterior(X)
    gain = expected_improvement(booked_value(goal) - mean, np.sqrt(variance))[0]
    np.testing.assert_allclose(acq.value(X), gain * chances((*limits, apart[0]), X), rtol=1e-9)
    # an incumbent that cannot hold the limits is as good as none
    never = tuple(Limit(limit.gp, -12.0) for limit in limits)
    hopeless = corrected(goal, never)
    assert hopeless.incumbent.chance < 1e-9
    expected = gain * chances(never, X)
    np.testing.assert_allclose(hopeless.value(X), expected, rtol=1e-6)
    assert np.all(np.linalg.norm(hopeless.log_value_and_gradient(X)[1], axis=1) > 1e-3)


@by_seed
def test_it_is_zero_at_the_incumbent_and_only_there(seed: int) -> None:
    goal, limits = make_case(seed)
    acq = corrected(goal, limits)
    best = acq.incumbent.x
    assert acq.value(best[None])[0] == 0.0
    assert acq.log_value(best[None])[0] == -np.inf
    assert np.all(np.isfinite(acq.value_and_gradient(best[None])[1]))
    # f(x) − f(x⁺) and P(A) − P(AB) both are of the order of the distance
    direction = np.array([0.6, 0.8])
    distances = np.array([1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6])
    X = best + distances[:, None] * direction
    steps = np.linalg.norm(X - best, axis=1)
    rates = acq.value(X) / steps
    assert np.all(rates > 0)
    np.testing.assert_allclose(rates, rates[3], rtol=1e-4)


def finite_far_away(acq: Surface[Any], X: Array) -> None:
    value, gradient = acq.log_value_and_gradient(X)
    assert np.all(np.isfinite(value))
    assert np.all(np.isfinite(gradient))
    assert np.all(np.linalg.norm(gradient, axis=1) > 0)


@pytest.mark.parametrize("name", ["corrected-ei", "noisy-ei", "ei"])
def test_logarithms_have_a_slope_where_values_underflow(name: str) -> None:
    goal = GaussianProcess([[0.1], [0.5], [0.9]], [-3.0, 0.0, 3.0], 1e-4, Matern52([0.3]))
    steep = GaussianProcess([[0.1], [0.5], [0.9]], [-40.0, 3.0, 60.0], 1e-4, Matern52([0.3], 1.0))
    acq = build_joint(name, [goal], [Limit(steep, 0.0)])
    X = np.linspace(0.55, 0.95, 9)[:, None]
    assert acq.value(X)[4:].max() < 1e-200
    finite_far_away(acq, X)


def test_a_more_correlated_limit_makes_the_incumbents_neighbours_worth_less() -> None:
    """Where x holds a limit if and only if x⁺ does, infeasibility of x⁺ promises nothing."""
    X = np.array([[0.3], [0.7]])
    goal = GaussianProcess(X, [0.0, 1.0], 0.01, Matern52([0.5]))
    values = []
    for lengthscale in (0.05, 0.5, 5.0):
        gp = GaussianProcess(X, [0.1, 0.1], 0.5, Matern52([lengthscale]))
        acq = corrected(goal, (Limit(gp, 0.0),))
        values.append(acq.value([[0.31]])[0] / chances([Limit(gp, 0.0)], [[0.31]])[0])
    assert values[0] > values[1] > values[2]
