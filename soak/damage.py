"""Damages databases in single cells and in single bytes; no answer may differ without a sign.

Each case copies a small database, damages the copy and asks everything of it. A clear error is
right, the same answers as before are right, and different ones are if `verify` objects to them.

The end of a write-ahead log that is damaged is lost without a sign, as SQLite takes it for the end
of the log: for that kind, an earlier state of the study is right too. The databases of an older
version have no checksums: for them only errors that are unclear and hangs count.
"""

import argparse
import multiprocessing
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

from ceibo import Categorical, Float, Int, Measurement, Study
from ceibo.errors import CeiboError
from ceibo.study.store import Lease, NewTrial
from soak.damages import damage_bytes, damage_cell
from soak.older import make_older

HANG_SECONDS = 30
KINDS = ("bytes", "wal", "cells", "older")
RIGHT = ("clear error", "unharmed", "verify objects", "earlier state")
COSTLY = ("best", "recommended", "observed", "stop")
WRONG = ("different", "unexpected", "hang")


@final
class Hang(BaseException):
    """A verb did not end in time."""


@final
@dataclass(frozen=True)
class Result:
    """What became of one case; `detail` says more where it went wrong."""

    kind: str
    case: int
    outcome: str
    damage: str
    detail: str = ""


def prepare(folder: Path) -> None:
    """Databases to be damaged: one closed, one with its log beside it, one of an older version."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "bytes.db"
    url = f"sqlite:///{file}"
    space = {"x": Float(0, 1), "k": Int(0, 9), "mode": Categorical(["a", "b"])}
    study = Study.create(
        space, storage=url, name="s", seed=1, n_initial=9, kernel="matern52", acquisition="ei"
    )
    for k in range(6):
        trial = study.ask()
        study.tell(trial, 0.5 + 0.1 * k, noise=0.05)
    study.add({"x": 0.5, "k": 3, "mode": "b"}, Measurement.of([0.2, 0.3, 0.31]))
    study.tell(study.ask(), 0.25)
    study.correct(1, 0.61, noise=0.05)
    study.fail(study.ask(), "it broke")
    study.ledger.create([NewTrial(dict(study.ask().params), lease=Lease("w", 1e9))])
    study.enqueue({"x": 0.1, "k": 1, "mode": "a"})
    for suffix in ("", "-wal"):  # as a crash would leave them
        shutil.copy(f"{file}{suffix}", folder / f"wal.db{suffix}")
    study.close()
    shutil.copy(file, folder / "cells.db")
    shutil.copy(file, folder / "older.db")
    make_older(f"sqlite:///{folder / 'older.db'}")


def answers(file: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every verb with what it answers: those that read, `verify`, and then those that write."""
    study = Study.open(f"sqlite:///{file}", "s")
    store, ledger = study.ledger.store, study.ledger
    handed: list[Any] = []

    def ask() -> tuple[int, dict[str, Any]]:
        handed.append(study.ask())
        return handed[-1].number, handed[-1].params

    yield "open", lambda: (study.name, study.space.to_json(), study.settings.to_json(), study.seed)
    yield "trials", lambda: study.trials
    yield "events", lambda: store.events(ledger.id)
    yield "suggestions", lambda: study.suggestions
    yield "best", lambda: study.best
    yield "recommended", lambda: study.recommended
    yield "observed", lambda: study.best_observed
    yield "stop", lambda: study.should_stop(0.01)
    yield "leases", lambda: sorted(store.leases(ledger.id))
    yield "verify", lambda: study.verify().ok
    yield "ask", ask
    yield "ask again", ask
    yield "tell", lambda: study.tell(handed[-1], 0.4) if handed else None
    yield "repeat", lambda: study.tell(2, 0.7, noise=0.05, key="again")
    yield "correct", lambda: study.correct(3, 0.81, noise=0.05)
    yield "release", lambda: study.release(9)
    yield "fail", lambda: study.fail(9, "no")
    yield "withdraw", lambda: study.withdraw(handed[0]) if handed else None
    yield "afterwards", lambda: study.trials
    yield "close", study.close


@contextmanager
def watchdog(seconds: float) -> Iterator[None]:
    """Raises Hang in what has not ended by then."""

    def bark(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, bark)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@final
@dataclass(frozen=True)
class Said:
    """What the verbs said of a database: their answers, and what they raised."""

    answers: dict[str, str]
    errors: dict[str, str]
    unexpected: str = ""
    hung: bool = False


def ask_everything(file: Path, before: Said | None = None) -> Said:
    """The answers of all verbs, as text; what follows from the same trials is not asked again."""
    said: dict[str, str] = {}
    errors: dict[str, str] = {}
    verb = "open"
    try:
        with watchdog(HANG_SECONDS):
            verbs = answers(file)
            while True:
                try:
                    verb, answer = next(verbs)
                    if before is None or verb not in COSTLY or said != _first(before, said):
                        said[verb] = repr(answer())
                except CeiboError as error:
                    errors[verb] = str(error)
                except StopIteration:
                    break
    except Hang:
        return Said(said, errors, f"{verb} did not end", hung=True)
    except Exception:
        return Said(said, errors, f"{verb}: {traceback.format_exc(limit=-4)}")
    return Said(said, errors)


