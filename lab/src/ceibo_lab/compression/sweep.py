"""Runs compression experiments into a folder of records, with options that `ceibo paper run` does
not have.

    python -m ceibo_lab.compression.sweep fc3 --data DATA --data WEIGHTS --out records --jobs 16
    --time-limit 540

The same command again continues; finished cells are never run twice, failures are recorded as such.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from ceibo.errors import CeiboError, InputError
from ceibo_lab.cells import Cell
from ceibo_lab.compression.objective import NOISES
from ceibo_lab.compression.replicate import DEVICE, EVALUATIONS, FOLDERS, cell_of
from ceibo_lab.compression.tasks import TASKS
from ceibo_lab.methods import METHODS, PAPER_SEVEN
from ceibo_lab.records import Record
from ceibo_lab.runner import Options, sweep

ALL_METHODS: Final = (*PAPER_SEVEN, "random")


def cells_of(
    task: str, names: list[str], seeds: list[int], evaluations: int, noise: str = "pooled"
) -> list[Cell]:
    """The cells asked for, seed by seed, so that a sweep stopped early leaves whole comparisons
    behind.
    """
    if unknown := [name for name in names if name not in METHODS]:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {unknown[0]!r}.")
    return [cell_of(task, name, seed, evaluations, noise) for seed in seeds for name in names]


def seeds_of(text: str) -> list[int]:
    """Seeds from a text: 10 means 0 … 9, and 3-5 means 3, 4, 5."""
    first, dash, last = text.partition("-")
    if not first.isdigit() or (dash and not last.isdigit()):
        raise argparse.ArgumentTypeError(
            f'expected a number of seeds or a range such as "3-5", got {text!r}'
        )
    return list(range(int(first), int(last) + 1)) if dash else list(range(int(first)))


def show(finished: int, todo: int, record: Record) -> None:
    """A line of progress."""
    failed = record["status"] == "failed"
    said = (
        record["error"] if failed else f"{float(record['final']['recommended']['objective']):.4f}"
    )
    print(f"{finished}/{todo}  {record['key']}: {said}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=sorted(TASKS))
    parser.add_argument(
        "--methods", nargs="+", default=list(ALL_METHODS), help="all of the paper's, and random"
    )
    parser.add_argument(
        "--seeds", type=seeds_of, default=seeds_of("10"), help='how many, or a range such as "3-5"'
    )
    parser.add_argument("--evaluations", type=int, default=EVALUATIONS)
    parser.add_argument("--noise", choices=NOISES, default="pooled", help="what the model is told")
    parser.add_argument(
        "--data",
        type=Path,
        action="append",
        required=True,
        help="folder of data, weights (repeatable)",
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], help="a GPU if there is one")
    parser.add_argument("--out", type=Path, required=True, help="folder of records")
    parser.add_argument("--jobs", type=int, default=0, help="workers; 0 means one per core")
    parser.add_argument("--time-limit", type=float, help="seconds after which it ends")
    given = parser.parse_args(arguments)
    os.environ[FOLDERS] = os.pathsep.join(str(place.resolve()) for place in given.data)
    if given.device:
        os.environ[DEVICE] = given.device
    try:
        cells = cells_of(given.task, given.methods, given.seeds, given.evaluations, given.noise)
        how = Options("serial" if given.jobs == 1 else "processes", given.jobs, given.time_limit)
        summary = sweep(cells, given.out / f"compression-{given.task}.jsonl", how, show)
    except CeiboError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(summary, *summary.notes, sep="\n")
    return 1 if summary.failed else 0


if __name__ == "__main__":
    sys.exit(main())
