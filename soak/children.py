"""Worker processes that can be killed at any moment, and what they acknowledged before."""

import os
import random
import signal
import struct
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, final

from ceibo.decide.measurement import Measurement
from ceibo.study.store import Lease, NewTrial, Store, StoredTrial, Telling, hand_out_key

THREE = ("yield", "impurity", "cost")
"""Outcomes that are told one by one."""


def data_of(outcomes: tuple[str, ...]) -> dict[str, Any] | None:
    """What a study of these outcomes is created with; None for one of one objective."""
    if outcomes == ("",):
        return None
    return {"outcomes": {name: {"goal": "minimize"} for name in outcomes}}


@final
@dataclass(frozen=True)
class Acknowledged:
    """One line of a diary: `tell` returned for this measurement.

    `seconds` are those of ask and tell together. `outcome` is "" in a study of one objective.
    """

    number: int
    key: str
    value: float
    seconds: float
    outcome: str = ""


@final
@dataclass(frozen=True)
class Diary:
    """A file that a child appends to; a line written is kept if the child is killed."""

    path: Path

    def write(self, line: str) -> None:
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, line.replace("\n", " | ").encode() + b"\n")
        finally:
            os.close(handle)

    def acknowledge(
        self, number: int, key: str, value: float, seconds: float, outcome: str = ""
    ) -> None:
        self.write(f"ack {number} {value.hex()} {seconds:.6f} {outcome}/{key}")

    def lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []

    def read(self) -> tuple[list[Acknowledged], list[str]]:
        """What was acknowledged, and the errors the child met."""
        lines = self.lines()
        fields = [line.split(" ", 4) for line in lines if line.startswith("ack ")]
        told = []
        for _, number, value, seconds, name in fields:
            outcome, key = name.split("/", 1)
            parts = int(number), key, float.fromhex(value), float(seconds), outcome
            told.append(Acknowledged(*parts))
        return told, [line for line in lines if line.startswith("error ")]


@final
@dataclass(frozen=True)
class Job:
    """What a child works on; `outcomes` are told one by one."""

    url: str
    study_id: int
    diary: Diary
    lease_seconds: float = 60.0
    trials: int | None = None
    seed: int = 0
    worker: str = field(default="worker")
    outcomes: tuple[str, ...] = ("",)


def fork(work: Callable[[], None], diary: Diary) -> int:
    """Runs `work` in a child process, whose id it returns; the diary gets an exception."""
    pid = os.fork()
    if pid:
        return pid
    _child(work, diary)


def _child(work: Callable[[], None], diary: Diary) -> NoReturn:
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        work()
        status = 0
    except BaseException:
        diary.write("error " + traceback.format_exc())
    finally:
        os._exit(status)


def ask(store: Store, study_id: int, lease: Lease, generator: random.Random) -> StoredTrial:
    """Takes over a trial whose worker died, or makes a new one at a random point."""
    claimed = store.claim(study_id, lease)
    if claimed is not None:
        return claimed
    seen = store.snapshot(study_id).seq if generator.random() < 0.05 else 0
    new = NewTrial({"x": generator.random()}, {"seen": seen}, lease=lease)
    return store.create_trials(study_id, [new])[0]


def worker(job: Job) -> None:
    """Asks and tells until the job's trials are told, noting each acknowledged measurement."""
    store = Store(job.url)
    generator = random.Random(f"{job.seed}/{job.worker}/{os.getpid()}")
    lease = Lease(f"{job.worker}-{os.getpid()}", job.lease_seconds)
    done = 0
    while job.trials is None or done < job.trials:
        begin = time.perf_counter()
        trial = ask(store, job.study_id, lease, generator)
        key = hand_out_key(trial.attempt)
        for outcome in job.outcomes:
            # any exponent, any digits
            value = struct.unpack("<d", struct.pack("<Q", generator.getrandbits(62)))[0]
            telling = Telling({outcome: Measurement(value)}, job.outcomes, key)
            store.tell(job.study_id, trial.number, telling)
            seconds = time.perf_counter() - begin
            job.diary.acknowledge(trial.number, key, value, seconds, outcome)
        done += 1
    store.close()
