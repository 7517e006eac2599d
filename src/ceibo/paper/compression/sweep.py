"""Runs compression experiments into a folder of records: resumable, a process per worker, one thread each.

    python -m ceibo.paper.compression.sweep fc3 --data DATA --data WEIGHTS --out records --jobs 16 --time-limit 540

The same command again continues; finished cells are never run twice, failures are recorded as such.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from ceibo.errors import CeiboError, InputError
from ceibo.paper.cells import Cell
from ceibo.paper.compression.objective import NOISES
from ceibo.paper.compression.replicate import DEVICE, EVALUATIONS, FOLDERS, cell_of, compression
from ceibo.paper.compression.tasks import TASKS
from ceibo.paper.kinds import KINDS
from ceibo.paper.methods import METHODS, PAPER_SEVEN
from ceibo.paper.records import Record, Writer, read
from ceibo.paper.replicate import replicate

ALL_METHODS: Final = (*PAPER_SEVEN, "random")
_ONE_THREAD: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_cell(cell: Cell, deadline: float) -> Record | None:
    """The record of a cell; None if the time was over first."""
    KINDS.setdefault("compression", compression)
    return replicate(cell, deadline)


def cells_of(task: str, names: list[str], seeds: list[int], evaluations: int, noise: str = "pooled") -> list[Cell]:
    """The cells asked for, seed by seed, so that a sweep stopped early leaves whole comparisons behind."""
    if unknown := [name for name in names if name not in METHODS]:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {unknown[0]!r}.")
    return [cell_of(task, name, seed, evaluations, noise) for seed in seeds for name in names]


def seeds_of(text: str) -> list[int]:
    """Seeds from a text: 10 means 0 … 9, and 3-5 means 3, 4, 5."""
    first, dash, last = text.partition("-")
    if not first.isdigit() or (dash and not last.isdigit()):
        raise argparse.ArgumentTypeError(f'expected a number of seeds or a range such as "3-5", got {text!r}')
    return list(range(int(first), int(last) + 1)) if dash else list(range(int(first)))


def run(cells: list[Cell], path: Path, jobs: int, deadline: float) -> tuple[int, int]:
    """Runs the cells that the folder does not hold yet; how many were finished, and of those failed."""
    finished = failed = 0
    began = time.monotonic()
    with Writer(path) as writer:
        present = {record["key"] for record in read(path.parent).records}
        todo = [cell for cell in cells if cell.key not in present]
        print(f"{path.stem}: {len(cells)} cells, {len(cells) - len(todo)} finished before", flush=True)
        for record in _records(todo, jobs, deadline):
            writer.add(record)
            finished += 1
            failed += record["status"] == "failed"
            said = record["error"] if record["status"] == "failed" else f"{_objective(record):.4f}"
            passed = time.monotonic() - began
            print(f"{finished}/{len(todo)} {passed:4.0f} s  {record['key']}: {said}", flush=True)
    return finished, failed


def _objective(record: Record) -> float:
    return float(record["final"]["recommended"]["objective"])


def _records(cells: list[Cell], jobs: int, deadline: float) -> Iterator[Record]:
    if jobs == 1:
        for cell in cells:
            if time.time() < deadline and (record := run_cell(cell, deadline)) is not None:
                yield record
        return
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    waiting = iter(cells)
    with ProcessPoolExecutor(min(jobs, max(len(cells), 1)), get_context("spawn")) as pool:
        running = {pool.submit(run_cell, cell, deadline) for _, cell in zip(range(jobs), waiting, strict=False)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                if (record := future.result()) is not None:
                    yield record
                following = next(waiting, None) if time.time() < deadline else None
                if following is not None:
                    running.add(pool.submit(run_cell, following, deadline))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=sorted(TASKS))
    parser.add_argument("--methods", nargs="+", default=list(ALL_METHODS), help="all of the paper's, and random")
    parser.add_argument("--seeds", type=seeds_of, default=seeds_of("10"), help='how many, or a range such as "3-5"')
    parser.add_argument("--evaluations", type=int, default=EVALUATIONS)
    parser.add_argument("--noise", choices=NOISES, default="pooled", help="what the model is told")
    parser.add_argument(
        "--data", type=Path, action="append", required=True, help="folder of data, weights (repeatable)"
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], help="a GPU if there is one")
    parser.add_argument("--out", type=Path, required=True, help="folder of records")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--time-limit", type=float, default=float("inf"), help="seconds after which it ends")
    given = parser.parse_args(arguments)
    os.environ[FOLDERS] = os.pathsep.join(str(place.resolve()) for place in given.data)
    if given.device:
        os.environ[DEVICE] = given.device
    deadline = time.time() + given.time_limit
    try:
        cells = cells_of(given.task, given.methods, given.seeds, given.evaluations, given.noise)
        finished, failed = run(cells, given.out / f"compression-{given.task}.jsonl", max(given.jobs, 1), deadline)
    except CeiboError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{finished} cells finished, {failed} of them failed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
