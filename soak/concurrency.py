"""Many processes on one study, also while the server crashes.

No result may be lost, no number given twice, no error shown.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ceibo.study.store import Store
from soak.audit import Audit, audit
from soak.children import THREE, Diary, Job, data_of, fork, worker
from soak.server import Server, running_server


@final
@dataclass(frozen=True)
class Crowd:
    """Figures of one run."""

    told: int
    errors: list[str]
    seconds: float
    median: float
    p99: float
    audit: Audit


def run_crowd(
    url: str,
    folder: Path,
    processes: int,
    trials: int,
    meanwhile: Callable[[], None],
    outcomes: tuple[str, ...] = ("",),
) -> Crowd:
    """Lets `processes` workers tell `trials` trials each, while `meanwhile` runs."""
    store = Store(url)
    study = store.create_study("crowd", {}, {}, data_of(outcomes))
    store.close()
    diaries = [Diary(folder / f"diary-{index}") for index in range(processes)]
    begin = time.perf_counter()
    pids = []
    for index, diary in enumerate(diaries):
        name = f"worker-{index}"
        job = Job(url, study.id, diary, 600.0, trials, worker=name, outcomes=outcomes)
        pids.append(fork(lambda job=job: worker(job), diary))  # type: ignore[misc]  # mypy: lambda default
    thread = threading.Thread(target=meanwhile)
    thread.start()
    for pid in pids:
        os.waitpid(pid, 0)
    seconds = time.perf_counter() - begin
    thread.join()
    read = [diary.read() for diary in diaries]
    told = [entry for acknowledged, _ in read for entry in acknowledged]
    times = sorted(entry.seconds for entry in told) or [0.0]
    store = Store(url)
    checked = audit(store, study.id, told)
    store.close()
    return Crowd(
        told=len(told),
        errors=[line for _, errors in read for line in errors],
        seconds=seconds,
        median=times[len(times) // 2],
        p99=times[int(0.99 * (len(times) - 1))],
        audit=checked,
    )


@final
@dataclass(frozen=True)
class Crashes:
    """Crashes and restarts a server `times` times, evenly over the work seen in the diaries.

    With `kill` its main process is killed with -9.
    """

    server: Server
    folder: Path
    times: int
    expected: int
    kill: bool = False

    def __call__(self) -> None:
        for index in range(self.times):
            while self._count_told() < self.expected * (index + 0.5) / self.times:
                time.sleep(0.02)
            if self.kill:
                self.server.kill()
            else:
                self.server.crash()
            time.sleep(0.5)
            self.server.start()

    def _count_told(self) -> int:
        return sum(path.read_bytes().count(b"ack ") for path in self.folder.glob("diary-*"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--sqlite-trials", type=int, default=50)
    parser.add_argument("--postgresql-trials", type=int, default=20)
    parser.add_argument("--crashes", type=int, default=3)
    parser.add_argument("--outcomes", action="store_true", help="three, told one by one")
    options = parser.parse_args()
    outcomes = THREE if options.outcomes else ("",)
    print(
        f"{'database':<12}{'processes':>10}{'expected':>10}{'told':>7}{'lost':>6}{'twice':>7}{'gaps':>6}",
        end="",
    )
    print(f"{'open':>6}{'errors':>8}{'s':>7}{'median s':>10}{'p99 s':>8}")
    passed = True
    with tempfile.TemporaryDirectory() as name, running_server() as server:
        for database in ("SQLite", "PostgreSQL"):
            folder = Path(name) / database
            folder.mkdir()
            if database == "SQLite":
                url, trials = f"sqlite:///{folder / 'study.db'}", options.sqlite_trials
                crowd = run_crowd(url, folder, options.processes, trials, lambda: None, outcomes)
            else:
                url, trials = server.new_database(), options.postgresql_trials
                values = options.processes * trials * len(outcomes)
                crashes = Crashes(server, folder, options.crashes, values)
                crowd = run_crowd(url, folder, options.processes, trials, crashes, outcomes)
            a, expected = crowd.audit, options.processes * trials * len(outcomes)
            print(
                f"{database:<12}{options.processes:>10}{expected:>10}{crowd.told:>7}{a.lost:>6}",
                end="",
            )
            print(
                f"{a.twice:>7}{a.gaps:>6}{a.open:>6}{len(crowd.errors):>8}{crowd.seconds:>7.1f}",
                end="",
            )
            print(f"{crowd.median:>10.3f}{crowd.p99:>8.3f}", flush=True)
            print("\n".join(crowd.errors[:3]), end="")
            passed &= a.passed and not crowd.errors and crowd.told == expected
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
