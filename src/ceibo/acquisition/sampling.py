"""Quasi-random draws, the same for the same seed."""

from typing import Final

import numpy as np
import scipy

from ceibo.gp.grid import spread_points
from ceibo.gp.inputs import Array

# a uniform number of exactly 0 would be a normal draw of minus infinity
_LEAST: Final = 2.0**-53


def normal_draws(count: int, dimension: int, seed: int) -> Array:
    """Standard normal draws, (count, dimension), one per cell of equal chance in a coordinate."""
    uniform = spread_points(count, dimension, np.random.default_rng(seed))
    return np.asarray(scipy.special.ndtri(np.maximum(uniform, _LEAST)))


def root_of(covariance: Array) -> Array:
    """Square root of a covariance that may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    keep = values > 1e-12 * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))


def triangular_root_of(covariance: Array) -> Array:
    """The same in a tenth of the time for many points, by a Cholesky factor with pivots."""
    size = np.finfo(float).eps * len(covariance) * float(np.max(np.diagonal(covariance)))
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(covariance, tol=size, lower=1)
    root = np.empty((len(covariance), rank))
    root[pivots - 1] = np.tril(factor)[:, :rank]
    return root
