"""The global search: dense grids, brute force, exact bounds and values, determinism."""

import doctest
import importlib
import itertools
import pkgutil
from typing import Any

import numpy as np
import pytest

import ceibo.acquisition
from ceibo.acquisition import Acquisition, SearchSettings, build, maximize, recommend
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Matern52
from tests.helpers import ACQUISITION_NAMES, KERNELS, Array, Dense, make_gp

by_name = pytest.mark.parametrize("name", ACQUISITION_NAMES)


def score(acq: Acquisition, X: Array) -> Array:
    """What is climbed: the logarithm (rounded off for qNEI), or the value of a confidence bound."""
    return acq.climbable(acq.predictor(X)).value


def grid(*axes: Array) -> Array:
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


# -- continuous ------------------------------------------------------------------------


@by_name
@pytest.mark.parametrize("seed", range(3))
def test_in_one_dimension_no_grid_point_is_better(name: str, seed: int) -> None:
    acq = build(name, make_gp(seed, n=6, d=1, kernel=KERNELS[seed], noise=(1e-3, 0.1)))
    x, value = maximize(acq, seed=seed)
    best = score(acq, np.linspace(0, 1, 5001)[:, None]).max()
    # In logarithm or in units of the kernel: a thousandth of a per cent.
    assert score(acq, x[None])[0] >= best - 1e-5
    assert value == acq.value(x[None])[0]


@by_name
@pytest.mark.parametrize("seed", range(2))
def test_in_two_dimensions_no_grid_point_is_better(name: str, seed: int) -> None:
    acq = build(name, make_gp(10 + seed, n=10, d=2, noise=(1e-3, 0.1)))
    x, _ = maximize(acq, seed=seed)
    axis = np.linspace(0, 1, 101)
    assert score(acq, x[None])[0] >= score(acq, grid(axis, axis)).max() - 1e-5


# Corrected PI has its supremum in the limit x → x⁺, where f(x) − f(x⁺) vanishes but its sign does
# not.
@pytest.mark.parametrize("name", [n for n in ACQUISITION_NAMES if n != "corrected-pi"])
def test_the_maximum_is_a_stationary_point_or_at_a_bound(name: str) -> None:
    """The gradient, on the scale of a length scale, is small unless it points out of the box."""
    acq = build(name, make_gp(3, n=15, d=4, noise=(1e-3, 0.1)))
    x, _ = maximize(acq, seed=0)
    prediction = acq.predictor(x[None])
    gradient = acq.climbable(prediction).gradient(prediction)[0]
    outward = ((x == 0) & (gradient < 0)) | ((x == 1) & (gradient > 0))
    # those have kinks, of slope or curvature
    limit = 0.5 if name in ("q-noisy-ei", "knowledge-gradient") else 1e-3
    assert np.all(np.abs(gradient[~outward] * acq.gp.kernel.lengthscales[~outward]) < limit)


def test_bounds_are_exact() -> None:
    """A function that falls towards a corner has its recommendation in that corner, to the bit."""
    X = np.random.default_rng(0).random((30, 3))
    gp = GaussianProcess(X, X @ [1.0, -1.0, 2.0], 1e-6, Matern52([3.0, 3.0, 3.0], 10.0))
    assert recommend(gp).x.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("d", [1, 6, 20])
@by_name
def test_points_are_inside_the_box(name: str, d: int) -> None:
    acq = build(name, make_gp(d, n=10, d=d))
    x, value = maximize(
        acq, seed=1, settings=SearchSettings(raw=64, cloud=16, starts=2, iterations=20)
    )
    assert x.shape == (d,)
    assert np.all((x >= 0) & (x <= 1))
    assert np.isfinite(value)


def test_data_outside_the_box_do_not_lead_out_of_it() -> None:
    gp = GaussianProcess([[-0.5], [1.5]], [-3.0, -1.0], 0.01, Matern52([0.5]))
    assert 0 <= maximize(build("ucb", gp)).x[0] <= 1


