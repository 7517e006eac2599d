"""Acquisitions of a process with blocks: noise that is shared, and that of a new block."""

import numpy as np
import pytest

from ceibo.acquisition import Limit, build, build_joint, find_incumbent
from ceibo.acquisition.monte_carlo import draw_jointly
from ceibo.gp import Blocks, GaussianProcess
from tests.acquisition.test_knowledge import expected_minimum
from tests.acquisition.test_near_incumbent import around, assert_exact
from tests.helpers import Array, assert_gradient, central_difference, kernel_oracle, make_gp

VARIANCES = np.array([0.4, 0.1])


def blocked(seed: int, n: int = 12, d: int = 3) -> GaussianProcess:
    """A process of random data in blocks of two kinds."""
    gp = make_gp(seed, n=n, d=d)
    rng = np.random.default_rng(100 + seed)
    of = np.column_stack([rng.integers(-1, 3, n), rng.integers(0, 4, n)])
    parts = gp.X, gp.y, gp.noise_variance, gp.kernel, gp.mean
    return GaussianProcess(*parts, 0.2, Blocks(of, VARIANCES))


def covariance_of_values(gp: GaussianProcess) -> Array:
    assert gp.blocks is not None
    shared = sum(
        variance * ((of[:, None] == of) & (of >= 0))
        for of, variance in zip(gp.blocks.of.T, gp.blocks.variances, strict=True)
    )
    K = kernel_oracle(gp.kernel, gp.X, gp.X)
    return np.asarray(K + np.diag(gp.noise_variance) + shared)


@pytest.mark.parametrize("name", ["corrected-ei", "corrected-pi", "corrected-kg"])
@pytest.mark.parametrize("pending", [False, True])
def test_close_to_the_incumbent_nothing_is_lost(name: str, pending: bool) -> None:
    gp = blocked(5, n=5, d=2)
    points = around(gp, 3)
    if pending:
        gp = gp.condition([[0.4, 0.4], [0.9, 0.2]])
    noise = 0.2 + VARIANCES.sum()
    assert_exact(name, gp, points[:8:3], 1e-11, noise)
    assert_exact(name, gp, points[8::2], 1e-9, noise)


@pytest.mark.parametrize("seed", range(3))
def test_the_knowledge_gradient_is_that_of_a_measurement_in_a_new_block(seed: int) -> None:
    """Against sorted lines from dense algebra, the next value having noise of its own and a new
    block's."""
    gp = blocked(seed)
    acq = build("knowledge-gradient", gp)
    K = covariance_of_values(gp)
    for x in np.random.default_rng(seed).random((5, 3)):
        points = np.concatenate([gp.X, x[None]])
        cross = kernel_oracle(gp.kernel, points, gp.X)
        covariance = kernel_oracle(gp.kernel, points, x[None])[:, 0]
        covariance -= cross @ np.linalg.solve(K, cross[-1])
        means = gp.mean + cross @ np.linalg.solve(K, gp.y - gp.mean)
        slopes = covariance / np.sqrt(covariance[-1] + 0.2 + VARIANCES.sum())
        expected = means[:-1].min() - expected_minimum(means, slopes)
        np.testing.assert_allclose(acq.value(x[None])[0], expected, rtol=1e-8, atol=1e-12)
        # as if measured there, in blocks that are new
        y = 0.3
        grown = gp.append(x, y, 0.2, (77, 77))
        spread = np.sqrt(covariance[-1] + 0.2 + VARIANCES.sum())
        np.testing.assert_allclose(
            grown.posterior(points)[0], means + slopes * (y - means[-1]) / spread, rtol=1e-8
        )


def test_a_new_block_makes_a_measurement_worth_less() -> None:
    gp = blocked(1)
    X = np.random.default_rng(0).random((8, 3))
    parts = gp.X, gp.y, gp.noise_variance, gp.kernel, gp.mean, gp.expected_noise
    assert gp.blocks is not None
    for name in ("knowledge-gradient", "corrected-kg"):
        told = build(name, gp, next_noise_variance=0.2)
        np.testing.assert_array_equal(told.value(X), build(name, gp).value(X))
        # the same process, if its next measurement were in no block
        nearer = build(name, gp, next_noise_variance=0.0)
        assert np.all(nearer.value(X) > told.value(X))
        # blocks without offsets are none
        nothing = GaussianProcess(*parts, Blocks(gp.blocks.of, np.zeros(2)))
        np.testing.assert_array_equal(
            build(name, nothing).value(X), build(name, GaussianProcess(*parts)).value(X)
        )


@pytest.mark.parametrize("name", ["corrected-ei", "corrected-kg", "knowledge-gradient", "noisy-ei"])
def test_gradients_are_central_differences(name: str) -> None:
    gp = blocked(2).condition(np.random.default_rng(9).random((2, 3)))
    acq = build(name, gp)
    for x in np.random.default_rng(3).random((3, 3)):
        value, gradient = acq.log_value_and_gradient(x[None])
        assert np.isfinite(value[0])
        found = central_difference(lambda p: acq.log_value_and_gradient(p[None])[0][0], x)
        assert_gradient(gradient[0], found)


def test_draws_are_of_the_posterior_of_f_alone() -> None:
    gp = blocked(4)
    drawn = draw_jointly(gp, 4096, 0)
    covariance = gp.covariance(gp.X, gp.X)
    values = drawn.values * gp.unit
    size = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.max(np.abs(np.cov(values.T) - covariance) / size) < 0.1
    np.testing.assert_allclose(values.mean(axis=0) + gp.mean, gp.posterior(gp.X)[0], atol=0.02)


def test_under_a_limit_that_always_holds_it_is_the_knowledge_gradient() -> None:
    gp = blocked(3)
    limit = Limit(gp, 1e9)
    X = np.random.default_rng(1).random((6, 3))
    joint = build_joint("knowledge-gradient", [gp], [limit])
    np.testing.assert_allclose(joint.value(X), build("knowledge-gradient", gp).value(X), rtol=1e-9)
    assert find_incumbent(gp).index == build("knowledge-gradient", gp).incumbent.index
