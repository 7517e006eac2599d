"""`ceibo sheet`: what to measure next as a worksheet, and the worksheet taken back."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ceibo.cli.columns_option import Columns, read_columns
from ceibo.cli.common import File, Fixed, New, Storage, StudyName, where_of
from ceibo.cli.files import check_target
from ceibo.cli.opening import begin_if_new, open_study
from ceibo.cli.source import load
from ceibo.cli.studyfile import StudyFile
from ceibo.cli.text_options import Bom, Decimal, Separator, text_form
from ceibo.cli.words import read_words
from ceibo.errors import InputError
from ceibo.sheets.entries import STUDY_FILE
from ceibo.sheets.reading import read_sheet
from ceibo.sheets.sheet import write_sheet
from ceibo.study.sheet_reading import SheetReading
from ceibo.text import plural


def sheet(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    path: Annotated[Path, typer.Argument(metavar="SHEET", help="The worksheet, .xlsx or .csv.")],
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            "-n",
            min=1,
            help="How many trials to ask for; without it those under way, or one if there are"
            " none.",
            show_default=False,
        ),
    ] = None,
    pending: Annotated[
        bool, typer.Option("--pending", help="Write the trials under way; without -n only those.")
    ] = False,
    read: Annotated[bool, typer.Option("--read", help="Take the worksheet back.")] = False,
    fixed: Fixed = None,
    shared: Annotated[
        list[str] | None,
        typer.Option(
            "--shared", metavar="NAME", help="A parameter that is equal on the sheet. Repeatable."
        ),
    ] = None,
    replicates: Annotated[
        int, typer.Option(min=0, max=50, help="Columns for replicates of each outcome.")
    ] = 0,
    block: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="A column for a kind of block: day, plate. Repeatable."),
    ] = None,
    bom: Bom = False,
    separator: Separator = ",",
    decimal: Decimal = ".",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    column: Columns = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Rows without a number that differ now are further runs."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --read: say what would be stored.")
    ] = False,
    new: New = False,
    study_name: StudyName = None,
    storage: Storage = None,
) -> None:
    """Write what to measure next as a worksheet to fill in; with --read, take it back.

    Settings are rounded to what a person can dial, and recorded so. Everything that is wrong with
    a sheet is said at once, with its cell, and then nothing is stored; a sheet may be read again.
    """
    loaded = load(file, study_name)
    if read:
        writing = (count, pending or None, fixed, shared, replicates or None, block)
        if any(each is not None for each in (*writing, bom or None, force or None)):
            raise InputError("--read takes a sheet back; leave out the options of writing one.")
        columns = read_columns(column)
        reading = _read(loaded, storage, path, columns, again=again, dry_run=dry_run)
        if dry_run:
            typer.echo("nothing was stored; without --dry-run it is", err=True)
        else:
            _print_next(file, where_of(study_name, storage), path, reading)
        return
    if column or again or dry_run:
        raise InputError("--column, --again and --dry-run are about reading; add --read.")
    if count is None and not pending:
        raise InputError(
            "expected -n COUNT, how many trials to ask for; --pending, to write those under way; or"
            " --read, to take the sheet back."
        )
    form = text_form(bom, separator, decimal)
    held = read_words(fixed or [], loaded.space, "--fixed")
    check_target(path, loaded, storage)
    study = begin_if_new(loaded, storage, new) if count else open_study(loaded, storage)
    trials = write_sheet(
        study,
        path,
        count,
        pending=pending,
        fixed=held,
        shared=shared,
        replicates=replicates,
        blocks=block or (),
        bom=form.bom,
        separator=form.separator,
        decimal=form.decimal,
        force=force,
        file=STUDY_FILE if "://" in file else Path(file).name,  # a sheet is handed on
    )
    typer.echo(f"wrote {plural(len(trials), 'trial')} to {path}")
    where = where_of(study_name, storage)
    back = shlex.join(["ceibo", "sheet", str(file), str(path), "--read", *where])
    typer.echo(f"then, when values are filled in: {back}", err=True)


def _read(
    loaded: StudyFile,
    storage: str | None,
    path: Path,
    columns: dict[str, str],
    *,
    again: bool,
    dry_run: bool,
) -> SheetReading:
    """Takes a worksheet back, and says what was on it."""
    study = open_study(loaded, storage)
    file = str(loaded.path) if loaded.raw else STUDY_FILE
    reading = read_sheet(study, path, columns=columns, again=again, dry_run=dry_run, file=file)
    for note in reading.notes:
        typer.echo(f"ceibo: note: {note}", err=True)
    verb = "would read" if dry_run else "read"
    typer.echo(f"{verb} {path}: {reading}")
    for line in reading.details:
        typer.echo(f"  {line}")
    return reading


def _print_next(file: str, where: list[str], path: Path, reading: SheetReading) -> None:
    """Says what may follow a sheet that was read."""
    if reading.waiting:
        typer.echo("fill in the others when they are known, and read the file again", err=True)
    best = shlex.join(["ceibo", "best", file, *where])
    following = shlex.join(["ceibo", "sheet", file, f"next{path.suffix}", *where, "-n"])
    typer.echo(f"then: {best}; or, to measure more: {following} COUNT", err=True)
