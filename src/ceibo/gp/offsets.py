"""The offsets of blocks, as the observations tell them from f and from the noise.

With z_j (m,) the rows in block j of kind t, the offset b_t[j] has prior N(0, σ_t²) and covariance
σ_t² z_j with the observed values, and hence

    mean  σ_t² z_j·α          variance  σ_t² − σ_t⁴ z_jᵀ A z_j          (notation of posterior.py)
"""

import numpy as np

from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.gp.linalg import limited_blas
from ceibo.gp.posterior import GaussianProcess


def block_offsets(gp: GaussianProcess, kind: int) -> tuple[Array, Array]:
    """Posterior mean and variance of the offset of each block of a kind, (J,) each.

    Args:
        gp: with blocks.
        kind: which column of its blocks.
    """
    state = gp.state
    if state.blocks is None or not 0 <= kind < len(state.blocks.variances):
        kinds = 0 if state.blocks is None else len(state.blocks.variances)
        raise InputError(
            f"kind must be a column of the process's blocks, of which there are {kinds}, got"
            f" {kind!r}."
        )
    variance, Z = float(state.blocks.variances[kind]), state.blocks.members(kind)
    with limited_blas(len(state.points)):
        whitened = state.factor.inverse @ Z
        means = variance * (state.alpha @ Z)
    left = variance - variance**2 * np.einsum("ij,ij->j", whitened, whitened)
    return np.asarray(gp.unit * means), np.asarray(gp.unit**2 * np.maximum(left, 0.0))
