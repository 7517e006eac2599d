"""Measured tables: the truth is the mean of the surfaces, which are multilinear between what was
really measured.
"""

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from ceibo.errors import InputError
from ceibo_lab.problems import shifted
from ceibo_lab.problems.tables import TABLES, Axis, Table, boosting, mlp, svm, table
from pages.measure_tables import RECIPES, main, measure, save, split_of

PROBLEMS = {"svm": svm, "mlp": mlp, "boosting": boosting}


def grid_points(target: Table) -> np.ndarray:
    return np.array(list(itertools.product(*(axis.grid for axis in target.axes))))


def scipy_surface(target: Table, values: np.ndarray) -> RegularGridInterpolator:
    return RegularGridInterpolator([axis.grid for axis in target.axes], values)


@pytest.fixture(params=TABLES)
def target(request: pytest.FixtureRequest) -> Table:
    return table(request.param)


@pytest.fixture
def U(target: Table) -> np.ndarray:
    return np.random.default_rng(1).random((200, target.dimension))


def test_the_truth_is_the_mean_of_what_repetitions_measure(target: Table, U: np.ndarray) -> None:
    measured = np.array([[target.outcome(u, r) for r in range(target.repetitions)] for u in U[:20]])
    np.testing.assert_allclose(target.truth(U[:20]), measured.mean(axis=1), rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        [target.std(u) for u in U[:20]], measured.std(axis=1, ddof=1), rtol=1e-12
    )


def test_between_grid_points_surfaces_are_those_of_scipy(target: Table, U: np.ndarray) -> None:
    np.testing.assert_allclose(
        target.truth(U), scipy_surface(target, target.means)(U), rtol=0, atol=1e-13
    )
    for r in (0, target.repetitions - 1):
        oracle = scipy_surface(target, target.outcomes[..., r])(U)
        np.testing.assert_allclose([target.outcome(u, r) for u in U], oracle, rtol=0, atol=1e-13)


def test_at_grid_points_surfaces_are_what_was_measured(target: Table) -> None:
    points = grid_points(target)
    np.testing.assert_allclose(target.truth(points), target.means.ravel(), rtol=0, atol=1e-13)
    stored = target.outcomes.reshape(len(points), -1)
    for k in range(0, len(points), 17):
        assert target.outcome(points[k], 3) == pytest.approx(stored[k, 3], abs=1e-13)


def test_beyond_the_cube_surfaces_go_on_as_at_the_edge(target: Table, U: np.ndarray) -> None:
    beyond = 3.0 * U - 1.0
    np.testing.assert_array_equal(target.truth(beyond), target.truth(np.clip(beyond, 0.0, 1.0)))


