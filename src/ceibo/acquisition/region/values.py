"""Coordinates of all columns as values, in which rules are linear."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import final

import numpy as np

from ceibo.acquisition.region.terms import Column, Scale, Table
from ceibo.gp.inputs import Array, Mask


@final
class Values:
    """v = value(u) of every column at once; columns without numbers have the value 0.

    Args:
        columns: what is known of each column.
        discrete: column -> its allowed coordinates, ascending.
    """

    def __init__(self, columns: Sequence[Column], discrete: Mapping[int, Array]) -> None:
        self.columns, self.discrete = tuple(columns), dict(discrete)
        d = len(self.columns)
        self.low, self.high = np.zeros(d), np.zeros(d)
        self.tables: dict[int, tuple[Array, Array]] = {}
        self.curved = np.zeros(d, dtype=bool)
        """(d,) columns on a logarithmic scale."""
        self.decades = np.zeros(d)
        """(d,) ln(high/low) of those."""
        for k, column in enumerate(self.columns):
            if isinstance(column, Scale):
                self.low[k], self.high[k] = column.low, column.high
                self.curved[k] = column.log
                if column.log:
                    self.decades[k] = np.log(column.high) - np.log(column.low)
            elif isinstance(column, Table):
                self.tables[k] = column.coordinates, column.values
                self.low[k], self.high[k] = column.values.min(), column.values.max()
        self.width = self.high - self.low
        """(d,) how far apart the values of a column are at most."""
        self.is_continuous: Mask = np.array([k not in self.discrete for k in range(d)], dtype=bool)

    def at(self, X: Array) -> Array:
        """The values (N, d) at points (N, d)."""
        V = self.low + X * self.width
        for k in self._logarithmic:
            V[:, k] = self.low[k] * np.exp(X[:, k] * self.decades[k])
        for k, (coordinates, values) in self.tables.items():
            V[:, k] = np.interp(X[:, k], coordinates, values)
        return np.asarray(V)

    def slopes(self, V: Array) -> Array:
        """dv/du (N, d) of continuous columns at values (N, d)."""
        return np.where(self.curved, V * self.decades, self.width)

    def unit(self, k: int, v: Array) -> Array:
        """Coordinates (n,) of values (n,) of one continuous column."""
        if self.curved[k]:
            return np.asarray(
                np.log(np.maximum(v, np.finfo(float).tiny) / self.low[k]) / self.decades[k]
            )
        return np.asarray((v - self.low[k]) / (self.width[k] or 1.0))

    @cached_property
    def zeros(self) -> Array:
        """(d,) the coordinate of the value 0; NaN where 0 is no value of the column."""
        found = np.full(len(self.columns), np.nan)
        for k, column in enumerate(self.columns):
            if isinstance(column, Scale):
                if not column.log and column.low <= 0.0 <= column.high:
                    found[k] = -column.low / column.width
                if k in self.discrete:  # whose levels are rounded otherwise
                    near = np.abs(self.discrete[k] - found[k]) <= 1e-13
                    found[k] = self.discrete[k][near][0] if np.any(near) else np.nan
            elif isinstance(column, Table):
                places = np.flatnonzero(column.values == 0.0)
                allowed = self.discrete.get(k, column.coordinates)
                hits = [u for u in column.coordinates[places] if np.any(allowed == u)]
                found[k] = hits[0] if hits else np.nan
        return found

    def values_of(self, k: int) -> Array:
        """The values of the allowed coordinates of a discrete column."""
        return self._listed[k]

    @cached_property
    def _listed(self) -> dict[int, Array]:
        found = {}
        for k, allowed in self.discrete.items():
            X = np.zeros((len(allowed), len(self.columns)))
            X[:, k] = allowed
            found[k] = self.at(X)[:, k]
        return found

    @cached_property
    def _logarithmic(self) -> list[int]:
        return [int(k) for k in np.flatnonzero(self.curved)]
