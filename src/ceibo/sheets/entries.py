"""The rows of a sheet: settings, what was measured there, and whatever else was written down.

One reader serves `ceibo import`, `ceibo sheet --read` and `Study.read_sheet`. It finds all that is
wrong in the cells before it raises an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from ceibo.checks import nearest
from ceibo.dates import to_date
from ceibo.decide import Measurement, Outcomes
from ceibo.decide.block_names import Block
from ceibo.decide.frame import Frame
from ceibo.decide.space import Params
from ceibo.errors import InputError
from ceibo.numbers import to_number
from ceibo.sheets.cells import unguard
from ceibo.sheets.columns import Columns, columns_for, known_names
from ceibo.sheets.grid import BLANK, Cell, Record, address, letters
from ceibo.sheets.names import fold, split_unit
from ceibo.sheets.naming import SheetNaming
from ceibo.sheets.numerals import Numbers
from ceibo.sheets.opening import open_table
from ceibo.sheets.places import Places, ResultPlaces, find_places, missing_params
from ceibo.sheets.problems import Problems
from ceibo.sheets.results import FAILED, UNEXPLAINED, ResultCells, measurement_of
from ceibo.sheets.settings import fact_of
from ceibo.sheets.table import Table
from ceibo.study import Failure

UNDER_WAY: Final = ("running", "queued")
STUDY_FILE: Final = "STUDY.TOML"
"""What stands for the study file where its name is not known."""

Result = Measurement | dict[str, Measurement] | Failure


@final
@dataclass(frozen=True)
class Entry:
    """A row of a sheet.

    `planned` and `used` have the values in the cells of parameters, `used` those of the settings
    really used; `texts` has what was written under the planned ones. `state` is that of an export.
    """

    record: Record
    trial: int | None
    state: str
    planned: dict[str, Any]
    used: dict[str, Any]
    result: Result | None
    attributes: dict[str, Any]
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """Where it is in the file."""
        return address(self.record)


@final
class Spot(NamedTuple):
    """Where a row is (row 4), and where its value of each outcome is (E4)."""

    row: str
    cells: Mapping[str, str]


NOWHERE: Final = Spot("", {})


@final
@dataclass(frozen=True)
class Entries:
    """The rows of a file.

    `note` is about its text, `absent` about outcomes it does not have, `units` about outcomes whose
    columns speak of other units, and `unread` are the headers of columns in which something is
    written that is not read. `study` is that of `Wanted`.
    """

    path: Path
    entries: tuple[Entry, ...]
    columns: Columns
    places: Places
    header: tuple[str, ...]
    missing: tuple[str, ...] = ()
    note: str | None = None
    absent: str | None = None
    units: str | None = None
    unread: tuple[str, ...] = ()
    study: str = STUDY_FILE

    def spot(self, entry: Entry) -> Spot:
        """Where a row is, and the cells of its values."""
        record = replace(entry.record, line=None)
        cells = {
            name: address(record, each.column)
            for name, each in self.places.told.items()
            if not each.is_absent
        }
        return Spot(address(record), cells)

    def report(self, problems: Problems, entry: Entry, column: int | None, error: object) -> None:
        """Adds a fault of a cell, or of a row, to the problems."""
        title = "" if column is None else self.header[column]
        problems.add_at(entry.record, column, title, error)


@final
@dataclass(frozen=True)
class Wanted:
    """What a file is read for: the settings of a frame and what was measured there.

    `mapping` says what headers stand for: "Time (h)" -> "hours". `naming` says how blocks are
    named. `study` is the study file as commands in sentences name it.
    """

    frame: Frame
    outcomes: Outcomes | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    naming: SheetNaming = field(default_factory=SheetNaming)
    study: str = STUDY_FILE


def read_entries(path: Path, wanted: Wanted, problems: Problems) -> Entries:
    """The rows of a file; what is wrong with cells is added to the problems."""
    frame, outcomes = wanted.frame, wanted.outcomes
    columns = columns_for(frame.space.names, outcomes)
    mapping = _checked_mapping(columns, wanted)
    table = open_table(path, columns.all(), mapping)
    places = find_places(table, columns, outcomes, problems)
    reader = _Reader(table, places, wanted, Numbers(table.grid.separator), problems)
    entries = [reader.entry(record) for record in table.rows]
    return Entries(
        path,
        tuple(each for each in entries if each is not None),
        columns,
        places,
        table.header,
        tuple(missing_params(table, columns, places, frame)),
        table.grid.note,
        _absent(table, places),
        _other_units(table, places),
        _unread(table, places, columns),
        wanted.study,
    )


def _checked_mapping(columns: Columns, wanted: Wanted) -> dict[str, str]:
    """Header -> column, of what a user said headers stand for."""
    known = known_names(columns, wanted.frame.space.names)
    found = {}
    for header, name in wanted.mapping.items():
        if name not in known and not name.startswith(f"{columns.block} "):
            listed = ", ".join(dict.fromkeys(known))
            raise InputError(
                f"the column {header!r} cannot stand for {name!r}; it can for {listed}."
            )
        found[header] = known.get(name, name)
    return found


def _absent(table: Table, places: Places) -> str | None:
    """Says which outcomes a table has no column of, and which column may be meant."""
    absent = [name for name, each in places.told.items() if each.is_absent and name]
    if not absent:
        return None
    said = f"{table.path} has no column of {', '.join(absent)}; tell them when they are known."
    free = [split_unit(table.header[each])[0] for each in _free(table, places)]
    for name in absent:
        if (meant := nearest(name, filter(None, free))) is not None:
            said += f" If {meant!r} is {name}, mend its header and read the file again."
    return said


def _other_units(table: Table, places: Places) -> str | None:
    """Says that values stand in a column of another unit than that of their outcome."""
    said = []
    for name, each in places.told.items():
        own = () if each.value is None else (each.value,)
        for header in (table.header[place] for place in (*own, *each.replicates)):
            unit = split_unit(header)[1]
            if unit and fold(unit) != fold(each.unit):
                said.append(f"{name} is in {each.unit}, and its column is called {header!r}")
    if not said:
        return None
    return f"{'; '.join(said)}: the values were taken as they stand."


def _free(table: Table, places: Places) -> list[int]:
    """The columns that are not read."""
    return [each for each in range(len(table.header)) if each not in places.all()]


def _unread(table: Table, places: Places, columns: Columns) -> tuple[str, ...]:
    """The headers of columns in which something is written that is not read."""
    shown = {fold(each) for each in columns.shown()}
    filled = {
        place
        for record in table.rows
        for place, cell in enumerate(record.cells)
        if not cell.is_blank
    }
    named = dict(enumerate(table.header))
    headers = [
        named.get(each, "") or f"column {letters(each)}" for each in sorted(filled - places.all())
    ]
    return tuple(
        each for each in headers if not shown.intersection((fold(each), fold(split_unit(each)[0])))
    )


@final
@dataclass(frozen=True)
class _Reader:
    """Reads the rows of one table."""

    table: Table
    places: Places
    wanted: Wanted
    numbers: Numbers
    problems: Problems

    def entry(self, record: Record) -> Entry | None:
        """A row; None where its cells have moved against the header."""
        if not self._fits(record):
            return None
        found = len(self.problems.found)
        planned = self._settings(record, self.places.params)
        used = self._settings(record, self.places.used)
        attributes = self._attributes(record)
        trial = self._trial(record)
        result = self._result(record, trial, str(attributes.get("notes", "")))
        if result is None:  # what was not measured yet need not be right
            del self.problems.found[found:]
        texts = {
            name: self._cell(record, at).text.strip() for name, at in self.places.params.items()
        }
        state = self._cell(record, self.places.state).text.strip().casefold()
        return Entry(record, trial, state, planned, used, result, attributes, texts)

    def _cell(self, record: Record, place: int | None) -> Cell:
        if place is None or place >= len(record.cells):
            return BLANK
        return record.cells[place]

    def _fits(self, record: Record) -> bool:
        """Refuses surplus cells, as an unquoted decimal comma moves all cells that follow it."""
        count = len(self.table.header)
        surplus = [cell for cell in record.cells[count:] if not cell.is_blank]
        if surplus and record.line is not None:
            cause = "an unquoted separator?"
            if self.table.grid.separator == ",":
                cause = "an unquoted decimal comma, or another comma?"
            self.problems.add_at(
                record,
                None,
                "",
                f"there are {len(record.cells)} cells, but the header names {count} columns;"
                f" {cause} Write 45.2, or quote the cell.",
            )
        return not (surplus and record.line is not None)

    def _report(self, record: Record, place: int | None, error: object) -> None:
        title = "" if place is None else self.table.header[place]
        self.problems.add_at(record, place, title, error)

    def _settings(self, record: Record, places: Mapping[str, int]) -> Params:
        """The values in the cells of parameters that are not empty."""
        found: Params = {}
        for name, place in places.items():
            cell = self._cell(record, place)
            if cell.is_blank:
                continue
            unit = self.places.units.get(place, "")
            try:
                found[name] = fact_of(self.wanted.frame, name, cell, self.numbers, unit)
            except InputError as error:
                self._report(record, place, error)
                found[name] = None
        return found

    def _trial(self, record: Record) -> int | None:
        cell = self._cell(record, self.places.trial)
        if cell.is_blank:
            return None
        number = cell.number if cell.number is not None else to_number(cell.text)
        if isinstance(number, float) and number.is_integer():
            number = int(number)
        if isinstance(number, int) and number >= 0:
            return number
        message = f"expected the number of a trial, got {cell.text!r}; leave it empty if it is new."
        self._report(record, self.places.trial, message)
        return None

    def _result(self, record: Record, row: int | None, notes: str) -> Result | None:
        """What was measured in a row, or why nothing was; None if it says neither."""
        found: dict[str, Measurement] = {}
        failed: list[str] = []
        for name, places in self.places.told.items():
            cells = self._result_cells(record, places)
            if cells.is_failure:
                failed.append(name)
                if any(not each.is_blank for each in cells.replicates):
                    message = "it says that the run failed, and there are replicates; empty either."
                    self._report(record, places.value, message)
                continue
            try:
                measurement = measurement_of(cells, self.numbers, self._block(record, row, name))
            except InputError as error:
                of = f"{name!r}: " if name else ""
                self._report(record, self._faulty(record, places, cells), f"{of}{error}")
                found[name] = Measurement(0.0)
                continue
            if measurement is not None:
                found[name] = measurement
        state = self._cell(record, self.places.state).text.strip().casefold()
        if failed and found:
            self._report(
                record,
                self.places.told[failed[0]].value,
                "a run that failed has no values of other outcomes; leave those empty, or leave"
                " this cell empty if only this one is not known.",
            )
        if failed or (not found and state == "failed"):
            reason = unguard(self._cell(record, self.places.reason).text.strip())
            return Failure(reason or notes or (FAILED if row is None else UNEXPLAINED))
        if not found:
            return None
        return found.get("", found)

    def _result_cells(self, record: Record, places: ResultPlaces) -> ResultCells:
        value, noise = self._cell(record, places.value), self._cell(record, places.noise)
        several = tuple(self._cell(record, each) for each in places.replicates)
        for place in (places.value, places.noise, *places.replicates):
            if place is not None and self._cell(record, place).is_spread:
                message = "the cell is merged with another; write a value for each row."
                self._report(record, place, message)
        count = self._cell(record, places.count)
        return ResultCells(value, noise, several, count, places.unit)

    def _faulty(self, record: Record, places: ResultPlaces, cells: ResultCells) -> int | None:
        """The column of the first cell of a result that cannot be read by itself."""
        numbers = Numbers(self.table.grid.separator)
        for place in (places.value, places.noise, *places.replicates):
            cell = self._cell(record, place)
            try:
                if not cell.is_blank:
                    for word in [cell] if place == places.value else _words(cell):
                        numbers.read(word, "", unit=cells.unit)
            except InputError:
                return place
        return places.column

    def _block(self, record: Record, row: int | None, outcome: str) -> Block:
        """The block that a row names for an outcome, which may be of several kinds."""
        places = {**self.places.blocks[""], **self.places.blocks[outcome]}
        cells = {
            kind: unguard(self._cell(record, place).text.strip()) for kind, place in places.items()
        }
        try:
            return self.wanted.naming.block(cells, row)
        except InputError as error:
            self._report(record, next(iter(places.values())), error)
            return ()

    def _attributes(self, record: Record) -> dict[str, Any]:
        """The notes and the date of a row."""
        found: dict[str, Any] = {}
        notes = unguard(self._cell(record, self.places.notes).text.strip())
        day = self._cell(record, self.places.date)
        if notes:
            found["notes"] = notes
        if not day.is_blank and not day.fault:
            found["date"] = day.text if day.is_date else to_date(unguard(day.text))
        return found


def _words(cell: Cell) -> list[Cell]:
    one = cell.number is not None or cell.percent is not None or cell.fault
    return [cell] if one else list(map(Cell, cell.text.split()))
