"""`Categorical`: one of a few unordered choices, each a level (levels.py)."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, final

import numpy as np

from ceibo.decide.dimensions import ranges
from ceibo.decide.dimensions.base import Dimension, Value, to_plain
from ceibo.decide.dimensions.levels import MAX_LISTED_LEVELS, level_at
from ceibo.errors import Given, InputError, show_value

_KINDS: Final = (str, int, float, bool, type(None))
_MOST_NAMED: Final = 50  # choices that an error names

Identity = tuple[type, object]  # what tells choices apart


@final
@dataclass(frozen=True)
class Categorical(Dimension):
    """One of a few unordered choices; 1, 1.0, True and "1" are four different ones."""

    type_name: ClassVar[str] = "categorical"
    is_ordered: ClassVar[bool] = False
    spelling: ClassVar[str] = (
        "solvent=water,ethanol, or with double quotes around a name that has a comma or a colon"
        """ 'solvent="1,4-dioxane",DMF'"""
    )

    choices: tuple[Value, ...]

    def __init__(
        self, choices: Sequence[Value], *, when: Mapping[str, Value | list[Value]] | None = None
    ) -> None:
        listed = isinstance(choices, Sequence | np.ndarray)
        if not listed or isinstance(choices, str | bytes | Mapping):
            wanted = 'a list of choices, as in ["water", "ethanol"]'
            raise InputError("Categorical", wanted, Given("choices", choices))
        plain = tuple(_to_choice(choice) for choice in choices)
        if not 2 <= len(plain) <= MAX_LISTED_LEVELS:
            wanted = f"2 to {MAX_LISTED_LEVELS} choices"
            advice = "a dimension with one value can be left out of the space"
            raise InputError("Categorical", wanted, str(len(plain)), advice)
        ranges.set_fields(self, choices=plain, when=when)
        for index, choice in enumerate(plain):
            if self._places[_identity(choice)] != index:
                raise InputError("Categorical", "distinct choices", (Given(value=choice), " twice"))

    def __eq__(self, other: object) -> bool:
        # Tuple equality would say that (1, "a") and (True, "a") are the same choices.
        if not isinstance(other, Categorical):
            return NotImplemented
        mine, others = ([_identity(c) for c in each.choices] for each in (self, other))
        return mine == others and self.when == other.when

    def __hash__(self) -> int:
        return hash(self.choices)

    @property
    def levels(self) -> int:
        """The number of choices."""
        return len(self.choices)

    @property
    def listed(self) -> tuple[Value, ...]:
        """The choices."""
        return self.choices

    @cached_property
    def _places(self) -> dict[Identity, int]:
        """The place of each choice."""
        return {_identity(choice): place for place, choice in enumerate(self.choices)}

    def _index(self, value: object) -> int | None:
        return self._places.get(_identity(to_plain(value)))

    def _wanted(self) -> str:
        """What a value must be; of very many choices only the first are named."""
        first = ", ".join(map(show_value, self.choices[:_MOST_NAMED]))
        rest = len(self.choices) - _MOST_NAMED
        return f"one of [{first}]" if rest <= 0 else f"one of [{first}, …] ({rest} more)"

    def check(self, value: object, name: str) -> Value:
        """The choice that the value is, type included."""
        index = self._index(value)
        if index is None:
            got = f"{show_value(value)} ({type(to_plain(value)).__name__})"
            raise InputError(f"parameter {name!r}", self._wanted(), got, "the type counts too")
        return self.choices[index]

    def to_unit(self, value: Value) -> float:
        """The centre of the cell of a checked choice."""
        index = self._index(value)
        if index is None:
            raise InputError(f"expected {self._wanted()}, got {show_value(value)}.")
        return (index + 0.5) / len(self.choices)

    def from_unit(self, u: float) -> Value:
        """The choice whose cell holds u."""
        return self.choices[level_at(u, len(self.choices))]

    def describe(self) -> str:
        return f"one of {', '.join(map(str, self.choices))}"

    def ticks(self, count: int) -> list[tuple[float, str]]:
        """At most `count` of the choices, evenly spread."""
        step = -(-len(self.choices) // count)
        return [(self.to_unit(choice), str(choice)) for choice in self.choices[::step]]

    @classmethod
    def parse(cls, text: str) -> dict[str, Any] | None:
        """Reads A,B,C by the rules of CSV: a name with a comma or a colon is in double quotes."""
        if '"' not in text and (":" in text or "," not in text):
            return None
        try:
            (cells,) = csv.reader([text.strip()], skipinitialspace=True, strict=True)
        except (csv.Error, ValueError):
            return None
        choices = [cell.strip() for cell in cells]
        if not all(choices):
            raise InputError(f"there is an empty category in {text!r}; drop a comma.")
        return {"type": cls.type_name, "choices": choices}


def _to_choice(value: object) -> Value:
    plain = to_plain(value)
    if type(plain) not in _KINDS:
        wanted = "choices of type str, int, float, bool or None"
        raise InputError("Categorical", wanted, Given(value=value))
    if type(plain) is int:
        return ranges.whole(plain, "Categorical", "")
    if isinstance(plain, float) and not math.isfinite(plain):
        got = Given(value=plain)
        raise InputError("Categorical", "finite numbers", got, "write it as a string")
    return plain  # type: ignore[return-value]  # the type was checked above


def _identity(value: object) -> Identity:
    """What makes two choices the same: the type, then the value; 0.0 and -0.0 are two."""
    kind = type(value)
    if kind is float:
        return kind, repr(value)
    return (kind, value) if kind in _KINDS else (object, None)  # the latter is no choice's
