"""`ceibo paper`: the experiments from the shell."""

import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich import progress as bars
from rich.console import Console

from ceibo.errors import CeiboError, InputError
from ceibo_lab import sweep
from ceibo_lab.archive import archive
from ceibo_lab.library import Library
from ceibo_lab.optional import LAB, optional
from ceibo_lab.plans import EXPERIMENTS, experiment
from ceibo_lab.plans.plan import Selection
from ceibo_lab.record import Cell, Record
from ceibo_lab.records import Read, read
from ceibo_lab.repeat import Agreement, recorded, repetition, sample
from ceibo_lab.report import write_report

app = typer.Typer(
    help="The paper's experiments: run them, draw their figures, write the report.",
    no_args_is_help=True,
)
_console = Console(stderr=True)

Out = Annotated[Path, typer.Option(help="Folder of records, figures and report.")]
Names = list[str] | None
_OUT = Path("paper-results")
_RECORDS = Path("results")  # in a clone of the repository
_STATUS = {Agreement.SAME: 0, Agreement.UNEXPLAINED: 1, Agreement.EXPLAINED: 3}
_UNFINISHED = 4
_LINE_EVERY = 10.0  # seconds between two lines of progress where there is no terminal
_ELSE = "may be repeated; one that is not planned takes the place of those that are."


@app.command("list")
def list_() -> None:
    """The experiments, their blocks and how many replications each has."""
    for each in EXPERIMENTS.values():
        typer.echo(f"{each.id:<14}{len(each.cells()):>6}  {each.title}")
        for block in each.blocks:
            typer.echo(f"{'':<14}{len(list(block.cells())):>6}  --block {block.name}")
    typer.echo(f"backends: {', '.join(sweep.BACKENDS)}")


@app.command()
def run(  # noqa: PLR0913 - options of a command
    ids: Annotated[
        list[str],
        typer.Argument(help="Experiments, or `all` (not the suite, nor those that need data)."),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="A small version, in minutes.")] = False,
    seeds: Annotated[
        int | None, typer.Option(help="How many seeds; finished ones are not run again.")
    ] = None,
    seed: Annotated[
        list[int] | None, typer.Option(help="This seed alone; may be repeated.")
    ] = None,
    block: Annotated[Names, typer.Option(help="Only this block; may be repeated.")] = None,
    method: Annotated[Names, typer.Option(help=f"Only this method; {_ELSE}")] = None,
    problem: Annotated[Names, typer.Option(help=f"Only this problem; {_ELSE}")] = None,
    noise: Annotated[Names, typer.Option(help=f"Only this noise protocol; {_ELSE}")] = None,
    backend: Annotated[
        str | None, typer.Option(help=f"{', '.join(sweep.BACKENDS)}; loky by default.")
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
    renew: Annotated[
        bool, typer.Option("--renew", help="Also run cells whose record is of an older arithmetic.")
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(help="Compare with these records, and say what differs; none are written."),
    ] = None,
    out: Out = _OUT,
) -> None:
    """Run experiments; what is finished is never run twice, so the same command continues.

    With --against recorded cells are repeated; the exit status is that of `ceibo paper check`.
    """
    wanted = Selection(
        quick=quick,
        seeds=seeds,
        seed=tuple(seed or ()),
        blocks=tuple(block or ()),
        methods=tuple(method or ()),
        problems=tuple(problem or ()),
        noises=tuple(noise or ()),
    )
    until = None if time_limit is None else time.monotonic() + time_limit
    with _errors():
        if seed and seeds is not None:
            raise InputError("--seed names seeds and --seeds says how many: give one of them.")
        if renew and against is not None:
            raise InputError(
                "--renew runs cells again to keep their records, and --against compares and keeps"
                " none: give one of them."
            )
        everything = [each.id for each in EXPERIMENTS.values() if each.in_all]
        chosen = everything if ids == ["all"] else [experiment(name).id for name in ids]
        _look_for_data(data)
        if against is not None:
            options = sweep.Options(backend, jobs, time_limit, address)
            cells = [cell for name in chosen for cell in wanted.cells(experiment(name))]
            raise typer.Exit(_repeat(cells, _all_records(against), options, out))
        for name in chosen:
            left = None if until is None else max(until - time.monotonic(), 0.0)
            options = sweep.Options(backend, jobs, left, address, renew)
            _run(name, wanted.cells(experiment(name)), options, out)


