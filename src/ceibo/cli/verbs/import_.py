"""`ceibo import`: adds measurements that exist already."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ceibo.cli.common import File, Storage, StudyName, warn
from ceibo.cli.joint_columns import rows_of
from ceibo.cli.joint_rows import read_joint_rows
from ceibo.cli.opening import open_or_begin, open_or_preview
from ceibo.cli.rows import Row, read_rows
from ceibo.cli.source import load
from ceibo.cli.under_way import is_of, key_of, tell_all
from ceibo.decide import Measurement, Space
from ceibo.decide.frame import Frame
from ceibo.decide.rules import first_broken
from ceibo.errors import InputError, NumberTakenError
from ceibo.study import Failure, Study, Trial
from ceibo.text import params_line, plural

_Content = Measurement | frozenset[tuple[str, Measurement]] | None


def import_(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV with a column per parameter, and value, noise, replicates; of outcomes NAME,"
            " NAME_noise, NAME_replicates."
        ),
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
    study_name: StudyName = None,
    storage: Storage = None,
) -> None:
    """Add existing measurements and failures from a CSV file: all rows, or none if one is wrong."""
    if new and again:
        raise InputError("expected at most one of --new and --again.")
    loaded = load(file, study_name)
    study = open_or_preview(loaded, storage)
    frame = study.ledger.frame
    if loaded.outcomes is None:
        table = read_rows(data, frame, value, noise)
    elif value is None and noise is None:
        table = read_joint_rows(data, frame, loaded.outcomes)
    else:
        raise InputError(
            "--value and --noise name the columns of one objective; those of outcomes are called"
            " NAME and NAME_noise."
        )
    if not dry_run:
        study.close()
        study = open_or_begin(loaded, storage)
    while True:
        trials = study.trials
        fresh = _are_fresh(trials, table.rows)
        known = fresh.count(False)
        filled: list[tuple[int, Row]] = []
        rows: list[Row] = []
        for number, row, is_fresh in zip(table.trials, table.rows, fresh, strict=True):
            if is_fresh and number is not None and is_of(trials, number, row):
                filled.append((number, row))
            elif is_fresh or again:
                rows.append(row)
        # an export of this study, filled in, has the trials measured before as well
        if known and not new and not again and not filled:
            raise InputError(
                f"{data}: {_share(known, len(table.rows))} already in study {study.name!r}, with"
                " the same settings and result; --new adds only the others, --again adds all once"
                " more."
            )
        if dry_run or _add_all(study, rows, None if again else len(trials)):
            break
    _warn_of_outside(frame, rows)
    for note in filter(None, (table.note, table.absent, _broken(study.space, rows))):
        typer.echo(f"ceibo: note: {note}", err=True)
    if filled and not dry_run:
        tell_all(study, filled)
    left_out = []
    if known and not again:
        left_out.append(f"{plural(known, 'row')} that the study has already")
    if table.blank:
        left_out.append(f"{plural(table.blank, 'row')} without a value")
    skipped = f"; left out: {' and '.join(left_out)}" if left_out else ""
    verb = "would add" if dry_run else "added"
    if filled:
        told = plural(len({number for number, _ in filled}), "trial")
        typer.echo(f"{'would tell' if dry_run else 'told'} {told} under way what the rows say")
    if rows or not filled:
        typer.echo(f"{verb} {_count_outcomes(rows)} to study {study.name!r}{skipped}")


def _warn_of_outside(frame: Frame, rows: Sequence[Row]) -> None:
    """Says which rows are no settings of the space, and what becomes of them."""
    outside = [text for params, _ in rows if (text := frame.outside(params)) is not None]
    if outside:
        count = f"{plural(len(outside), 'row')} {'is' if len(outside) == 1 else 'are'}"
        warn(
            f"{count} outside the space; they inform the model, and such settings are not"
            f" suggested. The first: {outside[0]}"
        )


def _broken(space: Space, rows: Sequence[Row]) -> str:
    """What is to be said about rows that break a rule; they are facts all the same."""
    found = [(params, first_broken(space.rules, params)) for params, _ in rows]
    broken = [(params, rule) for params, rule in found if rule is not None]
    if not broken:
        return ""
    params, rule = broken[0]
    values = params_line({name: params[name] for name in rule.names})
    verb = "breaks" if len(broken) == 1 else "break"
    first = f"{plural(len(broken), 'row')} {verb} a rule of the space, first {rule.text!r}"
    return f"{first} with {values}; what was measured there counts all the same."


def _add_all(study: Study, rows: Sequence[Row], expect_number: int | None) -> bool:
    """Adds rows; False if the study has got trials since they were compared with it."""
    try:
        study.add_all(rows, expect_number=expect_number)
    except NumberTakenError:
        return False
    return True


def _count_outcomes(rows: Sequence[Row]) -> str:
    """How many measurements and failed trials there are, in words."""
    failed = sum(isinstance(outcome, Failure) for _, outcome in rows)
    measurements = plural(len(rows) - failed, "measurement")
    return f"{measurements} and {plural(failed, 'failed trial')}" if failed else measurements


def _share(known: int, total: int) -> str:
    if known == total:
        return "every row is" if total > 1 else "its row is"
    return f"{known} of {total} rows {'is' if known == 1 else 'are'}"


def _are_fresh(trials: Sequence[Trial], rows: Sequence[Row]) -> list[bool]:
    """Whether a study does not have each row already; equal rows are counted singly."""
    stored: Counter[tuple[str, _Content]] = Counter()
    for trial in trials:
        failed = (None,) if trial.state == "failed" else ()
        told: Iterable[_Content] = trial.measurements
        if trial.names:
            told = map(_content_of, rows_of(trial))
        stored.update((key_of(trial.params), each) for each in (*told, *failed))
    fresh = []
    for params, outcome in rows:
        what = (key_of(params), _content_of(outcome))
        fresh.append(stored[what] == 0)
        stored[what] -= stored[what] > 0
    return fresh


def _content_of(outcome: Measurement | Mapping[str, Measurement] | Failure) -> _Content:
    """What tells rows of one setting apart; failures are alike."""
    if isinstance(outcome, Failure):
        return None
    return outcome if isinstance(outcome, Measurement) else frozenset(outcome.items())
