"""Averaging over how much the blocks of a kind vary, which a few blocks hardly say.

The σ_t that fits best may be zero where two days differ, because noise explains as much: what is
then said of the days would be far too sure. So σ_t takes values s_i from far below the noise on,
each some times the one before, with the other hyperparameters η fitted to it, and the weight

    w_i ∝ p_i max_η p(y | η, s_i) p(η)

with p_i the share that its prior, a half-Cauchy distribution, has in the cell of s_i, which reaches
half way to its neighbours; that of the first begins at 0. The last cell ends at the median of the
prior, or above the σ_t that fits best if that is larger: two blocks do not rule out a σ_t beyond
all values measured, of which their effects would be as unsure.
"""

from typing import Final

import numpy as np

from ceibo.gp.ascent import Box, Rules, climb
from ceibo.gp.averaging import Average, fit_with
from ceibo.gp.fit import FitResult, search_bounds
from ceibo.gp.likelihood import BLOCK_SCALE
from ceibo.gp.linalg import limited_blas

_VALUES: Final = 16
_LEAST: Final = 0.03  # times the noise: what blocks of that do is nothing
_SMALLEST: Final = 1e-4  # of a σ_t, in standard units
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
    noise = float(np.sqrt(np.median(data.noise_with(fitted.hyperparameters.noise))))
    ends = np.geomspace(np.clip(_LEAST * noise, _SMALLEST, 0.1 * largest), largest, _VALUES)
    # each in the middle of its cell, the first at the end of its own
    values = np.append(ends[0], np.sqrt(ends[1:] * ends[:-1]))
    shares = np.diff(np.arctan(ends / BLOCK_SCALE), prepend=0.0)
    starts = np.tile(np.clip(best, *bounds.T), (_VALUES, 1))
    starts[:, column] = np.clip(2.0 * np.log(values), *bounds[column])
    widths = np.ones(len(best))
    widths[column] = 0.0
    with limited_blas(len(data.X)):
        found = climb(objective.at_each, starts, Box(bounds[:, 0], bounds[:, 1], widths), _RULES)
        # the share in place of the density of the prior
        prior = -np.log1p(np.exp(found.x[:, column]) / BLOCK_SCALE**2)
        logs = found.values - prior + np.log(shares)
        if not np.isfinite(np.max(logs)):
            return None
        weights = np.exp(logs - np.max(logs))
        weights /= weights.sum()
        kept = np.flatnonzero(weights >= _NEGLIGIBLE)
        fits = tuple(fit_with(fitted, theta) for theta in found.x[kept])
    return Average(fits, weights[kept] / weights[kept].sum())
