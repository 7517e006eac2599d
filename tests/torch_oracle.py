"""The same models in GPyTorch and BoTorch, exact and in float64, as a second implementation."""

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import gpytorch
import numpy as np
import torch
from botorch.exceptions.warnings import InputDataWarning
from botorch.models import SingleTaskGP
from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel
from gpytorch.means import ConstantMean
from numpy.typing import ArrayLike

from ceibo.gp import GaussianProcess, Matern12, Matern32, Matern52
from tests.helpers import Array

torch.set_num_threads(1)  # tiny matrices, several test processes

_NU = {Matern12: 0.5, Matern32: 1.5, Matern52: 2.5}


def tensor(array: ArrayLike) -> torch.Tensor:
    return torch.tensor(np.asarray(array), dtype=torch.float64)


@contextmanager
def exact() -> Iterator[None]:
    """Cholesky throughout, no rounding up of small noise, no gradients."""
    with ExitStack() as stack:
        stack.enter_context(gpytorch.settings.fast_computations(False, False, False))
        stack.enter_context(gpytorch.settings.fast_pred_var(False))
        stack.enter_context(gpytorch.settings.min_fixed_noise(double_value=1e-14))
        stack.enter_context(gpytorch.settings.min_variance(double_value=1e-300))
        stack.enter_context(torch.no_grad())
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", InputDataWarning)  # it would like standardized data
        yield


def model_like(
    gp: GaussianProcess, y: Array | None = None, noise: Array | None = None
) -> SingleTaskGP:
    """BoTorch's model with the hyperparameters of `gp`, and its data unless given."""
    d = gp.kernel.dimension
    nu = _NU.get(type(gp.kernel))
    base = RBFKernel(ard_num_dims=d) if nu is None else MaternKernel(nu=nu, ard_num_dims=d)
    values = gp.y if y is None else y
    variances = gp.noise_variance if noise is None else noise
    model = SingleTaskGP(
        tensor(gp.X),
        tensor(values)[:, None],
        tensor(variances)[:, None],
        covar_module=ScaleKernel(base).double(),
        mean_module=ConstantMean().double(),
        outcome_transform=None,
    )
    model.covar_module.base_kernel.lengthscale = tensor(gp.kernel.lengthscales)
    model.covar_module.outputscale = tensor(gp.kernel.variance)
    model.mean_module.constant.data.fill_(gp.mean)
    return model.eval()


def log_likelihood(model: SingleTaskGP) -> float:
    model.train()
    joint = model.likelihood(model(*model.train_inputs), *model.train_inputs)
    value = float(joint.log_prob(model.train_targets))
    model.eval()
    return value
