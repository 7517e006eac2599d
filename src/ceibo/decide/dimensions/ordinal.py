"""`Ordinal`: one of a few levels in their order, with distances of their own.

Of m levels the first lies at 1/2m and the last at 1 − 1/2m, as those of an `Int` of m values do.
Numbers lie between them by their value, or by its logarithm, so that the model sees 8 and 24 hours
further apart than 1 and 2. Words, and lists with words in them, lie evenly in the order given.
An even design has every level equally often (`at_share`). Round trips value -> unit -> value are
exact.
"""

import csv
import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Final, final

import numpy as np

from ceibo.checks import nearest
from ceibo.decide.dimensions import ranges
from ceibo.decide.dimensions.base import Dimension, Value, to_plain
from ceibo.decide.dimensions.choices import Identity, identity, listed_values
from ceibo.decide.dimensions.levels import MAX_LEVELS, MAX_LISTED_LEVELS, level_at
from ceibo.errors import Given, InputError, show_value
from ceibo.gp.inputs import Array
from ceibo.numbers import to_number
from ceibo.text import shorten

_MOST_NAMED: Final = 50  # levels that an error names
_NO_LOG: Final = ("use ", Given("log", False))
_LETTERS: Final = 9  # of a label on an axis, if there are as many as asked for


@final
@dataclass(frozen=True)
class Ordinal(Dimension):
    """One of a few levels in their order: numbers, ascending, or words from first to last.

    Numbers are as far apart as their values, or with `log` as their logarithms; words, and numbers
    among words, are evenly apart. 4.0 counts as 4.
    """

    type_name: ClassVar[str] = "ordinal"
    spelling: ClassVar[str] = "'hours=1<2<4<8<24', 'hours=1<2<4<8<24:log', 'dose=low<medium<high'"

    values: Sequence[Value]
    log: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        values = listed_values(self.values, "Ordinal", "values", "[1, 2, 4, 8, 24]")
        if not 2 <= len(values) <= MAX_LISTED_LEVELS:
            wanted = f"2 to {MAX_LISTED_LEVELS} values"
            advice = "a dimension with one value can be left out of the space"
            raise InputError("Ordinal", wanted, str(len(values)), advice)
        values = tuple(each + 0.0 if isinstance(each, float) else each for each in values)
        ranges.set_fields(self, values=values, log=ranges.flag(self.log, "Ordinal", "log"))
        for index, value in enumerate(values):
            if self._index[_key(value)] != index:
                raise InputError("Ordinal", "distinct values", (Given(value=value), " twice"))
        numbers = self._numbers
        if numbers is not None:
            self._check_numbers(numbers)
        elif self.log:
            given = Given("values", list(values))
            raise InputError("Ordinal", ("numbers with ", Given("log", True)), given, _NO_LOG)

    def _check_numbers(self, numbers: tuple[int | float, ...]) -> None:
        if any(a > b for a, b in pairwise(numbers)):
            got, ordered = Given("values", list(numbers)), Given("values", sorted(numbers))
            raise InputError("Ordinal", "numbers in ascending order", got, ("use ", ordered))
        for number in numbers:
            ranges.finite(number, "Ordinal", "")
        if self.log and numbers[0] <= 0:
            wanted = ("numbers above 0 with ", Given("log", True))
            raise InputError("Ordinal", wanted, Given(value=numbers[0]), _NO_LOG)
        gaps = np.diff(self.coordinates)
        if np.min(gaps) * MAX_LEVELS < 1:
            place = int(np.argmin(gaps))
            pair = Given(value=list(numbers[place : place + 2]))
            other = _NO_LOG if self.log else ("use ", Given("log", True))
            advice = (*other, " or write words")
            apart = "values that a model can tell apart over the whole range"
            raise InputError("Ordinal", apart, pair, advice)

    def __eq__(self, other: object) -> bool:
        # Tuple equality would say that (1, "a") and (True, "a") are the same values.
        if not isinstance(other, Ordinal):
            return NotImplemented
        options = [each.name for each in fields(self) if each.name != "values"]
        same = all(getattr(self, name) == getattr(other, name) for name in options)
        return same and list(self._index) == list(other._index)

    def __hash__(self) -> int:
        return hash((tuple(self.values), self.log))

    @property
    def levels(self) -> int:
        """The number of values."""
        return len(self.values)

    @property
    def listed(self) -> tuple[Value, ...]:
        """The values."""
        return tuple(self.values)

    @cached_property
    def _index(self) -> dict[Identity, int]:
        """The place of each value."""
        return {_key(value): place for place, value in enumerate(self.values)}

    @cached_property
    def _numbers(self) -> tuple[int | float, ...] | None:
        """The values if all are numbers."""
        found = tuple(each for each in self.values if _is_number(each))
        return found if len(found) == len(self.values) else None  # type: ignore[return-value]  # numbers

    @cached_property
    def coordinates(self) -> Array:
        """The coordinates of the levels, ascending."""
        last = self.levels - 1
        return np.array([(0.5 + last * share) / self.levels for share in self._shares()])

    def _shares(self) -> list[float]:
        """The positions of the levels: 0 for the first, 1 for the last."""
        numbers, last = self._numbers, self.levels - 1
        if numbers is None:
            return [place / last for place in range(self.levels)]
        if self.log:
            low, high = math.log(numbers[0]), math.log(numbers[-1])
            return [
                (math.log(number) - low) / (high - low) if high > low else 0.0 for number in numbers
            ]
        # exact, as differences of the largest doubles overflow and those of large integers vanish
        first, width = Fraction(numbers[0]), Fraction(numbers[-1]) - Fraction(numbers[0])
        return [float((Fraction(number) - first) / width) for number in numbers]

    def check(self, value: object, name: str) -> Value:
        """The level that the value is; 4.0 counts as 4, and 0.1 + 0.2 as 0.3."""
        plain = to_plain(value)
        place = self._index.get(_key(plain))
        if place is None and _is_number(plain):
            place = self._close_level(plain)  # type: ignore[arg-type]  # a number
        if place is None:
            got = show_value(value)
            if not _is_number(plain):
                got += f" ({type(plain).__name__})"
            raise InputError(f"parameter {name!r}", self._wanted(), got, self._advice(plain))
        return self.values[place]

    def _close_level(self, number: float) -> int | None:
        """The level that a number is but for rounding."""
        close = self._nearest(number)
        if close is None or isinstance(close, int) or isinstance(number, int):
            return None
        return self._index[_key(close)] if abs(close - number) <= 4 * math.ulp(close) else None

    def _nearest(self, number: float) -> int | float | None:
        """The nearest level that is a number; None if none is, or the number is not finite."""
        known = [each for each in self.values if _is_number(each)]
        if not known or (isinstance(number, float) and not math.isfinite(number)):
            return None
        given = Fraction(number)
        return min(known, key=lambda each: abs(Fraction(each) - given))  # type: ignore[arg-type, return-value]  # numbers

    def _wanted(self) -> str:
        """What a value must be; of very many levels only the first are named."""
        first = ", ".join(map(show_value, self.values[:_MOST_NAMED]))
        rest = self.levels - _MOST_NAMED
        return f"one of [{first}]" if rest <= 0 else f"one of [{first}, …] ({rest} more)"

    def _advice(self, value: object) -> str:
        """Which level is nearest to a value that is none."""
        if _is_number(value):
            close = self._nearest(value)  # type: ignore[arg-type]  # a number
            return "" if close is None else f"the nearest is {show_value(close)}"
        words = [each for each in self.values if isinstance(each, str)]
        word = nearest(value, words) if isinstance(value, str) else None
        return "the type counts too" if word is None else f"did you mean {word!r}?"

    def to_unit(self, value: Value) -> float:
        """The coordinate of a checked level."""
        return float(self.coordinates[self._index[_key(value)]])

    def from_unit(self, u: float) -> Value:
        """The level nearest to u."""
        return self.values[self._level_near(u)]

    def _level_near(self, u: float) -> int:
        at = self.coordinates
        place = min(max(bisect_left(at, u), 1), self.levels - 1)
        return place - 1 if u - at[place - 1] <= at[place] - u else place

    def at_share(self, u: float) -> float:
        """The coordinate of the level whose equal part of [0, 1] holds u."""
        return float(self.coordinates[level_at(u, self.levels)])

    def describe(self) -> str:
        spaced = ", logarithmic" if self.log else ""
        return f"one of {' < '.join(map(str, self.values))}{spaced}"

    def ticks(self, count: int) -> list[tuple[float, str]]:
        """The levels, without those whose labels would cover others."""
        labels = [_label(value, max(3, _LETTERS * count // self.levels)) for value in self.values]
        if self._numbers is not None:
            labels = [_label(value, _LETTERS) for value in self.values]
        places = [float(each) for each in self.coordinates]
        letter = 1 / (_LETTERS * count)

        def fits(place: int, other: int) -> bool:
            room = letter * ((len(labels[place]) + len(labels[other])) / 2 + 1)
            return abs(places[place] - places[other]) >= room

        last = self.levels - 1
        kept = [0]
        for place in range(1, last):
            if fits(place, kept[-1]) and fits(place, last):
                kept.append(place)
        return [(places[place], labels[place]) for place in [*kept, last]]

    @classmethod
    def parse(cls, text: str) -> dict[str, Any] | None:
        """Reads A<B<C and 1<2<4:log; a word with a < is in double quotes."""
        body = text.strip().removesuffix(":log")
        if "<" not in body:
            return None
        try:
            (cells,) = csv.reader([body], delimiter="<", skipinitialspace=True, strict=True)
        except (csv.Error, ValueError):
            return None
        words = [cell.strip() for cell in cells]
        if not all(words):
            raise InputError(f"there is an empty level in {text!r}; drop a <.")
        numbers = [to_number(word) for word in words]
        values = words if None in numbers else numbers
        return {"type": cls.type_name, "values": values} | (
            {"log": True} if body != text.strip() else {}
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _key(value: object) -> Identity:
    """What makes two levels the same: numbers their value, all else its type too."""
    return (float, value) if _is_number(value) else identity(value)


def _label(value: Value, width: int) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return shorten(text, width)
