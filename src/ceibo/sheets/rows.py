"""The rows of a table as trials of a study of their own: settings, and what was measured there."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from ceibo.decide import Space
from ceibo.decide.frame import Frame
from ceibo.decide.space import Params
from ceibo.errors import InputError
from ceibo.sheets.entries import UNDER_WAY, Result, Wanted, read_entries
from ceibo.sheets.numerals import Numbers
from ceibo.sheets.opening import open_table
from ceibo.sheets.problems import Problems
from ceibo.sheets.settings import fact_of
from ceibo.sheets.whole import setting_in

# a setting, and what came of it: of outcomes by name
Row = tuple[Params, Result]


@final
@dataclass(frozen=True)
class Rows:
    """What a file holds: measured and failed settings in its order; `blank` rows had no value.

    `trials` says of each row which trial it is about, if an export says that it was under way, and
    `attributes` what else it says. `note` is about the text of the file, `absent` about outcomes
    that it does not have, `units` about those whose columns speak of other units.
    """

    rows: tuple[Row, ...]
    blank: int
    note: str | None
    absent: str | None = None
    units: str | None = None
    trials: tuple[int | None, ...] = ()
    attributes: tuple[dict[str, Any], ...] = field(default=())


def read_rows(path: Path, wanted: Wanted) -> Rows:
    """The rows of a file; every problem in it is in the error.

    Settings may be outside the space, as long as they can be placed.
    """
    problems = Problems(path)
    sheet = read_entries(path, wanted, problems)
    for sentence in sheet.missing:
        problems.add(sentence)
    rows: list[Row] = []
    trials: list[int | None] = []
    attributes = []
    for entry in sheet.entries:
        if entry.result is None:
            continue
        params = setting_in(sheet, entry, wanted.frame, problems)
        if params is not None:
            rows.append((params, entry.result))
            trials.append(entry.trial if entry.state in (*UNDER_WAY, "done") else None)
            attributes.append(entry.attributes)
    problems.check()
    blank = len(sheet.entries) - len(rows)
    said = (sheet.note, sheet.absent, sheet.units)
    return Rows(tuple(rows), blank, *said, tuple(trials), tuple(attributes))


def read_settings(path: Path, space: Space, names: dict[str, str]) -> list[Params]:
    """The settings in a file with these columns of the parameters, whatever else it has."""
    table = open_table(path, names.values())
    frame, problems = Frame(space), Problems(path)
    numbers = Numbers(table.grid.separator)
    places: dict[str, int] = {}
    for name, column in names.items():
        place = table.column(column)
        if place is not None:
            places[name] = place
        elif not space.is_conditional(name):
            problems.add(table.no_column(column))
    settings = []
    for record in table.rows:
        cells = {name: record.cells[at] for name, at in places.items() if at < len(record.cells)}
        read: Params = {}
        for name, cell in cells.items():
            if cell.is_blank:
                continue
            try:
                read[name] = fact_of(frame, name, cell, numbers)
            except InputError as error:
                problems.add_at(record, places[name], table.header[places[name]], error)
        try:
            settings.append(space.check(read))
        except InputError as error:
            problems.add_at(record, None, "", error)
    problems.check()
    return settings
