"""`ceibo tell`: what came out."""

from typing import Annotated

import typer

from ceibo.cli.common import AsJson, File, Storage, open_study, plus_minus, print_json, trial_json
from ceibo.cli.outcome import parse_line
from ceibo.errors import InputError


def tell(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    trial: Annotated[int, typer.Argument(help="Number of the trial, from `ceibo ask`.")],
    result: Annotated[
        list[str] | None,
        typer.Argument(help="VALUE; VALUE NOISE; three or more replicates; or JSON.", show_default=False),
    ] = None,
    key: Annotated[str | None, typer.Option(help="Tells several measurements of one trial apart.")] = None,
    failed: Annotated[str | None, typer.Option(metavar="REASON", help="Measuring failed, and why.")] = None,
    release: Annotated[bool, typer.Option("--release", help="Give the trial back unmeasured.")] = False,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Record the measurement of a trial, or that it failed, or give it back."""
    given = [bool(result), failed is not None, release]
    if sum(given) != 1:
        raise InputError("expected one of: a result, --failed REASON, --release.")
    _, study = open_study(file, storage)
    if result:
        try:
            measurement = parse_line(" ".join(result))
        except InputError as error:
            raise InputError(str(error).replace("its last line is no result: ", "the result: ")) from None
        if not measurement.is_finite:
            raise InputError(f"the value is {measurement.value!r}; if measuring failed, say --failed REASON.")
        study.tell(trial, measurement, key=key)
        text = f"trial {trial}: {plus_minus(measurement.value, measurement.noise)}"
    elif failed is not None:
        study.fail(trial, failed)
        text = f"trial {trial}: failed"
    else:
        study.release(trial)
        text = f"trial {trial}: given back"
    if json:
        print_json(trial_json(study.trials[trial]))
    else:
        typer.echo(text)
