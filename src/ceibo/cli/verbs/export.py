"""`ceibo export`: writes the trials as CSV or JSON."""

import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ceibo.checks import check_choice
from ceibo.cli.cells import guard
from ceibo.cli.common import File, Storage, trial_json
from ceibo.cli.files import check_target, write_whole
from ceibo.cli.opening import open_study
from ceibo.cli.studyfile import load
from ceibo.command.placeholders import to_text
from ceibo.decide.dimensions import Value
from ceibo.errors import InputError
from ceibo.study import Study
from ceibo.study.table import column_names
from ceibo.text import plural
from ceibo.version import __version__

_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
COLUMNS = ("trial", "state", "value", "noise", "replicates", "reason")


def export(
    file: File,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File; standard output by default.")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="csv or json; by the file's name, else csv.")
    ] = None,
    storage: Storage = None,
) -> None:
    """Write all trials as CSV (one row per measurement, which `ceibo import` reads) or JSON."""
    wanted = _choose_format(output, form)
    loaded = load(file)
    if output is not None:
        check_target(output, loaded, storage)
    study = open_study(loaded, storage)
    text = to_csv(study) if wanted == "csv" else to_json(study)
    if output is None:
        sys.stdout.write(text)
    else:
        write_whole(output, text)
        typer.echo(f"wrote {plural(len(study.trials), 'trial')} to {output}", err=True)


def _choose_format(output: Path | None, form: str | None) -> str:
    """csv or json; refuses a name that promises another format."""
    if form is not None:
        check_choice(form, "--format", ("csv", "json"))
    suffix = "" if output is None else output.suffix.lower()
    if suffix in _WORKBOOKS or (form is None and suffix not in ("", ".csv", ".txt", ".json")):
        advice = "" if suffix in _WORKBOOKS else ", or say which with --format"
        raise InputError(
            f"cannot write {suffix} files; name it .csv, which spreadsheets open, or .json{advice}."
        )
    return form or ("json" if suffix == ".json" else "csv")


def to_csv(study: Study) -> str:
    """One row per measurement, or per trial without one; replicates are separated by spaces.

    No cell is a formula (cells.py); numbers are written as they are.
    """
    columns = column_names(study.space.names, COLUMNS)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([*COLUMNS, *map(guard, columns.values())])
    for trial in study.trials:
        params = [_cell(trial.params[name]) for name in columns]
        for each in trial.measurements or (None,):
            told: list[Any] = ["", "", ""]
            if each is not None:
                noise = "" if each.noise is None else repr(each.noise)
                told = [repr(each.value), noise, _replicates(each.replicates)]
            reason = guard(trial.reason or "")
            writer.writerow([trial.number, trial.state, *told, reason, *params])
    return text.getvalue()


def _cell(value: Value) -> str:
    """The value of a parameter as a cell."""
    return guard(value) if isinstance(value, str) else to_text(value)


def _replicates(values: Sequence[float]) -> str:
    """Replicates as a cell; several are no number, and -1.0 -2.0 would be run as a difference."""
    text = " ".join(map(repr, values))
    return guard(text) if len(values) > 1 else text


def to_json(study: Study) -> str:
    """The study with its settings and all trials."""
    data = {
        "ceibo": __version__,
        "name": study.name,
        "direction": study.direction,
        "seed": study.seed,
        "settings": study.settings.to_json(),
        "space": study.space.to_json(),
        "trials": [trial_json(trial) for trial in study.trials],
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
