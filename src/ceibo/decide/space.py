"""The search space: named dimensions in a fixed order, as columns of the unit cube."""

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ceibo.decide.dimensions import (
    MAX_LISTED_LEVELS,
    AnyDimension,
    Categorical,
    Dimension,
    Float,
    Int,
    Value,
    dimension_from_json,
)
from ceibo.errors import InputError
from ceibo.gp.inputs import Array

__all__ = ["AnyDimension", "Categorical", "Dimension", "Float", "Int", "Space", "Value"]

Params = dict[str, Any]  # of Value; Any, because a checker cannot know which parameter is a number


class Space:
    """An ordered mapping of names to dimensions; column j of the unit cube is the j-th name."""

    def __init__(self, dimensions: "Mapping[str, AnyDimension] | Space") -> None:
        if isinstance(dimensions, Space):
            dimensions = dimensions.dimensions
        if not isinstance(dimensions, Mapping) or not dimensions:
            raise InputError(
                'expected a space with at least one parameter, as in {"temp": Float(20, 90)},'
                f" got {dimensions!r}"
            )
        self.dimensions: dict[str, Dimension] = {}
        for name, dimension in dimensions.items():
            if not isinstance(name, str) or not name or not name.isprintable() or len(name) > 200:
                raise InputError(
                    f"expected parameter names of 1 to 200 printable characters, got {name!r}"
                )
            if not isinstance(dimension, Float | Int | Categorical):
                raise InputError(
                    f"parameter {name!r}: expected a Float, Int or Categorical, got {dimension!r}"
                )
            self.dimensions[name] = dimension

    def __len__(self) -> int:
        return len(self.dimensions)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and list(self.dimensions.items()) == list(
            other.dimensions.items()
        )

    __hash__ = None  # type: ignore[assignment]  # a space is compared, never a key

    def __repr__(self) -> str:
        return f"Space({self.dimensions!r})"

    @property
    def names(self) -> tuple[str, ...]:
        """The parameter names, in column order."""
        return tuple(self.dimensions)

    @cached_property
    def discrete(self) -> dict[int, Array]:
        """Column -> its allowed coordinates, ascending, for dimensions of at most 10,000 levels.

        A longer one (an Int over millions) is left out: there the grid is finer than any length
        scale a model can learn, so it is searched as continuous and rounded by `from_unit`.
        """
        lists: dict[int, Array] = {}
        for column, dimension in enumerate(self.dimensions.values()):
            levels = dimension.levels
            if levels is None or levels > MAX_LISTED_LEVELS:
                continue
            if isinstance(dimension, Int) and dimension.log:
                values = range(dimension.low, dimension.high + 1)
                lists[column] = np.array([dimension.to_unit(value) for value in values])
            else:
                lists[column] = (np.arange(levels) + 0.5) / levels
        return lists

    @cached_property
    def categorical(self) -> tuple[int, ...]:
        """The columns whose coordinates have no order: two of them are equal or different, never
        near.
        """
        return tuple(
            c for c, d in enumerate(self.dimensions.values()) if isinstance(d, Categorical)
        )

    def check(self, params: Mapping[str, object]) -> Params:
        """The parameters as plain Python values in column order; an error names the first that is
        wrong.
        """
        if not isinstance(params, Mapping):
            raise InputError(
                f"expected parameters as a dict of {', '.join(self.names)}, got {params!r}"
            )
        if unknown := [name for name in params if name not in self.dimensions]:
            raise InputError(
                f"unknown parameter {unknown[0]!r}; the space has {', '.join(self.names)}"
            )
        if missing := [name for name in self.dimensions if name not in params]:
            raise InputError(
                f"parameter {missing[0]!r} is missing; the space has {', '.join(self.names)}"
            )
        return {
            name: dimension.check(params[name], name) for name, dimension in self.dimensions.items()
        }

    def to_unit(self, params: Mapping[str, object]) -> Array:
        """The coordinates (d,) of the parameters, which are checked first."""
        return self._coordinates(self.check(params))

    def to_unit_rows(self, rows: Iterable[Mapping[str, object]]) -> Array:
        """The coordinates (n, d) of several parameter sets."""
        coordinates = [self.to_unit(params) for params in rows]
        return np.array(coordinates) if coordinates else np.empty((0, len(self)))

    def _coordinates(self, params: Params) -> Array:
        return np.array([d.to_unit(params[name]) for name, d in self.dimensions.items()])

    def from_unit(self, u: npt.ArrayLike) -> Params:
        """The parameters at coordinates u (d,); levels are decoded by their cell, ends are
        exact.
        """
        point = np.asarray(u, dtype=float)
        if point.shape != (len(self),):
            raise InputError(
                f"expected {len(self)} coordinates, got an array of shape {point.shape}"
            )
        coordinates: list[float] = point.tolist()
        if not all(map(math.isfinite, coordinates)):
            raise InputError(f"expected finite coordinates in [0, 1], got {coordinates!r}")
        return {
            name: d.from_unit(x)
            for (name, d), x in zip(self.dimensions.items(), coordinates, strict=True)
        }

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data: name -> {type, low, high, log, step, choices}; the order is the column
        order.
        """
        return {name: dimension.to_json() for name, dimension in self.dimensions.items()}

    @classmethod
    def from_json(cls, data: object) -> Self:
        """The space that `to_json` or a study file wrote down."""
        if not isinstance(data, Mapping):
            raise InputError(f"expected a table of parameters, got {data!r}")
        return cls({name: dimension_from_json(entry, str(name)) for name, entry in data.items()})

    def check_same(self, other: "Space") -> None:
        """Raise an error that names the first difference; the order of the names does not count."""
        advice = (
            "open the study without a space to use the stored one, or start a study under another"
            " name"
        )
        for name, dimension in self.dimensions.items():
            if name not in other.dimensions:
                raise InputError(
                    f"the space has changed: parameter {name!r} is stored but not given now;"
                    f" {advice}"
                )
            if other.dimensions[name] != dimension:
                raise InputError(
                    f"the space has changed: parameter {name!r} is stored as {dimension!r}, "
                    f"given now as {other.dimensions[name]!r}; {advice}"
                )
        if added := [name for name in other.dimensions if name not in self.dimensions]:
            raise InputError(
                f"the space has changed: parameter {added[0]!r} is not in the stored space;"
                f" {advice}"
            )
