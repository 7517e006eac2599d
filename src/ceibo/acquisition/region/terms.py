"""The terms in which a region of the unit cube is described, in the units of the values.

Notation: u_k the coordinate in [0, 1] of column k, v_k = value_k(u_k) its value.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo.gp.inputs import Array


@final
@dataclass(frozen=True)
class Scale:
    """A continuous column: v runs from low (u = 0) to high (u = 1), evenly or by its logarithm."""

    low: float
    high: float
    log: bool = False

    @property
    def width(self) -> float:
        """How far apart the values are at most."""
        return self.high - self.low

    def value(self, u: Array) -> Array:
        """v at coordinates of any shape."""
        if self.log:
            return np.asarray(np.exp(np.log(self.low) + u * np.log(self.high / self.low)))
        return np.asarray(self.low + u * self.width)

    def unit(self, v: Array) -> Array:
        """u at values of any shape; beyond [0, 1] for values outside the range."""
        if self.log:
            safe = np.maximum(v, np.finfo(float).tiny)
            return np.asarray(np.log(safe / self.low) / np.log(self.high / self.low))
        return np.asarray((v - self.low) / self.width)


@final
@dataclass(frozen=True, eq=False)
class Table:
    """A column of levels: its allowed coordinates, ascending, and the value at each (m,)."""

    coordinates: Array
    values: Array

    @property
    def width(self) -> float:
        """How far apart the values are at most."""
        return float(np.ptp(self.values))

    def value(self, u: Array) -> Array:
        """v of the level nearest to each coordinate."""
        nearest = np.argmin(np.abs(u[..., None] - self.coordinates), axis=-1)
        return np.asarray(self.values[nearest])


Column = Scale | Table | None
"""How a column's coordinates become numbers; None where they have no numbers, as categories."""


@final
@dataclass(frozen=True, eq=False)
class Linear:
    """Σ_k c_k v_k ≤ bound, or = bound. Columns without numbers have the coefficient zero."""

    coefficients: Array  # (d,)
    bound: float
    equal: bool = False


@final
@dataclass(frozen=True, eq=False)
class Among:
    """The coordinate of a column with listed coordinates is one of these."""

    column: int
    coordinates: Array


@final
@dataclass(frozen=True)
class Zero:
    """v of a column is exactly zero."""

    column: int


@final
@dataclass(frozen=True)
class Count:
    """At least `least` and at most `most` of some columns have values other than zero."""

    columns: tuple[int, ...]
    least: int
    most: int


Term = Linear | Among | Zero | Count


@final
@dataclass(frozen=True)
class Requirement:
    """At least one alternative must hold, that is, all its terms; `rule` is its place in a list.

    It applies where all columns of its terms exist, and the `columns` beside them.
    """

    alternatives: tuple[tuple[Term, ...], ...]
    rule: int = 0
    columns: tuple[int, ...] = ()


@final
@dataclass(frozen=True, eq=False)
class Branch:
    """A column that exists only where its parent exists and has one of some coordinates.

    Elsewhere its coordinate is `inactive`. A column of several branches exists where all do.
    """

    column: int
    parent: int
    coordinates: Array
    inactive: float
