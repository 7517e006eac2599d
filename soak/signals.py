"""Signals at every stage of `ceibo run`: trials are given back, and no process is left.

Each case starts a run, waits for a stage of it, and sends a series of signals. Afterwards no trial
may be running, failed or counted as lost, and no process may be left.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from ceibo import Study
from soak.cli_children import alive

SERIES: Final = {
    "INT": (signal.SIGINT,),
    "INT x2": (signal.SIGINT,) * 2,
    "INT x5": (signal.SIGINT,) * 5,
    "TERM": (signal.SIGTERM,),
    "TERM x2": (signal.SIGTERM,) * 2,
    "HUP": (signal.SIGHUP,),
    "HUP x2": (signal.SIGHUP,) * 2,
    "all": (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGINT),
}
STAGES: Final = ("asking", "evaluating", "telling", "ending")
COMMANDS: Final = ("polite", "stubborn")
JOBS: Final = (1, 3)
TRIALS: Final = 6
DEADLINE: Final = 60.0  # seconds after which a run that has not ended is taken to hang

# The command: notes that it has begun, and measures unless it is told to wait. The word at the end
# marks its processes.
_COMMAND: Final = """
import os, signal, sys, time
from pathlib import Path
if {stubborn}:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
Path("begun-" + str(os.getpid())).touch()
while Path("wait").exists():
    time.sleep(0.02)
print(float(sys.argv[1]) ** 2)
"""
# `ceibo run` with a stage drawn out: it notes that the stage is reached, and lingers in it.
_RUN: Final = """
import signal, sys, time
from pathlib import Path
# ignored where this is started in the background, or under nohup
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from ceibo.cli import main
from ceibo.study.asking import Asking
from ceibo.study.ledger import Ledger
from ceibo.study.runner import Runner
from ceibo.study.store import Store

def lingering(owner, name, first):
    inside = getattr(owner, name)
    def outside(self, *arguments, **options):
        result = inside(self, *arguments, **options) if not first else None
        Path("reached").touch()
        until = time.monotonic() + 0.6
        while time.monotonic() < until:
            time.sleep(0.01)
        return inside(self, *arguments, **options) if first else result
    setattr(owner, name, outside)

stage = sys.argv.pop(1)
if stage == "asking":
    lingering(Asking, "ask", False)
elif stage == "telling":
    lingering(Ledger, "tell", True)
elif stage == "ending":
    lingering(Store, "release", True)
main()
"""


@final
@dataclass(frozen=True)
class Case:
    """One run and the signals that it is sent."""

    series: str
    stage: str
    command: str
    jobs: int
    gap: float = 0.1  # seconds between signals

    def __str__(self) -> str:
        return f"{self.series}, {self.stage}, {self.command}, {self.jobs} jobs, {self.gap:.3f} s"


@final
@dataclass
class Figures:
    """What the cases came to."""

    cases: int = 0
    slowest: float = 0.0  # seconds from the first signal to the end
    wrong: list[str] = field(default_factory=list)


def all_cases(seed: int) -> list[Case]:
    """Every series at every stage with every command, the time between signals drawn at random."""
    generator = random.Random(seed)
    return [
        Case(series, stage, command, jobs, generator.choice([0.0, 0.05, 0.3]))
        for series in SERIES
        for stage in STAGES
        for command in COMMANDS
        for jobs in JOBS
    ]


def judge(case: Case) -> tuple[float, list[str]]:
    """Seconds from the first signal to the end, and what was wrong."""
    marker = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_study(folder, case, marker)
        if case.stage != "telling":
            (folder / "wait").touch()
        arguments = [sys.executable, "-c", _RUN, case.stage, "run", "study.toml"]
        process = subprocess.Popen(
            [*arguments, "--quiet", "--jobs", str(case.jobs)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            return _send(case, process, folder, marker)
        finally:
            process.kill()
            process.communicate()


def _write_study(folder: Path, case: Case, marker: str) -> None:
    code = _COMMAND.format(stubborn=case.command == "stubborn")
    (folder / "command.py").write_text(code, encoding="utf-8")
    argv = json.dumps([sys.executable, "-S", "command.py", "{x}", marker])
    (folder / "study.toml").write_text(
        'name = "signals"\nstorage = "sqlite:///signals.db"\n'
        'space.x = {type = "float", low = 0, high = 1}\n'
        f"command = {{argv = {argv}, timeout = 300}}\nstop.trials = {TRIALS}\n",
        encoding="utf-8",
    )


def _send(
    case: Case, process: "subprocess.Popen[str]", folder: Path, marker: str
) -> tuple[float, list[str]]:
    if not _reach(case, folder, process):
        process.kill()
        return 0.0, [f"the stage was not reached: {process.communicate()[1]}"]
    begin = time.monotonic()
    signals = list(SERIES[case.series])
    if case.stage == "ending":  # the first one makes it end, and the others come meanwhile
        process.send_signal(signals.pop(0))
        _until(lambda: (folder / "reached").exists() or process.poll() is not None)
    for number in signals:
        process.send_signal(number)
        time.sleep(case.gap)
    try:
        _, errors = process.communicate(timeout=DEADLINE)
    except subprocess.TimeoutExpired:
        return DEADLINE, ["it did not end"]
    seconds = time.monotonic() - begin
    wrong = [f"exit status {process.returncode}: {errors}"] if process.returncode != 130 else []
    if "Traceback" in errors:
        wrong.append(errors)
    if left := alive(marker):
        wrong.append(f"{left} processes left")
    return seconds, wrong + _check_study(folder)


def _reach(case: Case, folder: Path, process: "subprocess.Popen[str]") -> bool:
    """Waits for the stage; false if it does not come."""

    def reached() -> bool:
        if case.stage in ("asking", "telling"):
            return (folder / "reached").exists()
        return len(list(folder.glob("begun-*"))) >= case.jobs

    _until(lambda: reached() or process.poll() is not None)
    return reached()


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


def _check_study(folder: Path) -> list[str]:
    """What is wrong with the study after the run."""
    url = f"sqlite:///{folder}/signals.db"
    study = Study.open(url, "signals")
    wrong = [
        f"trial {trial.number} is {trial.state}"
        for trial in study.trials
        if trial.state not in ("queued", "done")
    ]
    reasons = [e.reason for e in study.ledger.store.events(study.ledger.id) if e.kind == "released"]
    wrong += [f"released as lost: {reason}" for reason in reasons if reason is not None]
    study.close()
    return wrong


def send_all(cases: list[Case], jobs: int) -> Figures:
    """Judges every case, `jobs` at a time."""
    figures = Figures()
    with ThreadPoolExecutor(jobs) as pool:
        for case, (seconds, wrong) in zip(cases, pool.map(judge, cases), strict=True):
            figures.cases += 1
            figures.slowest = max(figures.slowest, seconds)
            figures.wrong += [f"{case}: {each}" for each in wrong]
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1, help="times every case is tried")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{'stage':<12}{'cases':>7}{'wrong':>7}{'slowest end':>14}")
    good = True
    for stage in STAGES:
        cases = [
            case
            for index in range(options.rounds)
            for case in all_cases(options.seed + index)
            if case.stage == stage
        ]
        figures = send_all(cases, options.jobs)
        good &= not figures.wrong
        counts = f"{figures.cases:>7}{len(figures.wrong):>7}{figures.slowest:>12.1f} s"
        print(f"{stage:<12}{counts}", flush=True)
        print(*figures.wrong[:5], sep="\n", end="\n" if figures.wrong else "")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