@by_name
def test_the_same_seed_gives_the_same_point_bit_for_bit(name: str) -> None:
    gp = make_gp(4, n=15, d=3)
    one, other = (maximize(build(name, gp, seed=2), seed=7) for _ in range(2))
    np.testing.assert_array_equal(one.x, other.x)
    assert one.value == other.value


def test_a_better_search_never_needs_to_be_luckier() -> None:
    """Different seeds end at the same maximum of a surface with few bumps."""
    acq = build("corrected-ei", make_gp(5, n=8, d=2))
    values = [maximize(acq, seed=seed).value for seed in range(6)]
    assert max(values) - min(values) < 1e-6 * max(values)


# -- discrete --------------------------------------------------------------------------

LEVELS = {0: [0.0, 0.5, 1.0], 1: [0.0, 0.25, 0.5, 0.75, 1.0], 2: [0.1, 1 / 3, 0.9]}


@by_name
@pytest.mark.parametrize("categorical", [(), (0, 2)], ids=str)
def test_a_discrete_space_is_searched_exhaustively(name: str, categorical: tuple[int, ...]) -> None:
    acq = build(name, make_gp(6, n=10, d=3, categorical=categorical))
    everything = grid(*(np.array(LEVELS[k]) for k in range(3)))
    x, _ = maximize(acq, discrete=LEVELS)
    assert score(acq, x[None])[0] == pytest.approx(score(acq, everything).max(), rel=1e-12)
    assert all(x[k] in LEVELS[k] for k in range(3))


@pytest.mark.parametrize("seed", range(3))
def test_a_large_discrete_space_is_searched_well(seed: int) -> None:
    """Of 4,096 points, twice what is enumerated, sweeps find one of the best 0.01 %."""
    acq = build("corrected-ei", make_gp(20 + seed, n=12, d=4))
    axis = np.linspace(0, 1, 8)
    x, _ = maximize(acq, discrete=dict.fromkeys(range(4), axis), seed=seed)
    everything = score(acq, grid(axis, axis, axis, axis))
    assert all(np.any(x[k] == axis) for k in range(4))
    assert score(acq, x[None])[0] >= everything.max() - 1e-9


@pytest.mark.parametrize("name", ["corrected-ei", "ucb", "knowledge-gradient", "q-noisy-ei"])
@pytest.mark.parametrize("categorical", [(), (1,)], ids=str)
def test_a_mixed_space_is_searched_as_well_as_each_slice(
    name: str, categorical: tuple[int, ...]
) -> None:
    """Brute force: a dense grid for every combination of the discrete dimensions."""
    acq = build(name, make_gp(7, n=14, d=3, categorical=categorical))
    discrete = {1: [0.0, 0.5, 1.0], 2: [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]}
    x, _ = maximize(acq, discrete=discrete, seed=3)
    everything = grid(np.linspace(0, 1, 501), np.array(discrete[1]), np.array(discrete[2]))
    assert score(acq, x[None])[0] >= score(acq, everything).max() - 1e-5
    assert x[1] in discrete[1]
    assert x[2] in discrete[2]


def test_a_dimension_of_very_many_values_is_searched_near_and_far() -> None:
    acq = build("corrected-ei", make_gp(8, n=10, d=2))
    allowed = np.linspace(0, 1, 1001)
    x, _ = maximize(acq, discrete={1: allowed}, seed=0)
    everything = grid(np.linspace(0, 1, 201), allowed)
    assert np.any(x[1] == allowed)
    assert score(acq, x[None])[0] >= score(acq, everything).max() - 1e-3


def test_discrete_values_are_handed_back_exactly() -> None:
    """Values with no short binary form come back as the same numbers."""
    allowed = np.array([0.1, 0.2, 0.3, 0.7]) + 1e-16
    for seed in range(5):
        x, _ = maximize(build("ucb", make_gp(seed, n=5, d=2)), discrete={0: allowed}, seed=seed)
        assert np.any(x[0] == allowed)


