"""What a long study costs: storing at 1,000 trials, opening and asking at 10,000.

Above 1,000 observations (`max_observations`) the model is conditioned on a subset: half the
observations with the best posterior means, half spread evenly over the rest; the record of each
suggestion says how many were used.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ceibo import Float, Measurement, Study
from ceibo.study.store import NewTrial, Store
from soak.server import running_server

# Targets for an ask at 10,000 trials: processor time and memory.
USABLE_SECONDS, USABLE_MEGABYTES = 10.0, 1000.0
SUGGESTION = {
    "seen": 1234,
    "start": {"lengthscales": [0.123456789012345] * 6, "variance": 1.1, "noise": 0.01, "mean": 0.0},
    "acquisition": {"name": "corrected-ei", "value": 0.0123456789012345},
    "fallback": None,
    "versions": {"ceibo": "0.1.0", "numpy": "2.0.0", "scipy": "1.14.0"},
}


def fill(url: str, count: int) -> int:
    """A study of `count` measured trials of six parameters; returns its id."""
    store = Store(url)
    study = store.create_study(f"study of {count}", {}, {})
    params = {f"parameter_{j}": j / 7 for j in range(6)}
    for start in range(0, count, 1000):
        new = [NewTrial(params, SUGGESTION) for _ in range(start, min(start + 1000, count))]
        for trial in store.create_trials(study.id, new):
            # A tenth is told with its noise, the rest below.
            if trial.number % 10 == 0:
                store.tell(study.id, trial.number, Measurement(0.1 * trial.number, 0.1))
    rest = [t.number for t in store.snapshot(study.id).in_state("running")]
    for number in rest:
        store.tell(study.id, number, Measurement(0.1 * number))
    store.close()
    return study.id


def ask_and_tell(url: str, study_id: int, repeats: int) -> list[float]:
    """Seconds of everything the store does for one ask and one tell, repeated and sorted."""
    store = Store(url)
    snapshot = store.snapshot(study_id)
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        store.claim(study_id)
        snapshot = store.refresh(study_id, snapshot)
        new = NewTrial(
            {f"parameter_{j}": j / 7 for j in range(6)}, {**SUGGESTION, "seen": snapshot.seq}
        )
        (trial,) = store.create_trials(study_id, [new], expect_number=len(snapshot.trials))
        store.tell(study_id, trial.number, Measurement(0.5, 0.1))
        seconds.append(time.perf_counter() - begin)
    store.close()
    return sorted(seconds)


def open_once(url: str, name: str) -> None:
    """Opens a study and reads all of it, in its own process; prints seconds and peak memory."""
    begin = time.perf_counter()
    store = Store(url)
    trials = store.snapshot(store.study(name).id).trials
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(trials):>6} trials opened in {seconds:.2f} s, peak memory {peak:.0f} MB")


def fill_study(url: str, count: int) -> None:
    """A study of `count` noisy measurements in six dimensions."""
    space = {f"x{j}": Float(0, 1) for j in range(6)}
    study = Study.create(space, storage=url, name="long", n_initial=1)
    rng = np.random.default_rng(0)
    X = rng.random((count, 6))
    y = np.sum((X - 0.4) ** 2, axis=1) + 0.05 * rng.standard_normal(count)
    rows = [
        ({f"x{j}": float(u) for j, u in enumerate(x)}, Measurement(float(v)))
        for x, v in zip(X, y, strict=True)
    ]
    for start in range(0, count, 1000):
        study.add_all(rows[start : start + 1000])
    study.close()


def ask_once(url: str) -> None:
    """Opens the long study and asks it thrice, in its own process; prints seconds and memory."""
    begin = time.perf_counter()
    study = Study.open(url, "long")
    opened = time.perf_counter() - begin
    seconds, work = [], []
    for _ in range(3):
        begin, busy = time.perf_counter(), time.process_time()
        trial = study.ask()
        seconds.append(time.perf_counter() - begin)
        work.append(time.process_time() - busy)
        study.tell(trial, 0.5)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    used = study.suggestions[trial.number]["used"]
    shown = ", ".join(f"{each:.2f}" for each in seconds)
    print(
        f"{trial.number:>6} trials: ask takes {shown} s, {max(work):.1f} s of one processor at"
        " most, with",
        end="",
    )
    print(
        f" the {used} most telling observations (opened in {opened:.2f} s), peak memory"
        f" {peak:.0f} MB"
    )
    sys.exit(0 if max(work) < USABLE_SECONDS and peak < USABLE_MEGABYTES else 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", nargs=2, metavar=("URL", "NAME"), help=argparse.SUPPRESS)
    parser.add_argument("--ask", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--trials", type=int, default=10_000)
    options = parser.parse_args()
    if options.open:
        open_once(*options.open)
        return 0
    if options.ask:
        ask_once(options.ask)
    passed = True
    with tempfile.TemporaryDirectory() as folder, running_server() as server:
        for database in ("SQLite", "PostgreSQL"):
            url = f"sqlite:///{Path(folder) / 'study.db'}"
            if database == "PostgreSQL":
                url = server.new_database()
            times = ask_and_tell(url, fill(url, 1000), options.repeats)
            median, p95 = times[len(times) // 2], times[int(0.95 * len(times))]
            print(
                f"{database}: ask + tell at 1,000 trials: median {1e3 * median:.1f} ms, p95"
                f" {1e3 * p95:.1f} ms"
            )
            passed &= median < 0.010 or database != "SQLite"
            fill(url, options.trials)
            name = f"study of {options.trials}"
            command = [sys.executable, "-m", "soak.overhead", "--open", url, name]
            opened = subprocess.run(command, check=True, capture_output=True, text=True)
            print(f"{database}:", opened.stdout, end="")
        url = f"sqlite:///{Path(folder) / 'long.db'}"
        fill_study(url, options.trials)
        command = [sys.executable, "-m", "soak.overhead", "--ask", url]
        asked = subprocess.run(command, capture_output=True, text=True)
        print("SQLite:", asked.stdout + asked.stderr, end="")
        passed &= asked.returncode == 0
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
