"""`ceibo import`: start from the measurements you already have."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ceibo.cli.common import File, Storage, counted, load, open_or_begin, open_or_imagine
from ceibo.cli.rows import read_rows
from ceibo.decide import Measurement
from ceibo.errors import InputError
from ceibo.study import Failure, Study
from ceibo.study.store import NewTrial


def import_(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    data: Annotated[
        Path, typer.Argument(help="CSV with a column per parameter, and value, noise, replicates.")
    ],
    value: Annotated[
        str | None,
        typer.Option(help="Column of the values; `value` by default.", show_default=False),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="Column of their standard deviations; `noise` by default, if it is there.",
            show_default=False,
        ),
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Leave out rows that are in the study already.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Add rows also if they are in the study already.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the file and record nothing.")
    ] = False,
    storage: Storage = None,
) -> None:
    """Add existing measurements and failures from a CSV file: all rows, or none if one is wrong."""
    if new and again:
        raise InputError("expected at most one of --new and --again.")
    studied, _ = load(file, storage)
    rows = read_rows(data, studied.space, value, noise)
    _, study = open_or_imagine(file, storage) if dry_run else open_or_begin(file, storage)
    trials, known = _not_yet(study, rows.trials)
    if known and not new and not again:
        raise InputError(
            f"{data}: {_of(known, len(rows.trials))} already in study {study.name!r}, with the same"
            " settings and result; --new adds only the others, --again adds all once more."
        )
    if again:
        trials = list(rows.trials)
    if not dry_run:
        study.add_all(
            (each.params, each.measurement or Failure(each.reason or "")) for each in trials
        )
    if rows.note:
        typer.echo(f"ceibo: note: {rows.note}", err=True)
    left_out = [f"{counted(known, 'row')} that the study has already"] if known and new else []
    left_out += [f"{counted(rows.blank, 'row')} without a value"] if rows.blank else []
    skipped = f"; left out: {' and '.join(left_out)}" if left_out else ""
    typer.echo(
        f"{'would add' if dry_run else 'added'} {_described(trials)} to study"
        f" {study.name!r}{skipped}"
    )


def _described(trials: Sequence[NewTrial]) -> str:
    failed = sum(trial.measurement is None for trial in trials)
    measured = counted(len(trials) - failed, "measurement")
    return f"{measured} and {counted(failed, 'failed trial')}" if failed else measured


def _of(known: int, total: int) -> str:
    if known == total:
        return "every row is" if total > 1 else "its row is"
    return f"{known} of {total} rows {'is' if known == 1 else 'are'}"


def _not_yet(study: Study, trials: Sequence[NewTrial]) -> tuple[list[NewTrial], int]:
    """The trials that a study does not have, and the number of those it has; equal ones are counted
    one by one.
    """
    stored: Counter[tuple[str, Measurement | None]] = Counter()
    for trial in study.trials:
        failed = (None,) if trial.state == "failed" else ()
        stored.update((_text(trial.params), each) for each in (*trial.measurements, *failed))
    fresh = []
    for new in trials:
        what = (_text(new.params), new.measurement)
        if stored[what] > 0:
            stored[what] -= 1
        else:
            fresh.append(new)
    return fresh, len(trials) - len(fresh)


def _text(params: Mapping[str, Any]) -> str:
    return json.dumps(dict(params), sort_keys=True)
