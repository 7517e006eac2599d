"""Points along one parameter and over two, through a place, for slices and maps."""

from typing import Final

import numpy as np

from ceibo.decide.dimensions import Dimension
from ceibo.decide.space import Space
from ceibo.decide.surface.existence import canonical
from ceibo.decide.surface.ruled import holding, moved, path_along
from ceibo.gp.grid import evenly
from ceibo.gp.inputs import Array, Mask

_GRID: Final = 81  # points of a slice
_MAP: Final = 41  # points of a map, in each direction
_FINE: Final = 161  # the same where rules are drawn
_MOST_LEVELS: Final = 60  # levels shown one by one


def along(space: Space, place: Array, column: int) -> Array:
    """Points (n, d) along one parameter, the others as at a place or as rules demand."""
    units = units_along(space, column)
    if space.rules:
        return canonical(space, path_along(space, place, column, units))
    X = np.tile(place, (len(units), 1))
    X[:, column] = units
    return canonical(space, X)


def axis_of(space: Space, X: Array, column: int) -> tuple[tuple[float, ...], str, Dimension]:
    """Coordinates of points along one parameter, its name and dimension."""
    name = space.names[column]
    dimension = space.dimensions[name]
    units = X[:, column]
    places = [dimension.to_unit(dimension.from_unit(float(unit))) for unit in units]
    return tuple(places), name, dimension


def units_along(space: Space, column: int, points: int = _GRID) -> Array:
    """Coordinates along a parameter, so many of them: every level if there are few."""
    levels = space.discrete.get(column)
    if levels is None:
        return np.linspace(0, 1, points)
    if len(levels) <= _MOST_LEVELS:
        return levels
    return np.asarray(levels[np.unique(evenly(len(levels), points))])


def over(
    space: Space, place: Array, pair: tuple[int, int], points: int = _MAP
) -> tuple[Array, tuple[int, int]]:
    """Points (n, d) over two parameters, the others as at a place or as rules demand.

    Also (rows, columns) of the grid.
    """
    first, second = pair
    across, up = _even_units(space, first, points), _even_units(space, second, points)
    return over_units(space, place, pair, (across, up))


def over_units(
    space: Space, place: Array, pair: tuple[int, int], units: tuple[Array, Array]
) -> tuple[Array, tuple[int, int]]:
    """The same with the coordinates of the first and of the second parameter given."""
    first, second = pair
    across, up = units
    X = np.tile(place, (len(across) * len(up), 1))
    X[:, first] = np.tile(across, len(up))
    X[:, second] = np.repeat(up, len(across))
    return canonical(space, moved(space, X, pair)), (len(up), len(across))


def excluded(space: Space, place: Array, pair: tuple[int, int]) -> Mask | None:
    """Where over two parameters rules do not hold, on a fine grid; None without rules."""
    if not space.rules:
        return None
    X, shape = over(space, place, pair, _FINE)
    held = holding(space, X)
    return None if held is None else ~held.reshape(shape)


def _even_units(space: Space, column: int, points: int) -> Array:
    """Coordinates evenly spaced along a parameter; the choices of a categorical one."""
    levels = space.discrete.get(column)
    if column in space.categorical and levels is not None:
        return levels
    return np.linspace(0, 1, points)
