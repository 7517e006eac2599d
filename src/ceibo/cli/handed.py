"""Trials as they are handed out in the shell: what to set, how often to measure, what then."""

import shlex
from collections.abc import Sequence
from typing import Annotated

import typer

from ceibo.cli.common import print_json
from ceibo.cli.studyfile import StudyFile
from ceibo.decide import Outcomes
from ceibo.decide.dimensions.dial import to_dial
from ceibo.study import Trial
from ceibo.text import one_line

Shared = Annotated[
    list[str] | None,
    typer.Option(
        "--shared", metavar="NAME", help="A parameter that is equal within the batch. Repeatable."
    ),
]
Count = Annotated[
    int, typer.Option("--count", "-n", min=1, help="How many trials, to be measured together.")
]


def print_handed(loaded: StudyFile, where: Sequence[str], trials: list[Trial], json: bool) -> None:
    """Prints trials that were handed out, and how to tell what was measured.

    `where` is the study as it was given: the file, and the options of `where_of`.
    """
    if json:
        handed = [_to_json(loaded, trial) for trial in trials]
        print_json(handed[0] if len(handed) == 1 else handed)
        return
    for trial in trials:
        typer.echo(f"trial {trial.number}")
        for name, value in trial.params.items():
            shown = to_dial(loaded.space.dimensions[name], value)
            typer.echo(f"  {one_line(name, 200)} = {shown}")
        if trial.repeats > 1:
            typer.echo(f"  measure it {trial.repeats} times")
    result = "VALUE [NOISE]"
    if loaded.outcomes is not None:
        result = words_of(loaded.outcomes)
    elif any(trial.repeats > 1 for trial in trials):
        result = "VALUE VALUE … --replicates"
    file, options = shlex.quote(where[0]), "".join(f" {shlex.quote(each)}" for each in where[1:])
    result += options
    if len(trials) == 1:
        typer.echo(f"then: ceibo tell {file} {trials[0].number} {result}", err=True)
        return
    numbers = f"{trials[0].number} to {trials[-1].number}"
    if [each.number for each in trials] != list(range(trials[0].number, trials[-1].number + 1)):
        numbers = ", ".join(str(each.number) for each in trials)
    typer.echo(f"then, for each TRIAL of {numbers}: ceibo tell {file} TRIAL {result}", err=True)


def words_of(outcomes: Outcomes) -> str:
    """The words by which the values of outcomes are told."""
    return " ".join(shlex.quote(f"{one_line(name, 200)}=VALUE") for name in outcomes.needed)


def _to_json(loaded: StudyFile, trial: Trial) -> dict[str, object]:
    repeats = {} if loaded.settings.precision is None else {"repeats": trial.repeats}
    return {"trial": trial.number, "params": trial.params, **repeats}
