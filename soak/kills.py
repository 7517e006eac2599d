"""Kills a working process at random moments; nothing it acknowledged may be missing."""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ceibo.decide.measurement import Measurement
from ceibo.study.store import Lease, Store
from soak.audit import Audit, audit, intact
from soak.children import Diary, Job, fork, worker
from soak.server import running_server

LEASE_SECONDS = 0.3


@final
@dataclass(frozen=True)
class Killed:
    """Figures of one series of kills."""

    kills: int
    acknowledged: int
    again: int  # trials that were handed out more than once
    errors: list[str]
    audit: Audit
    intact: bool


def kill_often(url: str, folder: Path, kills: int, seed: int = 0) -> Killed:
    """Starts and kills a worker `kills` times, then finishes the trials left behind."""
    store = Store(url)
    study = store.create_study("kills", {}, {})
    store.close()
    generator = random.Random(seed)
    diary = Diary(folder / "diary")
    for index in range(kills):
        job = Job(url, study.id, diary, LEASE_SECONDS, seed=index)
        pid = fork(lambda job=job: worker(job), diary)  # type: ignore[misc]  # mypy: lambda with a default
        time.sleep(generator.uniform(0.0, 0.2))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    acknowledged, errors = diary.read()
    store = Store(url)
    finish(store, study.id)
    again = sum(trial.attempt > 1 for trial in store.snapshot(study.id).trials)
    checked = audit(store, study.id, acknowledged)
    store.close()
    return Killed(kills, len(acknowledged), again, errors, checked, intact(url))


def finish(store: Store, study_id: int) -> None:
    """Takes over every trial left behind once its lease has expired, and tells it."""
    time.sleep(LEASE_SECONDS + 0.1)
    while (trial := store.claim(study_id, Lease("finisher"))) is not None:
        store.tell(study_id, trial.number, Measurement(0.0))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(
        f"{'database':<12}{'kills':>7}{'told':>8}{'again':>9}{'lost':>6}{'twice':>7}{'gaps':>6}",
        end="",
    )
    print(f"{'open':>6}{'corrupt':>9}{'errors':>8}{'s':>7}")
    passed = True
    with tempfile.TemporaryDirectory() as name, running_server() as server:
        for database in ("SQLite", "PostgreSQL"):
            folder = Path(name) / database
            folder.mkdir()
            url = f"sqlite:///{folder / 'study.db'}"
            if database == "PostgreSQL":
                url = server.new_database()
            begin = time.perf_counter()
            result = kill_often(url, folder, options.kills, options.seed)
            a = result.audit
            print(
                f"{database:<12}{result.kills:>7}{result.acknowledged:>8}{result.again:>9}", end=""
            )
            print(
                f"{a.lost:>6}{a.twice:>7}{a.gaps:>6}{a.open:>6}{not result.intact:>9}"
                f"{len(result.errors):>8}",
                end="",
            )
            print(f"{time.perf_counter() - begin:>7.0f}", flush=True)
            passed &= a.passed and result.intact and not result.errors
            print("\n".join(result.errors[:3]), end="")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
