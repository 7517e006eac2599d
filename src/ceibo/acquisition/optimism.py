"""The optimism of the incumbent: by how much its posterior mean is too good.

The incumbent is the measured point with the lowest posterior mean, and so in part the one that
noise has favoured most. Where f is as the process says, the posterior mean allows for that. On a
plateau, which is flatter than a stationary process expects, it does not. How much it does for data
like these is found by measuring again in thought: f ~ the posterior at the measured points, y* = f
+ noise, μ* = mean + K A (y* − mean) as for the real values, and

    optimism = E[f(x*) − μ*(x*)],    x* the point with the lowest μ*.

Over values drawn from the process itself it is 0 on average.
"""

from typing import Final

import numpy as np

from ceibo.acquisition.cube import reachable
from ceibo.acquisition.sampling import normal_draws, root_of
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Mask
from ceibo.gp.linalg import limited_blas

_DRAWS: Final = 256


def optimism(gp: GaussianProcess, among: Mask | None = None, seed: int = 0) -> float:
    """E[f(x*) − μ*(x*)] in the units of y: above 0 if the incumbent is worse than it looks.

    Args:
        gp: the model, without pending points.
        among: (n,) which measured points may be the incumbent; by default those that a search could
            find.
        seed: of the draws.
    """
    n = len(gp.X)
    with limited_blas(n):
        K, inverse = gp.unit_kernel(gp.X, gp.X), gp.state.factor.inverse
        half = inverse @ K  # L⁻¹ K
        root = root_of(K - half.T @ half)
        noise = np.sqrt(gp.state.noise)[:, None] * normal_draws(_DRAWS, n, seed).T
        if gp.state.blocks is not None:
            shared = root_of(gp.state.blocks.columns())
            noise += shared @ normal_draws(_DRAWS, shared.shape[1], seed + 2).T
        deviation = root @ normal_draws(_DRAWS, root.shape[1], seed + 1).T
        f = (K @ gp.state.alpha)[:, None] + deviation  # (n, draws), less the mean
        smoothed = half.T @ (inverse @ (f + noise))  # μ*
        allowed = reachable(gp) if among is None else among
        chosen = np.argmin(np.where(allowed[:, None], smoothed, np.inf), axis=0)
        draws = np.arange(_DRAWS)
        error = f[chosen, draws] - smoothed[chosen, draws]
    return float(gp.unit * np.mean(error))
