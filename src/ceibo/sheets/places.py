"""Where the columns of a table are, found by their names; every column that is missing is named."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, final

from ceibo.decide import Outcomes
from ceibo.decide.frame import Frame
from ceibo.errors import InputError
from ceibo.sheets.columns import ALIASES, Columns
from ceibo.sheets.names import fold, normalize, split_unit
from ceibo.sheets.problems import Problems
from ceibo.sheets.table import Table

_NUMBERED: Final = re.compile(r"(?P<name>.*?)[ .#]*(?P<number>\d{1,9})", re.ASCII)
_REPEATED: Final = ("replicate", "replicates", "rep", "run", "repeat")


@final
@dataclass(frozen=True)
class ResultPlaces:
    """The places of the columns of one outcome; None for one that is not there."""

    value: int | None
    noise: int | None
    replicates: tuple[int, ...]
    count: int | None = None
    unit: str = ""

    @property
    def column(self) -> int | None:
        """The column of its value, or the first of its replicates."""
        return self.value if self.value is not None else next(iter(self.replicates), None)

    @property
    def is_absent(self) -> bool:
        """Whether a table has no column of it."""
        return self.value is None and not self.replicates


@final
@dataclass(frozen=True)
class Places:
    """The places of all columns of a table; `blocks` by outcome, "" for all, and by kind."""

    params: dict[str, int]
    told: dict[str, ResultPlaces]
    used: dict[str, int]
    blocks: dict[str, dict[str, int]]
    trial: int | None
    state: int | None
    reason: int | None
    notes: int | None
    date: int | None
    units: dict[int, str] = field(default_factory=dict)

    def all(self) -> set[int]:
        """The places of all columns that are read."""
        found = {self.trial, self.state, self.reason, self.notes, self.date}
        found.update(self.params.values(), self.used.values())
        for blocks in self.blocks.values():
            found.update(blocks.values())
        for told in self.told.values():
            found.update((told.value, told.noise, told.count, *told.replicates))
        return {each for each in found if each is not None}


def find_places(
    table: Table, columns: Columns, outcomes: Outcomes | None, problems: Problems
) -> Places:
    """Finds the columns of a table; what is ambiguous is a problem, and a table without values."""
    finder = _Finder(table, problems)
    params = {}
    for name, column in columns.params.items():
        place = finder.find(column, loosely=False)
        if place is not None:
            params[name] = place
    told: dict[str, ResultPlaces] = {}
    plain = {
        name: (finder.find(each.value), finder.find(each.noise))
        for name, each in columns.told.items()
    }
    used = finder.several(columns.used)
    trial, state, reason = map(finder.find, ("trial", "state", "reason"))
    notes, date = finder.alias(columns.notes, "notes"), finder.alias(columns.date, "date")
    blocks = {"": finder.blocks(columns.block)}
    blocks |= {name: finder.blocks(f"{name} {columns.block}") for name in columns.told if name}
    counts = finder.several(columns.counts)
    for name, each in columns.told.items():
        repeated = finder.replicates(each.replicates, _stems(name, each.value))
        value, noise = plain[name]
        unit = _unit(table, value, repeated, "" if outcomes is None else outcomes[name].unit)
        told[name] = ResultPlaces(value, noise, repeated, counts.get(name), unit)
    units = {place: split_unit(table.header[place])[1] for place in params.values()}
    places = Places(params, told, used, blocks, trial, state, reason, notes, date, units)
    _check_present(table, columns, places, problems)
    return places


def _unit(table: Table, value: int | None, repeated: tuple[int, ...], unit: str) -> str:
    """The unit of an outcome, as the study or a header says it."""
    places = repeated if value is None else (value, *repeated)
    said = (split_unit(table.header[place])[1] for place in places)
    return unit or next(filter(None, said), "")


def _stems(name: str, column: str) -> set[str]:
    """What may stand before the number of a replicate: replicate 2, yield 2, yield rep. 2."""
    stems = {fold(column), *(f"{fold(column)} {each}" for each in _REPEATED)}
    return stems if name else stems.union(_REPEATED)


def _check_present(table: Table, columns: Columns, places: Places, problems: Problems) -> None:
    """A table must have a column of values."""
    if all(each.is_absent for each in places.told.values()):
        name, each = next(iter(columns.told.items()))
        advice = "" if name else " Name the column of the values with --value."
        problems.add(f"{table.no_column(each.value)}{advice}")


def missing_params(table: Table, columns: Columns, places: Places, frame: Frame) -> list[str]:
    """The sentences about parameters whose columns are needed and missing."""
    return [
        str(table.no_column(column))
        for name, column in columns.params.items()
        if name not in places.params
        and not (frame.space.is_conditional(name) or name in frame.before)
    ]


@final
class _Finder:
    """Finds columns, each once."""

    def __init__(self, table: Table, problems: Problems) -> None:
        self.table, self._problems = table, problems
        self._taken: set[int] = set()

    def find(self, name: str, loosely: bool = True) -> int | None:
        try:
            place = self.table.column(name, loosely, self._taken)
        except InputError as error:
            self._problems.add(error)
            return None
        if place is not None:
            self._taken.add(place)
        return place

    def several(self, names: dict[str, str]) -> dict[str, int]:
        found = {name: self.find(column) for name, column in names.items()}
        return {name: place for name, place in found.items() if place is not None}

    def alias(self, name: str, kind: str) -> int | None:
        """A column by one of its names; the first that is there."""
        for each in (name, *ALIASES[kind]):
            place = self.find(each)
            if place is not None:
                return place
        return None

    def blocks(self, name: str) -> dict[str, int]:
        """Kind of block -> its column; "" where the header names no kind."""
        found = {}
        plain = self.find(name)
        if plain is not None:
            found[""] = plain
        for place, header in self._free():
            text = normalize(header)
            if fold(text).startswith(f"{fold(name)} "):
                kind = text[len(name) :].strip(" _")
                found[kind] = place
                self._taken.add(place)
        return found

    def replicates(self, name: str, stems: set[str]) -> tuple[int, ...]:
        """The columns of replicates: one of them all, or one of each, by their numbers."""
        places = dict.fromkeys(self.table.mapped(name), 0)
        for place, header in self._free():
            text = fold(header)
            bare = fold(split_unit(header)[0])
            found = filter(None, map(_NUMBERED.fullmatch, (text, bare)))
            own = [int(each["number"]) for each in found if each["name"].strip() in stems]
            if own or fold(name) in (text, bare):
                places[place] = own[0] if own else 0
        self._taken |= places.keys()
        return tuple(sorted(places, key=lambda place: (places[place], place)))

    def _free(self) -> Iterable[tuple[int, str]]:
        return [
            (place, header)
            for place, header in enumerate(self.table.header)
            if place not in self._taken and normalize(header) not in self.table.mapping
        ]
