"""`ceibo run`: measures with the command of the study file until a limit is reached. Running it
again goes on.
"""

import shlex
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

import typer

from ceibo.cli.common import File, Storage, load, one_line, open_or_begin, open_study, options_of
from ceibo.cli.studyfile import StudyFile
from ceibo.cli.verbs.best import summary
from ceibo.cli.verbs.show import line_of
from ceibo.command.command import Command, CommandExecutor
from ceibo.command.placeholders import Template
from ceibo.decide import Stop, StopReason
from ceibo.decide.space import Params
from ceibo.errors import InputError, NotFoundError
from ceibo.study import Study, Trial
from ceibo.study.runner import Callback, Runner

_SHOWN = 5  # commands that --dry-run shows


def run(
    file: File,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Commands at a time.")
    ] = None,
    storage: Storage = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the first commands; run nothing.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only the answer at the end.")
    ] = False,
) -> None:
    """Measure until a limit of [stop] is reached. Run it again, or on more machines, and it goes
    on.
    """
    studied, _ = load(file, storage)
    if studied.template is None:
        raise InputError(
            f'{file} has no [command]; it needs one, as in argv = ["python", "measure.py",'
            ' "{x}"].'
        )
    studied.template.check_program()
    if dry_run:
        _show_commands(file, storage, studied, studied.template)
        return
    studied, study = open_or_begin(file, storage)
    stop = _measure(study, studied, jobs or studied.jobs, quiet)
    typer.echo(f"\n{stop.message}")
    if any(trial.measurements for trial in study.trials):
        summary(study)
        typer.echo(f"\nfor a page to look at or hand on: ceibo report {file} -o report.html")
    if stop.reason is StopReason.INTERRUPTED:
        raise typer.Exit(130)


def _measure(study: Study, file: StudyFile, jobs: int, quiet: bool) -> Stop:
    assert file.template is not None
    limits = file.limits.or_default()
    command = Command(file.template)
    runner = Runner(study, command, limits, CommandExecutor(command), jobs)
    terminal = sys.stderr.isatty()
    callbacks: tuple[Callback, ...] = () if quiet or terminal else (_print_trial,)
    earlier = signal.signal(signal.SIGTERM, _interrupt)
    try:
        stop = runner.run(callbacks, False if quiet else None)
    finally:
        signal.signal(signal.SIGTERM, earlier)
        command.stop()
    if stop.reason is StopReason.INTERRUPTED:
        return replace(stop, message="interrupted; the same command goes on from here.")
    return stop


def _interrupt(*_: object) -> None:
    """A polite request to end (a shutdown, a scheduler) is Ctrl-C: what runs is ended and handed
    out again later.
    """
    raise KeyboardInterrupt


def _print_trial(_study: Study, trial: Trial) -> None:
    """Where there is no terminal: one plain line per finished trial."""
    typer.echo(line_of(trial), err=True)


def _show_commands(file: File, storage: str | None, studied: StudyFile, template: Template) -> None:
    suggest = _from_now(file, storage)
    if suggest is None:  # not begun: the same study in memory has the same initial design
        study = Study.create(studied.space, name=studied.name, **options_of(studied))
        count = min(
            _SHOWN, studied.limits.n_trials or _SHOWN, study.settings.initial_size(len(study.space))
        )
        trials = [(trial.number, trial.params) for trial in study.ask(count)]
    else:
        trials = [suggest()]
    for number, params in trials:
        shown = shlex.join(one_line(each, 2000) for each in template.arguments(params))
        typer.echo(f"trial {number}: {shown}")


def _from_now(file: File, storage: str | None) -> "Callable[[], tuple[int, Params]] | None":
    """What computes the next suggestion of a study that has begun, without recording it."""
    try:
        _, study = open_study(file, storage)
    except NotFoundError:
        return None
    snapshot = study._refresh()
    number = len(snapshot.trials)
    return lambda: (
        number,
        dict(study._suggest(snapshot, number, study._start_values(number)).params),
    )
