"""SIGKILL at any statement or moment, commits without an answer, a server that goes away."""

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from ceibo.decide.measurement import Measurement
from ceibo.errors import NotStoredError, NumberTakenError
from ceibo.study.store import DONE, FAILED, QUEUED, RUNNING, Lease, NewTrial, Store, StudyRecord
from soak.audit import audit, intact
from soak.children import Diary, fork
from soak.concurrency import Crashes, run_crowd
from soak.kills import kill_often
from soak.server import Server

LEASE = Lease("doomed", 0.5)


def engine_of(store: Store) -> sa.Engine:
    return store._database._engine


def at_points(store: Store, reach: Callable[[], None]) -> None:
    """Call `reach` before every statement (BEGIN included), and before and after every commit.

    After a statement is before the next one or before the commit, so every state of the database is
    covered.
    """
    engine = engine_of(store)
    sa.event.listen(engine, "before_cursor_execute", lambda *_: reach())
    commit = engine.dialect.do_commit

    def do_commit(dbapi_connection: sa.PoolProxiedConnection) -> None:
        reach()
        commit(dbapi_connection)
        reach()

    engine.dialect.do_commit = do_commit  # type: ignore[method-assign]


def script(store: Store, study_id: int, diary: Diary) -> None:
    """One of everything a worker does."""
    claimed = store.claim(study_id, LEASE)
    assert claimed is not None
    store.tell(study_id, claimed.number, Measurement(1.0))
    diary.acknowledge(claimed.number, "", 1.0, 0.0)
    store.snapshot(study_id)
    first, second, third = store.create_trials(
        study_id, [NewTrial({"x": 0.5}, {"seen": 2}, lease=LEASE)] * 3
    )
    store.heartbeat(study_id, LEASE)
    store.tell(study_id, first.number, Measurement(15.0))
    store.correct(study_id, first.number, Measurement.of([1.0, 2.0]))
    diary.acknowledge(first.number, "", 1.5, 0.0)
    store.fail(study_id, second.number, "broken", worker=LEASE.worker)
    diary.write("failed")
    store.release(study_id, third.number, worker=LEASE.worker)


def run_and_die(store: Store, study_id: int, diary: Diary, fatal: int) -> int:
    """Run the script in a child that kills itself at its `fatal`-th point; returns its status."""

    def work() -> None:
        reached = 0

        def reach() -> None:
            nonlocal reached
            if reached == fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            reached += 1

        at_points(store, reach)
        script(store, study_id, diary)
        diary.write(f"points {reached}")

    return os.waitstatus_to_exitcode(os.waitpid(fork(work, diary), 0)[1])


def test_a_kill_at_every_statement_loses_nothing(url: str, tmp_path: Path) -> None:
    store = Store(url)
    study = store.create_study("count", {}, {})
    store.create_trials(study.id, [NewTrial({"x": 0.1}, queued=True)])
    diary = Diary(tmp_path / "count")
    assert run_and_die(store, study.id, diary, -1) == 0
    points = int(diary.path.read_text().split("points ")[1])
    assert points > 50
    studies, diaries = [], [Diary(tmp_path / f"diary-{fatal}") for fatal in range(points)]
    for fatal, diary in enumerate(diaries):
        studies.append(store.create_study(f"kill at {fatal}", {}, {}))
        store.create_trials(studies[-1].id, [NewTrial({"x": 0.1}, queued=True)])
        assert run_and_die(store, studies[-1].id, diary, fatal) == -signal.SIGKILL
    time.sleep(LEASE.seconds)
    for study, diary in zip(studies, diaries, strict=True):
        trials = store.snapshot(study.id).trials
        assert len(trials) in (1, 4)  # a batch is stored whole or not at all
        if "failed" in diary.lines():
            assert trials[2].state == FAILED
        for orphan in store.snapshot(study.id).in_state(QUEUED, RUNNING):
            taken = store.claim(study.id, Lease("heir"))
            assert taken is not None
            assert taken.number == orphan.number
            store.tell(study.id, taken.number, Measurement(3.0))
        assert store.claim(study.id) is None
        acknowledged, errors = diary.read()
        assert not errors
        assert audit(store, study.id, acknowledged).passed
    assert intact(url)
    store.close()


def test_random_kills(url: str, tmp_path: Path) -> None:
    result = kill_often(url, tmp_path, kills=15, seed=1)
    assert result.audit.passed, result
    assert result.intact
    assert not result.errors
    assert result.acknowledged > 0


def test_sixteen_processes(url: str, tmp_path: Path) -> None:
    crowd = run_crowd(url, tmp_path, processes=16, trials=8, meanwhile=lambda: None)
    assert crowd.errors == []
    assert crowd.told == 128
    assert crowd.audit.passed


def test_claim_race(url: str, tmp_path: Path) -> None:
    store = Store(url)
    study = store.create_study("queue", {}, {})
    store.create_trials(study.id, [NewTrial({"x": float(k)}, queued=True) for k in range(60)])
    store.close()
    diary = Diary(tmp_path / "claims")

    def work() -> None:
        mine = Store(url)
        while (trial := mine.claim(study.id, Lease(f"w{os.getpid()}"))) is not None:
            diary.write(f"claimed {trial.number}")

    for pid in [fork(work, diary) for _ in range(8)]:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    claims = sorted(int(line.split()[1]) for line in diary.path.read_text().splitlines())
    assert claims == list(range(60))


