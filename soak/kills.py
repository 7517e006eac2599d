"""Kills working processes at random moments; nothing they acknowledged may be missing."""

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
from ceibo.study.store import Lease, Store, Telling, hand_out_key
from soak.audit import Audit, audit, intact
from soak.children import THREE, Diary, Job, data_of, fork, worker
from soak.server import running_server

LEASE_SECONDS = 0.3
"""Of a worker alone; each further one at work adds a second, so that only dead ones lose trials."""
LONGEST_LIFE = 0.2
LONGEST_START = 10.0
"""Seconds that a worker may take, on a busy machine, until its first result."""


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


def kill_often(
    url: str,
    folder: Path,
    kills: int,
    seed: int = 0,
    jobs: int = 1,
    outcomes: tuple[str, ...] = ("",),
) -> Killed:
    """Kills `kills` workers, `jobs` of them at work at a time, and finishes what they left."""
    store = Store(url)
    study = store.create_study("kills", {}, {}, data_of(outcomes))
    store.close()
    generator = random.Random(seed)
    lease = LEASE_SECONDS + jobs - 1
    diaries = [Diary(folder / f"diary-{index}") for index in range(kills)]
    at_work: list[_Doomed] = []
    begun = 0
    while begun < kills or at_work:
        while begun < kills and len(at_work) < jobs:
            job = Job(url, study.id, diaries[begun], lease, seed=begun, outcomes=outcomes)
            pid = fork(lambda job=job: worker(job), job.diary)  # type: ignore[misc]  # mypy: lambda with a default
            at_work.append(_Doomed(pid, job.diary, generator))
            begun += 1
        at_work = [each for each in at_work if not each.die()]
        time.sleep(0.002)
    read = [diary.read() for diary in diaries]
    acknowledged = [entry for told, _ in read for entry in told]
    store = Store(url)
    finish(store, study.id, lease, outcomes)
    again = sum(trial.attempt > 1 for trial in store.snapshot(study.id).trials)
    checked = audit(store, study.id, acknowledged)
    store.close()
    errors = [line for _, lines in read for line in lines]
    return Killed(kills, len(acknowledged), again, errors, checked, intact(url))


@final
class _Doomed:
    """A worker that is killed: every other one while it starts, the rest after a first result."""

    def __init__(self, pid: int, diary: Diary, generator: random.Random) -> None:
        self._pid, self._diary = pid, diary
        self._lives = generator.uniform(0.0, LONGEST_LIFE)
        self._begin = time.monotonic()
        self._waits = generator.random() < 0.5

    def die(self) -> bool:
        """Kills it if its time has come; whether it is dead."""
        now = time.monotonic()
        if self._waits:
            if not self._diary.path.exists() and now < self._begin + LONGEST_START:
                return False
            self._waits, self._begin = False, now
        if now < self._begin + self._lives:
            return False
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        return True


def finish(store: Store, study_id: int, lease: float, outcomes: tuple[str, ...] = ("",)) -> None:
    """Takes over every trial left behind once its lease has expired, and tells it."""
    time.sleep(lease + 0.1)
    while (trial := store.claim(study_id, Lease("finisher"))) is not None:
        values = dict.fromkeys(outcomes, Measurement(0.0))
        telling = Telling(values, outcomes, hand_out_key(trial.attempt))
        store.tell(study_id, trial.number, telling)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="on each database")
    parser.add_argument("--jobs", type=int, default=8, help="workers at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--outcomes", action="store_true", help="three, told one by one")
    options = parser.parse_args()
    outcomes = THREE if options.outcomes else ("",)
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
            chosen = options.kills, options.seed, options.jobs, outcomes
            result = kill_often(url, folder, *chosen)
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
    if not passed:
        which = " --outcomes" if options.outcomes else ""
        print(f"missed; to repeat: python -m soak.kills --seed {options.seed}{which}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
