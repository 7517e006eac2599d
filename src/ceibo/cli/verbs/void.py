"""`ceibo void`: takes back a measurement that must not count."""

import shlex
from typing import Annotated

import typer

from ceibo.cli.common import AsJson, File, Storage, StudyName, print_json, trial_json, where_of
from ceibo.cli.opening import open_study
from ceibo.cli.source import load


def void(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    trial: Annotated[int, typer.Argument(help="Number of the trial.")],
    reason: Annotated[str, typer.Argument(help="Why the measurement does not count.")],
    key: Annotated[
        str | None,
        typer.Option(help="Which measurement of the trial, if it has several.", show_default=False),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(help="Of which outcome, if the trial has several.", show_default=False),
    ] = None,
    study_name: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Take back a measurement that must not count; the record keeps it, with the reason."""
    study = open_study(load(file, study_name), storage)
    measurement = study.void(trial, reason, key=key, outcome=outcome)
    ended = study.trials[trial]
    if json:
        print_json(trial_json(ended))
        return
    of = f"{outcome} " if outcome else ""
    waits = "" if ended.state == "done" else f"; the trial is {ended.state} and lacks a value"
    typer.echo(f"trial {trial}: {of}{measurement} does not count any more{waits}")
    if ended.state == "running":
        where = where_of(study_name, storage)
        never = " or ".join(
            f"`{shlex.join(['ceibo', 'tell', file, str(trial), *words, *where])}`"
            for words in (("--failed", "REASON"), ("--withdraw",))
        )
        typer.echo(f"if that value will never come: {never}", err=True)
