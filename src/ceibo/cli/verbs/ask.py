"""`ceibo ask`: hands out what to measure next."""

import shlex
from typing import Annotated

import typer

from ceibo.cli.common import AsJson, File, Fixed, New, Storage, StudyName, print_json
from ceibo.cli.opening import begin_if_new
from ceibo.cli.source import load
from ceibo.cli.words import read_words
from ceibo.decide.dimensions.dial import to_dial
from ceibo.text import one_line


def ask(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, help="How many trials, to be measured together.")
    ] = 1,
    fixed: Fixed = None,
    shared: Annotated[
        list[str] | None,
        typer.Option(
            "--shared",
            metavar="NAME",
            help="A parameter that is equal within the batch. Repeatable.",
        ),
    ] = None,
    new: New = False,
    study_name: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Hand out the next trial to measure; it stays pending until told, failed or released."""
    loaded = load(file, study_name)
    held = read_words(fixed or [], loaded.space, "--fixed")
    trials = begin_if_new(loaded, storage, new).ask(count, fixed=held, shared=shared)
    if json:
        handed = [{"trial": trial.number, "params": trial.params} for trial in trials]
        print_json(handed[0] if count == 1 else handed)
        return
    for trial in trials:
        typer.echo(f"trial {trial.number}")
        for name, value in trial.params.items():
            shown = to_dial(loaded.space.dimensions[name], value)
            typer.echo(f"  {one_line(name, 200)} = {shown}")
    result = "VALUE [NOISE]"
    if loaded.outcomes is not None:
        words = [shlex.quote(f"{one_line(name, 200)}=VALUE") for name in loaded.outcomes.needed]
        result = " ".join(words)
    if count == 1:
        typer.echo(f"then: ceibo tell {file} {trials[0].number} {result}", err=True)
        return
    numbers = f"{trials[0].number} to {trials[-1].number}"
    if [each.number for each in trials] != list(range(trials[0].number, trials[-1].number + 1)):
        numbers = ", ".join(str(each.number) for each in trials)
    typer.echo(f"then, for each TRIAL of {numbers}: ceibo tell {file} TRIAL {result}", err=True)
