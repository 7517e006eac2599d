"""Where the maximiser may search, if not in the whole cube: rules, branches, held columns."""

from ceibo.acquisition.region.region import EmptyRegionError, Region
from ceibo.acquisition.region.terms import (
    Among,
    Branch,
    Count,
    Linear,
    Requirement,
    Scale,
    Table,
    Zero,
)

__all__ = [
    "Among",
    "Branch",
    "Count",
    "EmptyRegionError",
    "Linear",
    "Region",
    "Requirement",
    "Scale",
    "Table",
    "Zero",
]
