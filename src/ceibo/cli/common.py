"""What the verbs share: arguments, warnings, answers as JSON."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ceibo.decide import Estimate, Measurement
from ceibo.numbers import without_nan
from ceibo.study import Trial
from ceibo.study.trial import Voided

File = Annotated[
    str,
    typer.Argument(
        metavar="STUDY.TOML|URL",
        help="The study file, which `ceibo init` writes; or the URL or the file of a database.",
    ),
]
StudyName = Annotated[
    str | None,
    typer.Option("--study", help="Which study, if a database has several.", show_default=False),
]
New = Annotated[
    bool, typer.Option("--new", help="Begin the study if its database is not there yet.")
]
Storage = Annotated[
    str | None,
    typer.Option(
        help="Database URL instead of the file's, such as postgresql://user@host/db,"
        " shared by many machines.",
        envvar="CEIBO_STORAGE",
        show_default=False,
    ),
]
Fixed = Annotated[
    list[str] | None,
    typer.Option("--fixed", metavar="NAME=VALUE", help="Hold a parameter at a value. Repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Replicates = Annotated[
    bool, typer.Option("--replicates", help="All numbers are replicates, also two.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]


def where_of(study_name: str | None, storage: str | None) -> list[str]:
    """The options by which a further command finds the same study."""
    words = [] if study_name is None else ["--study", study_name]
    if storage not in (None, os.environ.get("CEIBO_STORAGE")):
        words += ["--storage", str(storage)]
    return words


def warn(text: str) -> None:
    """Prints a warning on standard error, in the form in which Python's own are shown."""
    typer.echo(f"ceibo: warning: {text}", err=True)


def print_json(data: Any) -> None:
    """Prints one JSON document; NaN and infinities become null."""
    typer.echo(json.dumps(without_nan(data), ensure_ascii=False, allow_nan=False))


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """An estimate as plain data."""
    data = {
        "params": estimate.params,
        "mean": estimate.mean,
        "std": estimate.std,
        "trial": estimate.number,
        "probability": estimate.probability,
    }
    if not estimate.outcomes:
        return data
    outcomes = {name: asdict(each) for name, each in estimate.outcomes.items()}
    chances = {"p_feasible": estimate.p_feasible, "p_efficient": estimate.p_efficient}
    return data | {"outcomes": outcomes} | chances


def measurement_json(measurement: Measurement) -> dict[str, Any]:
    """A measurement as plain data; a count and a block where there are any."""
    return {
        "value": measurement.value,
        "noise": measurement.noise,
        "replicates": list(measurement.replicates),
        **({} if measurement.count is None else {"count": measurement.count}),
        **({"block": dict(measurement.block)} if measurement.block else {}),
    }


def trial_json(trial: Trial) -> dict[str, Any]:
    """A trial as plain data; `replaced` is what a measurement was before, oldest first.

    In a study with outcomes each measurement has the name of its `outcome`. Voided measurements
    are listed where there are some, and attributes.
    """
    measurements = []
    for measurement, replaced in zip(trial.measurements, trial.replaced, strict=True):
        earlier = [measurement_json(each) for each in replaced]
        measurements.append(measurement_json(measurement) | {"replaced": earlier})
    if trial.names:
        named = zip(trial.names, measurements, strict=True)
        measurements = [{"outcome": name, **each} for name, each in named]
    voided = [_voided_json(each) for each in trial.voided]
    return {
        "trial": trial.number,
        "state": trial.state,
        "params": trial.params,
        "measurements": measurements,
        "reason": trial.reason,
        **({"voided": voided} if voided else {}),
        **({"attributes": trial.attributes} if trial.attributes else {}),
    }


def _voided_json(voided: Voided) -> dict[str, Any]:
    of = {"outcome": voided.outcome} if voided.outcome else {}
    return {**of, **measurement_json(voided.measurement), "reason": voided.reason}


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Prints rows of cells in columns, two spaces from the edge and between them."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        typer.echo(f"  {'  '.join(cells)}".rstrip())
