"""What the engine accepts: arrays are checked once, at the door, and never silently guessed.

Every array that passes is a fresh, read-only, contiguous float64 copy.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ceibo.errors import InputError, show_value

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]


def as_floats(values: ArrayLike, name: str) -> Array:
    """Real numbers as a float64 array of any shape."""
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of real numbers, but {error}") from error
    array.setflags(write=False)
    return array


def as_points(X: ArrayLike, name: str = "X", dimension: int | None = None) -> Array:
    """Points as a (n, d) array, n ≥ 1."""
    points = as_floats(X, name)
    if points.ndim != 2:
        hint = " Use X[None, :] for one point, X[:, None] for points in one dimension."
        raise InputError(f"{name} must have shape (n, d), but has shape {points.shape}.{hint}")
    if points.shape[0] == 0 or points.shape[1] == 0:
        raise InputError(
            f"{name} must hold at least one point of at least one dimension, got {points.shape}."
        )
    if dimension is not None and points.shape[1] != dimension:
        raise InputError(
            f"{name} must have {dimension} columns, one per dimension, but has {points.shape[1]}."
        )
    _require_finite(points, name, "Leave out or repair those rows.")
    return points


def as_point(x: ArrayLike, name: str, dimension: int) -> Array:
    """One point, given as (d,) or (1, d), as a (1, d) array."""
    points = as_points(np.atleast_2d(as_floats(x, name)), name, dimension)
    if len(points) != 1:
        raise InputError(f"{name} must be one point, got {len(points)}. Call once per point.")
    return points


def as_values(y: ArrayLike, n: int, name: str = "y") -> Array:
    """One finite value per point, as a (n,) array."""
    values = as_floats(y, name)
    if values.shape != (n,):
        raise InputError(
            f"{name} must have shape ({n},), one value per row of X, but has shape {values.shape}."
        )
    _require_finite(values, name, "A failed measurement has no value: leave it out.")
    return values


def as_noise(noise_variance: ArrayLike, n: int, *, unknown: bool) -> Array:
    """Noise variances as a (n,) array; a scalar serves all points, NaN means unknown noise.

    Args:
        unknown: whether NaN is allowed.
    """
    noise = as_floats(noise_variance, "noise_variance")
    if noise.ndim == 0:
        noise = np.full(n, float(noise))
        noise.setflags(write=False)
    if noise.shape != (n,):
        raise InputError(
            f"noise_variance must be one number or have shape ({n},), one per row of X, but has"
            f" shape {noise.shape}."
        )
    if np.any(noise < 0):
        raise InputError(
            f"noise_variance must not be negative, but the smallest is {np.nanmin(noise)!r}. "
            "It is the square of the noise's standard deviation."
        )
    if np.any(np.isinf(noise)):
        raise InputError(
            "noise_variance must be finite. A point with infinite noise says nothing: leave it out."
        )
    if not unknown and np.any(np.isnan(noise)):
        raise InputError(
            "noise_variance holds NaN (unknown noise), but a GaussianProcess needs every variance. "
            "Use fit_gp, which infers it."
        )
    return noise


def as_counts(counts: ArrayLike, n: int) -> Array:
    """How many values each observation is the mean of, as a (n,) array."""
    values = as_floats(counts, "counts")
    if values.shape != (n,) or not np.all(np.isfinite(values) & (values >= 1)):
        raise InputError(
            f"counts must have shape ({n},), one number of values per row of X, 1 or more; got"
            f" {show_value(counts)}."
        )
    return values


def as_block_indices(blocks: ArrayLike, n: int | None = None) -> Indices:
    """Indices of blocks as a (n, b) array; (n,) is one kind, −1 means no block."""
    numbers = as_floats(blocks, "blocks")
    if numbers.ndim == 1:
        numbers = numbers[:, None]
    if numbers.ndim != 2 or (n is not None and len(numbers) != n):
        rows = "n" if n is None else n
        raise InputError(
            f"blocks must have shape ({rows}, b), a row per row of X and a column per kind of"
            f" block, but has shape {numbers.shape}."
        )
    indices = numbers.astype(np.intp) if np.all(np.isfinite(numbers)) else None
    if indices is None or np.any(indices != numbers) or np.any(indices < -1):
        raise InputError(
            "blocks must be whole numbers, the index of a block or −1 for none; got"
            f" {show_value(blocks)}."
        )
    indices.setflags(write=False)
    return indices


def as_columns(columns: Sequence[int], dimension: int, name: str) -> tuple[int, ...]:
    """Column indices within 0..d−1, sorted, without repeats."""
    indices = tuple(sorted({int(column) for column in columns}))
    if indices and not (indices[0] >= 0 and indices[-1] < dimension):
        raise InputError(
            f"{name} must be column indices from 0 to {dimension - 1}, got {tuple(columns)}."
        )
    return indices


def _require_finite(array: Array, name: str, advice: str) -> None:
    if not np.all(np.isfinite(array)):
        bad = np.argwhere(~np.isfinite(array))[0]
        where = ", ".join(str(int(index)) for index in bad)
        raise InputError(
            f"{name} must be finite, but {name}[{where}] is {array[tuple(bad)]!r}. {advice}"
        )
