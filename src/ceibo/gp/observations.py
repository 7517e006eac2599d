"""Observations as the fit sees them: in standard units, with replicates merged.

Several observations of one point x say no more about f(x) than their mean does. With known noise
υ_i² the mean is weighted by precision and has variance 1/Σ υ_i⁻². With unknown noise υ², the same
for all, the mean of m values has variance υ²/m, and their scatter SS = Σ (y_i − ȳ)² speaks of υ²
alone. Merging is exact: the joint density of the raw values is the density of the merged ones times
a factor that does not involve f, kept here so that the likelihood is that of the raw data.
"""

from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from ceibo.gp.inputs import Array, Indices, Mask

# The smallest scale that values are divided by: its square is still a normal number.
_SMALLEST_SCALE: Final = 2.0**-508


@final
@dataclass(frozen=True, eq=False)
class Observations:
    """Merged observations in standard units, y = centre + scale·standardized.

    A row is one point with either known noise (`noise` finite, counts 1) or unknown noise (`noise`
    NaN).
    """

    X: Array  # (n, d)
    y: Array  # (n,) standardized
    noise: Array  # (n,) variance in standard units; NaN where unknown
    counts: Array  # (n,) replicates behind a row of unknown noise, 1 elsewhere
    centre: float
    scale: float
    scatter: float  # Σ SS over rows of unknown noise, in standard units
    extra_unknown: float  # Σ (m − 1) over rows of unknown noise
    # what merging takes out of the log density, in standard units, unknown noise aside
    log_factor: float
    unknown: Mask = field(init=False)  # (n,)
    # whether a noise variance has to be inferred
    infers_noise: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "unknown", np.isnan(self.noise))
        object.__setattr__(self, "infers_noise", bool(np.any(self.unknown)))

    def noise_with(self, inferred: float) -> Array:
        """(n,) noise variances, with `inferred` for one measurement of unknown noise."""
        return np.where(self.unknown, inferred / self.counts, self.noise)

    def replicate_term(self, log_inferred: float) -> tuple[float, float]:
        """The replicates' own log density of the inferred noise, and its derivative in log υ²."""
        precision = np.exp(-log_inferred)
        value = (
            -0.5 * self.extra_unknown * (np.log(2 * np.pi) + log_inferred)
            - 0.5 * self.scatter * precision
        )
        return float(value), float(-0.5 * self.extra_unknown + 0.5 * self.scatter * precision)

    def rows(self, indices: Indices) -> "Observations":
        """The observations at these rows, in the same units and with the scatter of all."""
        return Observations(
            self.X[indices],
            self.y[indices],
            self.noise[indices],
            self.counts[indices],
            self.centre,
            self.scale,
            self.scatter,
            self.extra_unknown,
            self.log_factor,
        )


def standardize(
    X: Array, y: Array, noise_variance: Array, typical: Mask | None = None
) -> Observations:
    """Centres and scales y to zero mean and unit variance, and merges replicates.

    Where some rows are not `typical`, centre and scale are those of the others.

    Values are first divided by a power of two near their size, which is exact, so that nothing
    over- or underflows: y multiplied by any power of two gives the same observations, bit for bit.
    """
    exponent = int(np.frexp(np.max(np.abs(y)))[1])
    # values of zero have no size: that of the known noise then sets the scale
    if not np.any(y):
        exponent = int(np.frexp(np.nanmax(noise_variance, initial=0.0))[1]) // 2
    y_near = np.ldexp(y, -exponent)
    inner = y_near if typical is None else y_near[typical]
    centre = float(np.mean(inner))
    spread = float(np.std(inner))
    # A spread made of rounding errors is none: scale by the values' size, or by 1 if all are zero.
    if spread <= 1e-13 * float(np.max(np.abs(y_near))):
        spread = float(np.max(np.abs(y_near))) or 1.0
    spread = max(spread, float(np.ldexp(_SMALLEST_SCALE, -exponent)))
    z = (y_near - centre) / spread
    noise = np.ldexp(np.ldexp(noise_variance, -exponent), -exponent) / spread**2
    merged = _merge(X, z, noise)
    unit = np.ldexp(1.0, exponent)
    return Observations(*merged[:4], centre * unit, spread * unit, *merged[4:])


def _merge(
    X: Array, y: Array, noise: Array
) -> tuple[Array, Array, Array, Array, float, float, float]:
    n = len(X)
    keys = np.column_stack([X + 0.0, np.isnan(noise)])  # −0.0 becomes 0.0
    if len({row.tobytes() for row in keys}) == n:  # no replicates
        return X, y, noise, np.ones(n), 0.0, 0.0, 0.0
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # groups in the order of their first observation
    group = np.argsort(order)[group.reshape(-1)]
    first = first[order]
    unknown = np.isnan(noise[first])
    count = np.bincount(group).astype(np.float64)
    # Precisions are relative to the group's smallest noise, which covers zero noise as the limit.
    smallest = np.full(len(first), np.inf)
    np.minimum.at(smallest, group, np.where(np.isnan(noise), 0.0, noise))
    with np.errstate(divide="ignore", invalid="ignore"):
        # ≤ 1; 0/0 = NaN where the noise is zero or unknown
        relative = smallest[group] / noise
    precision = np.where(np.isnan(relative), 1.0, relative)
    total = np.bincount(group, precision)
    mean = np.bincount(group, precision * y) / total
    squares = precision * (y - mean[group]) ** 2
    scatter = float(np.sum(squares[unknown[group]]))
    merged_noise = np.where(unknown, np.nan, smallest / total)
    known_scatter = np.bincount(group, squares) * ~unknown
    log_factor = -0.5 * float(np.sum(np.log(count[unknown])))
    # exact repeats of a noiseless value add no density
    repeated = ~unknown & (count > 1) & (smallest > 0)
    for j in np.flatnonzero(repeated):
        members = noise[group == j]
        log_factor += -0.5 * float(
            np.sum(np.log(2 * np.pi * members))
            - np.log(2 * np.pi * merged_noise[j])
            + known_scatter[j] / smallest[j]
        )
    counts = np.where(unknown, count, 1.0)
    extra = float(np.sum(count[unknown] - 1.0))
    return X[first], mean, merged_noise, counts, scatter, extra, log_factor
