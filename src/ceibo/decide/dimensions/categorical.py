"""`Categorical`: one of a few unordered choices, each a level (levels.py)."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, final

from ceibo.decide.dimensions import ranges
from ceibo.decide.dimensions.base import Dimension, Value, to_plain
from ceibo.decide.dimensions.choices import Identity, identity, listed_values, one_of
from ceibo.decide.dimensions.levels import MAX_LISTED_LEVELS, level_at
from ceibo.errors import Given, InputError, show_value


@final
@dataclass(frozen=True)
class Categorical(Dimension):
    """One of a few unordered choices; 1, 1.0, True and "1" are four different ones.

    A choice may be a tuple of such values, as in `Categorical([(64, 64), (128,)])`; JSON and study
    files have lists in its place, and a list is accepted wherever it equals one.
    """

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
        plain = listed_values(choices, "Categorical", "choices", '["water", "ethanol"]')
        if not 2 <= len(plain) <= MAX_LISTED_LEVELS:
            wanted = f"2 to {MAX_LISTED_LEVELS} choices"
            advice = "a dimension with one value can be left out of the space"
            raise InputError("Categorical", wanted, str(len(plain)), advice)
        ranges.set_fields(self, choices=plain, when=when)
        for index, choice in enumerate(plain):
            if self._places[identity(choice)] != index:
                raise InputError("Categorical", "distinct choices", (Given(value=choice), " twice"))

    def __eq__(self, other: object) -> bool:
        # Tuple equality would say that (1, "a") and (True, "a") are the same choices.
        if not isinstance(other, Categorical):
            return NotImplemented
        mine, others = ([identity(c) for c in each.choices] for each in (self, other))
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
        return {identity(choice): place for place, choice in enumerate(self.choices)}

    def _index(self, value: object) -> int | None:
        return self._places.get(identity(value))

    def check(self, value: object, name: str) -> Value:
        """The choice that the value is, type included."""
        index = self._index(value)
        if index is None:
            got = f"{show_value(value)} ({type(to_plain(value)).__name__})"
            raise InputError(
                f"parameter {name!r}", one_of(self.choices), got, "the type counts too"
            )
        return self.choices[index]

    def to_unit(self, value: Value) -> float:
        """The centre of the cell of a checked choice."""
        index = self._index(value)
        if index is None:
            raise InputError(f"expected {one_of(self.choices)}, got {show_value(value)}.")
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
        if len(choices) == 1 and "<" in text:
            return None  # levels in their order
        return {"type": cls.type_name, "choices": choices}
