"""`ceibo paper`: the paper's experiments from the shell."""

import os
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ceibo.errors import CeiboError
from ceibo_lab.archive import archive
from ceibo_lab.experiments import EXPERIMENTS, experiment
from ceibo_lab.library import Library
from ceibo_lab.records import Read, Record, read
from ceibo_lab.report import write_report
from ceibo_lab.runner import BACKENDS, Options, sweep

app = typer.Typer(
    help="The paper's experiments: run them, draw their figures, write the report.",
    no_args_is_help=True,
)
_console = Console(stderr=True)

Out = Annotated[Path, typer.Option(help="Folder of records, figures and report.")]
_OUT = Path("paper-results")


@app.command("list")
def list_() -> None:
    """The experiments, their blocks and how many replications each has."""
    for each in EXPERIMENTS.values():
        typer.echo(f"{each.id:<14}{len(each.cells()):>6}  {each.title}")
        for block in each.blocks:
            typer.echo(f"{'':<14}{len(list(block.cells())):>6}  --block {block.name}")
    typer.echo(f"backends: {', '.join(BACKENDS)}")


@app.command()
def run(  # noqa: PLR0913 - options of a command
    ids: Annotated[
        list[str],
        typer.Argument(help="Experiments, or `all` (not the suite, nor those that need data)."),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="A small version, in minutes.")] = False,
    seeds: Annotated[
        int | None, typer.Option(help="How many seeds, from 0; finished ones are not run again.")
    ] = None,
    block: Annotated[
        list[str] | None, typer.Option(help="Only this block; may be repeated.")
    ] = None,
    backend: Annotated[
        str | None, typer.Option(help=f"{', '.join(BACKENDS)}; loky by default.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Workers; 0 means one per core.")] = 0,
    address: Annotated[
        str | None, typer.Option(help="Of a Dask scheduler or a Ray cluster.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; finished replications are kept.")
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(help="Folder with data and weights of networks; may be repeated."),
    ] = None,
    out: Out = _OUT,
) -> None:
    """Run experiments; what is finished is never run twice, so the same command continues after an
    interruption.
    """
    until = None if time_limit is None else time.monotonic() + time_limit
    try:
        everything = [each.id for each in EXPERIMENTS.values() if each.in_all]
        chosen = everything if ids == ["all"] else [experiment(name).id for name in ids]
        if data:
            os.environ["CEIBO_COMPRESSION_DATA"] = os.pathsep.join(
                str(place.resolve()) for place in data
            )
        for name in chosen:
            left = None if until is None else max(until - time.monotonic(), 0.0)
            _run(
                name,
                Options(backend, jobs, left, address),
                out,
                quick=quick,
                seeds=seeds,
                block=tuple(block or ()),
            )
    except CeiboError as error:
        _fail(error)


@app.command()
def figures(out: Out = _OUT) -> None:
    """Draw the figures of the records in the folder: PNG and SVG; of compressed networks with their
    page.
    """
    try:
        found = _records(out)
        for name, caption in _figures(found, out):
            typer.echo(f"{out / name}  {caption}")
        for path in _compression(found, out):
            typer.echo(str(path))
    except CeiboError as error:
        _fail(error)


@app.command()
def report(
    out: Out = _OUT,
    fill: Annotated[
        bool, typer.Option(help="First run the quick size of experiments without any record.")
    ] = True,
    made_by: Annotated[
        str | None, typer.Option(help="The command that made the records, to print in the report.")
    ] = None,
) -> None:
    """Write the figures and the report, one page in Markdown and HTML, from the records in the
    folder.
    """
    try:
        if fill:
            _fill(out)
        found = _records(out)
        command = made_by or "ceibo paper run … ; " + shlex.join(
            ["ceibo", "paper", "report", "--out", str(out)]
        )
        for path in [
            *write_report(found, out, _figures(found, out), command),
            *_compression(found, out),
        ]:
            typer.echo(str(path))
    except CeiboError as error:
        _fail(error)


@app.command()
def pack(
    source: Annotated[Path, typer.Argument(help="Folder of record files, .jsonl or .jsonl.gz.")],
    target: Annotated[
        Path, typer.Argument(help="Folder for the compressed files, one per experiment.")
    ],
) -> None:
    """Compress records, one small file per experiment, for keeping."""
    found, counts = archive(source, target)
    for line in (*found.notes, *[f"{name}: {count} records" for name, count in counts.items()]):
        typer.echo(line)


def _run(
    name: str,
    options: Options,
    out: Path,
    *,
    quick: bool,
    seeds: int | None,
    block: tuple[str, ...],
) -> None:
    cells = experiment(name).cells(quick=quick, seeds=seeds, only=block)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, TextColumn("left"), TimeRemainingColumn(), console=_console
    ) as progress:
        task = progress.add_task(name, total=len(cells))

        def show(finished: int, todo: int, record: Record) -> None:
            progress.update(task, completed=finished, total=todo)
            if record["status"] == "failed":
                progress.console.print(f"failed: {record['key']}: {record['error']}", markup=False)

        summary = sweep(cells, out / "records" / f"{name}.jsonl", options, show)
    for line in (f"{name}: {summary}", *summary.notes):
        _console.print(line, markup=False, highlight=False)


def _fill(out: Path) -> None:
    there = {record["key"] for record in read(out / "records").records}
    for each in EXPERIMENTS.values():
        sizes = [cell.key for quick in (False, True) for cell in each.cells(quick=quick)]
        if each.in_all and not there.intersection(sizes):
            _run(each.id, Options(), out, quick=True, seeds=None, block=())


def _records(out: Path) -> Read:
    found = read(out / "records")
    if not found.records:
        raise CeiboError(
            f"there are no records in {out / 'records'}: run an experiment first, `ceibo paper"
            " list`."
        )
    for note in found.notes:
        _console.print(note, markup=False)
    return found


def _figures(found: Read, out: Path) -> list[tuple[str, str]]:
    try:
        from ceibo_lab.figures import write_figures  # matplotlib, an extra
    except ImportError as error:
        raise CeiboError(f"figures need {error.name}: pip install 'ceibo[paper]'.") from error

    return [
        (f"figures/{name}", text)
        for name, text in write_figures(Library(found.done), out / "figures")
    ]


def _compression(found: Read, out: Path) -> list[Path]:
    """Page and figures of the compressed networks, if there are records of any."""
    if not any(record["cell"]["kind"] == "compression" for record in found.records):
        return []
    try:
        from pages.compression.report import write_page  # torch, an extra
    except ImportError as error:
        raise CeiboError(
            f"the compression page needs {error.name}: pip install 'ceibo[compression]'."
        ) from error

    write_page(found, out / "compression.md", out / "figures" / "compression")
    return [out / "compression.md"]


def _fail(error: CeiboError) -> None:
    _console.print(f"error: {error}", markup=False)
    sys.exit(2)


if __name__ == "__main__":
    app()
