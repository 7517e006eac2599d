"""The rows of a table as trials of a study: settings, and what was measured there."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, final

from ceibo.checks import ask_nearest
from ceibo.cli.cells import unguard
from ceibo.cli.spreadsheet import Numbers, Table, normalize, read_table
from ceibo.cli.verbs.export import COLUMNS
from ceibo.command.placeholders import to_text
from ceibo.decide import Measurement, Space
from ceibo.decide.dimensions import Value
from ceibo.decide.dimensions.choices import identity
from ceibo.decide.dimensions.spacing import are_numbers
from ceibo.decide.frame import Frame
from ceibo.decide.space import Params
from ceibo.errors import InputError
from ceibo.numbers import MINUS, to_number
from ceibo.study import Failure
from ceibo.study.table import column_names
from ceibo.text import shorten

FAILED: Final = "failed before the study"
UNDER_WAY: Final = ("running", "queued")

# a setting, and what came of it: of outcomes by name
Row = tuple[Params, Measurement | dict[str, Measurement] | Failure]


@final
@dataclass(frozen=True)
class Rows:
    """What a file holds: measured and failed settings in its order; `blank` rows had no value.

    `trials` says of each row which trial it is about, if an export says that it was under way.
    `note` is about the text of the file, `absent` about outcomes that it does not have.
    """

    rows: tuple[Row, ...]
    blank: int
    note: str | None
    absent: str | None = None
    trials: tuple[int | None, ...] = ()


@final
@dataclass(frozen=True)
class _Columns:
    """The places of the columns in a row; None for a column that is not there."""

    params: dict[str, int]
    value: int | None
    noise: int | None
    replicates: int | None
    state: int | None
    reason: int | None
    trial: int | None


def read_rows(path: Path, frame: Frame, value: str | None, noise: str | None) -> Rows:
    """The rows of a file; `value` and `noise` name columns, by default those of an export.

    Settings may be outside the space, as long as they can be placed.
    """
    names = column_names(frame.space.names, COLUMNS)
    usual = ("value", "noise", "replicates", "state", "reason", "trial")
    table = read_table(path, [*names.values(), *usual, *filter(None, (value, noise))])
    columns = _columns(table, names, frame, (value, noise))
    numbers = Numbers(table.separator)
    rows, trials = [], []
    for line, cells in table.rows:
        try:
            row = _row(frame, columns, cells, numbers)
        except InputError as error:
            raise InputError(f"{path}, line {line}: {error}") from None
        if row is not None:
            rows.append(row)
            trials.append(trial_in(cells, columns.trial, columns.state))
    blank = len(table.rows) - len(rows)
    return Rows(tuple(rows), blank, table.note, trials=tuple(trials))


def _columns(
    table: Table, names: dict[str, str], frame: Frame, given: tuple[str | None, str | None]
) -> _Columns:
    params = param_places(table, names, frame)

    def outcome(usual: str, given: str | None = None) -> int | None:
        place = table.column(given or usual, loosely=True, but=params.values())
        if place is None and given is not None:
            raise table.no_column(given)
        return place

    told = outcome("value", given[0]), outcome("noise", given[1])
    found = _Columns(params, *told, *map(outcome, ("replicates", "state", "reason", "trial")))
    if found.value is None and found.replicates is None:
        raise InputError(f"{table.no_column('value')} Name the column of the values with --value.")
    return found


def param_places(table: Table, names: dict[str, str], frame: Frame) -> dict[str, int]:
    """Parameter -> the place of its column, which must be there if the parameter always exists."""
    params: dict[str, int] = {}
    for name, column in names.items():
        place = table.column(column)
        if place is not None:
            params[name] = place
        elif not (frame.space.is_conditional(name) or name in frame.before):
            raise table.no_column(column)
    return params


def params_of(
    frame: Frame, places: dict[str, int], cells: tuple[str, ...], numbers: Numbers
) -> Params:
    """The setting in a row, inside the space or not.

    The cell of a parameter that does not exist there, or came later, is empty.
    """
    space = frame.space
    read = {
        name: _fact_of(frame, name, cells[at], numbers)
        for name, at in places.items()
        if cells[at].strip() or not (space.is_conditional(name) or name in frame.before)
    }
    return frame.check(read)


def read_settings(path: Path, space: Space, names: dict[str, str]) -> list[Params]:
    """The settings in a file with these columns of the parameters, whatever else it has."""
    table = read_table(path, names.values())
    frame = Frame(space)
    places, numbers = param_places(table, names, frame), Numbers(table.separator)
    settings = []
    for line, cells in table.rows:
        try:
            settings.append(space.check(params_of(frame, places, cells, numbers)))
        except InputError as error:
            raise InputError(f"{path}, line {line}: {error}") from None
    return settings


def _row(frame: Frame, columns: _Columns, cells: tuple[str, ...], numbers: Numbers) -> Row | None:
    """The setting in a row and its outcome; None if it has no outcome."""

    def cell(place: int | None) -> str:
        return "" if place is None else cells[place].strip()

    def params() -> Params:
        return params_of(frame, columns.params, cells, numbers)

    value, noise, replicates = map(cell, (columns.value, columns.noise, columns.replicates))
    measurement = measurement_of(value, noise, unguard(replicates), numbers)
    if measurement is not None:
        return params(), measurement
    if cell(columns.state).casefold() == "failed":
        return params(), Failure(unguard(cell(columns.reason)) or FAILED)
    return None


def trial_in(cells: tuple[str, ...], trial: int | None, state: int | None) -> int | None:
    """The trial that a row of an export is about, if the trial was under way then."""
    if trial is None or state is None or cells[state].strip().casefold() not in UNDER_WAY:
        return None
    number = to_number(cells[trial])
    return number if isinstance(number, int) else None


def setting_of(space: Space, name: str, cell: str, numbers: Numbers) -> Any:
    """A cell as the value of a parameter."""
    dimension = space.dimensions[name]
    if dimension.listed is not None:
        return _choice(dimension.listed, name, cell, numbers)
    return numbers.read(cell, f"parameter {name!r}", dimension.wanted)


def _fact_of(frame: Frame, name: str, cell: str, numbers: Numbers) -> Any:
    """A cell as the value of a parameter, which may be one that is no longer offered."""
    dimension, once = frame.space.dimensions[name], frame.retired.get(name, ())
    try:
        return setting_of(frame.space, name, cell, numbers)
    except InputError:
        if once and (found := _meant(once, unguard(cell), name, numbers)):
            return found[0]
        if not are_numbers(dimension.listed or ()) or not dimension.is_ordered:
            raise
        return numbers.read(cell, f"parameter {name!r}", dimension.wanted)


def _choice(choices: Sequence[Value], name: str, cell: str, numbers: Numbers) -> Value:
    """The choice that a cell means; what stands behind an apostrophe of an export is a text."""
    texts = [choice for choice in choices if isinstance(choice, str)]
    guarded = unguard(cell) != cell
    found = _meant(texts, unguard(cell), name, numbers) if guarded else ()
    found = found or _meant(choices, cell, name, numbers)
    if found:
        return found[0]
    words = [to_text(choice) for choice in choices]
    known = ", ".join(repr(shorten(word, 200)) for word in words[:20])
    end = ask_nearest(normalize(cell), words)
    raise InputError(
        f"parameter {name!r}: expected one of {known}, got {shorten(cell, 200)!r}{end}"
    )


def _meant(choices: Sequence[Value], cell: str, name: str, numbers: Numbers) -> tuple[Value, ...]:
    """The one choice that a cell is, as written, as people see it, as a number or truth value."""

    def same_number(choice: Value) -> bool:
        if isinstance(choice, bool) or not isinstance(choice, int | float):
            return False
        try:
            return numbers.read(cell, name) == choice
        except InputError:
            return False

    def same_list(choice: Value) -> bool:
        if not isinstance(choice, tuple) or not cell.strip().startswith("["):
            return False
        try:
            return identity(json.loads(cell)) == identity(choice)
        except (ValueError, RecursionError):
            return False

    ways: tuple[Callable[[Value], bool], ...] = (
        lambda choice: to_text(choice) == cell,
        lambda choice: normalize(to_text(choice)) == normalize(cell),
        lambda choice: isinstance(choice, bool) and to_text(choice).upper() == normalize(cell),
        same_number,
        same_list,
    )
    for way in ways:
        found = tuple(choice for choice in choices if way(choice))
        if len(found) == 1:
            return found
    return ()


def measurement_of(value: str, noise: str, replicates: str, numbers: Numbers) -> Measurement | None:
    """What a row says was measured, or None; noise beside replicates is that of their mean."""
    if not value and not replicates:
        return None
    deviation = numbers.read(noise, "noise") if noise else None
    if replicates:
        wanted = "numbers with spaces between"
        repeats = [numbers.read(each, "replicates", wanted) for each in replicates.split()]
        together = Measurement.of(repeats)
        mean = together.value
        if value and together.is_finite and not _is_rounded(value, mean, numbers):
            told = f"the value is {shorten(value, 60)}"
            raise InputError(
                f"{told}, but the mean of the replicates is {mean:.6g}; leave one of the cells"
                " empty."
            )
        measurement = Measurement(mean, deviation, together.replicates)
    else:
        measurement = Measurement(numbers.read(value, "value"), deviation)
    if not measurement.is_finite:
        what = f"the value is {measurement.value!r}"
        raise InputError(f"{what}; leave the cell empty if there is none.")
    return measurement


def _is_rounded(written: str, mean: float, numbers: Numbers) -> bool:
    """Whether a value is the mean, rounded to the digits written as spreadsheets show it."""
    value = Measurement(numbers.read(written, "value")).value
    if not math.isfinite(value):
        return False
    text = written.replace(MINUS, "-").replace(",", ".").lower()
    mantissa, _, exponent = text.partition("e")
    digits = len(mantissa.partition(".")[2])
    # an exponent of more digits is that of zero
    place = int(exponent or 0) - digits if len(exponent) < 8 else -digits
    unit = float(Decimal(10) ** place) if abs(place) < 320 else 0.0
    return abs(value - mean) <= 0.5 * unit + 1e-12 * max(abs(value), abs(mean))
