"""Where the maximiser may search, if not in the whole cube: rules, branches, held columns."""

from ceibo.acquisition.region.terms import (
    Among,
    Branch,
    Count,
    Linear,
    Requirement,
    Scale,
    Table,
    Term,
    Zero,
)

__all__ = ["Among", "Branch", "Count", "Linear", "Requirement", "Scale", "Table", "Term", "Zero"]
