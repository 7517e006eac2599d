"""`ceibo show`: the trials, or one of them in full."""

from typing import Annotated

import typer

from ceibo.cli.common import (
    AsJson,
    File,
    Storage,
    corrected,
    one_line,
    open_study,
    params_line,
    print_json,
    trial_json,
)
from ceibo.errors import NotFoundError
from ceibo.study import Trial


def show(
    file: File,
    trial: Annotated[
        int | None, typer.Argument(help="One trial, in full.", show_default=False)
    ] = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """List the trials, or show one with all its measurements and the last output of a failure."""
    _, study = open_study(file, storage)
    trials = study.trials
    if trial is not None and not 0 <= trial < len(trials):
        raise NotFoundError(
            f"there is no trial {trial}; study {study.name!r} has {len(trials)}, counted from 0."
        )
    if json:
        print_json(
            [trial_json(each) for each in trials] if trial is None else trial_json(trials[trial])
        )
    elif trial is None:
        for each in trials:
            typer.echo(line_of(each))
    else:
        _in_full(trials[trial])


def line_of(trial: Trial) -> str:
    """A trial on one line."""
    if trial.measurements:
        last = trial.measurements[-1]
        more = f" (+{len(trial.measurements) - 1})" if len(trial.measurements) > 1 else ""
        outcome = str(last) + corrected(trial.replaced[-1]) + more
    elif trial.state == "failed":
        first = (trial.reason or "").strip().splitlines()[:1] or [""]
        outcome = f"failed: {one_line(first[0], 80)}"
    else:
        outcome = trial.state
    return f"{trial.number:>5}  {outcome:<22}  {params_line(trial.params, 40)}"


def _in_full(trial: Trial) -> None:
    typer.echo(f"trial {trial.number}: {trial.state}")
    for name, value in trial.params.items():
        typer.echo(f"  {one_line(name, 200)} = {one_line(value, 10_000)}")
    for measurement, replaced in zip(trial.measurements, trial.replaced, strict=True):
        for verb, each in zip(
            ["measured", *["corrected to"] * len(replaced)], [*replaced, measurement], strict=True
        ):
            extra = f", the mean of {list(each.replicates)}" if each.replicates else ""
            typer.echo(f"{verb} {each}{extra}")
    if trial.reason:
        typer.echo(f"last failure: {_printable(trial.reason)}")


def _printable(text: str) -> str:
    """Several lines, without the control characters that change a terminal."""
    kept = (
        each if each.isprintable() or each in "\n\t" else each.encode("unicode_escape").decode()
        for each in text
    )
    return "".join(kept)
