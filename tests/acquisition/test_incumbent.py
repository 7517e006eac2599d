"""The incumbent, and the probability that it is the best."""

import numpy as np
import pytest

from ceibo.acquisition import find_incumbent, probability_best
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess, Kernel, Matern52
from tests.helpers import KERNELS, Dense, make_gp

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)


@by_kernel
@pytest.mark.parametrize("seed", range(4))
def test_the_incumbent_has_the_lowest_posterior_mean_not_the_lowest_value(
    kernel: type[Kernel], seed: int
) -> None:
    gp = make_gp(seed, kernel=kernel, noise=(0.1, 3.0))
    dense, best = Dense(gp), find_incumbent(gp)
    means = dense.mean(gp.X)
    assert best.index == int(np.argmin(means))
    np.testing.assert_array_equal(best.x, gp.X[best.index])
    assert best.mean == pytest.approx(means.min(), rel=1e-11)
    assert best.std == pytest.approx(np.sqrt(dense.variance(best.x[None])[0]), rel=1e-11)


def test_a_lucky_value_is_not_the_incumbent() -> None:
    """Five good values here against one lucky, noisy value there."""
    X = np.array([[0.2]] * 5 + [[0.8]])
    y = np.array([-1.0, -1.1, -0.9, -1.0, -1.05, -1.5])
    gp = GaussianProcess(X, y, [0.01] * 5 + [4.0], Matern52([0.1]))
    assert find_incumbent(gp).index < 5


def test_of_equal_points_the_earliest_stands() -> None:
    gp = GaussianProcess([[0.5], [0.5], [0.1]], [0.0, 0.0, 3.0], 0.1, Matern52([0.1]), mean=1.0)
    assert find_incumbent(gp).index == 0


def test_pending_points_do_not_stand_and_only_reduce_its_uncertainty() -> None:
    gp = make_gp(2)
    before = find_incumbent(gp)
    after = find_incumbent(gp.condition(np.random.default_rng(0).random((20, 3)), 1e-3))
    assert after.index == before.index
    assert after.mean == pytest.approx(before.mean, rel=1e-12)
    assert after.std < before.std


@by_kernel
@pytest.mark.parametrize("seed", range(3))
def test_probability_best_equals_plain_monte_carlo(kernel: type[Kernel], seed: int) -> None:
    gp = make_gp(seed, n=6, kernel=kernel, noise=(0.3, 2.0))
    dense = Dense(gp)
    draws = np.random.default_rng(seed).multivariate_normal(
        dense.mean(gp.X), dense.covariance(gp.X, gp.X), 100_000, method="eigh"
    )
    shares = np.bincount(draws.argmin(axis=1), minlength=6) / len(draws)
    for index in range(6):
        # Five standard errors of both estimates: 0.0016 of ours' 0.008 bound counts as if it were
        # plain Monte Carlo.
        error = 5 * np.sqrt(shares[index] * (1 - shares[index]) * (1 / 4096 + 1 / 100_000)) + 1e-3
        assert probability_best(gp, index) == pytest.approx(shares[index], abs=error)


def test_probabilities_of_distinct_points_sum_to_one() -> None:
    gp = make_gp(5, n=8, noise=(0.3, 2.0))
    total = sum(probability_best(gp, index) for index in range(8))
    assert total == pytest.approx(1.0, abs=8 * 0.01)  # 0.008 standard error each at most


def test_two_points_in_closed_form() -> None:
    """Two uncorrelated points with the same distribution: one half each."""
    gp = GaussianProcess([[0.0], [1.0]], [0.0, 0.0], 1.0, Matern52([1e-3]))
    assert probability_best(gp, 0) == pytest.approx(0.5, abs=0.01)


def test_a_single_point_or_repeats_of_it_are_certainly_the_best() -> None:
    assert probability_best(GaussianProcess([[0.3]], [1.0], 0.5, Matern52([0.2])), 0) == 1.0
    assert (
        probability_best(GaussianProcess([[0.3]] * 3, [1.0, 2.0, 3.0], 0.5, Matern52([0.2])), 2)
        == 1.0
    )


def test_without_noise_it_is_certain() -> None:
    gp = make_gp(4, n=8, noise=(0.0, 0.0))
    best = find_incumbent(gp).index
    assert probability_best(gp, best) == 1.0
    assert probability_best(gp, (best + 1) % 8) == 0.0


def test_the_same_seed_gives_the_same_probability() -> None:
    gp = make_gp(6, noise=(0.3, 2.0))
    index = find_incumbent(gp).index
    assert probability_best(gp, index, seed=3) == probability_best(gp, index, seed=3)


@pytest.mark.parametrize("index", [-1, 12, 99])
def test_a_row_that_is_not_there_is_refused(index: int) -> None:
    with pytest.raises(InputError, match=f"from 0 to 11, got {index}"):
        probability_best(make_gp(1), index)
