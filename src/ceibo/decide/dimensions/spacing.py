"""Levels that are numbers: checks, where they lie, which is nearest; labels that have room."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from ceibo.decide.dimensions import ranges
from ceibo.decide.dimensions.levels import MAX_LEVELS
from ceibo.errors import Given, InputError

Number = int | float

_NO_LOG: Final = ("use ", Given("log", False))


def is_number(value: object) -> bool:
    """Whether a plain value is a number; truth values are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def numbers_of(values: Sequence[object]) -> tuple[Number, ...]:
    """Those of the values that are numbers."""
    return tuple(
        each for each in values if isinstance(each, int | float) and not isinstance(each, bool)
    )


def are_numbers(values: Sequence[object]) -> bool:
    """Whether there are values and all are numbers."""
    return len(values) > 0 and all(map(is_number, values))


def check_numbers(numbers: Sequence[Number], log: bool, kind: str) -> None:
    """Raises an error unless levels of that kind of dimension ascend and can be told apart."""
    if any(a > b for a, b in pairwise(numbers)):
        got, ordered = Given("values", list(numbers)), Given("values", sorted(numbers))
        raise InputError(kind, "numbers in ascending order", got, ("use ", ordered))
    for number in numbers:
        ranges.finite(number, kind, "")
    if log and numbers[0] <= 0:
        positive = ("numbers above 0 with ", Given("log", True))
        raise InputError(kind, positive, Given(value=numbers[0]), _NO_LOG)
    gaps = np.diff(shares_of(numbers, log))
    if np.min(gaps) * MAX_LEVELS < 1:
        place = int(np.argmin(gaps))
        pair = Given(value=list(numbers[place : place + 2]))
        other = _NO_LOG if log else ("use ", Given("log", True))
        wanted = "values that a model can tell apart over the whole range"
        raise InputError(kind, wanted, pair, (*other, " or write words"))


def shares_of(numbers: Sequence[Number], log: bool) -> list[float]:
    """The positions of ascending numbers: 0 for the first, 1 for the last."""
    if log:
        low, high = math.log(numbers[0]), math.log(numbers[-1])
        width = high - low or 1.0
        return [(math.log(number) - low) / width for number in numbers]
    # exact, as differences of the largest doubles overflow and those of large integers vanish
    first = Fraction(numbers[0])
    whole = Fraction(numbers[-1]) - first
    return [float((Fraction(number) - first) / whole) for number in numbers]


def nearest_number(number: Number, known: Sequence[Number]) -> Number | None:
    """The nearest of some numbers; None if there are none, or the number is not finite."""
    if not known or (isinstance(number, float) and not math.isfinite(number)):
        return None
    given = Fraction(number)
    return min(known, key=lambda each: abs(Fraction(each) - given))


def is_rounded(number: Number, level: Number | None) -> bool:
    """Whether a number is a level but for rounding, as 0.1 + 0.2 is 0.3."""
    if not (isinstance(number, float) and isinstance(level, float)):
        return False
    return abs(level - number) <= 4 * math.ulp(level)


def with_room(places: Sequence[float], labels: Sequence[str], letters: int) -> list[int]:
    """The labels to show, the first and last among them, so that none covers another.

    Args:
        places: of the labels' centres along an axis from 0 to 1, ascending.
        labels: their texts.
        letters: how many the axis has room for.
    """

    def fits(place: int, other: int) -> bool:
        room = (len(labels[place]) + len(labels[other])) / 2 + 1
        return abs(places[place] - places[other]) * letters >= room

    last = len(places) - 1
    kept = [0]
    for place in range(1, last):
        if fits(place, kept[-1]) and fits(place, last):
            kept.append(place)
    return [*kept, last]
