"""The posterior and its likelihood beside GPyTorch's."""

import numpy as np
import pytest
from botorch.posteriors import GPyTorchPosterior

from ceibo.gp import Kernel
from tests import torch_oracle
from tests.helpers import KERNELS, Array, make_gp

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
by_seed = pytest.mark.parametrize("seed", range(3))


def new_points(seed: int, n: int = 15, d: int = 3) -> Array:
    return np.random.default_rng(1000 + seed).random((n, d))


@by_kernel
@by_seed
def test_posterior_equals_gpytorch(kernel: type[Kernel], seed: int) -> None:
    gp, A, B = make_gp(seed, n=20, kernel=kernel), new_points(seed), new_points(seed + 1, n=7)
    mean, variance = gp.posterior(A)
    with torch_oracle.exact():
        model = torch_oracle.model_like(gp)
        posterior = model.posterior(torch_oracle.tensor(A))
        np.testing.assert_allclose(mean, posterior.mean.numpy()[:, 0], rtol=1e-8)
        np.testing.assert_allclose(variance, posterior.variance.numpy()[:, 0], rtol=1e-8)
        joint = model.posterior(torch_oracle.tensor(np.concatenate([A, B])))
        assert isinstance(joint, GPyTorchPosterior)
        expected = joint.mvn.covariance_matrix.numpy()[: len(A), len(A) :]
    # A covariance may be near zero by cancellation: relative to the standard deviations it is made
    # of.
    scale = np.sqrt(np.outer(variance, gp.posterior(B)[1]))
    assert np.max(np.abs(gp.covariance(A, B) - expected) / scale) < 1e-8


@by_kernel
@by_seed
def test_log_likelihood_equals_gpytorch(kernel: type[Kernel], seed: int) -> None:
    gp = make_gp(seed, n=20, kernel=kernel)
    with torch_oracle.exact():
        expected = torch_oracle.log_likelihood(torch_oracle.model_like(gp))
    assert gp.log_likelihood == pytest.approx(expected, rel=1e-8)
