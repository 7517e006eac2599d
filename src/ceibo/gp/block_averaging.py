"""Averaging over how much the blocks of a kind vary, which a few blocks hardly say.

The σ_t that fits best may be zero where two days differ, because noise explains as much: what is
then said of the days would be far too sure. So σ_t takes values s_i at even quantiles of its prior,
a half-Cauchy distribution, each with the other hyperparameters η fitted to it, and the weight

    w_i ∝ max_η p(y | η, s_i) p(η)

The prior is cut off at its median, or above the σ_t that fits best if that is larger: two blocks do
not rule out a σ_t beyond all values measured, of which their effects would be as unsure.
"""

from typing import Final

import numpy as np

from ceibo.gp.ascent import Box, Rules, climb
from ceibo.gp.averaging import Average, fit_with
from ceibo.gp.fit import FitResult, search_bounds
from ceibo.gp.likelihood import BLOCK_SCALE
from ceibo.gp.linalg import limited_blas

_QUANTILES: Final = 16
_BEYOND: Final = 1.5  # times the fitted σ_t
_NEGLIGIBLE: Final = 1e-4
_RULES: Final = Rules(60, 1e-2, first_step=0.7, longest_step=2.0, hopeless=np.inf)


def average_over_blocks(fitted: FitResult, kind: int) -> Average | None:
    """Fits with other variances of the blocks of a kind, in proportion to how well they explain.

    Args:
        fitted: with `method="map"`; None of another, which has no priors, or without a density.
        kind: a column of its blocks; None of one with a single block, which has no variance.
    """
    data = fitted.basis.data
    if fitted.basis.priors is None or kind not in data.varying:
        return None
    objective, best = fitted.basis.objective(), fitted.basis.theta(fitted.hyperparameters)
    bounds = search_bounds(data.X.shape[1], data.infers_noise, len(data.varying))
    column = len(best) - len(data.varying) + data.varying.index(kind)
    largest = max(BLOCK_SCALE, _BEYOND * float(np.exp(0.5 * best[column])))
    share = 2.0 / np.pi * np.arctan(largest / BLOCK_SCALE)
    quantiles = share * (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    scales = 2.0 * np.log(BLOCK_SCALE * np.tan(0.5 * np.pi * quantiles))
    starts = np.tile(np.clip(best, *bounds.T), (_QUANTILES, 1))
    starts[:, column] = np.clip(scales, *bounds[column])
    widths = np.ones(len(best))
    widths[column] = 0.0
    with limited_blas(len(data.X)):
        ends = climb(objective.at_each, starts, Box(bounds[:, 0], bounds[:, 1], widths), _RULES)
        # without the prior of σ_t, of which each value stands for an equal share
        logs = ends.values + np.log1p(np.exp(ends.x[:, column]) / BLOCK_SCALE**2)
        if not np.isfinite(np.max(logs)):
            return None
        weights = np.exp(logs - np.max(logs))
        weights /= weights.sum()
        kept = np.flatnonzero(weights >= _NEGLIGIBLE)
        fits = tuple(fit_with(fitted, theta) for theta in ends.x[kept])
    return Average(fits, weights[kept] / weights[kept].sum())
