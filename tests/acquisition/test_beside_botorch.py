"""Acquisition functions beside BoTorch's: on the same model, and given the same draws."""

import botorch.acquisition.analytic as analytic
import numpy as np
import pytest
import torch
from botorch.acquisition.monte_carlo import qNoisyExpectedImprovement
from botorch.acquisition.objective import GenericMCObjective
from botorch.posteriors import Posterior
from botorch.sampling.base import MCSampler

from ceibo.acquisition import build
from ceibo.acquisition.sampling import normal_draws
from ceibo.gp import GaussianProcess, Kernel, Matern52
from tests import torch_oracle
from tests.helpers import KERNELS, Array, Dense, make_gp

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)

# Draws and noiseless model carry a nugget of 1e-9 of the variance, so they are a process that
# differs by 3e-5 of its standard deviation from the one without; the oracles below carry it too,
# and what is left is its rounding.
NUGGET = 1e-9


def small_gp(seed: int, kernel: type[Kernel] = Matern52) -> GaussianProcess:
    return make_gp(seed, n=7, d=2, kernel=kernel, noise=(0.05, 0.5))


def new_points(seed: int, n: int = 6, d: int = 2) -> Array:
    return np.random.default_rng(1000 + seed).random((n, d))  # not the data's own stream


def joint_draws(gp: GaussianProcess, base: Array) -> Array:
    """(S, n) draws of f at the observed points from standard normal ones, in the units of y."""
    dense = Dense(gp)
    covariance = dense.covariance(gp.X, gp.X) + NUGGET * gp.kernel.variance * np.eye(len(gp.X))
    return dense.mean(gp.X) + base @ np.linalg.cholesky(covariance).T


@by_kernel
@pytest.mark.parametrize("seed", range(2))
def test_noisy_ei_is_the_mean_of_botorchs_ei_over_the_same_draws(
    kernel: type[Kernel], seed: int
) -> None:
    gp, A = small_gp(seed, kernel), new_points(seed)
    f = joint_draws(gp, normal_draws(8, 8, seed=3)[:, :7])
    total = np.zeros(len(A))
    with torch_oracle.exact():
        for values in f:
            noiseless = torch_oracle.model_like(
                gp, y=values, noise=np.full(7, NUGGET * gp.kernel.variance)
            )
            best = torch_oracle.tensor(values.min())
            ei = analytic.ExpectedImprovement(noiseless, best, maximize=False)
            total += ei(torch_oracle.tensor(A)[:, None, :]).numpy()
    got = build("noisy-ei", gp, seed=3, draws=8).value(A)
    np.testing.assert_allclose(got, total / 8, rtol=1e-5, atol=1e-8)


class _Given(MCSampler):
    """Hands out given base samples, in place of random ones."""

    def __init__(self, base: Array) -> None:
        super().__init__(sample_shape=torch.Size([len(base)]))
        self.given = torch_oracle.tensor(base)

    def forward(self, posterior: Posterior) -> torch.Tensor:
        return posterior.rsample_from_base_samples(self.sample_shape, self.given[:, None, :])


@by_kernel
@pytest.mark.parametrize("seed", range(2))
def test_qnei_is_botorchs_given_the_same_base_draws(kernel: type[Kernel], seed: int) -> None:
    gp, A = small_gp(seed, kernel), new_points(seed)
    base = normal_draws(32, 8, seed=5)
    with torch_oracle.exact():
        acquisition = qNoisyExpectedImprovement(
            torch_oracle.model_like(gp),
            X_baseline=torch_oracle.tensor(gp.X),
            sampler=_Given(base),
            objective=GenericMCObjective(lambda f, **_: -f[..., 0]),
            prune_baseline=False,
            cache_root=False,
        )
        expected = np.array([float(acquisition(torch_oracle.tensor(a)[None, None, :])) for a in A])
    got = build("q-noisy-ei", gp, seed=5, draws=32).value(A)
    # BoTorch's draws have no nugget
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


@by_kernel
@pytest.mark.parametrize("seed", range(3))
def test_ei_pi_and_ucb_equal_botorch(kernel: type[Kernel], seed: int) -> None:
    gp = make_gp(seed, kernel=kernel)
    A = new_points(seed, 30, 3)
    # a plain float would become single precision
    best, beta = (torch_oracle.tensor(x) for x in (build("ei", gp).incumbent.mean, 2.5))
    with torch_oracle.exact():
        model, X = torch_oracle.model_like(gp), torch_oracle.tensor(A)[:, None, :]
        expected = {
            "ei": analytic.ExpectedImprovement(model, best_f=best, maximize=False)(X),
            "pi": analytic.ProbabilityOfImprovement(model, best_f=best, maximize=False)(X),
            "ucb": analytic.UpperConfidenceBound(model, beta=beta, maximize=False)(X),
            "log ei": analytic.LogExpectedImprovement(model, best_f=best, maximize=False)(X),
            "log pi": analytic.LogProbabilityOfImprovement(model, best_f=best, maximize=False)(X),
        }
    got = {name: build(name, gp, beta=2.5).value(A) for name in ("ei", "pi", "ucb")}
    got |= {f"log {name}": build(name, gp).log_value(A) for name in ("ei", "pi")}
    for name, values in expected.items():
        # 1e-10, relative to one: EI, PI and UCB are of that size here, their logarithms larger.
        np.testing.assert_allclose(got[name], values.numpy(), rtol=1e-10, atol=1e-10, err_msg=name)