def test_minimum_optimisers_and_range_are_those_of_the_mean_surface(
    target: Table, U: np.ndarray
) -> None:
    values = target.truth(
        np.concatenate(
            [U, grid_points(target), np.random.default_rng(2).random((5000, U.shape[1]))]
        )
    )
    assert values.min() >= target.minimum == target.means.min()
    assert values.max() - values.min() == pytest.approx(target.range, abs=1e-12)
    np.testing.assert_allclose(target.truth(target.optimisers), target.minimum, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(target.optimiser, target.optimisers[0])
    assert np.sum(target.means < target.minimum + 1e-9) == len(target.optimisers)


def test_noise_is_a_noticeable_share_of_the_range(target: Table) -> None:
    rng = np.random.default_rng(3)
    for optimiser in target.optimisers:
        near = np.clip(optimiser + 0.05 * rng.standard_normal((10, target.dimension)), 0.0, 1.0)
        shares = np.array([target.std(u) for u in [optimiser, *near]]) / target.range
        assert np.all((shares > 0.02) & (shares < 0.25))


def test_problems_are_the_tables_over_the_unit_cube(target: Table, U: np.ndarray) -> None:
    found = PROBLEMS[target.name]()
    assert (found.name, found.minimum, found.range) == (target.name, target.minimum, target.range)
    np.testing.assert_array_equal(
        [found.low, found.high], [np.zeros(target.dimension), np.ones(target.dimension)]
    )
    np.testing.assert_array_equal(found(U), target.truth(U))
    np.testing.assert_array_equal(found.optimisers, target.optimisers)
    moved = shifted(found, 5)
    np.testing.assert_allclose(moved(moved.optimisers), found.minimum, rtol=0, atol=1e-12)


def test_axes_and_sizes_are_those_of_the_recipe(target: Table) -> None:
    recipe = RECIPES[target.name]
    assert target.axes == recipe.axes
    assert target.outcomes.shape == (*(axis.points for axis in recipe.axes), recipe.repetitions)
    assert "scikit-learn" in target.versions
    with pytest.raises(ValueError, match="read-only"):
        target.outcomes[:] = 0.0


def test_measuring_a_cell_again_gives_the_stored_outcome() -> None:
    stored, cell = table("svm").outcomes, (12, 11)
    for r in (0, 5):
        count = measure("svm", cell, split_of("svm", r))
        assert count / RECIPES["svm"].rows[1] == stored[(*cell, r)]


@pytest.mark.parametrize("name", TABLES)
def test_a_split_depends_on_its_repetition_alone(name: str) -> None:
    once, again, other = split_of(name, 2), split_of(name, 2), split_of(name, 3)
    np.testing.assert_array_equal(once.train, again.train)
    np.testing.assert_array_equal(once.test_targets, again.test_targets)
    assert once.seed == again.seed != other.seed
    assert (len(once.train), len(once.test)) == RECIPES[name].rows
    assert not np.array_equal(once.train, other.train)
    rows = {row.tobytes() for row in once.train}
    assert not rows & {row.tobytes() for row in once.test}


@pytest.mark.parametrize("name", ["mlp", "boosting"])
def test_the_other_learners_train_too(name: str) -> None:
    cell = tuple(axis.points // 2 for axis in RECIPES[name].axes)
    split = split_of(name, 0)
    assert measure(name, cell, split) == measure(name, cell, split)


def test_what_is_written_is_what_was_measured(target: Table, tmp_path: Path) -> None:
    recipe = RECIPES[target.name]
    measured = np.rint(target.outcomes * recipe.rows[1]) if recipe.counts else target.outcomes
    path = save(target.name, measured, tmp_path)
    with np.load(path, allow_pickle=False) as stored:
        np.testing.assert_array_equal(
            stored["outcomes"] / float(stored["divisor"]), target.outcomes
        )


def test_settings_are_in_their_own_units() -> None:
    rate, units = (
        Axis("rate", 0.01, 100.0, 5, log=True),
        Axis("units", 4, 128, 7, log=True, whole=True),
    )
    np.testing.assert_allclose([rate.value(u) for u in rate.grid], [0.01, 0.1, 1.0, 10.0, 100.0])
    assert [units.value(u) for u in units.grid] == [4, 7, 13, 23, 40, 72, 128]
    assert Axis("share", 0.2, 1.0, 6).value(1.0) == 1.0
    assert table("boosting").settings(np.array([0.0, 1.0, 1.0])) == pytest.approx(
        {"learning_rate": 0.02, "subsample": 1.0, "min_samples_leaf": 32.0}
    )


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InputError, match="one of svm, mlp, boosting, got 'forest'"):
        table("forest")
    target = table("svm")
    for repetition in (-1, target.repetitions):
        with pytest.raises(InputError, match="repetition must be from 0 to"):
            target.outcome(target.optimiser, repetition)
    with pytest.raises(InputError, match="2 columns"):
        target.truth(np.zeros((1, 3)))
    with pytest.raises(InputError):
        target.std(np.array([0.5, np.nan]))
    with pytest.raises(SystemExit):
        main(["forest"])
