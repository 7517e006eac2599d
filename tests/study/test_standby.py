"""The process that stands by: leases are kept while an objective stops every thread."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import ceibo
from ceibo import Float, Study
from ceibo.decide.space import Params
from ceibo.study.store import Lease, NewTrial, Store, StudyRecord, standby
from ceibo.study.store.heartbeat import Standby

WORKER = """
    import ctypes, os, sys, time
    import ceibo

    def objective(params):
        {before}
        print("measuring", flush=True)
        {hold}
        return params["x"]

    ceibo.minimize(objective, {{"x": ceibo.Float(0, 1)}}, n_trials=1, storage="sqlite:///lab.db",
                   lease={lease})
"""
HOLD = "ctypes.PyDLL(None).usleep({})"  # keeps Python's global lock


def start(folder: Path, hold: str, before: str = "", lease: float = 0.6) -> "subprocess.Popen[str]":
    """A worker, once its objective runs."""
    code = textwrap.dedent(WORKER).format(hold=hold, before=before, lease=lease)
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "measuring\n"
    return process


def stop_between_writes(process: "subprocess.Popen[str]", database: Path) -> None:
    """Stops a worker at a moment when it does not hold the lock of its database."""
    while True:
        process.send_signal(signal.SIGSTOP)
        connection = sqlite3.connect(database, timeout=0.1, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError:
            process.send_signal(signal.SIGCONT)
            time.sleep(0.02)
        finally:
            connection.close()


def helpers(parent: int) -> list[int]:
    """The processes that stand by for a worker, also after its death."""
    marker = str(Path(standby.__file__)).encode()
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and marker in Path(f"/proc/{name}/cmdline").read_bytes():
                fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
                found += [int(name)] if int(fields[1]) == parent else []
        except OSError:
            continue
    return found


def test_a_trial_is_kept_while_no_thread_can_run(tmp_path: Path) -> None:
    # three leases, each long enough for a busy machine to renew it in time
    process = start(tmp_path, HOLD.format(6_000_000), lease=2.0)
    study = Study.open(f"sqlite:///{tmp_path / 'lab.db'}")
    store, number = study.ledger.store, study.ledger.id
    while process.poll() is None and not study.trials[0].measurements:
        assert store.claim(number, Lease("other")) is None
        time.sleep(0.05)
    assert process.wait(60) == 0
    assert [trial.attempt for trial in study.trials] == [1]
    assert helpers(process.pid) == []


def test_it_does_not_outlive_a_killed_worker(tmp_path: Path) -> None:
    """Although a forked child of the worker, which lives on, holds its pipe open."""
    lines = [
        "pid = os.fork()",
        "pid or (time.sleep(60), os._exit(0))",
        "open('child', 'w').write(str(pid))",
    ]
    process = start(tmp_path, "time.sleep(60)", "\n    ".join(lines))
    (pid,) = helpers(process.pid)
    process.kill()
    process.wait()
    _until(lambda: not Path(f"/proc/{pid}").exists())
    os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)  # it was still there
    study = Study.open(f"sqlite:///{tmp_path / 'lab.db'}")
    _until(lambda: study.ledger.store.claim(study.ledger.id, Lease("other")) is not None)


def test_a_stopped_worker_is_given_no_time(tmp_path: Path) -> None:
    process = start(tmp_path, "time.sleep(600)")
    study = Study.open(f"sqlite:///{tmp_path / 'lab.db'}")
    try:
        stop_between_writes(process, tmp_path / "lab.db")
        _until(lambda: study.ledger.store.claim(study.ledger.id, Lease("other")) is not None)
    finally:
        process.kill()
        process.wait()


def test_it_renews_what_the_worker_holds(store: Store, study: StudyRecord) -> None:
    mine, other = Lease("mine", 600.0), Lease("other", 10.0)
    store.create_trials(study.id, [NewTrial({"x": 0.1}, lease=Lease("mine", 10.0))])
    store.create_trials(study.id, [NewTrial({"x": 0.2}, lease=other)])
    job = store.renewal(study.id, mine)
    assert job is not None
    standby.renew(job | {"silence": 5.0, "path": sys.path})
    left = {number: seconds for number, (_, seconds) in store.leases(study.id).items()}
    assert left[0] > 500.0
    assert left[1] < 10.0


def test_a_deleted_file_does_not_come_back(tmp_path: Path) -> None:
    file = tmp_path / "lab.db"
    study = Study.create({"x": Float(0, 1)}, storage=f"sqlite:///{file}")
    job = study.ledger.store.renewal(study.ledger.id, Lease("mine"))
    assert job is not None
    study.close()
    file.unlink()
    with pytest.raises(sqlite3.OperationalError):
        standby.renew(job | {"silence": 1.0})
    assert not file.exists()


def bowl(params: Params) -> float:
    return float(params["x"])


def test_nobody_stands_by_in_memory_or_for_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.create({"x": Float(0, 1)})
    assert study.ledger.store.renewal(study.ledger.id, Lease("mine")) is None

    def refuse(self: Standby) -> None:
        raise AssertionError

    monkeypatch.setattr(Standby, "start", refuse)
    with ProcessPoolExecutor(1) as pool:
        storage = f"sqlite:///{tmp_path / 'lab.db'}"
        ceibo.minimize(bowl, {"x": Float(0, 1)}, n_trials=2, storage=storage, executor=pool)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
