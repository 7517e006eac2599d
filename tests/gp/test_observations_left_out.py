"""Leaving one observation out in closed form, beside conditioning on all the others."""

import numpy as np
import pytest

from ceibo.gp import Blocks, GaussianProcess, Matern52
from ceibo.gp.leave_one_out import leave_one_out
from tests.helpers import Array

RNG = np.random.default_rng(4)
X = RNG.random((7, 2))
KERNEL = Matern52([0.4, 0.7], 2.5)
NOISE = RNG.uniform(0.01, 0.4, 7)
Y = RNG.standard_normal(7) + 3.0


@pytest.mark.parametrize("scale", [1.0, 1e-120, 1e120])
def test_single_observations_as_if_conditioned_on_the_others(scale: float) -> None:
    kernel = Matern52(KERNEL.lengthscales, KERNEL.variance * scale**2)
    gp = GaussianProcess(X, Y * scale, NOISE * scale**2, kernel, 2.0 * scale)
    found = leave_one_out(gp, Y * scale, np.arange(7), np.ones(7))
    for i in range(7):
        rest = np.arange(7) != i
        others = GaussianProcess(
            X[rest], Y[rest] * scale, NOISE[rest] * scale**2, kernel, 2.0 * scale
        )
        mean, variance = others.posterior(X[[i]])
        assert found.residual[i] == pytest.approx(Y[i] * scale - mean[0], rel=1e-9)
        assert found.variance[i] == pytest.approx(variance[0], rel=1e-8)


def test_replicates_that_were_merged_into_rows() -> None:
    row = np.array([0, 0, 0, 1, 2, 2, 3])
    points = X[row]
    values, noise = Y, NOISE
    precision = 1.0 / noise
    total = np.bincount(row, precision)
    merged = GaussianProcess(X[:4], np.bincount(row, precision * values) / total, 1 / total, KERNEL)
    found = leave_one_out(merged, values, row, precision / total[row])
    for i in range(7):
        rest = np.arange(7) != i
        others = GaussianProcess(points[rest], values[rest], noise[rest], KERNEL)
        mean, variance = others.posterior(points[[i]])
        assert found.residual[i] == pytest.approx(values[i] - mean[0], rel=1e-9)
        assert found.variance[i] == pytest.approx(variance[0], rel=1e-8)


def test_values_in_a_block_are_predicted_with_its_offset() -> None:
    of = np.array([0, 0, 1, 1, 2, 2, 2])
    gp = GaussianProcess(X, Y, NOISE, KERNEL, blocks=Blocks(of, [0.6]))
    found = leave_one_out(gp, Y, np.arange(7), np.ones(7))
    shared = 0.6 * (of[:, None] == of)
    K = KERNEL(X, X) + shared
    for i in range(7):
        rest = np.arange(7) != i
        inverse = np.linalg.inv(K[np.ix_(rest, rest)] + np.diag(NOISE[rest]))
        weights: Array = K[i, rest] @ inverse
        assert found.residual[i] == pytest.approx(Y[i] - weights @ Y[rest], rel=1e-9)
        assert found.variance[i] == pytest.approx(K[i, i] - weights @ K[rest, i], rel=1e-8)


def test_exact_values_have_a_prediction_too() -> None:
    gp = GaussianProcess(X, Y, 0.0, KERNEL)
    found = leave_one_out(gp, Y, np.arange(7), np.ones(7))
    mean, variance = GaussianProcess(X[1:], Y[1:], 0.0, KERNEL).posterior(X[:1])
    assert found.residual[0] == pytest.approx(Y[0] - mean[0], rel=1e-6)
    assert found.variance[0] == pytest.approx(variance[0], rel=1e-6)
