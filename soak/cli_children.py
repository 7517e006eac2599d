"""Commands that behave badly under `ceibo run`: all processes end within the limit + 2 s."""

import argparse
import os
import resource
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ceibo.command.command import Command
from ceibo.command.placeholders import Template
from ceibo.decide import Categorical, Space
from ceibo.decide.measurement import Measurement
from ceibo.errors import CommandFailedError

NASTY = Path(__file__).with_name("cli_nasty.py")
# kind -> (time limit in seconds, value expected or None for a failed trial)
KINDS: dict[str, tuple[float, float | None]] = {
    "ignores-sigterm": (0.5, None),
    "grandchildren": (0.5, None),
    "leaves-a-daemon": (10.0, 0.5),
    "prints-1-GB": (60.0, 0.25),
    "prints-for-ever": (0.5, None),
    "prints-binary": (10.0, 0.125),
    "sleeps-for-ever": (0.5, None),
    "keeps-forking": (0.5, None),
}
ALLOWED = 2.0  # seconds after the limit


@final
@dataclass(frozen=True)
class Figures:
    """What many runs of one kind showed."""

    kind: str
    runs: int
    right: int  # value or failure as expected
    longest: float  # seconds after the limit (or in all, where there is a value)
    left: int  # processes left behind
    memory: int  # MB by which the largest size of this process or of its children grew

    @property
    def good(self) -> bool:
        late = self.longest > ALLOWED and KINDS[self.kind][1] is None
        return self.right == self.runs and not late and self.left == 0 and self.memory < 400


def misbehave(kind: str, runs: int, jobs: int = 2) -> Figures:
    """Runs the nasty program many times through the command runner."""
    limit, expected = KINDS[kind]
    marker = uuid.uuid4().hex
    space = Space({"kind": Categorical(list(KINDS))})
    command = Command(
        Template((sys.executable, str(NASTY), "{kind}", marker), space, Path.cwd(), limit)
    )

    def once(_: int) -> tuple[bool, float]:
        begin = time.monotonic()
        try:
            found: object = command({"kind": kind})
        except CommandFailedError:
            found = None
        value = found.value if isinstance(found, Measurement) else None
        return value == expected, time.monotonic() - begin - (limit if expected is None else 0.0)

    before = _largest_size()
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(once, range(runs)))
    grown = _largest_size() - before
    return Figures(
        kind,
        runs,
        sum(right for right, _ in outcomes),
        max(late for _, late in outcomes),
        alive(marker),
        grown,
    )


def _largest_size() -> int:
    """MB of the largest process so far: this one or a child, which begins as a copy of it."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(each).ru_maxrss // 1024 for each in who)


def alive(marker: str) -> int:
    """Processes whose command line has the marker."""
    found = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found += marker.encode() in Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args().runs
    print(f"{'kind':<18} runs  as expected  longest after its limit  left behind  memory")
    good = True
    for kind in KINDS:
        figures = misbehave(kind, runs)
        good &= figures.good
        print(
            f"{kind:<18} {runs:>4}  {figures.right:>11}  {figures.longest:>21.2f} s "
            f" {figures.left:>11}  {figures.memory} MB{'' if figures.good else '   MISSED'}",
            flush=True,
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