@app.command()
def check(
    place: Annotated[
        Path, typer.Argument(help="Records: a file, or a folder with folders of them.")
    ] = _RECORDS,
    size: Annotated[int, typer.Option("--sample", help="How many records, at random.")] = 50,
    seed: Annotated[int, typer.Option(help="Of the choice.")] = 0,
    jobs: Annotated[int, typer.Option(help="Workers; 0 means one per core.")] = 0,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; the same command continues.")
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(help="Folder with data and weights of networks; may be repeated."),
    ] = None,
) -> None:
    """Run a random sample of records again, and say which are the same bit for bit.

    Exit status: 0 all are the same; 3 some differ, and other versions, another arithmetic or
    another machine explains each; 1 some differ and nothing explains it; 4 not finished.
    """
    with _errors():
        _look_for_data(data)
        records = _all_records(place)
        found = sample(records, size, seed)
        for why, keys in _by_reason(found.refused).items():
            typer.echo(f"cannot be run here: {len(keys)} ({keys[0]}, …): {why}")
        if not found.chosen:
            raise CeiboError(f"none of the {len(records)} records in {place} can be run here.")
        cells = [Cell.from_json(record["cell"]) for record in found.chosen]
        options = sweep.Options(None, jobs, time_limit, None)
        raise typer.Exit(_repeat(cells, found.chosen, options, _OUT))


@app.command()
def train(  # noqa: PLR0913 - options of a command
    network: Annotated[str, typer.Argument(help="fc3, or vgg16-head.")],
    data: Annotated[
        Path, typer.Option(help="Folder of MNIST; folder or tar with train/ and val/ pictures.")
    ],
    out: Annotated[Path, typer.Option(help="The safetensors file to write.")],
    weights: Annotated[Path | None, typer.Option(help="VGG-16's convolutions.")] = None,
    epochs: Annotated[int | None, typer.Option(help="10 for fc3, 60 for vgg16-head.")] = None,
    seed: Annotated[int, typer.Option(help="Of the weights and of the order of pictures.")] = 0,
    device: Annotated[str | None, typer.Option(help="cpu or cuda; a GPU if there is one.")] = None,
) -> None:
    """Train the weights that no file has; a finished file with the right hash is kept."""
    with _errors(), optional("training", f"{LAB}[compression]"):
        from ceibo_lab.problems.networks.train import train_file

        said = train_file(
            network, data, out, weights=weights, epochs=epochs, seed=seed, device=device
        )
        typer.echo(said)


@app.command()
def figures(out: Out = _OUT) -> None:
    """Draw the figures of the records in the folder: PNG and SVG."""
    with _errors():
        for name, caption in _figures(_records(out), out):
            typer.echo(f"{out / name}  {caption}")


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
    """Write the figures and the report, one page in Markdown and HTML, from the records."""
    with _errors():
        if fill:
            _fill(out)
        found = _records(out)
        last = shlex.join(["ceibo", "paper", "report", "--out", str(out)])
        command = made_by or f"ceibo paper run … ; {last}"
        for path in write_report(found, out, _figures(found, out), command):
            typer.echo(str(path))


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


def _run(name: str, cells: list[Cell], options: sweep.Options, out: Path) -> None:
    with _progress(name, len(cells)) as show:
        summary = sweep.sweep(cells, out / "records" / f"{name}.jsonl", options, show)
    for line in (f"{name}: {summary}", *summary.notes):
        _console.print(line, markup=False, highlight=False, soft_wrap=True)


