"""Power losses below the process: what the disk may hold after one must hold every result told.

A library loaded into a worker records every write, truncation, sync and deletion of its SQLite
files, and the moments at which it acknowledged a result. The record is then cut at random points.
Up to the cut, what was synced is on the disk; of the rest nothing, everything, any part, or any
512-byte sectors. ceibo must open each such disk and find every result acknowledged before the cut.
"""

import argparse
import ctypes
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ceibo.decide.measurement import Measurement
from ceibo.errors import CeiboError, NotFoundError
from ceibo.study.store import NewTrial, Store

ROOT = Path(__file__).resolve().parent.parent
SECTOR = 512
TELLS = 60
FOLDER = "data-"
POINTS_PER_RECORD = 100
WRITE, TRUNCATE, SYNC, NAME, UNLINK, MARK = range(1, 7)
_HEADER = struct.Struct("=4Q")


@final
@dataclass(frozen=True)
class Step:
    """One call of the record: what was done to which file."""

    kind: int
    file: str
    offset: int
    data: bytes


@final
@dataclass(frozen=True)
class Losses:
    """Figures of a series of power losses."""

    points: int
    checked: int
    lost: int
    corrupt: int
    failed: list[str]

    @property
    def passed(self) -> bool:
        return not (self.lost or self.corrupt)


def compile_recorder(folder: Path) -> Path:
    """The library that records; needs a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise RuntimeError("power losses need a C compiler (cc) to record what is written.")
    library = folder / "power.so"
    source = Path(__file__).with_name("power.c")
    build = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source)]
    subprocess.run([*build, "-ldl", "-lpthread"], check=True)
    return library


def record(folder: Path, library: Path, seed: int, tells: int = TELLS) -> list[Step]:
    """Lets a worker tell results and returns what it did to its files."""
    data = folder / f"{FOLDER}{seed}"
    data.mkdir(parents=True)
    log = folder / f"log-{seed}"
    environment = os.environ | {
        "LD_PRELOAD": str(library),
        "CEIBO_POWER_FOLDER": str(data),
        "CEIBO_POWER_LOG": str(log),
    }
    run = [sys.executable, "-m", "soak.power", "--inside", str(data), "--seed", str(seed)]
    run += ["--tells", str(tells)]
    subprocess.run(run, env=environment, cwd=ROOT, check=True, timeout=600)
    return read_steps(log.read_bytes())


def work(folder: Path, seed: int, tells: int) -> None:
    """The worker: tells results, sometimes after a pause, sometimes from a new connection."""
    mark = ctypes.CDLL(None).power_mark
    mark.argtypes = [ctypes.c_uint64]
    generator = random.Random(seed)
    store = Store(f"sqlite:///{folder / 'study.db'}")
    study_id = store.create_study("power", {}, {}).id
    for _ in range(tells):
        (trial,) = store.create_trials(study_id, [NewTrial({"x": 0.5}, {"note": "x" * 500})])
        store.tell(study_id, trial.number, Measurement(value_of(trial.number)))
        mark(trial.number)
        if generator.random() < 0.1:
            time.sleep(generator.uniform(0.0, 0.3))  # long enough for the log to be copied
        if generator.random() < 0.05:
            store.close()
    if generator.random() < 0.5:
        store.close()


def value_of(number: int) -> float:
    """The result of a trial."""
    return 1.25 + number / 3


def read_steps(log: bytes) -> list[Step]:
    """The record as steps on files by name; the index (-shm) never outlives a power loss."""
    steps: list[Step] = []
    names: dict[int, str] = {}
    place = 0
    while place + _HEADER.size <= len(log):
        kind, file, offset, length = _HEADER.unpack_from(log, place)
        place += _HEADER.size
        data = b""
        if kind in (WRITE, NAME, UNLINK):
            data = log[place : place + length]
            place += length
        if kind == NAME:
            names[file] = os.fsdecode(data)
        if kind == UNLINK:
            names[file], data = os.fsdecode(data), b""
        name = Path(names.get(file, "")).name
        if not name.endswith("-shm"):
            steps.append(Step(kind, name, offset, data))
    return steps


def disk_after(steps: Sequence[Step], generator: random.Random) -> dict[str, bytes]:
    """The files that a power loss after these steps may leave."""
    durable: dict[str, bytearray] = {}
    pending: dict[str, list[Step]] = {}
    deleted: dict[str, bytearray] = {}
    for step in steps:
        if step.kind == NAME:
            deleted.pop(step.file, None)  # made again, so that the deletion has happened
            durable.setdefault(step.file, bytearray())
        elif step.kind in (WRITE, TRUNCATE):
            pending.setdefault(step.file, []).append(step)
        elif step.kind == SYNC:
            if step.file.startswith(FOLDER):
                deleted.clear()
            for each in pending.pop(step.file, []):
                _apply(durable.setdefault(step.file, bytearray()), each)
        elif step.kind == UNLINK:
            deleted[step.file] = durable.pop(step.file, bytearray())
            pending.pop(step.file, None)
    how = generator.choice(("none", "all", "some", "torn"))
    for name, unsynced in pending.items():
        for each in _survivors(unsynced, how, generator):
            _apply(durable.setdefault(name, bytearray()), each)
    for name, content in deleted.items():
        if generator.random() < 0.5:  # the deletion itself had not reached the disk
            durable[name] = content
    return {name: bytes(content) for name, content in durable.items() if name.startswith("study")}


def _survivors(unsynced: list[Step], how: str, generator: random.Random) -> list[Step]:
    """Which unsynced steps reach the disk; in any order unless all do."""
    if how == "none":
        return []
    if how == "all":
        return unsynced
    parts = unsynced
    if how == "torn":
        parts = [part for step in unsynced for part in _sectors(step)]
    kept = [part for part in parts if generator.random() < 0.5]
    # writes of one place keep their order: the system holds one copy of each page
    return sorted(kept, key=lambda step: step.offset // SECTOR) if how == "torn" else kept


def _sectors(step: Step) -> list[Step]:
    if step.kind == TRUNCATE:
        return [step]
    parts, begin, end = [], step.offset, step.offset + len(step.data)
    while begin < end:
        stop = min((begin // SECTOR + 1) * SECTOR, end)
        data = step.data[begin - step.offset : stop - step.offset]
        parts.append(Step(WRITE, step.file, begin, data))
        begin = stop
    return parts


def _apply(content: bytearray, step: Step) -> None:
    end = step.offset + len(step.data)
    if step.kind == TRUNCATE:
        del content[step.offset :]
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    content[step.offset : end] = step.data


def check(files: dict[str, bytes], acknowledged: Sequence[int], folder: Path) -> tuple[int, bool]:
    """How many acknowledged results a disk lacks, and whether its database is damaged."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    try:
        store = Store(f"sqlite:///{folder / 'study.db'}")
        trials = store.snapshot(store.study("power").id).trials
    except NotFoundError:
        return len(acknowledged), False
    except CeiboError:
        return len(acknowledged), True
    stored = {t.number: m.measurement.value for t in trials for m in t.measurements}
    store.close()
    lost = sum(stored.get(number) != value_of(number) for number in acknowledged)
    connection = sqlite3.connect(folder / "study.db")
    damaged = connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]
    connection.close()
    return lost, damaged


