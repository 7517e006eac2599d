"""The optimism of the incumbent: zero where the process is right, found where it is not."""

import numpy as np
import pytest

from ceibo.acquisition import find_incumbent, optimism
from ceibo.gp import GaussianProcess, Matern52
from ceibo.gp.inputs import Array

KERNEL = Matern52([0.3, 0.3], 1.0)
NOISE = 0.25


def draw_from_prior(seed: int, n: int = 30) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    f = np.linalg.cholesky(KERNEL(X, X) + 1e-9 * np.eye(n)) @ rng.standard_normal(n)
    return X, f, f + np.sqrt(NOISE) * rng.standard_normal(n)


def test_over_draws_from_the_process_itself_it_is_zero_on_average() -> None:
    found = []
    for seed in range(60):
        X, _, y = draw_from_prior(seed)
        found.append(optimism(GaussianProcess(X, y, NOISE, KERNEL)))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found)) < 3.0 * error
    assert error < 0.03


def test_on_a_plateau_it_is_most_of_what_is_too_good() -> None:
    """f is constant, so whatever sets the incumbent apart is noise."""
    excess, found = [], []
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        X = rng.random((30, 2))
        y = np.sqrt(NOISE) * rng.standard_normal(30)
        gp = GaussianProcess(X, y, NOISE, KERNEL)
        excess.append(-find_incumbent(gp).mean)
        found.append(optimism(gp))
    assert np.mean(excess) > 0.4
    assert 0.4 < np.mean(found) / np.mean(excess) < 1.0


def test_without_noise_nothing_is_too_good() -> None:
    X, f, _ = draw_from_prior(3)
    assert optimism(GaussianProcess(X, f, 0.0, KERNEL)) == pytest.approx(0.0, abs=1e-6)


def test_it_scales_with_the_values_and_is_the_same_at_every_call() -> None:
    X, _, y = draw_from_prior(4)
    plain = optimism(GaussianProcess(X, y, NOISE, KERNEL))
    unit = 2.0**60
    large = Matern52([0.3, 0.3], unit**2)
    assert optimism(GaussianProcess(X, unit * y, NOISE * unit**2, large)) == unit * plain
    assert optimism(GaussianProcess(X, y, NOISE, KERNEL)) == plain


def test_with_one_point_to_choose_there_is_no_choice_to_correct() -> None:
    """The only point is not selected; over draws from its posterior, its mean regresses."""
    X, _, y = draw_from_prior(5)
    gp = GaussianProcess(X, y, NOISE, KERNEL)
    row = find_incumbent(gp).index
    among = np.arange(len(X)) == row
    shrinking = float((gp.posterior(X[[row]])[0] - gp.mean)[0])
    alone = optimism(gp, among=among)
    # E[f − μ*] = (m − K A m) at the row: what smoothing the posterior mean once more takes off
    K = KERNEL(X, X)
    m = gp.posterior(X)[0]
    expected = (m - K @ np.linalg.solve(K + NOISE * np.eye(len(X)), m))[row]
    assert alone == pytest.approx(expected, abs=0.05)
    assert abs(alone) < abs(shrinking)
