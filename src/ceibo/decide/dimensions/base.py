"""What a dimension of a search space knows about itself."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, ClassVar, Final

import numpy as np

from ceibo.decide.dimensions.levels import level_centres
from ceibo.gp.inputs import Array

# types of values that occur many times in a column, and are equal only if they are the same
_RECURRING: Final = (str, int, bool)

Value = str | int | float | bool | None | tuple["Value", ...]


@dataclass(frozen=True)
class Dimension(ABC):
    """One dimension: its values, their coordinates in [0, 1], and how people read and write them.

    A type is a final frozen dataclass. Its fields are the keys of its JSON form and of its entry in
    a study file; a field with a default is an optional key. The field `when` of every type says
    with which values of other parameters this one exists, as in {"optimizer": "sgd"}; see
    ceibo.decide.conditions.
    """

    type_name: ClassVar[str]
    """The type in JSON and in study files."""
    is_ordered: ClassVar[bool] = True
    """False if coordinates are only equal or different, never near, as those of categories."""
    extends: ClassVar[bool] = False
    """Whether numbers beyond the ends, and between levels, have coordinates too: on the line
    through those of the ends, or with a field `log` that is true, on that of their logarithms."""
    wanted: ClassVar[str] = "a number"
    """What a cell of a spreadsheet must hold, unless the values are `listed`."""
    spelling: ClassVar[str] = ""
    """Examples of what `parse` reads, such as n=1:8:int."""

    when: Mapping[str, Value | list[Value]] | None = field(default=None, kw_only=True, hash=False)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # the one that the decorator would add has `when`, and has it first
        cls.__repr__ = vars(cls).get("__repr__", Dimension.__repr__)  # type: ignore[method-assign]

    def __repr__(self) -> str:
        shown = (each for each in own_fields(type(self)) if each.repr)
        parts = [f"{each.name}={getattr(self, each.name)!r}" for each in shown]
        if self.when is not None:
            parts.append(f"when={self.when!r}")
        return f"{type(self).__qualname__}({', '.join(parts)})"

    @property
    @abstractmethod
    def levels(self) -> int | None:
        """The number of values, or None if continuous."""

    @property
    def coordinates(self) -> Array | None:
        """The allowed coordinates, ascending, or None if the dimension is searched as continuous.

        A dimension of more than `MAX_LISTED_LEVELS` levels is searched as continuous and rounded by
        `from_unit`: its grid is finer than any length scale that a model can learn.
        """
        return level_centres(self.levels)

    @abstractmethod
    def check(self, value: object, name: str) -> Value:
        """The value as the dimension holds it; an error names the parameter."""

    @abstractmethod
    def to_unit(self, value: Any) -> float:
        """The coordinate in [0, 1] of a checked value."""

    def to_units(self, values: Sequence[object], name: str) -> Array:
        """The coordinates (n,) of many values, which are checked; those of `to_unit`, exactly."""
        known: dict[tuple[type, object], float] = {}
        units = []
        for value in values:
            key = type(value), value
            if type(value) not in _RECURRING:
                units.append(self.to_unit(self.check(value, name)))
                continue
            if key not in known:
                known[key] = self.to_unit(self.check(value, name))
            units.append(known[key])
        return np.array(units, dtype=float)

    @abstractmethod
    def from_unit(self, u: float) -> Value:
        """The value at coordinate u; coordinates beyond [0, 1] mean the ends."""

    def at_share(self, u: float) -> float:
        """The coordinate that a point of an even design, at u in [0, 1], stands for.

        It is u itself unless `from_unit` would give values unequal parts of such a design.
        """
        return u

    @abstractmethod
    def describe(self) -> str:
        """The dimension in a few words for people."""

    @abstractmethod
    def ticks(self, count: int) -> list[tuple[float, str]]:
        """About `count` coordinates to mark on an axis, with their labels."""

    @property
    def listed(self) -> tuple[Value, ...] | None:
        """The values, where people choose one from a list rather than give a number."""
        return None

    @classmethod
    def parse(cls, text: str) -> dict[str, Any] | None:
        """The entry of a study file that `--param name=text` stands for; None if another type's."""
        return {"type": text} if text == cls.type_name else None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, as in a study file."""
        entry: dict[str, Any] = {"type": self.type_name}
        for each in own_fields(type(self)):
            value = getattr(self, each.name)
            if each.default is MISSING or value != each.default:
                entry[each.name] = to_lists(value)
        if self.when is not None:
            # one tuple, as opposed to a list of several values, is a list of one
            entry["when"] = {
                name: [to_lists(value)] if isinstance(value, tuple) else value
                for name, value in self.when.items()
            }
        return entry


def to_lists(value: object) -> object:
    """A value with lists in place of tuples, also within them, as JSON has it."""
    return list(map(to_lists, value)) if isinstance(value, tuple) else value


def own_fields(kind: type[Dimension]) -> list[Field[Any]]:
    """The fields of a type of dimension, without those that every type has."""
    return [each for each in fields(kind) if each.name != "when"]


def to_plain(value: object) -> object:
    """A numpy truth value, number or text as the Python value it holds, all else as it is."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return value.item()
    return value
