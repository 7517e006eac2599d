"""`ceibo run` killed at random moments and started again: nothing lost, no trial run twice."""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ceibo import Study
from ceibo.errors import CeiboError
from ceibo.study.store.lifecycle import GIVEN_UP

# Holds a lock named after its setting while it works: whoever finds it held runs at the same time
# as another.
WORK = """
import fcntl, hashlib, os, sys, time
name = hashlib.sha256(" ".join(sys.argv[1:]).encode()).hexdigest()[:16]
lock = open(os.path.join("locks", name), "w")
def note(text):
    with open("diary", "a") as diary:
        diary.write(text + chr(10))
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    note("overlap " + name)
note("start " + name)
time.sleep(0.3)
x, y = map(float, sys.argv[1:])
note("end " + name)
print((x - .3) ** 2 + (y - .6) ** 2, 0.01)
"""
STUDY = """
name = "kills"
storage = "sqlite:///kills.db"
[space]
x = {{type = "float", low = 0, high = 1}}
y = {{type = "float", low = 0, high = 1}}
[command]
argv = [{python}, "work.py", "{{x}}", "{{y}}"]
timeout = 60
[run]
lease = 3
[stop]
trials = {trials}
"""


@final
@dataclass(frozen=True)
class Figures:
    """What a series of kills did."""

    kills: int
    trials: int
    measured: int
    given_up: int  # trials that a kill cut short so often that they count as failed
    wrong: int  # measurements that are not what the program printed
    lost: int  # measurements stored before a kill and missing after it
    overlaps: int
    runs: int  # times the program was started; above `trials` by those that a kill cut short
    left: int  # programs still running after the last kill


def kill_often(kills: int, trials: int, seed: int = 0, jobs: int = 2) -> Figures:
    """Runs a study in an empty folder, killing the runner `kills` times, and then to its end."""
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "locks").mkdir()
        (folder / "work.py").write_text(WORK)
        (folder / "study.toml").write_text(
            STUDY.format(python=json.dumps(sys.executable), trials=trials)
        )
        seen: dict[int, tuple[object, ...]] = {}
        lost = 0
        for _ in range(kills):
            process = _start(folder, jobs)
            if generator.random() < 0.9:
                _wait_for_work(folder, process)
                time.sleep(generator.uniform(0.0, 1.0))
            else:
                time.sleep(generator.uniform(0.0, 2.0))  # while it is still starting
            process.send_signal(signal.SIGKILL)
            process.wait()
            now = _measurements(folder)
            lost += sum(now.get(number, ())[: len(told)] != told for number, told in seen.items())
            seen = now
        time.sleep(1.0)
        left = _running(folder)
        if _start(folder, jobs).wait(600) != 0:
            raise RuntimeError("the last run did not end well")
        study = Study.open(f"sqlite:///{folder}/kills.db", "kills")
        lines = (folder / "diary").read_text().splitlines()
        measured = [(trial, each) for trial in study.trials for each in trial.measurements]
        return Figures(
            kills=kills,
            trials=len(study.trials),
            measured=sum(bool(trial.measurements) for trial in study.trials),
            given_up=sum(GIVEN_UP in (trial.reason or "") for trial in study.trials),
            wrong=sum(abs(each.value - _value(trial.params)) > 1e-12 for trial, each in measured),
            lost=lost,
            overlaps=sum(line.startswith("overlap") for line in lines),
            runs=sum(line.startswith("start") for line in lines),
            left=left,
        )


def _wait_for_work(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Until this process has started a command, or has ended."""
    diary = folder / "diary"

    def length() -> int:
        return diary.stat().st_size if diary.exists() else 0

    before = length()
    while length() == before and process.poll() is None:
        time.sleep(0.01)


def _value(params: Mapping[str, object]) -> float:
    x, y = (float(str(params[name])) for name in ("x", "y"))
    return (x - 0.3) ** 2 + (y - 0.6) ** 2


def _start(folder: Path, jobs: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ceibo", "run", "study.toml", "--quiet", "--jobs", str(jobs)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)


def _measurements(folder: Path) -> dict[int, tuple[object, ...]]:
    try:
        study = Study.open(f"sqlite:///{folder}/kills.db", "kills")
    except CeiboError:
        return {}  # killed before the study was made
    found: dict[int, tuple[object, ...]] = {
        trial.number: trial.measurements for trial in study.trials
    }
    study.close()
    return found


def _running(folder: Path) -> int:
    """Programs of this folder that are still alive."""
    found = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                here = os.readlink(f"/proc/{name}/cwd") == str(folder)
                found += here and b"work.py" in Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--trials", type=int, default=300)
    options = parser.parse_args()
    figures = kill_often(options.kills, options.trials)
    print(figures)
    ended = figures.measured + figures.given_up
    whole = ended == figures.trials == options.trials
    return 0 if whole and not figures.wrong + figures.lost + figures.overlaps + figures.left else 1


if __name__ == "__main__":
    sys.exit(main())
