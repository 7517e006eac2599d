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

ROOT = Path(__file__).resolve().parent.parent
WATCHDOG_SECONDS = 120.0
ROUNDS = 4
TRIALS = 12


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
    diary = Diary(folder / "diary")
    run = [sys.executable, "-m", "soak.forks", "--inside", str(folder), "--seed", str(seed)]
    process = subprocess.Popen(
        run, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    hung = False
    said = b""
    try:
        _, said = process.communicate(timeout=watchdog)
    except subprocess.TimeoutExpired:
        hung = True
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    acknowledged, errors = diary.read()
    if process.returncode or said.strip():
        errors += [f"error {process.returncode} {said.decode(errors='replace')[-2000:]}"]
    if hung or errors:
        return Storm(len(acknowledged), 0, hung, errors)
    url = url_in(folder)
    store = Store(url)
    (study,) = store.studies()
    checked = audit(store, study.id, acknowledged)
    store.close()
    return Storm(len(acknowledged), checked.lost + checked.gaps + (not intact(url)), hung, errors)


def url_in(folder: Path) -> str:
    """The URL of the database of a run."""
    return f"sqlite:///{folder / 'study.db'}"


def inside(folder: Path, seed: int) -> int:
    """The run itself."""
    sys.setswitchinterval(1e-5)  # threads change places more often
    diary = Diary(folder / "diary")
    work = _minimize if seed % 3 == 2 else _tell_and_fork
    _guarded(lambda: work(url_in(folder), diary, seed), diary)
    return 0


def _tell_and_fork(url: str, diary: Diary, seed: int) -> None:
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

    ways = (in_child, in_pool, in_pool, in_subprocess)
    plans = [
        [generator.choice(ways) for _ in range(ROUNDS)] for _ in range(generator.randint(3, 6))
    ]
    done = threading.Event()

    def keep_telling() -> None:  # so that every fork finds the file open, and closes it
        while not done.wait(0.001):
            tell()

    teller = threading.Thread(target=_guarded, args=(keep_telling, diary))
    teller.start()
    _run_threads([lambda plan=plan: _follow(plan, tell) for plan in plans], diary)  # type: ignore[misc]  # mypy: lambda with a default
    done.set()
    teller.join()
    store.close()


def _follow(plan: list[Callable[[], None]], tell: Callable[[], None]) -> None:
    for way in plan:
        tell()
        way()


def _run_threads(works: list[Callable[[], None]], diary: Diary) -> None:
    threads = [threading.Thread(target=_guarded, args=(work, diary)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _guarded(work: Callable[[], None], diary: Diary) -> None:
    try:
        work()
    except BaseException as error:
        diary.write(f"error {type(error).__name__}: {error}")


def _minimize(url: str, diary: Diary, seed: int) -> None:
    with ThreadPoolExecutor(4) as pool:
        result = ceibo.minimize(
            _forking_objective,
            {"x": ceibo.Float(0, 1)},
            n_trials=TRIALS,
            executor=pool,
            storage=url,
            seed=seed,
            n_initial=TRIALS,
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
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside is not None:
        return inside(options.inside, options.seed)
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