def _repeat(cells: list[Cell], records: list[Record], options: sweep.Options, out: Path) -> int:
    """Runs recorded cells again and compares; returns the exit status.

    What is finished is kept in a file until all of it is, so that the same command continues.
    """
    before = {record["key"]: record for record in records}
    for cell in [cell for cell in cells if cell.key not in before]:
        typer.echo(f"no record: {cell.key}")
    cells = [cell for cell in cells if cell.key in before]
    if not cells:
        raise CeiboError("there is no record of any of these cells.")
    path = out / "check" / "repeated.jsonl"
    with _progress("repeated", len(cells)) as show:
        summary = sweep.sweep(cells, path, options, show)
    keys = {cell.key for cell in cells}
    again = [record for record in read(path).records if record["key"] in keys]
    found = [repetition(before[record["key"]], record) for record in again]
    for each in sorted(found, key=lambda each: (each.agreement.value, each.key)):
        typer.echo(str(each))
    count = {kind: sum(each.agreement is kind for each in found) for kind in Agreement}
    typer.echo(
        f"{count[Agreement.SAME]} of {len(found)} the same bit for bit,"
        f" {count[Agreement.EXPLAINED]} differ and it is explained,"
        f" {count[Agreement.UNEXPLAINED]} differ and it is not."
    )
    if summary.left:
        typer.echo(f"{summary.left} left: the same command continues.")
        return _UNFINISHED
    path.unlink()
    ranked = (Agreement.UNEXPLAINED, Agreement.EXPLAINED, Agreement.SAME)
    return _STATUS[next(kind for kind in ranked if count[kind])]


def _look_for_data(places: list[Path] | None) -> None:
    """Names the folders with data and weights of networks."""
    if places:
        named = [str(place.resolve()) for place in places]
        os.environ["CEIBO_COMPRESSION_DATA"] = os.pathsep.join(named)


def _by_reason(refused: dict[str, str]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for key, why in refused.items():
        reasons.setdefault(why, []).append(key)
    return reasons


def _all_records(place: Path) -> list[Record]:
    """The records of a file or folder and the folders in it; an error if there are none."""
    found = recorded(place)
    for note in found.notes:
        _console.print(note, markup=False)
    if not found.records:
        raise CeiboError(
            f"there are no records in {place}: name the folder results of a clone of the"
            " repository, or one that `ceibo paper run` has written."
        )
    return found.records


@contextmanager
def _progress(name: str, count: int) -> Iterator[sweep.Progress]:
    """A bar in a terminal; elsewhere, as in a batch machine's log, a line now and then."""
    began = last = time.monotonic()

    def line(finished: int, todo: int, record: Record) -> None:
        nonlocal last
        now = time.monotonic()
        if record["status"] == "failed":
            typer.echo(f"failed: {record['key']}: {record['error']}", err=True)
        if now - last >= _LINE_EVERY or finished == todo:
            last, left = now, (now - began) / finished * (todo - finished)
            spent = f"{now - began:.0f} s, about {left:.0f} s left"
            typer.echo(f"{name}: {finished}/{todo} cells, {spent}", err=True)

    if not _console.is_terminal:
        yield line
        return
    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.MofNCompleteColumn())
    times = (bars.TimeElapsedColumn(), bars.TextColumn("left"), bars.TimeRemainingColumn())
    with bars.Progress(*columns, *times, console=_console) as progress:
        task = progress.add_task(name, total=count)

        def bar(finished: int, todo: int, record: Record) -> None:
            progress.update(task, completed=finished, total=todo)
            if record["status"] == "failed":
                progress.console.print(f"failed: {record['key']}: {record['error']}", markup=False)

        yield bar


def _fill(out: Path) -> None:
    there = {record["key"] for record in read(out / "records").records}
    for each in EXPERIMENTS.values():
        sizes = [cell.key for quick in (False, True) for cell in each.cells(quick=quick)]
        if each.in_all and not there.intersection(sizes):
            _run(each.id, each.cells(quick=True), sweep.Options(), out)


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
    with optional("drawing", LAB):
        from ceibo_lab.figures import write_figures  # matplotlib, slow to import

    written = write_figures(Library(found.done), out / "figures")
    return [(f"figures/{name}", text) for name, text in written]


@contextmanager
def _errors() -> Iterator[None]:
    """Shows an error as one message, and ends with status 2."""
    try:
        yield
    except CeiboError as error:
        _console.print(f"error: {error}", markup=False, soft_wrap=True)
        sys.exit(2)