def test_one_number_is_taken_by_one_process(url: str, tmp_path: Path) -> None:
    """Each process insists on the number it computed for; each number goes to one, without gaps."""
    store = Store(url)
    study = store.create_study("race", {}, {})
    store.close()
    diary = Diary(tmp_path / "numbers")

    def work() -> None:
        mine = Store(url)
        snapshot, made = mine.snapshot(study.id), 0
        while made < 6:
            snapshot = mine.refresh(study.id, snapshot)
            expected = len(snapshot.trials)
            try:
                new = NewTrial({"x": 0.5}, {"seen": snapshot.seq})
                (trial,) = mine.create_trials(study.id, [new], expect_number=expected)
            except NumberTakenError:
                continue
            assert trial.number == expected
            made += 1

    for pid in [fork(work, diary) for _ in range(8)]:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, diary.path.read_text()
    store = Store(url)
    suggestions = store.suggestions(study.id)
    assert list(suggestions) == list(range(48))
    # what was seen can be rebuilt, and had no later trial
    for number, suggestion in suggestions.items():
        assert len(store.snapshot(study.id, at=suggestion["seen"]).trials) == number
    store.close()


def test_a_commit_without_an_answer_is_recognised(store: Store, study: StudyRecord) -> None:
    """The connection breaks after the commit: every write is repeated and finds itself done."""
    lose_answer = answers_can_be_lost(store)
    store.create_trials(study.id, [NewTrial({"x": 1}, queued=True)])
    lose_answer(1)
    assert store.create_study("second", {}, {}) == store.study("second")
    lose_answer(1)
    assert [
        t.number for t in store.create_trials(study.id, [NewTrial({"x": 2}), NewTrial({"x": 3})])
    ] == [1, 2]
    lose_answer(1)
    assert not store.tell(study.id, 1, Measurement(1.0)).new
    lose_answer(1)
    assert store.correct(study.id, 1, Measurement(2.0)) == Measurement(1.0)
    lose_answer(1)
    store.fail(study.id, 2, "broken")
    store.create_trials(study.id, [NewTrial({"x": 4}, queued=True)])
    lose_answer(2)  # the first commit is that of the look without a lock
    claimed = store.claim(study.id, Lease("w"))
    assert claimed is not None
    assert claimed.number == 0
    lose_answer(1)
    assert store.release(study.id, 0)
    kinds = [event.kind for event in store.events(study.id)]
    assert kinds == [
        "queued",
        "asked",
        "asked",
        "measured",
        "corrected",
        "failed",
        "queued",
        "claimed",
        "released",
    ]
    assert [t.state for t in store.snapshot(study.id).trials] == [QUEUED, DONE, FAILED, QUEUED]


def answers_can_be_lost(store: Store) -> Callable[[int], None]:
    """A function f(k): the k-th commit from then on succeeds, but its answer is lost."""
    engine = engine_of(store)
    commit, left = engine.dialect.do_commit, [0]

    def do_commit(dbapi_connection: sa.PoolProxiedConnection) -> None:
        commit(dbapi_connection)
        left[0] -= 1
        if left[0] == 0:
            error = engine.dialect.loaded_dbapi.OperationalError("the connection was lost")
            error.sqlite_errorname = "SQLITE_BUSY"  # type: ignore[attr-defined]  # SQLite's word for "try again"
            raise error

    engine.dialect.do_commit = do_commit  # type: ignore[method-assign]

    def lose(which: int) -> None:
        left[0] = which

    return lose


@pytest.mark.parametrize("kill", [False, True])
def test_a_crowd_survives_a_server_crash(server: Server, tmp_path: Path, kill: bool) -> None:
    crashes = Crashes(server, tmp_path, times=1, expected=80, kill=kill)
    crowd = run_crowd(server.new_database(), tmp_path, processes=8, trials=10, meanwhile=crashes)
    assert crowd.errors == []
    assert crowd.told == 80
    assert crowd.audit.passed


def test_tell_waits_for_a_server_that_comes_back(server: Server) -> None:
    store = Store(server.new_database(), patience=30)
    study = store.create_study("s", {}, {})
    store.create_trials(study.id, [NewTrial({"x": 0.5})])
    server.crash()
    restart = threading.Timer(0.5, server.start)
    restart.start()
    assert store.tell(study.id, 0, Measurement(0.5)).new
    restart.join()
    assert store.snapshot(study.id).trials[0].state == DONE
    store.close()


def test_a_server_that_stays_away_leaves_the_value_with_the_caller(server: Server) -> None:
    store = Store(server.new_database(), patience=0.5)
    study = store.create_study("s", {}, {})
    store.create_trials(study.id, [NewTrial({"x": 0.5})])
    server.crash()
    try:
        with pytest.raises(
            NotStoredError, match=r"trial 0 was measured, Measurement\(value=0.31"
        ) as caught:
            store.tell(study.id, 0, Measurement(0.31), "run-2")
    finally:
        server.start()
    # it must survive the way back from a worker process
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.number, error.measurement, error.key) == (0, Measurement(0.31), "run-2")
    assert str(error) == str(caught.value)
    assert store.tell(study.id, error.number, error.measurement, error.key).new
    store.close()
