"""Forks by threads while a study is in use: no hang, no loss, and locks that work in the child."""

import multiprocessing
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ceibo.decide.measurement import Measurement
from ceibo.study.store import NewTrial, Store, forks
from soak.forks import storm

WATCHDOG = 60.0


def fork_and_use(store: Store, study_id: int) -> int:
    """Fork a child that records a trial; returns its exit status."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            store.create_trials(study_id, [NewTrial({"x": 0.5})])
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def run_threads(works: list[Callable[[], object]]) -> None:
    """Run functions at once, under a watchdog; an exception of one is raised."""
    raised: list[BaseException] = []

    def guarded(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WATCHDOG)
    assert not any(thread.is_alive() for thread in threads), "hangs"
    if raised:
        raise raised[0]


@pytest.mark.parametrize("seed", [0, 2])
def test_fork_storms(tmp_path: Path, seed: int) -> None:
    result = storm(tmp_path, seed, WATCHDOG)
    assert result.passed, result


def test_two_threads_fork_at_the_same_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each finds the file open, and closing it takes long enough for the other to come in."""
    store = Store(f"sqlite:///{tmp_path / 'study.db'}")
    study = store.create_study("s", {}, {})
    resting = store._database._engine.dispose

    def slowly(close: bool = True) -> None:
        threading.Event().wait(0.05)
        resting(close)

    monkeypatch.setattr(store._database._engine, "dispose", slowly)
    together = threading.Barrier(3, timeout=WATCHDOG)

    def work() -> None:
        for _ in range(3):
            store.create_trials(study.id, [NewTrial({"x": 0.5})])
            together.wait()
            assert fork_and_use(store, study.id) == 0

    run_threads([work] * 3)
    assert len(store.snapshot(study.id).trials) == 18
    store.close()


@pytest.mark.parametrize("count", [1, 2])
def test_forks_inside_transactions_do_not_wait_for_ever(
    tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One does not wait for itself; of two on different files each waits for the other."""
    monkeypatch.setattr(forks, "LONGEST_REST", 0.3)
    stores = [Store(f"sqlite:///{tmp_path / f'{index}.db'}") for index in range(count)]
    together = threading.Barrier(count, timeout=WATCHDOG)

    def fork_inside(store: Store) -> None:
        def work(_connection: object) -> None:
            together.wait()
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)

        store._database.write(work)
        store.create_study("s", {}, {})

    run_threads([lambda store=store: fork_inside(store) for store in stores])  # type: ignore[misc]  # mypy: lambda with a default
    for store in stores:
        assert [study.name for study in store.studies()] == ["s"]
        store.close()


def test_stores_made_and_dropped_while_others_fork(tmp_path: Path) -> None:
    done = threading.Event()

    def make() -> None:
        for index in range(15):
            store = Store(f"sqlite:///{tmp_path / f'{index}.db'}")
            store.create_study("s", {}, {})
        done.set()

    def fork() -> None:
        while not done.is_set():
            subprocess.run(["true"], preexec_fn=os.getpid, check=True)

    run_threads([make, fork, fork])
    store = Store(f"sqlite:///{tmp_path / '7.db'}")
    assert fork_and_use(store, store.study("s").id) == 0
    store.close()


def test_a_child_of_a_child_goes_on(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'study.db'}")
    study = store.create_study("s", {}, {})
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            store.create_trials(study.id, [NewTrial({"x": 0.5})])
            status = fork_and_use(store, study.id)
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert len(store.snapshot(study.id).trials) == 2
    store.close()


def test_a_study_in_memory_rests_too() -> None:
    """A child must not inherit a lock of SQLite that another thread holds at that moment."""
    store = Store("sqlite://")
    study = store.create_study("s", {}, {})
    (trial,) = store.create_trials(study.id, [NewTrial({"x": 0.5})])
    turns: list[object] = list(forks.registered())
    assert store._database._turn in turns
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(abs, [-1]) == [1]
    assert store.tell(study.id, trial.number, Measurement(1.0)).new
    store.close()
