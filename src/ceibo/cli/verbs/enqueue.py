"""`ceibo enqueue`: settings of your own, to be measured next."""

import shlex

import typer

from ceibo.cli.common import AsJson, File, New, Storage, StudyName, print_json, where_of
from ceibo.cli.opening import begin_if_new
from ceibo.cli.source import load
from ceibo.cli.wanted import Settings, read_wanted
from ceibo.text import params_line, plural


def enqueue(
    file: File,
    settings: Settings,
    new: New = False,
    study: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Queue settings of your own; `ceibo ask` and `ceibo run` take them first."""
    loaded = load(file, study)
    wanted = read_wanted(settings, loaded)
    for params in wanted:  # all of them before the first is queued
        loaded.space.check_rules(params)
    opened = begin_if_new(loaded, storage, new)
    queued = [opened.enqueue(params) for params in wanted]
    if json:
        print_json([{"trial": trial.number, "params": trial.params} for trial in queued])
        return
    for trial in queued:
        typer.echo(f"trial {trial.number}: {params_line(trial.params, 40)}")
    following = shlex.join(["ceibo", "ask", file, *where_of(study, storage)])
    typer.echo(f"queued {plural(len(queued), 'trial')}; then: {following}", err=True)
