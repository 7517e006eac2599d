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
from ceibo.cli.common import File, Storage, StudyName, trial_json
from ceibo.cli.files import check_target, write_whole
from ceibo.cli.joint_columns import FIRST, LAST, columns_of, parameter_columns, rows_of
from ceibo.cli.opening import open_study
from ceibo.cli.source import load
from ceibo.command.placeholders import to_text
from ceibo.decide import Measurement, Outcomes
from ceibo.decide.space import Params
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
    study_name: StudyName = None,
    storage: Storage = None,
) -> None:
    """Write all trials as CSV (one row per measurement, which `ceibo import` reads) or JSON.

    Of a study with outcomes a row has the columns NAME, NAME_noise and NAME_replicates of each.
    """
    wanted = _choose_format(output, form)
    loaded = load(file, study_name)
    if output is not None:
        check_target(output, loaded, storage)
    study = open_study(loaded, storage)
    text = to_json(study)
    if wanted == "csv":
        text = to_csv(study) if study.outcomes is None else to_joint_csv(study, study.outcomes)
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
        params = [cell_of(trial.params, name) for name in columns]
        for each in trial.measurements or (None,):
            reason = guard(trial.reason or "")
            writer.writerow([trial.number, trial.state, *_cells(each), reason, *params])
    return text.getvalue()


def to_joint_csv(study: Study, outcomes: Outcomes) -> str:
    """One row per trial with the columns of every outcome; repeated values make further rows."""
    columns = columns_of(outcomes)
    params = parameter_columns(study.space.names, outcomes)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    told = [column for each in columns.values() for column in each]
    writer.writerow([*FIRST, *map(guard, told), *LAST, *map(guard, params.values())])
    for trial in study.trials:
        setting = [cell_of(trial.params, name) for name in params]
        for row in rows_of(trial):
            cells = [cell for name in columns for cell in _cells(row.get(name))]
            reason = guard(trial.reason or "")
            writer.writerow([trial.number, trial.state, *cells, reason, *setting])
    return text.getvalue()


def _changes(study: Study) -> dict[str, Any]:
    """The spaces that a study has had before this one, and what new parameters were then."""
    changes = study.ledger.changes
    if not changes:
        return {}
    earlier = [study.ledger.spaces.frame(changes[:count]).space for count in range(len(changes))]
    return {
        "earlier_spaces": [each.to_json() for each in earlier],
        "before": dict(study.ledger.frame.before),
    }


def _cells(measurement: Measurement | None) -> tuple[str, str, str]:
    """The cells of a value, its noise and its replicates."""
    if measurement is None:
        return "", "", ""
    noise = "" if measurement.noise is None else repr(measurement.noise)
    value = repr(measurement.value)
    if measurement.replicates:  # which are written exactly, and have this mean
        value = repr(float(f"{measurement.value:.15g}"))
    return value, noise, _replicates(measurement.replicates)


def cell_of(params: Params, name: str) -> str:
    """The value of a parameter as a cell, which is empty where it does not exist."""
    if name not in params:
        return ""
    value = params[name]
    return guard(value) if isinstance(value, str) else to_text(value)


def _replicates(values: Sequence[float]) -> str:
    """Replicates as a cell; several are no number, and -1.0 -2.0 would be run as a difference."""
    text = " ".join(map(repr, values))
    return guard(text) if len(values) > 1 else text


def to_json(study: Study) -> str:
    """The study with its settings and all trials."""
    aim: dict[str, Any] = {"direction": study.direction}
    if study.outcomes is not None:
        aim = {"outcomes": study.outcomes.to_json()}
    data = {
        "ceibo": __version__,
        "name": study.name,
        **aim,
        "seed": study.seed,
        "settings": study.settings.to_json(),
        "space": study.space.to_json(),
        **_changes(study),
        "trials": [trial_json(trial) for trial in study.trials],
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
