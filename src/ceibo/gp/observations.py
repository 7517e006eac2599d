"""Observations as the fit sees them: in standard units, with replicates merged.

Several observations of one point x say no more about f(x) than their mean does. With known noise
υ_i² the mean is weighted by precision and has variance 1/Σ υ_i⁻². With unknown noise υ², the same
for all, the mean of m values has variance υ²/m, and their scatter SS = Σ (y_i − ȳ)² speaks of υ²
alone. Merging is exact: the joint density of the raw values is the density of the merged ones times
a factor that does not involve f, kept here so that the likelihood is that of the raw data.

A mean of k values told with its standard error e, itself computed from those values, is k
replicates of unknown noise of which mean and scatter SS = k (k − 1) e² are known, and is treated as
such.

Only observations in the same blocks are merged: between blocks there are offsets too.
"""

from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, final

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
    # (n,) replicates behind a row of unknown noise, in units of its relative noise; 1 elsewhere
    counts: Array
    centre: float
    scale: float
    scatter: float  # Σ SS over rows of unknown noise, in standard units
    extra_unknown: float  # Σ (m − 1) over rows of unknown noise
    # what merging takes out of the log density, in standard units, unknown noise aside
    log_factor: float
    blocks: Indices  # (n, b) as in ceibo.gp.blocks
    # the kinds of block of which there are two or more: one alone says nothing of σ_t
    varying: tuple[int, ...]
    scatters: Array  # (n,) SS of each row of unknown noise, of which `scatter` is the sum
    extras: Array  # (n,) m − 1 of each row of unknown noise
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
            self.blocks[indices],
            self.varying,
            self.scatters[indices],
            self.extras[indices],
        )

    def shaped(self, relative: Array) -> "Observations":
        """The same, with an unknown noise that is `relative` (n,) times the inferred one.

        Relative noise ρ leaves of m values the weight m/ρ, of their scatter SS/ρ, and ρ^−(m−1)/2 of
        its density.
        """
        relative = np.where(self.unknown, relative, 1.0)
        scatters = self.scatters / relative
        return replace(
            self,
            counts=self.counts / relative,
            scatter=float(np.sum(scatters)),
            log_factor=self.log_factor - 0.5 * float(self.extras @ np.log(relative)),
            scatters=scatters,
        )


def standardize(
    X: Array,
    y: Array,
    noise_variance: Array,
    counts: Array | None = None,
    blocks: Indices | None = None,
    believed: Mask | None = None,
) -> Observations:
    """Centres and scales y to zero mean and unit variance, and merges replicates.

    Where `counts` are above 1, y is a mean of so many values and noise_variance the square of its
    standard error; centre and scale are then those of the values behind the means.
    Rows that are not `believed` are left out of centre and scale.

    Values are first divided by a power of two near their size, which is exact, so that nothing
    over- or underflows: y multiplied by any power of two gives the same observations, bit for bit.
    """
    exponent = int(np.frexp(np.max(np.abs(y)))[1])
    # values of zero have no size: that of the known noise then sets the scale
    if not np.any(y):
        exponent = int(np.frexp(np.nanmax(noise_variance, initial=0.0))[1]) // 2
    y_near = np.ldexp(y, -exponent)
    noise_near = np.ldexp(np.ldexp(noise_variance, -exponent), -exponent)
    counted = np.ones(len(y)) if counts is None else counts
    # the variance of the values behind a standard error, SS/k
    within = np.where((counted > 1) & ~np.isnan(noise_near), (counted - 1.0) * noise_near, 0.0)
    inner = y_near if believed is None else y_near[believed]
    centre, spread = float(np.mean(inner)), float(np.std(inner))
    if np.any(counted > 1):
        weights = counted if believed is None else counted * believed
        centre = float(np.average(y_near, weights=weights))
        squares = (y_near - centre) ** 2 + within
        spread = float(np.sqrt(np.average(squares, weights=weights)))
    # A spread made of rounding errors is none: scale by the values' size, or by 1 if all are zero.
    if spread <= 1e-13 * float(np.max(np.abs(y_near))):
        spread = float(np.max(np.abs(y_near))) or 1.0
    spread = max(spread, float(np.ldexp(_SMALLEST_SCALE, -exponent)))
    z = (y_near - centre) / spread
    noise = noise_near / spread**2
    kinds = np.empty((len(y), 0), dtype=np.intp) if blocks is None else blocks
    rows = _merge(_Rows(X, z, noise, counted, kinds))
    unit = np.ldexp(1.0, exponent)
    varying = tuple(kind for kind, of in enumerate(kinds.T) if len(np.unique(of[of >= 0])) > 1)
    return Observations(
        rows.X,
        rows.y,
        rows.noise,
        rows.counts,
        centre * unit,
        spread * unit,
        rows.scatter,
        rows.extra_unknown,
        rows.log_factor,
        rows.blocks,
        varying,
        rows.scatters,
        rows.extras,
    )


