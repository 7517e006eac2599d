"""`ceibo show`: lists the trials, or shows one in full."""

from typing import Annotated

import typer

from ceibo.cli.common import AsJson, File, Storage, StudyName, print_json, trial_json
from ceibo.cli.opening import open_study
from ceibo.cli.source import load
from ceibo.errors import NotFoundError
from ceibo.study import Trial
from ceibo.study.trial_line import trial_line
from ceibo.text import escape, one_line


def show(
    file: File,
    trial: Annotated[
        int | None, typer.Argument(help="One trial, in full.", show_default=False)
    ] = None,
    study_name: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """List the trials, or show one with all its measurements and the last output of a failure."""
    study = open_study(load(file, study_name), storage)
    trials = study.trials
    if trial is not None and not 0 <= trial < len(trials):
        raise NotFoundError(
            f"there is no trial {trial}; study {study.name!r} has {len(trials)}, counted from 0."
        )
    if json:
        every = [trial_json(each) for each in trials]
        print_json(every if trial is None else every[trial])
    elif trial is None:
        for rule in study.space.constraints:
            typer.echo(f"rule: {escape(rule)}")
        for each in trials:
            typer.echo(trial_line(each))
    else:
        _print_in_full(trials[trial])


def _print_in_full(trial: Trial) -> None:
    typer.echo(f"trial {trial.number}: {trial.state}")
    for name, value in trial.params.items():
        typer.echo(f"  {one_line(name, 200)} = {one_line(value, 10_000)}")
    names = trial.names or ("",) * len(trial.measurements)
    for name, measurement, replaced in zip(names, trial.measurements, trial.replaced, strict=True):
        for place, each in enumerate([*replaced, measurement]):
            verb = "corrected to" if place else "measured"
            extra = f", the mean of {list(each.replicates)}" if each.replicates else ""
            of = f"{name}: " if name else ""
            typer.echo(f"{of}{verb} {each}{extra}")
    for voided in trial.voided:
        of = f"{voided.outcome}: " if voided.outcome else ""
        typer.echo(f"{of}voided {voided.measurement}: {escape(voided.reason)}")
    if trial.reason:
        reason = escape(trial.reason, keep="\n\t")
        typer.echo(f"last failure: {reason}")
