"""Runs cells of experiments into a folder of records, with nothing but the runner: for clusters and
batch machines.

    python -m ceibo_lab.sweep benchmark-10 --block heteroscedastic-plain --out records --jobs 16
    --time-limit 540

Several experiments may be named; the same command again continues. `--list` prints what there is.
"""

import argparse
import sys
import time
from pathlib import Path

from ceibo.errors import CeiboError
from ceibo_lab.cells import Cell
from ceibo_lab.experiments import EXPERIMENTS, experiment
from ceibo_lab.records import Record
from ceibo_lab.runner import BACKENDS, Options, sweep

_EVERY = 10.0  # seconds between two lines of progress


class _Lines:
    """Progress as plain lines, with the time left."""

    def __init__(self) -> None:
        self.began = self.last = time.monotonic()

    def __call__(self, finished: int, todo: int, record: Record) -> None:
        now = time.monotonic()
        if record["status"] == "failed":
            print(f"failed: {record['key']}: {record['error']}", flush=True)
        if now - self.last >= _EVERY or finished == todo:
            self.last = now
            left = (now - self.began) / finished * (todo - finished)
            print(
                f"{finished}/{todo} cells, {now - self.began:.0f} s, about {left:.0f} s left",
                flush=True,
            )


def chosen_cells(name: str, options: argparse.Namespace) -> list[Cell]:
    """The cells of one experiment that the options leave."""
    only = tuple(
        block for block in options.block if block in [b.name for b in experiment(name).blocks]
    )
    if options.block and not only:
        experiment(name).cells(only=tuple(options.block))  # says which there are
    cells = experiment(name).cells(quick=options.quick, seeds=options.seeds, only=only)
    methods, problems = options.method, options.problem
    return [
        c
        for c in cells
        if (not methods or c.method in methods) and (not problems or c.problem in problems)
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiments", nargs="*", help="ids, in the order in which they are run")
    parser.add_argument(
        "--block", action="append", default=[], help="only this block (may be repeated)"
    )
    parser.add_argument(
        "--method", action="append", default=[], help="only this method (may be repeated)"
    )
    parser.add_argument(
        "--problem", action="append", default=[], help="only this problem (may be repeated)"
    )
    parser.add_argument("--seeds", type=int, help="how many seeds, from 0")
    parser.add_argument("--quick", action="store_true", help="a small version")
    parser.add_argument(
        "--out", type=Path, default=Path("results/records"), help="folder of records"
    )
    parser.add_argument("--jobs", type=int, default=0, help="workers; 0 means one per core")
    parser.add_argument("--backend", choices=sorted(BACKENDS))
    parser.add_argument("--address", help="of a Dask scheduler or a Ray cluster")
    parser.add_argument(
        "--time-limit", type=float, help="seconds after which it ends, keeping finished cells"
    )
    parser.add_argument(
        "--list", action="store_true", help="print the experiments and their blocks"
    )
    options = parser.parse_args(arguments)
    if options.list or not options.experiments:
        for each in EXPERIMENTS.values():
            print(f"{each.id:<14}{len(each.cells()):>6} cells  {each.title}")
            for block in each.blocks:
                print(f"{'':<14}{len(list(block.cells())):>6}        --block {block.name}")
        return 0
    until = None if options.time_limit is None else time.monotonic() + options.time_limit
    try:
        for name in options.experiments:
            cells = chosen_cells(name, options)
            left = None if until is None else max(until - time.monotonic(), 0.0)
            print(f"{name}: {len(cells)} cells", flush=True)
            how = Options(options.backend, options.jobs, left, options.address)
            summary = sweep(cells, options.out / f"{name}.jsonl", how, _Lines())
            print(f"{name}: {summary}", *summary.notes, sep="\n  ", flush=True)
    except CeiboError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
