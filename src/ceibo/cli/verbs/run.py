"""`ceibo run`: measures with the command of the study file until a limit is reached."""

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Annotated

import typer

from ceibo.cli.block_options import InBlock, is_bare, read_block
from ceibo.cli.common import File, Storage, StudyName, warn, where_of
from ceibo.cli.opening import open_or_begin, open_study, preview
from ceibo.cli.rescue import rescue
from ceibo.cli.source import load
from ceibo.cli.studyfile import StudyFile, with_confirm, with_trials
from ceibo.cli.verbs.best import print_answers
from ceibo.command.command import Command, CommandExecutor
from ceibo.decide import Stop, StopReason
from ceibo.decide.space import Params
from ceibo.errors import InputError, NotFoundError, StorageError
from ceibo.study import Study, Trial, current_trial
from ceibo.study.blocks import doubt_of_block, typed_block
from ceibo.study.interrupts import Interrupts
from ceibo.study.runner import Callback, Runner
from ceibo.study.trial_line import trial_line
from ceibo.text import one_line

_SHOWN = 5  # commands that --dry-run shows
# Ctrl-C, a shutdown or a scheduler, a terminal that was closed; Windows lacks the last.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_ENDING = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))


def run(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Commands at a time.")
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Trials in all, in place of those of [stop]: more, to go on."),
    ] = None,
    block: InBlock = None,
    study_name: StudyName = None,
    storage: Storage = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the first commands; run nothing.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only the answer at the end.")
    ] = False,
    confirm: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Share or number of the trials that go into the answer at the end.",
        ),
    ] = None,
) -> None:
    """Measure until a limit of [stop] is reached.

    Run it again, or on more machines, and it goes on.
    """
    loaded = with_confirm(with_trials(load(file, study_name), trials), confirm)
    template = loaded.template
    if template is None:
        example = 'argv = ["python", "measure.py", "{x}"]'
        raise InputError(f"{file} has no [command]; it needs one, as in {example}.")
    template.check_program()
    today = read_block(block)
    if dry_run:
        for number, params in _next_trials(loaded, storage):
            shown = shlex.join(one_line(each, 2000) for each in template.arguments(params))
            typer.echo(f"trial {number}: {shown}")
        return
    study = open_or_begin(loaded, storage)
    today = typed_block(study.trials, today, is_bare(block))
    if why := doubt_of_block(study.trials, [today] if today else []):
        warn(f"{why} Stop and say --block anew if that is a slip.")
    repeats = None if study.settings.precision is None else _repeats
    command = Command(template, loaded.outcomes, repeats)
    limits = loaded.limits.or_default()
    executor, at_a_time = CommandExecutor(command), jobs or loaded.jobs
    runner = Runner(study, command, limits, executor, at_a_time, today)
    with Interrupts(_ENDING, raising=False) as interrupts:
        try:
            stop = _measure(runner, command, interrupts, quiet)
        except StorageError:
            rescue(study)
            raise
        interrupted = stop.reason is StopReason.INTERRUPTED
        with _silenced() if interrupted else nullcontext():  # its terminal may be gone
            typer.echo(f"\n{stop.message}")
            if _has_answers(study):
                print_answers(study)
                where = where_of(study_name, storage)
                page = shlex.join(["ceibo", "report", file, *where, "-o", "report.html"])
                typer.echo(f"\nfor a page to look at or hand on: {page}")
    if interrupted:
        raise typer.Exit(130)


def _repeats() -> int:
    """How often the trial that is being evaluated is to be measured."""
    return current_trial().repeats


def _has_answers(study: Study) -> bool:
    """Whether there is something to answer from: every goal and limit, if there are outcomes."""
    if study.outcomes is None:
        return any(trial.measurements for trial in study.trials)
    return any(set(study.outcomes.needed) <= set(trial.outcomes) for trial in study.trials)


def _measure(runner: Runner[Study], command: Command, interrupts: Interrupts, quiet: bool) -> Stop:
    """Runs until a limit is reached; a shutdown or a closed terminal ends it as Ctrl-C does."""
    terminal = sys.stderr.isatty()
    callbacks: tuple[Callback[Study], ...] = () if quiet or terminal else (_print_trial,)
    if not quiet and not terminal:
        runner.notify = _print_note
    try:
        stop = runner.run(callbacks, False if quiet else None, interrupts)
    finally:
        command.stop()
    if stop.reason is StopReason.INTERRUPTED:
        return replace(stop, message="interrupted; the same command goes on from here.")
    return stop


@contextmanager
def _silenced() -> Iterator[None]:
    """Lets output go nowhere from the moment it cannot be written."""
    try:
        yield
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2):
            os.dup2(nowhere, descriptor)


def _print_trial(_study: Study, trial: Trial) -> None:
    """Prints a line per finished trial where there is no terminal."""
    typer.echo(trial_line(trial, is_live=True), err=True)


def _print_note(text: str) -> None:
    """Prints what else happens, where there is no terminal."""
    typer.echo(f"ceibo: note: {text}", err=True)


def _next_trials(file: StudyFile, storage: str | None) -> list[tuple[int, Params]]:
    """The trials to come: of the initial design if the study has not begun, else the next one."""
    try:
        return [open_study(file, storage).asking.peek(file.limits.confirm_from)]
    except NotFoundError:
        study = preview(file)
    initial = study.settings.initial_size(study.space.breadth)
    count = min(_SHOWN, file.limits.n_trials or _SHOWN, initial)
    return [(trial.number, trial.params) for trial in study.ask(count)]