def test_a_categorical_column_without_a_list_takes_values_that_were_seen() -> None:
    gp = make_gp(9, n=12, d=2, categorical=(1,))
    x, _ = maximize(build("corrected-ei", gp))
    assert x[1] in set(gp.X[:, 1])


def test_a_single_allowed_value_is_a_fixed_coordinate() -> None:
    acq = build("corrected-ei", make_gp(9, n=12, d=2))
    x, _ = maximize(acq, discrete={1: [0.25]})
    line = grid(np.linspace(0, 1, 2001), np.array([0.25]))
    assert x[1] == 0.25
    assert score(acq, x[None])[0] >= score(acq, line).max() - 1e-5


# -- the recommendation ----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_recommendation_is_the_minimum_of_the_posterior_mean(seed: int) -> None:
    gp = make_gp(seed, n=10, d=2, noise=(0.01, 0.5))
    x, mean = recommend(gp, seed=seed)
    axis = np.linspace(0, 1, 101)
    dense = Dense(gp)
    assert mean == pytest.approx(dense.mean(x[None])[0], rel=1e-10)
    assert mean <= dense.mean(grid(axis, axis)).min() + 1e-6
    assert mean <= dense.mean(gp.X).min() + 1e-9


def test_the_recommendation_respects_discrete_dimensions() -> None:
    gp = make_gp(2, n=10, d=2)
    x, mean = recommend(gp, discrete={0: [0.0, 1.0], 1: [0.2, 0.4]})
    means = {
        pair: gp.posterior([list(pair)])[0][0] for pair in itertools.product([0.0, 1.0], [0.2, 0.4])
    }
    assert mean == pytest.approx(min(means.values()), rel=1e-12)
    assert means[x[0], x[1]] == pytest.approx(mean, rel=1e-12)


# -- bad input -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"discrete": {3: [0.0]}}, ["discrete columns must be from 0 to 2", "got 3"]),
        ({"discrete": {-1: [0.0]}}, ["discrete columns must be from 0 to 2", "got -1"]),
        ({"discrete": {"temp": [0.0]}}, ["discrete", "'temp'"]),
        ({"discrete": {1.5: [0.0]}}, ["discrete", "1.5"]),
        ({"discrete": {0: []}}, ["discrete[0] must hold values from 0 to 1", "[]"]),
        ({"discrete": {0: [0.5, 1.5]}}, ["discrete[0] must hold values from 0 to 1", "1.5"]),
        ({"discrete": {0: [np.nan]}}, ["discrete[0] must hold values from 0 to 1", "nan"]),
        ({"discrete": {0: ["a"]}}, ["discrete[0] must"]),
        ({"seed": -1}, ["seed", "-1"]),
        ({"seed": 0.5}, ["seed", "0.5"]),
    ],
    ids=str,
)
def test_bad_arguments_say_what_was_expected_and_what_came(
    arguments: dict[str, Any], words: list[str]
) -> None:
    acq = build("ei", make_gp(1))
    with pytest.raises(InputError) as caught:
        maximize(acq, **arguments)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("name", "bad"), [("raw", 0), ("cloud", -1), ("starts", 0), ("iterations", -1), ("rounds", 0)]
)
def test_settings_have_lower_limits(name: str, bad: int) -> None:
    least = "number above zero" if bad == 0 else "number, zero or above"
    with pytest.raises(InputError, match=f"{name} must be a whole {least}, got {bad}"):
        SearchSettings(**{name: bad})


# -- the examples in the docstrings ----------------------------------------------------


@pytest.mark.parametrize(
    "module", [m.name for m in pkgutil.iter_modules(ceibo.acquisition.__path__)]
)
def test_examples_in_the_docstrings_run(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"ceibo.acquisition.{module}")).failed == 0
