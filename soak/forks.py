"""Threads that fork while others use the same study: no hang, no loss, no error.

Each run is a process of its own, with a watchdog, whose threads tell results to one SQLite file
and fork in between: by os.fork, with a child that tells too; by a multiprocessing pool; by a
subprocess with preexec_fn. Every third run is `minimize` on a thread pool instead, with an
objective that uses a multiprocessing pool.
"""

import argparse
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import ceibo
from ceibo.decide.measurement import Measurement
from ceibo.study.store import NewTrial, Store
from soak.audit import audit, intact
from soak.children import Diary, fork

WATCHDOG_SECONDS = 120.0
ROUNDS = 6
TRIALS = 10


@final
@dataclass(frozen=True)
class Storm:
    """Figures of one run."""

    told: int
    lost: int
    hung: bool
    errors: list[str]

    @property
    def passed(self) -> bool:
        return self.told > 0 and not (self.lost or self.hung or self.errors)


def storm(folder: Path, seed: int, watchdog: float = WATCHDOG_SECONDS) -> Storm:
    """One run in a process of its own, ended by the watchdog if it hangs."""
    folder.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{folder / 'study.db'}"
    diary = Diary(folder / "diary")
    work = _minimize if seed % 3 == 2 else _tell_and_fork
    pid = fork(lambda: work(url, diary, seed), diary)
    hung = not _wait(pid, watchdog)
    acknowledged, errors = diary.read()
    if not (folder / "study.db").exists():
        return Storm(0, 0, hung, errors)
    store = Store(url)
    (study,) = store.studies()
    checked = audit(store, study.id, acknowledged)
    store.close()
    lost = checked.lost + checked.gaps + (not intact(url))
    return Storm(len(acknowledged), lost, hung, errors)


def _wait(pid: int, seconds: float) -> bool:
    """Waits for a child and ends its group; whether it ended by itself in time."""
    deadline = time.monotonic() + seconds
    ended = False
    while not ended and time.monotonic() < deadline:
        ended = os.waitpid(pid, os.WNOHANG)[0] == pid
        time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if not ended:
        os.waitpid(pid, 0)
    return ended


def _tell_and_fork(url: str, diary: Diary, seed: int) -> None:
    os.setpgrp()
    generator = random.Random(seed)
    store = Store(url)
    study_id = store.create_study("forks", {}, {}).id

    def tell() -> None:
        (trial,) = store.create_trials(study_id, [NewTrial({"x": 0.5})])
        value = random.random()
        store.tell(study_id, trial.number, Measurement(value))
        diary.acknowledge(trial.number, "", value, 0.0)

    def in_child() -> None:
        pid = fork(tell, diary)
        os.waitpid(pid, 0)

    def in_pool() -> None:
        with multiprocessing.get_context("fork").Pool(2) as pool:
            pool.map(_square, range(4))

    def in_subprocess() -> None:
        # What runs in the child does not matter here, only that Python's fork hooks run.
        subprocess.run(["true"], preexec_fn=os.getpid, check=True)

    ways = (in_child, in_child, in_pool, in_subprocess)
    plans = [
        [generator.choice(ways) for _ in range(ROUNDS)] for _ in range(generator.randint(2, 6))
    ]
    _run_threads([lambda plan=plan: _follow(plan, tell) for plan in plans], diary)  # type: ignore[misc]  # mypy: lambda with a default
    store.close()


def _follow(plan: list[Callable[[], None]], tell: Callable[[], None]) -> None:
    for way in plan:
        tell()
        way()


def _run_threads(works: list[Callable[[], None]], diary: Diary) -> None:
    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            diary.write(f"error {type(error).__name__}: {error}")

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _minimize(url: str, diary: Diary, seed: int) -> None:
    os.setpgrp()
    with ThreadPoolExecutor(4) as pool:
        result = ceibo.minimize(
            _forking_objective,
            {"x": ceibo.Float(0, 1)},
            n_trials=TRIALS,
            executor=pool,
            storage=url,
            seed=seed,
            acquisition="ei",
            progress=False,
        )
    for trial in result.study.trials:
        if trial.state == "failed":
            diary.write(f"error {trial.reason}")
        for measurement in trial.measurements:
            diary.acknowledge(trial.number, "", measurement.value, 0.0)
    result.study.close()


def _forking_objective(params: dict[str, Any]) -> float:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return float(sum(pool.map(_square, [params["x"] - 0.3, 0.0])))


def _square(number: float) -> float:
    return number * number


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    begin = time.perf_counter()
    seeds = range(options.seed, options.seed + options.runs)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(options.jobs) as pool:
        storms = list(pool.map(lambda seed: storm(Path(name) / str(seed), seed), seeds))
    print(f"{'runs':>6}{'told':>8}{'lost':>6}{'hangs':>7}{'errors':>8}{'s':>7}")
    print(
        f"{len(storms):>6}{sum(each.told for each in storms):>8}"
        f"{sum(each.lost for each in storms):>6}{sum(each.hung for each in storms):>7}"
        f"{sum(len(each.errors) for each in storms):>8}{time.perf_counter() - begin:>7.0f}"
    )
    for seed, each in zip(seeds, storms, strict=True):
        if not each.passed:
            print(f"missed; to repeat: python -m soak.forks --runs 1 --seed {seed}")
            print("\n".join(each.errors[:3]))
    return 0 if all(each.passed for each in storms) else 1


if __name__ == "__main__":
    sys.exit(main())
