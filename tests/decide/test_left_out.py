"""Leave-one-out in closed form against processes that never saw the point."""

import numpy as np
import pytest

from ceibo.decide.left_out import left_out
from ceibo.gp import Blocks, GaussianProcess, Matern52


@pytest.mark.parametrize("scale", [1.0, 1e-60, 1e60])
def test_it_is_what_the_others_say(scale: float) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.random((9, 2)), rng.standard_normal(9)
    noise = rng.uniform(0.01, 0.3, 9)
    kernel = Matern52([0.4, 0.7], 1.3 * scale**2)
    gp = GaussianProcess(X, scale * y, scale**2 * noise, kernel, mean=0.2 * scale)
    means, variances = left_out(gp)
    for i in range(9):
        others = np.arange(9) != i
        rest = GaussianProcess(
            X[others], scale * y[others], scale**2 * noise[others], kernel, mean=0.2 * scale
        )
        mean, variance = rest.posterior(X[i : i + 1])
        assert means[i] == pytest.approx(mean[0], rel=1e-9)
        assert variances[i] == pytest.approx(variance[0] + scale**2 * noise[i], rel=1e-9)


def test_the_others_know_the_blocks_of_a_row() -> None:
    rng = np.random.default_rng(6)
    X, y, noise = rng.random((8, 1)), rng.standard_normal(8), np.full(8, 0.1)
    day = np.array([0, 0, 0, 1, 1, 1, 2, -1])
    kernel = Matern52([0.4])
    gp = GaussianProcess(X, y, noise, kernel, blocks=Blocks(day[:, None], [0.5]))
    means, variances = left_out(gp)
    shared = 0.5 * ((day[:, None] == day) & (day >= 0))
    C = kernel(X, X) + np.diag(noise) + shared
    for i in range(8):
        others = np.arange(8) != i
        weights = np.linalg.solve(C[np.ix_(others, others)], C[others, i])
        assert means[i] == pytest.approx(weights @ y[others])
        assert variances[i] == pytest.approx(C[i, i] - weights @ C[others, i])


def test_pending_points_are_no_observations() -> None:
    gp = GaussianProcess([[0.1], [0.7]], [1.0, -1.0], 0.01, Matern52([0.3]))
    with pytest.raises(ValueError, match="pending"):
        left_out(gp.condition([[0.4]]))
