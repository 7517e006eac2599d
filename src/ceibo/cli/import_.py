"""`ceibo import`: start from the measurements you already have."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ceibo.cli.common import File, Storage, open_or_begin
from ceibo.cli.export import column_names
from ceibo.cli.placeholders import to_text
from ceibo.errors import InputError
from ceibo.study import Categorical, Int, Measurement, Study
from ceibo.study.store import NewTrial

_SOURCE = {"source": "added"}


def import_(
    file: File,
    data: Annotated[Path, typer.Argument(help="CSV with a column per parameter, and value, noise, replicates.")],
    value: Annotated[str, typer.Option(help="Column of the values.")] = "value",
    noise: Annotated[str, typer.Option(help="Column of their standard deviations; may be missing.")] = "noise",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the file and record nothing.")] = False,
    storage: Storage = None,
) -> None:
    """Add existing measurements from a CSV file: all rows, or none if one is wrong."""
    _, study = open_or_begin(file, storage)
    rows, empty = _read(study, data, value, noise)
    if not dry_run:
        study._store.create_trials(study._id, rows)
    skipped = f"; {empty} rows without a value were left out" if empty else ""
    typer.echo(f"{'would add' if dry_run else 'added'} {len(rows)} measurements to study {study.name!r}{skipped}")


def _read(study: Study, path: Path, value: str, noise: str) -> tuple[list[NewTrial], int]:
    """The rows of a file as trials, and how many had no value."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: {error}.") from None
    try:
        reader = csv.DictReader(text.splitlines(keepends=True), strict=True)
        header = reader.fieldnames or []
        columns = column_names(study)
        missing = [column for column in [*columns.values(), value] if column not in header]
        if missing:
            found = ", ".join(map(repr, header)) or "nothing"
            raise InputError(f"{path}: there is no column {missing[0]!r}; the first line has {found}.")
        rows, empty = [], 0
        for row in reader:
            if not (row[value] or "").strip():
                empty += 1
                continue
            place = f"{path}, line {reader.line_num}"
            try:
                params = study.space.check({name: _value(study, name, row[column]) for name, column in columns.items()})
                rows.append(NewTrial(params, _SOURCE, measurement=_measurement(row, value, noise)))
            except InputError as error:
                raise InputError(f"{place}: {error}") from None
    except csv.Error as error:
        raise InputError(f"{path}: not CSV: {error}.") from None
    return rows, empty


def _value(study: Study, name: str, text: str | None) -> Any:
    """A cell as the value of a parameter."""
    dimension = study.space.dimensions[name]
    cell = text or ""
    if isinstance(dimension, Categorical):
        for choice in dimension.choices:
            if to_text(choice) == cell:
                return choice
        raise InputError(f"parameter {name!r}: expected one of {list(dimension.choices)!r}, got {cell!r}.")
    try:
        return int(cell) if isinstance(dimension, Int) else float(cell)
    except ValueError:
        wanted = "a whole number" if isinstance(dimension, Int) else "a number"
        raise InputError(f"parameter {name!r}: expected {wanted}, got {cell!r}.") from None


def _measurement(row: Mapping[str, str | None], value: str, noise: str) -> Measurement:
    def number(column: str) -> float | None:
        cell = (row.get(column) or "").strip()
        try:
            return float(cell) if cell else None
        except ValueError:
            raise InputError(f"column {column!r}: expected a number, got {cell!r}.") from None

    replicates = (row.get("replicates") or "").split()
    if replicates:
        measurement = Measurement.of([_replicate(each) for each in replicates])
    else:
        found = number(value)
        if found is None:
            raise InputError(f"column {value!r} is empty.")
        measurement = Measurement(found, number(noise))
    if not measurement.is_finite:
        raise InputError(f"the value is {measurement.value!r}; leave the cell empty if there is none.")
    return measurement


def _replicate(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"column 'replicates': expected numbers, got {text!r}.") from None
