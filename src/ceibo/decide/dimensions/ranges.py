"""What dimensions from low to high share: checks of their numbers, and LOW:HIGH in a shell."""

import math
from typing import Any, Final

import numpy as np

from ceibo.decide.dimensions.base import Dimension, to_plain
from ceibo.errors import Given, InputError, show_value
from ceibo.numbers import to_number

# A whole number of more digits would be refused by JSON, which writes it down.
_MOST_DIGITS: Final = 1000
_MOST_BITS: Final = math.floor(_MOST_DIGITS * math.log2(10))


def finite(value: object, kind: str, option: str) -> float:
    """An option of a dimension as a finite float."""
    plain = to_plain(value)
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise InputError(kind, "a number", Given(option, value))
    try:
        number = float(plain) + 0.0  # turns -0.0 into 0.0, which every store can hold
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(kind, "a finite number", Given(option, value))
    return number


def whole(value: object, kind: str, option: str) -> int:
    """An option of a dimension as an int; 3.0 counts as 3."""
    plain = to_plain(value)
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    if isinstance(plain, bool) or not isinstance(plain, int):
        raise InputError(kind, "a whole number", Given(option, value))
    if plain.bit_length() > _MOST_BITS:
        wanted = f"a whole number of at most {_MOST_DIGITS} digits"
        raise InputError(kind, wanted, Given(option, value))
    return plain


def flag(value: object, kind: str, option: str) -> bool:
    """An option of a dimension as a bool."""
    if not isinstance(value, bool | np.bool_):
        wanted = (Given(option, True), " or ", Given(option, False))
        raise InputError(kind, wanted, Given(value=value))
    return bool(value)


def check_order(low: float, high: float, kind: str) -> None:
    """Raises an error unless low < high."""
    if not low < high:
        one = "leave a dimension with one value out of the space"
        got = (Given("low", low), " and ", Given("high", high))
        raise InputError(kind, "low < high", got, one if low == high else "swap them")


def set_fields(dimension: Dimension, **values: object) -> None:
    """Sets fields of a frozen dimension while it is made."""
    for key, value in values.items():
        object.__setattr__(dimension, key, value)


def number_in(value: object, name: str, wanted: str) -> int | float:
    """A value of parameter `name` as a Python number."""
    plain = to_plain(value)
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        got = f"{show_value(value)} ({type(value).__name__})"
        raise InputError(f"parameter {name!r}", wanted, got)
    return plain


def parse_range(words: list[str]) -> dict[str, Any] | None:
    """The keys that LOW:HIGH[:log][:step=S], split at the colons, stands for; None if not that."""
    if len(words) < 2:
        return None
    keys: dict[str, Any] = {"low": to_number(words[0]), "high": to_number(words[1])}
    for word in words[2:]:
        if word == "log":
            keys["log"] = True
        elif word.startswith("step="):
            keys["step"] = to_number(word.removeprefix("step="))
        else:
            return None
    return None if None in keys.values() else keys
