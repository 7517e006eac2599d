"""`ceibo import`: adds measurements that exist already."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ceibo.cli.columns_option import Columns, read_columns
from ceibo.cli.common import File, Storage, StudyName, warn
from ceibo.cli.opening import open_or_begin, open_or_preview
from ceibo.cli.source import load
from ceibo.decide import Outcomes
from ceibo.errors import InputError
from ceibo.sheets.entries import NOWHERE, Wanted
from ceibo.sheets.importing import AGAIN, NEW, import_rows
from ceibo.sheets.naming import SheetNaming
from ceibo.sheets.remarks import broken, impossible, outside
from ceibo.sheets.rows import Row, read_rows
from ceibo.study import Failure
from ceibo.study.blocks import Naming
from ceibo.text import plural


def import_(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV or .xlsx with a column per parameter, and value, noise, replicates; of"
            " outcomes NAME, NAME_noise, NAME_replicates."
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
    column: Columns = None,
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
    """Add existing measurements and failures from a table: all rows, or none if one is wrong."""
    if new and again:
        raise InputError("expected at most one of --new and --again.")
    loaded = load(file, study_name)
    study = open_or_preview(loaded, storage)
    frame = study.ledger.frame
    mapping = _mapping(column, value, noise, loaded.outcomes)
    # a name alone stays one: what a table is the same as must not depend on what came since
    naming = SheetNaming(Naming(known=Naming.of(study.trials).known))
    wanted = Wanted(frame, loaded.outcomes, mapping, naming)
    table = read_rows(data, wanted)
    if not dry_run:
        study.close()
        study = open_or_begin(loaded, storage)
    done = import_rows(study, table, data, NEW if new else AGAIN if again else "", dry_run)
    settings = [(NOWHERE, params) for params, _ in done.rows]
    if odd := outside(frame, settings):
        warn(odd)
    values = impossible(study.outcomes, [(NOWHERE, result) for _, result in done.rows])
    said = (table.note, table.absent, table.units, broken(frame, settings), values)
    for note in filter(None, said):
        typer.echo(f"ceibo: note: {note}", err=True)
    left_out = []
    if done.known and not again:
        left_out.append(f"{plural(done.known, 'row')} that the study has already")
    if table.blank:
        left_out.append(f"{plural(table.blank, 'row')} without a value")
    skipped = f"; left out: {' and '.join(left_out)}" if left_out else ""
    if done.told:
        told = plural(len(done.told), "trial")
        typer.echo(f"{'would tell' if dry_run else 'told'} {told} under way what the rows say")
    if done.rows or not done.told:
        verb = "would add" if dry_run else "added"
        typer.echo(f"{verb} {_count_outcomes(done.rows)} to study {study.name!r}{skipped}")


def _mapping(
    columns: list[str] | None, value: str | None, noise: str | None, outcomes: Outcomes | None
) -> dict[str, str]:
    """What headers stand for: by --column, and by --value and --noise of one objective."""
    mapping = read_columns(columns)
    if (value is not None or noise is not None) and outcomes is not None:
        raise InputError(
            "--value and --noise name the columns of one objective; those of outcomes are called"
            " NAME and NAME_noise."
        )
    if value is not None:
        mapping[value] = "value"
    if noise is not None:
        mapping[noise] = "noise"
    return mapping


def _count_outcomes(rows: Sequence[Row]) -> str:
    """How many measurements and failed trials there are, in words."""
    failed = sum(isinstance(outcome, Failure) for _, outcome in rows)
    measurements = plural(len(rows) - failed, "measurement")
    return f"{measurements} and {plural(failed, 'failed trial')}" if failed else measurements
