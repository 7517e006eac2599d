"""`ceibo change`: goes on with the space of an edited study file."""

from typing import Annotated

import typer

from ceibo.cli.common import File, Storage, StudyName
from ceibo.cli.opening import differences, open_to_change
from ceibo.cli.source import load
from ceibo.cli.words import read_words
from ceibo.text import escape


def change(
    file: File,
    before: Annotated[
        list[str] | None,
        typer.Option(
            "--before",
            metavar="NAME=VALUE",
            help="The value that a new parameter had in the trials so far. Repeatable.",
        ),
    ] = None,
    study_name: StudyName = None,
    storage: Storage = None,
) -> None:
    """Go on with the space of the edited file; what was measured stays, and counts."""
    loaded = load(file, study_name)
    study = open_to_change(loaded, storage)
    changed = differences(study.space, loaded.space)
    values = read_words(before or [], loaded.space, "--before")
    queued = {trial.number for trial in study.trials if trial.state == "queued"}
    study.change(loaded.space, values)
    if not changed:
        typer.echo(f"study {study.name!r} has this space already; nothing was changed")
        return
    for line in changed:
        typer.echo(escape(line))
    for trial in study.trials:
        if trial.number in queued and trial.state == "withdrawn":
            typer.echo(f"trial {trial.number} was withdrawn: its setting is not part of the space")
    typer.echo(f"study {study.name!r} goes on with the space of {file}")
