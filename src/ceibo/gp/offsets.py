"""The offsets of blocks, as the observations tell them from f and from the noise.

With z_j (m,) the rows in block j of kind t, the offset b_t[j] has prior N(0, σ_t²) and covariance
σ_t² z_j with the observed values, and hence

    mean  σ_t² z_j·α          covariance  σ_t² I − σ_t⁴ Zᵀ A Z          (notation of posterior.py)

By how much these J blocks differ, (1/J) Σ_j (b_j − b̄)², is expected to be what the means differ by
and, with V the covariance, tr(V)/J − 1ᵀV1/J² more, which is what is not known of them.
"""

from typing import NamedTuple, final

import numpy as np

from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.gp.linalg import limited_blas
from ceibo.gp.posterior import GaussianProcess


@final
class Offsets(NamedTuple):
    """Posterior mean and variance (J,) of the offset of each block of a kind.

    `variance_among` is expected of the true offsets of these blocks, about their mean.
    """

    means: Array
    variances: Array
    variance_among: float


def block_offsets(gp: GaussianProcess, kind: int) -> Offsets:
    """The offsets of the blocks of a kind.

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
    left = np.maximum(variance - variance**2 * np.einsum("ij,ij->j", whitened, whitened), 0.0)
    middle = whitened.mean(axis=1)
    of_middle = variance / len(means) - variance**2 * float(middle @ middle)
    among = float(np.var(means)) + max(float(np.mean(left)) - of_middle, 0.0)
    return Offsets(gp.unit * means, gp.unit**2 * left, float(gp.unit**2) * among)
