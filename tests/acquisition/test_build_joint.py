"""Acquisitions of one goal under limits by name: gradients, draws, units, search, refusals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ceibo.acquisition import Limit, build, build_joint, chances, maximize
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Matern52
from tests.helpers import Array, Dense, assert_gradient, central_difference, make_gp, wrong
from tests.limited import booked_value, make_case, make_limits, scaled

NAMES = (
    "noisy-ei",
    "q-noisy-ei",
    "corrected-ei",
    "ei",
    "pi",
    "corrected-pi",
    "corrected-kg",
    "knowledge-gradient",
)
by_name = pytest.mark.parametrize("name", NAMES)


def new_points(seed: int, n: int = 6, d: int = 2) -> Array:
    return np.random.default_rng(3000 + seed).random((n, d))


# -- all of them -----------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name != "q-noisy-ei"])
@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_those_of_the_values(name: str, seed: int) -> None:
    goal, limits = make_case(seed, d=3, n=12, partly=seed)
    acq, X = build_joint(name, [goal], limits), new_points(seed, 5, 3)
    gradient = acq.log_value_and_gradient(X)[1]
    numeric = [central_difference(lambda p: acq.log_value(p[None])[0], x) for x in X]
    assert_gradient(gradient, np.array(numeric))
    value, gradient = acq.value_and_gradient(X)
    # what changes by a large factor within a step is left to the logarithm
    slow = np.linalg.norm(gradient, axis=1) < 30 * value
    numeric = [central_difference(lambda p: acq.value(p[None])[0], x, 1e-4) for x in X[slow]]
    assert np.any(slow)
    assert_gradient(gradient[slow], np.array(numeric))


def test_the_rounded_form_of_qnei_has_its_gradient_too() -> None:
    """The value itself has kinks, one per draw, in which finite differences fall."""
    goal, limits = make_case(0)
    acq: Any = build_joint("q-noisy-ei", [goal], limits, draws=16)

    def climbed(x: Array) -> float:
        return float(acq.climbable(acq.predictor(x[None])).value[0])

    X = new_points(1, 5)
    prediction = acq.predictor(X)
    gradient = acq.climbable(prediction).gradient(prediction)
    numeric = np.array([central_difference(climbed, x, 1e-6) for x in X])
    assert_gradient(gradient, numeric, rtol=1e-4)
    value, gradient = acq.value_and_gradient(X)
    by_log = acq.log_value_and_gradient(X)[1] * value[:, None]
    np.testing.assert_allclose(gradient, by_log, rtol=1e-9, atol=1e-12)


@by_name
def test_values_are_positive_and_logarithms_agree(name: str) -> None:
    goal, limits = make_case(1)
    acq, X = build_joint(name, [goal], limits), new_points(2, 100)
    values = acq.value(X)
    assert np.all(values >= 0)
    with np.errstate(divide="ignore"):
        expected = np.log(values)
    large = values > 1e-300
    np.testing.assert_allclose(acq.log_value(X)[large], expected[large], rtol=1e-10, atol=1e-10)


@by_name
def test_limits_that_certainly_hold_change_nothing(name: str) -> None:
    goal, limits = make_case(2)
    certain = [Limit(limit.gp, 1e3) for limit in limits]
    X = new_points(3, 40)
    expected = build(name, goal, seed=4).value(X)
    got = build_joint(name, [goal], certain, seed=4).value(X)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13 * expected.max())


@by_name
@pytest.mark.parametrize("powers", [(498, -498, 30, 0), (-498, 498, -7, 400), (3, 0, -498, 498)])
def test_units_of_each_outcome_are_its_own(name: str, powers: tuple[int, ...]) -> None:
    """Powers of two from 1e-150 to 1e150 change no bit of what is searched."""
    goal, limits = make_case(3)
    factors = [2.0**power for power in powers]
    others = [
        Limit(scaled(limit.gp, factor), limit.bound * factor)
        for limit, factor in zip(limits, factors[1:], strict=True)
    ]
    acq = build_joint(name, [goal], limits, draws=8)
    other = build_joint(name, [scaled(goal, factors[0])], others, draws=8)
    X = new_points(4, 30)
    np.testing.assert_array_equal(other.value(X) / other.scale, acq.value(X) / acq.scale)
    np.testing.assert_array_equal(maximize(other, seed=1).x, maximize(acq, seed=1).x)


@by_name
def test_other_units_move_the_maximum_by_rounding_only(name: str) -> None:
    goal, limits = make_case(5, n=8)
    acq = build_joint(name, [goal], limits, draws=8)
    factors = (3e149, 7e-150, 1.1, 9e120)
    others = [
        Limit(scaled(limit.gp, factor), limit.bound * factor)
        for limit, factor in zip(limits, factors[1:], strict=True)
    ]
    other = build_joint(name, [scaled(goal, factors[0])], others, draws=8)
    X = new_points(5, 30)
    moved = other.value(X) if name in ("pi", "corrected-pi") else other.value(X) / factors[0]
    np.testing.assert_allclose(moved, acq.value(X), rtol=1e-6, atol=1e-9 * acq.value(X).max())


@by_name
def test_discrete_dimensions_are_searched_as_such(name: str) -> None:
    goal = make_gp(6, n=14, d=3, noise=(1e-2, 0.3), categorical=(2,))
    limits = []
    for limit in make_limits(goal, 6, count=2):
        kernel = Matern52(limit.gp.kernel.lengthscales, 1.0, (2,))
        gp = GaussianProcess(limit.gp.X, limit.gp.y, 0.05, kernel)
        limits.append(Limit(gp, limit.bound))
    acq = build_joint(name, [goal], limits, draws=8)
    levels = {1: np.linspace(0, 1, 5), 2: np.array([0.0, 0.5, 1.0])}
    x, value = maximize(acq, discrete=levels)
    assert x[1] in levels[1]
    assert x[2] in levels[2]
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(1200), *(rng.choice(levels[k], 1200) for k in (1, 2))])
    assert np.all(acq.value(X) <= value * (1 + 1e-9))


@by_name
def test_an_outcome_measured_only_partly_takes_part(name: str) -> None:
    goal, limits = make_case(7, partly=5)
    x, value = maximize(build_joint(name, [goal], limits, draws=8))
    assert np.all((x >= 0) & (x <= 1))
    assert value > 0


@pytest.mark.parametrize("name", ["corrected-ei", "noisy-ei", "knowledge-gradient"])
def test_the_search_climbs_as_high_as_a_fine_grid(name: str) -> None:
    goal, limits = make_case(8)
    acq = build_joint(name, [goal], limits)
    side = np.linspace(0, 1, 101)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert maximize(acq).value >= acq.value(grid).max() * (1 - 1e-9)


def hostile_process(X: Array, rng: np.random.Generator) -> GaussianProcess:
    """Any units, no noise or nothing else, constant values, the shortest and longest scales."""
    size = 10.0 ** rng.integers(-120, 120)
    y = size * (rng.standard_normal(len(X)) if rng.random() < 0.8 else np.ones(len(X)))
    kernel = Matern52(10 ** rng.uniform(-2, 1, X.shape[1]), size**2 * 10 ** rng.uniform(-3, 1))
    noise = size**2 * rng.choice([0.0, 1e-12, 1e-4, 0.1, 100.0])
    return GaussianProcess(X, y, noise, kernel, float(size * rng.standard_normal()))


@by_name
@pytest.mark.parametrize("seed", range(6))
def test_hostile_states_give_numbers(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((int(rng.integers(1, 9)), 2))
    X[len(X) // 2 :] = X[: len(X) - len(X) // 2] + rng.choice([0.0, 1e-9, 0.1])
    goal, limits = hostile_process(X, rng), []
    for far in rng.choice([0.0, 1.0, -50.0, 1e6, -1e6, 1e300, -1e300], 3):
        gp = hostile_process(X, rng)
        limits.append(Limit(gp, far if abs(far) > 1e200 else float(far * np.abs(gp.y).max())))
    acq = build_joint(name, [goal], limits, draws=8)
    near = np.concatenate([X, X + 1e-7, X + 1e-3, rng.random((20, 2))])
    for value, gradient in (acq.value_and_gradient(near), acq.log_value_and_gradient(near)):
        assert not np.any(np.isnan(value))
        assert np.all(value < np.inf)
        assert not np.any(np.isnan(gradient))


# -- draws -----------------------------------------------------------------------------


def simulated(
    goal: GaussianProcess, limits: Sequence[Limit], x: Array, pending: Array | None = None
) -> Array:
    """Improvements of x on the best common point that holds the limits, in plain joint draws."""
    rng, count = np.random.default_rng(0), 200_000
    kept = [{x.tobytes() for x in limit.gp.X} for limit in limits]
    common = [x for x in goal.X if all(x.tobytes() in each for each in kept)]
    extra = [] if pending is None else list(pending)
    at = np.array([*common, *extra, x])

    def draws(gp: GaussianProcess) -> Array:
        dense = Dense(gp, pending, float(np.mean(gp.noise_variance)))
        return rng.multivariate_normal(
            dense.mean(at), dense.covariance(at, at), count, method="eigh"
        )

    f = draws(goal)
    holds = np.ones(f.shape, dtype=bool)
    for limit in limits:
        holds &= draws(limit.gp) <= limit.bound
    best = np.where(holds[:, :-1], f[:, :-1], np.inf).min(axis=1)
    best = np.where(np.isfinite(best), best, booked_value(goal))
    return np.where(holds[:, -1], np.maximum(best - f[:, -1], 0.0), 0.0)


@pytest.mark.parametrize("name", ["noisy-ei", "q-noisy-ei"])
@pytest.mark.parametrize("seed", range(2))
def test_both_estimate_the_improvement_on_what_holds(name: str, seed: int) -> None:
    goal, limits = make_case(seed, n=7, count=2, partly=2 * seed)
    acq = build_joint(name, [goal], limits, draws=4096)
    for x in new_points(10 + seed, 3):
        plain = simulated(goal, limits, x)
        error = np.std(plain) * np.hypot(1 / np.sqrt(4096), 1 / np.sqrt(len(plain)))
        assert abs(acq.value(x[None])[0] - plain.mean()) < 5 * error


@pytest.mark.parametrize("name", ["noisy-ei", "q-noisy-ei"])
def test_pending_points_count_among_the_common_ones(name: str) -> None:
    goal, limits = make_case(3, n=7, count=2)
    pending, x = new_points(20, 2), new_points(21, 1)[0]
    later = [Limit(limit.gp.condition(pending), limit.bound) for limit in limits]
    acq = build_joint(name, [goal.condition(pending)], later, draws=4096)
    plain = simulated(goal, limits, x, pending)
    assert abs(acq.value(x[None])[0] - plain.mean()) < 5 * np.std(plain) / np.sqrt(4096)


@by_name
def test_the_next_point_is_not_one_under_way(name: str) -> None:
    goal, limits = make_case(9)
    first = maximize(build_joint(name, [goal], limits, draws=32)).x
    later = [Limit(limit.gp.condition(first[None], 1e-6), limit.bound) for limit in limits]
    acq = build_joint(name, [goal.condition(first[None], 1e-6)], later, draws=32)
    assert np.all(np.isfinite(acq.value(first[None])))
    assert np.linalg.norm(maximize(acq).x - first) > 1e-3


# -- by weights ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ei", "pi", "corrected-pi", "corrected-kg"])
def test_weighted_ones_are_the_goals_times_the_chance(name: str) -> None:
    goal, limits = make_case(4)
    # with x⁺ the goal's own incumbent, the goal's part is that of `build`
    generous = [Limit(limit.gp, limit.bound + 3.0) for limit in limits]
    acq: Any = build_joint(name, [goal], generous, confidence=0.6)
    plain = build(name, goal)
    assert acq.incumbent.index == plain.incumbent.index
    X = new_points(5, 20)
    np.testing.assert_allclose(acq.value(X), plain.value(X) * chances(generous, X), rtol=1e-10)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "q-noisy-ei"])
def test_nothing_is_flat_while_no_point_is_known_to_hold(name: str) -> None:
    goal, limits = make_case(5)
    never = [Limit(limit.gp, -9.0) for limit in limits]
    acq, X = build_joint(name, [goal], never), new_points(6, 20)
    value, gradient = acq.log_value_and_gradient(X)
    assert np.all(np.isfinite(value))
    assert np.all(np.linalg.norm(gradient, axis=1) > 1e-3)


# -- refusals --------------------------------------------------------------------------


def test_what_has_no_meaning_is_refused() -> None:
    goal, limits = make_case(0)
    with pytest.raises(InputError, match=r"'ucb' has no meaning under limits.*noisy-ei"):
        build_joint("ucb", [goal], limits)
    with pytest.raises(InputError, match="must be one of"):
        build_joint("noisy-eii", [goal], limits)
    with pytest.raises(InputError, match="one to 3 goals"):
        build_joint("noisy-ei", [], limits)
    with pytest.raises(InputError, match="one to 3 goals"):
        build_joint("noisy-ei", [goal] * 4, limits)
    with pytest.raises(InputError, match="'corrected-ei' has no meaning for 2 goals"):
        build_joint("corrected-ei", [goal, goal], limits)
    for confidence in (0.0, 1.0, "high", float("nan")):
        with pytest.raises(InputError, match="confidence must be a number between 0 and 1"):
            build_joint("noisy-ei", [goal], limits, confidence=wrong(confidence))