def _first(before: Said, said: dict[str, str]) -> dict[str, str]:
    return {verb: before.answers[verb] for verb in said}


def judge(kind: str, before: Said, after: Said) -> tuple[str, str]:
    """The outcome of a case, and its detail."""
    if after.hung:
        return "hang", after.unexpected
    if after.unexpected:
        return "unexpected", after.unexpected
    detected = after.answers.get("verify") != "True"
    changed = [verb for verb, said in after.answers.items() if said != before.answers[verb]]
    if kind == "wal" and changed and not detected and "events" in changed:
        # "[…]" of which the earlier state is the beginning
        events = after.answers["events"].rstrip("),")
        if before.answers["events"].startswith(events):
            return "earlier state", ""
    if changed and not detected and kind != "older":
        verb = changed[0]
        return "different", f"{verb}: {before.answers[verb]}\n  now: {after.answers[verb]}"
    if after.errors:
        return "clear error", "\n".join(f"{verb}: {said}" for verb, said in after.errors.items())
    return ("verify objects" if detected else "unharmed"), ""


def run_case(folder: Path, expected: dict[str, Said], kind: str, case: int, seed: int) -> Result:
    """Damages a copy of a database and asks everything of it."""
    generator = random.Random(f"{seed}/{kind}/{case}")
    with tempfile.TemporaryDirectory(dir=folder) as name:
        file = Path(name) / "study.db"
        for suffix in ("", "-wal"):
            if (source := folder / f"{kind}.db{suffix}").exists():
                shutil.copy(source, f"{file}{suffix}")
        if kind in ("cells", "older"):
            damage = damage_cell(file, generator, case)
        else:
            target = Path(f"{file}-wal") if kind == "wal" else file
            damage = damage_bytes(target, generator)
        after = ask_everything(file, expected[kind])
        outcome, detail = judge(kind, expected[kind], after)
    return Result(kind, case, outcome, damage, detail)


def _in_process(cases: list[tuple[str, int]], folder: Path, seed: int) -> list[Result]:
    expected = expectation(folder)
    return [run_case(folder, expected, kind, case, seed) for kind, case in cases]


def expectation(folder: Path) -> dict[str, Said]:
    """What the verbs say of the databases while they are sound."""
    found = {}
    for kind in KINDS:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            for suffix in ("", "-wal"):
                if (source := folder / f"{kind}.db{suffix}").exists():
                    shutil.copy(source, f"{name}/study.db{suffix}")
            found[kind] = ask_everything(Path(name) / "study.db")
        if found[kind].unexpected or found[kind].errors:
            raise RuntimeError(f"a sound database failed: {found[kind]}")
    return found


def damage_many(folder: Path, counts: dict[str, int], seed: int, jobs: int = 1) -> list[Result]:
    """Runs `counts` cases of each kind in `jobs` processes."""
    prepare(folder)
    cases = [(kind, case) for kind, count in counts.items() for case in range(count)]
    if jobs == 1:
        return _in_process(cases, folder, seed)
    shares = [cases[first :: 8 * jobs] for first in range(8 * jobs)]
    work = partial(_in_process, folder=folder, seed=seed)
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        return [result for share in pool.map(work, shares) for result in share]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000, help="8 in 10 of bytes, 2 of cells")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="one case, as in cells/17")
    parser.add_argument("--show", type=int, default=5, help="how many faulty cases to show")
    options = parser.parse_args()
    begin = time.perf_counter()
    shares = {"bytes": 0.72, "wal": 0.08, "cells": 0.16, "older": 0.04}
    counts = {kind: round(options.cases * share) for kind, share in shares.items()}
    memory = Path("/dev/shm")  # the disk would take most of the time
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        if options.only:
            kind, _, case = options.only.partition("/")
            prepare(Path(name))
            expected = expectation(Path(name))
            results = [run_case(Path(name), expected, kind, int(case), options.seed)]
            print(results[0].damage, results[0].outcome, results[0].detail, sep="\n")
        else:
            results = damage_many(Path(name), counts, options.seed, options.jobs)
    columns = (*RIGHT, *WRONG)
    print(f"{'damaged':<9}{'cases':>7}" + "".join(f"{each:>16}" for each in columns))
    for kind in KINDS:
        mine = Counter(result.outcome for result in results if result.kind == kind)
        figures = "".join(f"{mine[each]:>16}" for each in columns)
        print(f"{kind:<9}{mine.total():>7}{figures}")
    wrong = [result for result in results if result.outcome in WRONG]
    for result in wrong[: options.show]:
        print(f"\n--only {result.kind}/{result.case} --seed {options.seed}: {result.outcome}")
        print(f"  {result.damage}\n  {result.detail[:3000]}")
    seconds = time.perf_counter() - begin
    print(f"{len(results)} cases in {seconds:.0f} s, {len(results) / seconds:.0f} per second")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
