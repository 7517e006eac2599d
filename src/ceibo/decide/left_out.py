"""What the other measurements say of each measured setting: leave-one-out, in closed form.

With A = (K + Σ)⁻¹ and α = A (y − mean), the others put observation i at y_i − α_i / A_ii, with the
variance 1 / A_ii of a measurement there (Rasmussen and Williams 2006, 5.12); hyperparameters are
those of all measurements.
"""

import numpy as np

from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array


def left_out(gp: GaussianProcess) -> tuple[Array, Array]:
    """Means and variances (n,) of what each row measured, in its blocks, given the others.

    Measurements of the same point are left out together, if the process has merged them.
    """
    n = len(gp.X)
    state = gp.state
    if len(gp.pending):
        raise ValueError("the process is to be one without pending points")
    diagonal = np.einsum("ij,ij->j", state.factor.inverse, state.factor.inverse)[:n]
    means = gp.y - gp.unit * state.alpha[:n] / diagonal
    return means, gp.unit**2 / diagonal
