"""Dimensions of a search space: one file per type, and the table of their names."""

from ceibo.decide.dimensions.base import Dimension, Value
from ceibo.decide.dimensions.categorical import Categorical
from ceibo.decide.dimensions.float_ import Float
from ceibo.decide.dimensions.int_ import Int
from ceibo.decide.dimensions.levels import MAX_LEVELS, MAX_LISTED_LEVELS
from ceibo.decide.dimensions.ordinal import Ordinal
from ceibo.decide.dimensions.table import dimension_from_json, register

__all__ = [
    "MAX_LEVELS",
    "MAX_LISTED_LEVELS",
    "Categorical",
    "Dimension",
    "Float",
    "Int",
    "Ordinal",
    "Value",
    "dimension_from_json",
    "register",
]
