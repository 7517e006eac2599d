"""A limit on an outcome of which there are several models, such as kernels of other roughness."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from ceibo.acquisition.limits import Limit
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array


@final
@dataclass(frozen=True, eq=False)
class MixedLimit:
    """A limit whose chance is the mean over several models of one outcome.

    Args:
        each: the limit on the process of each model; the first stands for all where one is needed.
        weights: (m,) of the models, which add up to 1.
    """

    each: tuple[Limit, ...]
    weights: Array

    @property
    def gp(self) -> GaussianProcess:
        return self.each[0].gp

    @property
    def bound(self) -> float:
        return self.each[0].bound

    def log_chance(self, X: ArrayLike) -> tuple[Array, Array]:
        """log Σ_m w_m P_m(f(x) ≤ bound) at the points X (N, d), (N,), and its gradient (N, d)."""
        parts = [limit.log_chance(X) for limit in self.each]
        with np.errstate(divide="ignore"):
            logs = np.stack([part for part, _ in parts]) + np.log(self.weights)[:, None]
        total = np.logaddexp.reduce(logs, axis=0)
        with np.errstate(invalid="ignore"):
            shares = np.where(np.isfinite(total), np.exp(logs - total), 0.0)  # (m, N)
        slopes = np.stack([slope for _, slope in parts])  # (m, N, d)
        return total, np.einsum("mn,mnd->nd", shares, slopes)
