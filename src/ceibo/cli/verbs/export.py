"""`ceibo export`: writes the trials as CSV or JSON."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ceibo.checks import check_choice
from ceibo.cli.common import File, Storage, StudyName, trial_json
from ceibo.cli.files import check_target, write_whole
from ceibo.cli.opening import open_study
from ceibo.cli.source import load
from ceibo.cli.text_options import Bom, Decimal, Separator, text_form
from ceibo.decide import Settings
from ceibo.errors import InputError
from ceibo.sheets.exporting import to_csv
from ceibo.study import Study
from ceibo.text import plural
from ceibo.version import __version__

_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")


def export(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File; standard output by default.")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="csv or json; by the file's name, else csv.")
    ] = None,
    bom: Bom = False,
    separator: Separator = ",",
    decimal: Decimal = ".",
    study_name: StudyName = None,
    storage: Storage = None,
) -> None:
    """Write all trials as CSV (one row per measurement, which `ceibo import` reads) or JSON.

    Of a study with outcomes a row has the columns NAME, NAME_noise and NAME_replicates of each.
    """
    wanted = _choose_format(output, form)
    style = text_form(bom, separator, decimal)
    loaded = load(file, study_name)
    if output is not None:
        check_target(output, loaded, storage)
    study = open_study(loaded, storage)
    text = to_json(study)
    if wanted == "csv":
        text = to_csv(study, style)
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
            " `ceibo sheet` writes what to measure next as .xlsx."
        )
    return form or ("json" if suffix == ".json" else "csv")


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


def _settings(settings: Settings) -> dict[str, Any]:
    """How suggestions are made, with what studies leave out where it is off."""
    data = settings.to_json() | {"outliers": settings.outliers}
    price = settings.precision
    return data if price is None else data | {"precision": price.to_json()}


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
        "settings": _settings(study.settings),
        "space": study.space.to_json(),
        **({"constraints": list(study.space.constraints)} if study.space.constraints else {}),
        **_changes(study),
        "trials": [trial_json(trial) for trial in study.trials],
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
