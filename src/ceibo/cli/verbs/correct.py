"""`ceibo correct`: replaces a measurement that was told wrongly."""

from typing import Annotated

import typer

from ceibo.cli.common import AsJson, File, Replicates, Storage, print_json, trial_json, warn
from ceibo.cli.opening import open_study
from ceibo.cli.studyfile import load
from ceibo.cli.verbs.tell import read_result, why_doubtful
from ceibo.command.outcome import is_pair

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
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Replace a measurement that was told wrongly; the record keeps the wrong one too."""
    line = " ".join(result).strip()
    right = read_result(line, replicates, _UNKNOWN)
    study = open_study(load(file), storage)
    before = study.trials
    wrong = study.correct(trial, right, key=key)
    if is_pair(line) and not replicates and (why := why_doubtful(right, before)):
        warn(f"trial {trial}: {why}")
    if wrong.noise is not None and right.noise is None and not right.replicates:
        lost = f"the noise {wrong.noise:.6g} went with the wrong value"
        warn(f"trial {trial}: {lost}; give it again if it holds.")
    if json:
        print_json(trial_json(study.trials[trial]))
        return
    was = "as recorded already" if wrong == right else f"in place of {wrong}"
    typer.echo(f"trial {trial}: {right}, {was}")
