"""Values as a person would set them on an instrument, with the digits that matter."""

import math
from decimal import Decimal
from typing import Final

from ceibo.decide.dimensions.base import Dimension, Value
from ceibo.decide.dimensions.float_ import Float
from ceibo.numbers import rounded
from ceibo.text import one_line

_LONGEST: Final = 10_000  # characters of a value that is shown
_MOST_PLACES: Final = 9  # decimal places, and
_LARGE: Final = 1e9  # numbers beyond which an exponent is shown


def to_dial(dimension: Dimension, value: Value) -> str:
    """To a thousandth of the box or finer, to four digits if logarithmic, exactly on a grid.

    Values of a grid have the decimal places that the grid needs.
    """
    if not isinstance(dimension, Float) or not isinstance(value, float):
        return one_line(value, _LONGEST)
    text = repr(value)
    if dimension.log:
        text = rounded(value, 4)
    elif dimension.step is None:
        width = dimension.high / 1000 - dimension.low / 1000
        places = max(0, -math.floor(math.log10(width))) if width > 0 else _MOST_PLACES
        plain = places < _MOST_PLACES and abs(value) < _LARGE
        text = f"{value:.{places}f}" if plain else rounded(value)
    else:
        places = max(places_of(dimension.low), places_of(dimension.step))
        if places < _MOST_PLACES and abs(value) < _LARGE:
            even = f"{value + 0.0:.{places}f}"
            text = even if float(even) == value else text
    # an end of the box may have more digits
    return text if dimension.low <= float(text) <= dimension.high else repr(value)


def places_of(number: float) -> int:
    """The decimal places of a number, as it is written."""
    exponent = Decimal(repr(number)).normalize().as_tuple().exponent
    return max(0, -int(exponent))
