"""`Ordinal`: one of a few levels in their order, with distances of their own.

Of m levels the first lies at 1/2m and the last at 1 − 1/2m, as those of an `Int` of m values do.
Numbers lie between them by their value, or by its logarithm, so that the model sees 8 and 24 hours
further apart than 1 and 2. Words, and lists with words in them, lie evenly in the order given.
An even design has every level equally often (`at_share`). Round trips value -> unit -> value are
exact.
"""

import csv
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Final, final

import numpy as np

from ceibo.checks import nearest
from ceibo.decide.dimensions import ranges
from ceibo.decide.dimensions.base import Dimension, Value, to_plain
from ceibo.decide.dimensions.choices import Identity, identity, listed_values, one_of
from ceibo.decide.dimensions.levels import MAX_LISTED_LEVELS, level_at
from ceibo.decide.dimensions.spacing import (
    Number,
    are_numbers,
    check_numbers,
    is_number,
    is_rounded,
    nearest_number,
    numbers_of,
    shares_of,
    with_room,
)
from ceibo.errors import Given, InputError, show_value
from ceibo.gp.inputs import Array
from ceibo.numbers import to_number
from ceibo.text import shorten

_LETTERS: Final = 9  # of a label on an axis, if there are as many as asked for


@final
@dataclass(frozen=True)
class Ordinal(Dimension):
    """One of a few levels in their order: numbers, ascending, or words from first to last.

    Numbers are as far apart as their values, or with `log` as their logarithms; words, and numbers
    among words, are evenly apart. 4.0 counts as 4.
    """

    type_name: ClassVar[str] = "ordinal"
    extends: ClassVar[bool] = True
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
        if self._numbers is not None:
            check_numbers(self._numbers, self.log, "Ordinal")
        elif self.log:
            given, advice_on_log = Given("values", list(values)), ("use ", Given("log", False))
            wanted_numbers = ("numbers with ", Given("log", True))
            raise InputError("Ordinal", wanted_numbers, given, advice_on_log)

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
    def _numbers(self) -> tuple[Number, ...] | None:
        """The values if all are numbers."""
        return numbers_of(self.values) if are_numbers(self.values) else None

    @cached_property
    def coordinates(self) -> Array:
        """The coordinates of the levels, ascending."""
        last = self.levels - 1
        shares = [place / last for place in range(self.levels)]
        if self._numbers is not None:
            shares = shares_of(self._numbers, self.log)
        return np.array([(0.5 + last * share) / self.levels for share in shares])

    def check(self, value: object, name: str) -> Value:
        """The level that the value is; 4.0 counts as 4, and 0.1 + 0.2 as 0.3."""
        plain = to_plain(value)
        place = self._index.get(_key(plain))
        if place is not None:
            return self.values[place]
        got = show_value(value)
        if isinstance(plain, int | float) and not isinstance(plain, bool):
            close = nearest_number(plain, numbers_of(self.values))
            if close is not None and is_rounded(plain, close):
                return close
            advice = "" if close is None else f"the nearest is {show_value(close)}"
        else:
            words = [each for each in self.values if isinstance(each, str)]
            word = nearest(plain, words) if isinstance(plain, str) else None
            advice = "the type counts too" if word is None else f"did you mean {word!r}?"
            got += f" ({type(plain).__name__})"
        raise InputError(f"parameter {name!r}", one_of(self.values), got, advice)

    def to_unit(self, value: Value) -> float:
        """The coordinate of a checked level."""
        return float(self.coordinates[self._index[_key(value)]])

    def from_unit(self, u: float) -> Value:
        """The level nearest to u."""
        at = self.coordinates
        place = min(max(bisect_left(at, u), 1), self.levels - 1)
        return self.values[place - 1 if u - at[place - 1] <= at[place] - u else place]

    def at_share(self, u: float) -> float:
        """The coordinate of the level whose equal part of [0, 1] holds u."""
        return float(self.coordinates[level_at(u, self.levels)])

    def describe(self) -> str:
        spaced = ", logarithmic" if self.log else ""
        return f"one of {' < '.join(map(str, self.values))}{spaced}"

    def ticks(self, count: int) -> list[tuple[float, str]]:
        """The levels, without those whose labels would cover others."""
        letters = _LETTERS * count
        width = _LETTERS if self._numbers is not None else max(3, letters // self.levels)
        labels = [_label(value, width) for value in self.values]
        places = [float(each) for each in self.coordinates]
        return [(places[place], labels[place]) for place in with_room(places, labels, letters)]

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


def _key(value: object) -> Identity:
    """What makes two levels the same: numbers their value, all else its type too."""
    return (float, value) if is_number(value) else identity(value)


def _label(value: Value, width: int) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return shorten(text, width)