def lose_power(seed: int, points: int, library: Path, tells: int = TELLS) -> Losses:
    """One record, cut at `points` random places."""
    generator = random.Random(seed)
    checked = lost = corrupt = 0
    failed = []
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        steps = record(top, library, seed, tells)
        for index in range(points):
            cut = generator.randint(1, len(steps))
            marks = [step.offset for step in steps[:cut] if step.kind == MARK]
            folder = top / f"disk-{index}"
            missing, damaged = check(disk_after(steps[:cut], generator), marks, folder)
            shutil.rmtree(folder)
            checked += len(marks)
            lost += missing
            corrupt += damaged
            if missing or damaged:
                failed.append(f"seed {seed} point {index} (cut {cut}): {missing} lost, {damaged=}")
    return Losses(points, checked, lost, corrupt, failed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tells", type=int, default=TELLS, help="results in each record")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside is not None:
        work(options.inside, options.seed, options.tells)
        return 0
    begin = time.perf_counter()
    records = -(-options.points // POINTS_PER_RECORD)
    points = -(-options.points // records)
    with tempfile.TemporaryDirectory() as name, ProcessPoolExecutor(options.jobs) as pool:
        library = compile_recorder(Path(name))
        begun = [
            pool.submit(lose_power, options.seed + index, points, library, options.tells)
            for index in range(records)
        ]
        series = [each.result() for each in begun]
    print(f"{'records':>8}{'losses':>8}{'checked':>10}{'lost':>6}{'corrupt':>9}{'s':>7}")
    print(
        f"{records:>8}{sum(each.points for each in series):>8}"
        f"{sum(each.checked for each in series):>10}{sum(each.lost for each in series):>6}"
        f"{sum(each.corrupt for each in series):>9}{time.perf_counter() - begin:>7.0f}"
    )
    for each in series:
        for line in each.failed[:3]:
            print(f"missed: {line}")
    return 0 if all(each.passed for each in series) else 1


if __name__ == "__main__":
    sys.exit(main())
