"""The model: an exact Gaussian process with a noise variance per observation."""

from ceibo.gp.blocks import Blocks
from ceibo.gp.fit import FitResult, FitStatus, fit_gp
from ceibo.gp.hyperparameters import Hyperparameters
from ceibo.gp.kernels import (
    KERNELS,
    Kernel,
    Matern12,
    Matern32,
    Matern52,
    SquaredExponential,
    register_kernel,
)
from ceibo.gp.posterior import GaussianProcess

__all__ = [
    "KERNELS",
    "Blocks",
    "FitResult",
    "FitStatus",
    "GaussianProcess",
    "Hyperparameters",
    "Kernel",
    "Matern12",
    "Matern32",
    "Matern52",
    "SquaredExponential",
    "fit_gp",
    "register_kernel",
]
