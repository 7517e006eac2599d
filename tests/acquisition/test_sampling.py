"""Quasi-random points: even, inside, the same for the same seed."""

import numpy as np
import pytest
from scipy.stats import norm

from ceibo.acquisition.sampling import normal_draws, spread_points


@pytest.mark.parametrize("dimension", [1, 2, 6, 50])
def test_normal_draws_are_even_in_each_coordinate(dimension: int) -> None:
    """A Sobol set puts exactly one of 512 points into each of 512 intervals of equal probability."""
    draws = normal_draws(512, dimension, seed=4)
    assert np.all(np.isfinite(draws))
    for k in range(dimension):
        assert len(set((norm.cdf(draws[:, k]) * 512).astype(int))) == 512


def test_normal_draws_depend_on_the_seed_alone_and_begin_alike() -> None:
    np.testing.assert_array_equal(normal_draws(20, 3, seed=1), normal_draws(20, 3, seed=1))
    np.testing.assert_array_equal(normal_draws(20, 3, seed=1), normal_draws(32, 3, seed=1)[:20])
    assert not np.array_equal(normal_draws(20, 3, seed=1), normal_draws(20, 3, seed=2))


@pytest.mark.parametrize("dimension", [1, 2, 3, 8, 12])
def test_spread_points_fill_the_cube_more_evenly_than_chance(dimension: int) -> None:
    """The largest gap between neighbours in a coordinate: 512 random points leave about log(512)/512 = 0.012."""
    points = spread_points(512, dimension, np.random.default_rng(3))
    assert points.shape == (512, dimension)
    assert np.all((points >= 0) & (points < 1))
    widest = [np.max(np.diff(np.sort(points[:, k]))) for k in range(dimension)]
    assert max(widest) < 0.012
    assert len(np.unique(points, axis=0)) == 512


def test_in_one_dimension_the_step_is_the_golden_ratio() -> None:
    points = spread_points(3, 1, np.random.default_rng(0))[:, 0]
    golden = (1 + np.sqrt(5)) / 2
    np.testing.assert_allclose(np.diff(points) % 1, (1 / golden) % 1, rtol=1e-14)


def test_spread_points_depend_on_the_generator_alone() -> None:
    one, other, third = (spread_points(16, 4, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, third)
