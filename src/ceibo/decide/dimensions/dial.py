"""Values as a person would set them on an instrument, with the digits that matter."""

import math
from typing import Final

from ceibo.decide.dimensions.base import Dimension, Value
from ceibo.decide.dimensions.float_ import Float
from ceibo.numbers import rounded
from ceibo.text import one_line

_LONGEST: Final = 10_000  # characters of a value that is shown
_MOST_PLACES: Final = 9  # decimal places, and
_LARGE: Final = 1e9  # numbers beyond which an exponent is shown


def to_dial(dimension: Dimension, value: Value) -> str:
    """To a thousandth of the box or finer, to four digits if logarithmic, exactly on a grid."""
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
    # an end of the box may have more digits
    return text if dimension.low <= float(text) <= dimension.high else repr(value)
