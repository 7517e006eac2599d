"""`ceibo doctor`: examines a database without changing it."""

from pathlib import Path
from typing import Annotated

import typer

from ceibo.cli.common import AsJson, Storage, print_json
from ceibo.cli.studyfile import SQLITE, load, quote
from ceibo.study.doctor import Examination, examine
from ceibo.text import escape

Target = Annotated[
    str,
    typer.Argument(
        metavar="STUDY.TOML|URL", help="A study file, a database URL, or the file of a database."
    ),
]
Name = Annotated[
    str | None, typer.Option("--study", help="This study alone, instead of all in the database.")
]


def doctor(
    target: Target, study: Name = None, storage: Storage = None, json: AsJson = False
) -> None:
    """Examine a database: versions, damage, leases, lost trials, what to do. Changes nothing.

    Exit status: 0 nothing is wrong, 1 something is, 2 wrong input.
    """
    url, name = _place_of(target, study, storage)
    found = examine(url, name)
    if json:
        print_json(
            {
                "healthy": found.healthy,
                "facts": list(found.facts),
                "remarks": list(found.remarks),
                "findings": [{"what": f.sentence, "advice": f.advice} for f in found.findings],
            }
        )
    else:
        _show(found)
    raise typer.Exit(0 if found.healthy else 1)


def _place_of(target: str, study: str | None, storage: str | None) -> tuple[str, str | None]:
    """The database and the study that are meant; a file may have its study in another `storage`."""
    if "://" in target:
        return target, study
    if Path(target).suffix == ".toml":
        file = load(Path(target))
        return storage or file.storage, study or file.name
    return f"{SQLITE}{quote(target)}", study


def _show(found: Examination) -> None:
    for fact in found.facts:
        typer.echo(escape(fact))
    for remark in found.remarks:
        typer.echo(f"note: {escape(remark.rstrip('.'))}.")
    for finding in found.findings:
        typer.echo(f"PROBLEM: {escape(finding.sentence)}.")
        if finding.advice:
            typer.echo(f"  what to do: {escape(finding.advice)}.")
    if found.healthy:
        typer.echo("No problem was found.")