@final
class _Rows:
    """Rows in standard units, those of counted standard errors as replicates of unknown noise."""

    def __init__(self, X: Array, y: Array, noise: Array, counts: Array, blocks: Indices):
        self.X, self.y, self.counts, self.blocks = X, y, counts, blocks
        estimated = (counts > 1) & ~np.isnan(noise)
        self.noise = np.where(estimated, np.nan, noise)
        # what the values behind standard errors say of the noise
        errors, sizes = noise[estimated], counts[estimated]
        self.scatter = float(np.sum(sizes * (sizes - 1.0) * errors))
        self.extra = float(np.sum(sizes - 1.0))
        # ... each row's, (n,)
        self.scatters, self.extras = np.zeros(len(y)), np.zeros(len(y))
        self.scatters[estimated] = sizes * (sizes - 1.0) * errors
        self.extras[estimated] = sizes - 1.0
        # the density of a mean alone is √k times that of a value
        self.log_counts = float(np.sum(np.log(counts[~estimated])))


@final
class _Merged(NamedTuple):
    """What merging makes of rows; see Observations."""

    X: Array
    y: Array
    noise: Array
    counts: Array
    scatter: float
    extra_unknown: float
    log_factor: float
    blocks: Indices
    scatters: Array
    extras: Array


def _merge(rows: _Rows) -> _Merged:
    X, y, noise, counts, blocks = rows.X, rows.y, rows.noise, rows.counts, rows.blocks
    n = len(X)
    keys = np.column_stack([X + 0.0, np.isnan(noise), blocks])  # −0.0 becomes 0.0
    if len({row.tobytes() for row in keys}) == n:  # no replicates
        log_factor = 0.5 * (rows.log_counts - float(np.sum(np.log(counts))))
        return _Merged(
            X,
            y,
            noise,
            counts,
            rows.scatter,
            rows.extra,
            log_factor,
            blocks,
            rows.scatters,
            rows.extras,
        )
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
    precision = np.where(np.isnan(relative), counts, relative)
    total = np.bincount(group, precision)
    mean = np.bincount(group, precision * y) / total
    squares = precision * (y - mean[group]) ** 2
    scatter = float(np.sum(squares[unknown[group]])) + rows.scatter
    merged_noise = np.where(unknown, np.nan, smallest / total)
    known_scatter = np.bincount(group, squares) * ~unknown
    log_factor = 0.5 * (rows.log_counts - float(np.sum(np.log(total[unknown]))))
    # exact repeats of a noiseless value add no density
    repeated = ~unknown & (count > 1) & (smallest > 0)
    for j in np.flatnonzero(repeated):
        members = noise[group == j]
        log_factor += -0.5 * float(
            np.sum(np.log(2 * np.pi * members))
            - np.log(2 * np.pi * merged_noise[j])
            + known_scatter[j] / smallest[j]
        )
    extra = float(np.sum(count[unknown] - 1.0)) + rows.extra
    sizes = np.where(unknown, total, 1.0)
    scatters = np.where(unknown, np.bincount(group, squares), 0.0)
    scatters += np.bincount(group, rows.scatters)
    extras = (count - 1.0) * unknown + np.bincount(group, rows.extras)
    return _Merged(
        X[first],
        mean,
        merged_noise,
        sizes,
        scatter,
        extra,
        log_factor,
        blocks[first],
        scatters,
        extras,
    )
