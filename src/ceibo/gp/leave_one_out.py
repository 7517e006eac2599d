"""Each observation as all the others predict it, in closed form.

Notation, for observation i of the merged row g (several observations of one point are one row, see
gp/observations.py), with A, α and the noise ν_g of the row as in gp/posterior.py:

    V_g = ν_g (1 − ν_g A_gg)       the posterior variance of f at the row's point
    μ_g = y_g − ν_g α_g            its posterior mean
    w_i                            the share of observation i in the precision of its row, Σ w = 1
    κ_i = 1 − w_i + w_i ν_g A_gg   1 − V_g·(precision of observation i)

Taking observation i out of the posterior leaves

    y_i − E[f(x_i) | the others] = (y_i − μ_g)/κ_i        Var[f(x_i) | the others] = V_g/κ_i

which for a row of one observation are α/A and 1/A − ν (Rasmussen & Williams 2006, eq. 5.12).
"""

from typing import NamedTuple, final

import numpy as np

from ceibo.gp.inputs import Array, Indices
from ceibo.gp.linalg import limited_blas
from ceibo.gp.posterior import GaussianProcess


@final
class LeftOut(NamedTuple):
    """What the other observations say of each, (N,) in the units of y."""

    residual: Array  # y_i − E[f(x_i) | the others]
    variance: Array  # Var[f(x_i) | the others], without the observation's own noise


def leave_one_out(gp: GaussianProcess, y: Array, row: Indices, share: Array) -> LeftOut:
    """Leaves each of N observations out of a process without pending points.

    Args:
        gp: conditioned on merged rows.
        y: (N,) the observations, in the units of the process.
        row: (N,) the row of each.
        share: (N,) of each in the precision of its row.
    """
    state, unit = gp.state, gp.unit
    with limited_blas(len(gp.X)):
        precision = np.einsum("ij,ij->j", state.factor.inverse, state.factor.inverse)
    explained = state.noise * precision
    variance = (state.noise * np.maximum(1.0 - explained, 0.0))[row]
    mean = (gp.residuals - state.noise * state.alpha)[row]
    # A row of one observation has a form that needs no noise.
    alone = share == 1.0
    kept = np.where(alone, 1.0, 1.0 - share + share * explained[row])
    residual = np.where(alone, (state.alpha / precision)[row], ((y - gp.mean) / unit - mean) / kept)
    without = np.maximum(1.0 / precision - state.noise, 0.0)[row]
    return LeftOut(unit * residual, unit**2 * np.where(alone, without, variance / kept))
