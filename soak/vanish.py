"""Files that vanish under working processes: deleted, renamed, replaced, or without their log.

Every result acknowledged must be in the file that was there, and once the file has vanished `tell`
must raise. A log or an index removed alone must lose nothing.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ceibo.study.store import Store
from soak.audit import audit, intact
from soak.children import Diary, Job, fork, worker

WORKERS = 3
TRIALS = 25
WATCHDOG_SECONDS = 120.0
_EXPECTED = ("MovedDatabaseError", "NotStoredError", "StorageError")


@final
@dataclass(frozen=True)
class Case:
    """Figures of one case."""

    seed: int
    way: str
    told: int
    raised: int
    lost: int
    hung: int
    unexpected: list[str]

    @property
    def passed(self) -> bool:
        return not (self.lost or self.hung or self.unexpected)


def _beside(folder: Path, end: str) -> Path:
    return folder / f"study.db{end}"


def _delete(folder: Path) -> None:
    _beside(folder, "").unlink()


def _delete_all(folder: Path) -> None:
    for end in ("", "-wal", "-shm"):
        _beside(folder, end).unlink(missing_ok=True)


def _rename(folder: Path) -> None:
    _beside(folder, "").rename(folder / "moved.db")


def _replace(folder: Path) -> None:
    other = Store(f"sqlite:///{folder / 'other.db'}")
    other.create_study("another", {}, {})
    other.close()
    (folder / "other.db").replace(_beside(folder, ""))


def _remove_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _remove_log(folder: Path) -> None:
    _beside(folder, "-wal").unlink(missing_ok=True)


def _remove_index(folder: Path) -> None:
    _beside(folder, "-shm").unlink(missing_ok=True)


WAYS: dict[str, Callable[[Path], None]] = {
    "deleted": _delete,
    "all deleted": _delete_all,
    "renamed": _rename,
    "replaced": _replace,
    "folder removed": _remove_folder,
    "log removed": _remove_log,
    "index removed": _remove_index,
}
HARMLESS = ("log removed", "index removed")


def vanish(top: Path, seed: int) -> Case:
    """Lets workers tell results, takes their file away at a random moment, looks what is left."""
    generator = random.Random(seed)
    way = list(WAYS)[seed % len(WAYS)]
    folder, kept = top / "data", top / "kept"
    folder.mkdir(parents=True)
    kept.mkdir()
    url = f"sqlite:///{_beside(folder, '')}"
    store = Store(url)
    study_id = store.create_study("vanish", {}, {}).id
    store.close()
    diaries = [Diary(top / f"diary-{index}") for index in range(WORKERS)]
    pids = []
    for index, diary in enumerate(diaries):
        job = Job(url, study_id, diary, 600.0, TRIALS, seed=seed, worker=f"worker-{index}")
        pids.append(fork(lambda job=job: worker(job), diary))  # type: ignore[misc]  # mypy: lambda default
    _wait_for(diaries, generator.randint(1, WORKERS * TRIALS // 2))
    if way not in HARMLESS:
        for end in ("", "-wal"):  # what was there stays under another name
            with suppress(FileNotFoundError):
                os.link(_beside(folder, end), _beside(kept, end))
    WAYS[way](folder)
    before = [len(diary.lines()) for diary in diaries]
    hung = _join(pids)
    read = [diary.read() for diary in diaries]
    told = [entry for acknowledged, _ in read for entry in acknowledged]
    errors = [line for _, lines in read for line in lines]
    left = url if way in HARMLESS else f"sqlite:///{_beside(kept, '')}"
    store = Store(left)
    lost = audit(store, study_id, told).lost + (not intact(left))
    store.close()
    unexpected = [line for line in errors if not any(name in line for name in _EXPECTED)]
    finished = sum(len(acknowledged) == TRIALS for acknowledged, _ in read)
    if len(errors) + finished < WORKERS:
        unexpected.append(f"{WORKERS} workers: {finished} finished, {len(errors)} raised")
    # one result of each worker may have been on its way when the file vanished
    late = [len(acknowledged) - seen for (acknowledged, _), seen in zip(read, before, strict=True)]
    if way not in HARMLESS and max(late) > 1:
        unexpected.append(f"{max(late)} results acknowledged after the file was {way}")
    return Case(seed, way, len(told), len(errors), lost, hung, unexpected)


def _wait_for(diaries: list[Diary], results: int) -> None:
    """Waits until the workers have told so many results, and each of them one or more."""
    deadline = time.monotonic() + WATCHDOG_SECONDS
    while time.monotonic() < deadline:
        told = [len(diary.lines()) for diary in diaries]
        if sum(told) >= results and all(told):
            return
        time.sleep(0.001)


def _join(pids: list[int]) -> int:
    """Waits for the workers, ends those that hang, and counts them."""
    deadline = time.monotonic() + WATCHDOG_SECONDS
    left = set(pids)
    while left and time.monotonic() < deadline:
        left -= {pid for pid in left if os.waitpid(pid, os.WNOHANG)[0] == pid}
        time.sleep(0.005)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return len(left)


def _one(seed: int) -> Case:
    with tempfile.TemporaryDirectory() as name:
        return vanish(Path(name), seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    begin = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        cases = list(pool.map(_one, range(options.seed, options.seed + options.cases)))
    print(
        f"{'way':<16}{'cases':>6}{'told':>8}{'raised':>8}{'lost':>6}{'hangs':>7}{'unexpected':>12}"
    )
    count = Counter(case.way for case in cases)
    for way in WAYS:
        those = [case for case in cases if case.way == way]
        print(
            f"{way:<16}{count[way]:>6}{sum(case.told for case in those):>8}"
            f"{sum(case.raised for case in those):>8}{sum(case.lost for case in those):>6}"
            f"{sum(case.hung for case in those):>7}"
            f"{sum(len(case.unexpected) for case in those):>12}"
        )
    print(f"{time.perf_counter() - begin:.0f} s")
    for case in cases:
        if not case.passed:
            print(f"missed: {case}")
            print(f"to repeat: python -m soak.vanish --cases 1 --seed {case.seed}")
    return 0 if all(case.passed for case in cases) else 1


if __name__ == "__main__":
    sys.exit(main())
