"""`ceibo correct`: replaces a measurement that was told wrongly."""

from typing import Annotated

import typer

from ceibo.cli.common import (
    AsJson,
    File,
    Replicates,
    Storage,
    StudyName,
    print_json,
    trial_json,
    warn,
)
from ceibo.cli.opening import open_study
from ceibo.cli.results import Told, read_told
from ceibo.cli.source import load
from ceibo.errors import InputError
from ceibo.study import Study

_UNKNOWN = (
    "if the right value is not known, give your best guess with a noise as large as your doubt."
)


def correct(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    trial: Annotated[int, typer.Argument(help="Number of the trial.")],
    result: Annotated[
        list[str],
        typer.Argument(
            help="As for `ceibo tell`: VALUE; VALUE NOISE; three or more replicates; or JSON."
        ),
    ],
    replicates: Replicates = False,
    key: Annotated[
        str | None,
        typer.Option(help="Which measurement of the trial, if it has several.", show_default=False),
    ] = None,
    outcome: Annotated[
        str | None, typer.Option(help="Of which outcome the result is, if not said by NAME=VALUE.")
    ] = None,
    study_name: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Replace a measurement that was told wrongly; the record keeps the wrong one too."""
    loaded = load(file, study_name)
    if outcome is not None and loaded.outcomes is None:
        raise InputError(f"--outcome: {file} has no [outcomes]; leave it out.")
    right = read_told(_named(result, outcome), loaded.outcomes, replicates, _UNKNOWN)
    study = open_study(loaded, storage)
    before = study.trials
    wrong = _replaced(study, trial, right, key)
    for why in right.doubts(before):
        warn(f"trial {trial}: {why}")
    for name, was in wrong.values.items():
        now = right.values[name]
        if was.noise is not None and now.noise is None and not now.replicates:
            of = f" of {name!r}" if name else ""
            lost = f"the noise {was.noise:.6g}{of} went with the wrong value"
            warn(f"trial {trial}: {lost}; give it again if it holds.")
    if json:
        print_json(trial_json(study.trials[trial]))
        return
    was_so = wrong.values == right.values
    text = "as recorded already" if was_so else f"in place of {wrong}"
    typer.echo(f"trial {trial}: {right}, {text}")


def _named(result: list[str], outcome: str | None) -> list[str]:
    """The words of the result, after the name of its outcome if that is an option."""
    if outcome is None:
        return result
    if any("=" in word for word in result) or result[0][:1] == "{":
        raise InputError("expected --outcome NAME with a result alone, or NAME=VALUE without it.")
    return [f"{outcome}={result[0]}", *result[1:]]


def _replaced(study: Study, number: int, right: Told, key: str | None) -> Told:
    """Replaces measurements; returns the wrong ones."""
    if "" in right.values:
        return Told({"": study.correct(number, right.values[""], key=key)}, ())
    return Told(study.correct(number, right.values, key=key), ())
