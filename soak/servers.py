"""A PostgreSQL server killed again and again under workers that are killed too: nothing is lost.

By turns the server's main process is killed with -9, so that all its children die, and the server
is restarted in the mode "immediate". Meanwhile workers tell results and are killed themselves. A
worker may be started while the server is away: it waits.
"""

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

from ceibo.study.store import Store
from soak.audit import Audit, audit
from soak.children import Diary, Job, fork, worker
from soak.kills import finish
from soak.server import Server, running_server

LEASE_SECONDS = 20.0
"""Longer than most outages; a worker that waits for its server for longer loses its trial."""


@final
@dataclass(frozen=True)
class Outages:
    """Figures of a series of outages."""

    outages: int
    workers_killed: int
    told: int
    errors: list[str]
    audit: Audit

    @property
    def passed(self) -> bool:
        return self.audit.passed and not self.errors and self.told > 0


@final
class Crew:
    """A number of workers; one that was killed is replaced by a new one."""

    def __init__(self, url: str, study_id: int, folder: Path, generator: random.Random) -> None:
        self._url, self._study_id, self._folder = url, study_id, folder
        self._generator = generator
        self._pids: list[int] = []
        self.diaries: list[Diary] = []

    def hire(self) -> None:
        """Starts a worker."""
        diary = Diary(self._folder / f"diary-{len(self.diaries)}")
        job = Job(self._url, self._study_id, diary, LEASE_SECONDS, seed=len(self.diaries))
        self.diaries.append(diary)
        self._pids.append(fork(lambda: worker(job), diary))

    def kill_one(self) -> None:
        """Kills a worker at random."""
        pid = self._pids.pop(self._generator.randrange(len(self._pids)))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def kill_all(self) -> None:
        while self._pids:
            self.kill_one()

    def told(self) -> int:
        """How many results were acknowledged so far."""
        return sum(len(diary.read()[0]) for diary in self.diaries)


def kill_servers(
    server: Server, folder: Path, outages: int, workers: int, seed: int = 0
) -> Outages:
    """Kills the server `outages` times under `workers` workers, and one of them each time."""
    url = server.new_database()
    store = Store(url)
    study_id = store.create_study("outages", {}, {}).id
    store.close()
    generator = random.Random(seed)
    crew = Crew(url, study_id, folder, generator)
    for _ in range(workers):
        crew.hire()
    for outage in range(outages):
        _work_on(crew, 2 * workers)
        if outage % 2 == 0:
            server.kill()
        else:
            server.crash()
        crew.kill_one()
        crew.hire()  # while the server is away
        time.sleep(generator.uniform(0.0, 1.0))
        server.start()
    _work_on(crew, 2 * workers)
    crew.kill_all()
    read = [diary.read() for diary in crew.diaries]
    told = [entry for acknowledged, _ in read for entry in acknowledged]
    store = Store(url)
    finish(store, study_id, LEASE_SECONDS)
    checked = audit(store, study_id, told, LEASE_SECONDS)
    store.close()
    errors = [line for _, lines in read for line in lines]
    return Outages(outages, outages + workers, len(told), errors, checked)


def _work_on(crew: Crew, results: int) -> None:
    """Waits until the workers have told so many results more."""
    goal = crew.told() + results
    deadline = time.monotonic() + 120.0
    while crew.told() < goal and time.monotonic() < deadline:
        time.sleep(0.05)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outages", type=int, default=20)
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as name, running_server() as server:
        result = kill_servers(server, Path(name), options.outages, options.workers, options.seed)
    a = result.audit
    print(f"{'outages':>8}{'killed':>8}{'told':>7}{'lost':>6}{'twice':>7}{'gaps':>6}", end="")
    print(f"{'open':>6}{'errors':>8}{'s':>7}")
    print(f"{result.outages:>8}{result.workers_killed:>8}{result.told:>7}{a.lost:>6}", end="")
    print(f"{a.twice:>7}{a.gaps:>6}{a.open:>6}{len(result.errors):>8}", end="")
    print(f"{time.perf_counter() - begin:>7.0f}")
    print("\n".join(result.errors[:3]), end="")
    if not result.passed:
        print(f"missed; to repeat: python -m soak.servers --seed {options.seed}")
    return 0 if result.passed else 1


if __name__ == "__main__":
    sys.exit(main())
