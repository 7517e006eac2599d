"""Every endurance check (`make soak`); exits with 1 if one missed its target.

    python -m soak                       all of them: nothing lost, nothing hangs, nothing wrong
    python -m soak --quality             the others: how good the answers are (`make quality`)
    python -m soak --only kills power    some of either
    python -m soak --jobs 1              never two at once

Checks whose figures are times run alone, one after the other; the others run two at a time unless
told otherwise, and each prints its output when it has ended.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import final

TIMED = ("overhead", "scale", "fairness", "report", "web")
"""Checks that measure time: nothing else may run beside them."""

CHECKS = (
    "kills",
    "power",
    "damage",
    "forks",
    "servers",
    "vanish",
    "signals",
    "outputs",
    "clocks",
    "fuzz",
    "concurrency",
    "resume",
    "changes",
    "outcomes",
    "inputs",
    "machine",
    "interruptions",
    "worksheets",
    "pages",
    "cli_hostile",
    "cli_children",
    "cli_kills",
    "paper_kills",
    "optuna_parallel",
    "optuna_ray",
)
"""Checks that nothing is lost, hangs, or ends in an error that was not foreseen."""

QUALITY = (
    "limits_closed_form",
    "hypervolume",
    "region",
    "noise",
    "mixed",
    "failures",
    "cost",
    "outliers",
    "doubts",
    "coverage",
    "replicates",
)
"""Checks of formulas and statistics: closed forms against draws, regret, coverage."""


@final
@dataclass(frozen=True)
class Outcome:
    """How one check ended."""

    name: str
    passed: bool
    seconds: float
    output: str

    def show(self) -> None:
        verdict = "" if self.passed else ", MISSED"
        print(f"\n== soak.{self.name} ({self.seconds:.0f} s{verdict})", flush=True)
        print(self.output.rstrip(), flush=True)


def check(name: str) -> Outcome:
    """Runs one check in a process of its own."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", f"soak.{name}"]
    ended = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    return Outcome(name, ended.returncode == 0, time.perf_counter() - begin, ended.stdout)


def run(names: Sequence[str], jobs: int) -> list[Outcome]:
    """Runs the checks, those that measure time alone; each is shown when it has ended."""
    ended = []
    for name in [name for name in names if name in TIMED]:
        ended.append(check(name))
        ended[-1].show()
    with ThreadPoolExecutor(jobs) as pool:
        others = [pool.submit(check, name) for name in names if name not in TIMED]
        for each in as_completed(others):
            ended.append(each.result())
            ended[-1].show()
    return ended


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__.splitlines()[0])
    every = (*TIMED, *CHECKS, *QUALITY)
    parser.add_argument("--only", nargs="+", choices=every, metavar="CHECK")
    parser.add_argument("--quality", action="store_true", help="how good the answers are")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    begin = time.perf_counter()
    ended = run(options.only or (QUALITY if options.quality else (*TIMED, *CHECKS)), options.jobs)
    missed = [each.name for each in ended if not each.passed]
    print(f"\n{len(ended)} checks in {(time.perf_counter() - begin) / 60:.0f} minutes", flush=True)
    print(f"missed: {', '.join(missed)}" if missed else "all targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
