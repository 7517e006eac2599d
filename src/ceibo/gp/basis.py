"""What a fit is of: observations in standard units, and the processes among which it chooses."""

from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo.gp.blocks import Blocks
from ceibo.gp.hyperparameters import Hyperparameters
from ceibo.gp.inputs import Array
from ceibo.gp.kernels import Kernel
from ceibo.gp.likelihood import Objective, Priors
from ceibo.gp.observations import Observations
from ceibo.gp.posterior import GaussianProcess


@final
@dataclass(frozen=True, eq=False)
class Basis:
    """Observations, a kernel and priors; `priors` None is maximum likelihood.

    `expected` is the noise variance expected of one more measurement, in squared units of y; None:
    the inferred one.
    """

    data: Observations
    kernel: type[Kernel]
    categorical: tuple[int, ...]
    priors: Priors | None
    expected: float | None

    def objective(self) -> Objective:
        """The log density of all data as a function of θ."""
        return Objective(self.data, self.kernel, self.categorical, self.priors)

    def theta(self, hyperparameters: Hyperparameters) -> Array:
        """θ of hyperparameters."""
        return hyperparameters.to_theta(self.data.infers_noise, self.data.varying)

    def hyperparameters(self, theta: Array) -> Hyperparameters:
        """Hyperparameters of θ."""
        d, kinds = self.data.X.shape[1], self.data.blocks.shape[1]
        return Hyperparameters.from_theta(theta, d, self.data.varying, kinds)

    def process(self, hyperparameters: Hyperparameters) -> GaussianProcess:
        """The process of all data with these hyperparameters, in the units of y."""
        data, squared = self.data, self.data.scale**2
        kernel = self.kernel(
            hyperparameters.lengthscales, hyperparameters.variance * squared, self.categorical
        )
        noise = data.noise_with(hyperparameters.noise) * squared
        expected = hyperparameters.noise * squared if self.expected is None else self.expected
        blocks = None
        if data.blocks.shape[1]:
            variances = np.zeros(data.blocks.shape[1])
            variances[: len(hyperparameters.blocks)] = hyperparameters.blocks
            blocks = Blocks(data.blocks, variances * squared)
        gp = GaussianProcess(
            data.X, data.centre + data.scale * data.y, noise, kernel, data.centre, expected, blocks
        )
        return gp if self.priors is None else gp.with_estimated_mean(data.scale)
