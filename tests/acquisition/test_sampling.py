"""Quasi-random points: even, inside, the same for the same seed."""

import numpy as np
import pytest
from scipy.stats import norm

from ceibo.acquisition.sampling import normal_draws, triangular_root_of
from ceibo.gp.grid import spread_points


@pytest.mark.parametrize("dimension", [1, 2, 6, 50])
def test_normal_draws_are_even_in_each_coordinate(dimension: int) -> None:
    """Exactly one of 20 draws is in each of 20 intervals of equal probability."""
    draws = normal_draws(20, dimension, seed=4)
    assert np.all(np.isfinite(draws))
    for k in range(dimension):
        np.testing.assert_array_equal(
            np.sort((norm.cdf(draws[:, k]) * 20).astype(int)), np.arange(20)
        )


def test_normal_draws_of_different_coordinates_are_independent() -> None:
    """Of 1,225 correlations over many draws, none is beyond five standard errors."""
    correlations = np.asarray(np.corrcoef(normal_draws(2000, 50, seed=5).T))[np.triu_indices(50, 1)]
    assert np.max(np.abs(correlations)) < 5 / np.sqrt(2000)
    assert np.std(correlations) == pytest.approx(1 / np.sqrt(2000), rel=0.2)


def test_normal_draws_depend_on_the_seed_alone() -> None:
    np.testing.assert_array_equal(normal_draws(20, 3, seed=1), normal_draws(20, 3, seed=1))
    assert not np.array_equal(normal_draws(20, 3, seed=1), normal_draws(20, 3, seed=2))


@pytest.mark.parametrize("dimension", [1, 2, 6, 20, 50])
def test_spread_points_have_one_point_in_each_cell_of_each_coordinate(dimension: int) -> None:
    points = spread_points(500, dimension, np.random.default_rng(3))
    assert points.shape == (500, dimension)
    assert np.all((points >= 0) & (points < 1))
    for k in range(dimension):
        np.testing.assert_array_equal(np.sort((points[:, k] * 500).astype(int)), np.arange(500))


def test_spread_points_depend_on_the_generator_alone() -> None:
    one, other, third = (spread_points(16, 4, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, third)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("rank", [1, 5, 40])
def test_a_triangular_root_squares_to_its_covariance(rank: int, scale: float) -> None:
    columns = np.random.default_rng(rank).standard_normal((40, rank))
    covariance = scale * columns @ columns.T
    root = triangular_root_of(covariance)
    assert root.shape == (40, rank)
    np.testing.assert_allclose(root @ root.T, covariance, rtol=0, atol=1e-12 * scale * rank)


def test_the_triangular_root_of_nothing_has_no_columns() -> None:
    assert triangular_root_of(np.zeros((3, 3))).shape == (3, 0)
