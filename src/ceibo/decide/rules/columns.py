"""What a dimension is to a rule: a column of numbers with a range, or one of words."""

import math
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from ceibo.acquisition.region.terms import Column, Scale, Table
from ceibo.decide.dimensions import Dimension

_NUMBERS: Final = (int, float)


def column_of(dimension: Dimension) -> Column:
    """How the coordinates of a dimension become numbers; None if its values are words.

    A grid of more levels than are listed is a scale that reaches half a step beyond its ends, as
    its coordinates do.
    """
    ends = range_of(dimension)
    if ends is None or not math.isfinite(ends[1] - ends[0]):
        return None
    coordinates = dimension.coordinates
    if coordinates is not None:
        values = [_number(dimension.from_unit(u)) for u in coordinates.tolist()]
        return Table(coordinates, np.array(values))
    low, high = ends
    half = (high - low) / (dimension.levels - 1) / 2 if dimension.levels else 0.0
    return Scale(low - half, high + half, bool(getattr(dimension, "log", False)))


def columns_of(dimensions: Mapping[str, Dimension]) -> tuple[Column, ...]:
    """The column of each dimension, in their order."""
    return tuple(column_of(each) for each in dimensions.values())


def range_of(dimension: Dimension) -> tuple[float, float] | None:
    """The least and the largest value, or None if the values are words."""
    ends = dimension.from_unit(0.0), dimension.from_unit(1.0)
    if not _are_numbers(dimension, dimension.listed or ends):
        return None
    low, high = map(_number, ends)
    return low, high


def _are_numbers(dimension: Dimension, values: Iterable[object]) -> bool:
    """Whether values are ordered numbers; truth values are none."""
    return dimension.is_ordered and all(type(each) in _NUMBERS for each in values)


def _number(value: object) -> float:
    try:
        return float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return math.inf  # which is refused in a sentence
