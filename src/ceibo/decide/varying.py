"""Noise that differs over the space, where the evidence says so.

The scatter of replicates gives a shape of the noise (ceibo.gp.scatter), and a fit with it is
compared with the fit of one level: by the log density of means and scatters together, less the
price of the shape. It must be larger by log 20: where one level is true, that happens in less than
one study of twenty. Only values of unknown noise are concerned, and without replicates there is
nothing to compare.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from ceibo.acquisition import find_incumbent
from ceibo.decide.rows import Rows
from ceibo.gp import FitResult
from ceibo.gp.scatter import NoiseShape, shape_of_noise

REQUIRED: Final = float(np.log(20.0))
"""What the log density of a shape must exceed that of one level by."""


@final
@dataclass(frozen=True, eq=False)
class Varying:
    """Rows whose unknown noise has a shape, their fit, and its log density above one level's."""

    rows: Rows
    fit: FitResult
    gain: float


def vary(
    rows: Rows, fit: FitResult, refit: Callable[[Rows, FitResult], FitResult]
) -> Varying | None:
    """The fit in which noise differs over the space; None where one level explains as much.

    Args:
        rows: with one level of unknown noise.
        fit: of these.
        refit: fits rows with the hyperparameters of another fit to start from.
    """
    if not np.isfinite(fit.log_density):
        return None
    found = shape_of_noise(fit.basis.data, fit.basis.categorical)
    if found is None or not found.log_bayes > 0.0:
        return None
    shaped = replace(rows, shape=found.shape)
    fitted = refit(shaped, fit)
    gain = fitted.log_density - fit.log_density + found.price
    if not gain > REQUIRED:
        return None
    return Varying(shaped, fitted, gain)


def expecting(fit: FitResult, shape: NoiseShape | None) -> FitResult:
    """The fit, with the noise at the incumbent expected of the next value where none is told."""
    level = fit.noise_variance
    if shape is None or level is None or fit.basis.expected is not None:
        return fit
    there = float(shape.relative(find_incumbent(fit.gp).x[None, :])[0])
    return replace(fit, gp=replace(fit.gp, expected_noise=level * there))
