"""Where parameters exist, for drawings of spaces in which not all of them do everywhere."""

import numpy as np

from ceibo.acquisition.region.terms import Linear
from ceibo.decide.space import Space
from ceibo.decide.surface.ruled import equalities_of
from ceibo.gp.inputs import Array


def describe(space: Space, name: str) -> str:
    """A parameter in a few words: its dimension, and where it exists if not everywhere."""
    said = space.dimensions[name].describe()
    if space.conditions is None or name not in space.conditions.direct:
        return said
    return f"{said}; exists where {space.conditions.describe(name)}"


def shown_places(space: Space, X: Array) -> Array:
    """Points (n, d) with NaN as the coordinate of a parameter that does not exist there."""
    if space.conditions is None:
        return X
    shown = X.copy()
    for name, column in space.conditions.columns.items():
        shown[~space.conditions.mask(name, X), column] = np.nan
    return shown


def canonical(space: Space, X: Array) -> Array:
    """Points (n, d) with the coordinates that the model uses where a parameter does not exist."""
    return X if space.conditions is None else space.conditions.canonical(X)


def fill(space: Space, place: Array, X: Array, means: Array) -> Array:
    """A place (d,) with coordinates of the parameters that do not exist there.

    A picture through the place that moves a parent needs them where they do exist: they are those
    of the measured point X (n, d) with the least mean (n,) that has the parameter, or the middle.
    """
    if space.conditions is None:
        return place
    filled = place.copy()
    order = np.argsort(means, kind="stable")
    for name, column in space.conditions.columns.items():
        if space.conditions.mask(name, place[None, :])[0]:
            continue
        there = X[order][space.conditions.mask(name, X[order]), column]
        filled[column] = there[0] if len(there) else _middle(space, column)
    return filled


def _middle(space: Space, column: int) -> float:
    levels = space.discrete.get(column)
    return 0.5 if levels is None else float(levels[len(levels) // 2])


def columns_at(space: Space, place: Array, columns: list[int]) -> list[int]:
    """Those of the columns whose parameters exist at a place."""
    if space.conditions is None:
        return columns
    names, conditions = space.names, space.conditions
    return [each for each in columns if conditions.mask(names[each], place[None, :])[0]]


def pair_of(space: Space, columns: list[int]) -> tuple[int, int] | None:
    """The first two columns of which neither decides whether the other exists, or what it is.

    Of a space with a mixture, that is at most one of its parts: three are drawn as a triangle.
    """
    bound = [set(np.flatnonzero(each.coefficients)) for each in _equalities(space)]
    for place, second in enumerate(columns):
        for first in columns[:place]:
            tied = any({first, second} <= together for together in bound)
            if not tied and not _is_ancestor(space, first, second):
                return first, second
    return None


def _equalities(space: Space) -> list[Linear]:
    return equalities_of(space) if space.rules else []


def _is_ancestor(space: Space, first: int, second: int) -> bool:
    """Whether one of two parameters decides whether the other exists."""
    if space.conditions is None:
        return False
    one, other = space.names[first], space.names[second]
    ancestors = space.conditions.ancestors
    return one in ancestors.get(other, ()) or other in ancestors.get(one, ())
