"""A study one can hold: whatever ends a run, the study is there with all that was measured."""

import os
import pickle
import re
import signal
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import ceibo
from ceibo import Float, StopReason, Study
from ceibo.decide.space import Params
from ceibo.errors import ExecutorLostError, InputError, NewerSchemaError, NotFoundError
from ceibo.study.store import Lease, history, schema
from soak import interruptions

SPACE = {"x": Float(0, 1)}


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/lab.db"


def bowl(params: Params) -> float:
    value: float = (params["x"] - 0.3) ** 2
    return value


@pytest.mark.parametrize("case", range(10))
def test_interruptions_lose_nothing(case: int) -> None:
    way = interruptions.WAYS[case % len(interruptions.WAYS)]
    assert interruptions.check(way, 100 + case)[1] == []


def test_study_optimize_goes_on_with_what_the_study_has() -> None:
    study = Study.create(SPACE, seed=3)
    study.add({"x": 0.9}, 0.36)
    study.enqueue({"x": 0.25})
    result = study.optimize(bowl, n_trials=8)
    assert result.study is study
    assert result.stop.reason is StopReason.BUDGET
    assert [t.state for t in study.trials] == ["done"] * 8
    assert study.trials[1].params == {"x": 0.25}
    assert study.optimize(bowl, n_trials=8).stop.reason is StopReason.BUDGET
    assert len(study.trials) == 8
    alone = ceibo.minimize(bowl, SPACE, n_trials=8, seed=3)
    whole = Study.create(SPACE, seed=3)
    whole.optimize(bowl, n_trials=8)
    assert [t.params for t in whole.trials] == [t.params for t in alone.study.trials]
    with pytest.raises(InputError, match="n_trials"):
        study.optimize(bowl, n_trials=0)


def test_study_optimize_with_outcomes_and_a_price() -> None:
    outcomes = {"yield": ceibo.Maximize(), "impurity": ceibo.AtMost(1.5)}
    study = Study.create(SPACE, outcomes=outcomes)
    result = study.optimize(
        lambda p: {"yield": 80 - (p["x"] - 0.7) ** 2, "impurity": 3 * p["x"]}, n_trials=7, cost=1e-9
    )
    assert result.best.params["x"] <= 0.55
    assert result.profit is not None


def test_what_a_callback_returns_does_not_matter() -> None:
    """`bar.update(1)` and `file.write(…)` return what is true."""
    result = ceibo.minimize(bowl, SPACE, n_trials=6, callbacks=[lambda s, t: True, lambda s, t: 7])
    assert len(result.study.trials) == 6
    assert result.stop.reason is StopReason.BUDGET


def stop_at_three(params: Params) -> float:
    if ceibo.current_trial().number == 3:
        raise ceibo.StopRun("the budget of the day is spent")
    return bowl(params)


@pytest.mark.parametrize("pool", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_objective_stops_a_run(pool: Callable[[int], Executor] | None) -> None:
    executor = None if pool is None else pool(1)
    result = ceibo.minimize(stop_at_three, SPACE, n_trials=9, executor=executor)
    assert result.stop.reason is StopReason.OBJECTIVE
    assert result.stop.message == "the budget of the day is spent"
    assert [t.state for t in result.study.trials] == ["done", "done", "done", "queued"]
    if executor is not None:
        executor.shutdown()


def test_a_callback_stops_a_run_without_a_reason() -> None:
    def end(study: Study, trial: ceibo.Trial) -> None:
        raise ceibo.StopRun

    result = ceibo.minimize(bowl, SPACE, n_trials=9, callbacks=[end])
    assert result.stop == ceibo.decide.Stop(StopReason.CALLBACK, "a callback asked to stop.")


def test_an_exception_carries_the_study_and_says_so() -> None:
    """Twenty measurements were thrown away with a study in memory."""
    calls: list[float] = []

    def failing(params: Params) -> float:
        calls.append(params["x"])
        if len(calls) > 20:
            raise RuntimeError("CUDA error")
        return bowl(params)

    with pytest.raises(RuntimeError, match="CUDA error") as caught:
        ceibo.minimize(failing, SPACE, n_trials=50)
    study = caught.value.study  # type: ignore[attr-defined]
    assert isinstance(study, Study)
    assert [t.params["x"] for t in study.trials] == calls
    assert [len(t.measurements) for t in study.trials] == [1] * 20 + [0] * 3
    (note,) = caught.value.__notes__
    assert "20 measured trials of study 'study' kept in memory" in note
    assert "error.study" in note
    assert "study.optimize(objective, …) goes on" in note
    result = study.optimize(bowl, n_trials=30)
    assert len(result.study.trials) == 30


def test_an_exception_before_anything_is_measured_consoles_nobody() -> None:
    """A typing error in the first line of an objective is no loss to be consoled about."""
    with pytest.raises(ZeroDivisionError) as caught:
        ceibo.minimize(lambda p: 1 / 0, SPACE, n_trials=5)
    assert isinstance(caught.value.study, Study)  # type: ignore[attr-defined]
    assert "Nothing is lost" not in "".join(caught.value.__notes__)


def test_an_exception_that_carries_a_study_can_be_sent_to_another_process() -> None:
    """Also where another package pickles exceptions in a way of its own, as Dask's tblib does."""
    with pytest.raises(ZeroDivisionError) as caught:
        ceibo.minimize(lambda p: 1 / 0, SPACE, n_trials=3)
    sent = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(sent, ZeroDivisionError)
    assert sent.args == caught.value.args
    again = pickle.loads(pickle.dumps(sent))
    for each in (sent, again):
        with pytest.raises(InputError, match="no other process or copy can use"):
            _ = each.study.best  # type: ignore[union-attr]  # what the run gave it


def test_ctrl_c_in_memory_says_how_to_go_on() -> None:
    def interrupted(params: Params) -> float:
        if ceibo.current_trial().number == 2:
            signal.raise_signal(signal.SIGINT)
        return bowl(params)

    result = ceibo.minimize(interrupted, SPACE, n_trials=9)
    assert result.stop.reason is StopReason.INTERRUPTED
    assert "result.study.optimize" in result.stop.message
    assert [t.state for t in result.study.trials] == ["done", "done", "queued"]


def test_an_interrupt_in_a_transaction_leaves_a_study_in_memory() -> None:
    """SQLAlchemy closed the connection, and the whole study in memory was gone with it."""
    study = Study.create(SPACE)
    for _ in range(3):
        study.tell(study.ask(), 0.5)

    def interrupted(connection: sa.Connection) -> None:
        history.read_last_seq(connection, 1)
        connection.invalidate()  # as SQLAlchemy does where the interrupt comes in its own code
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.ledger.store._database.write(interrupted)
    assert len(study.trials) == 3
    study.tell(study.ask(), 0.25)
    assert study.best_observed.value == 0.25


# -- the trial in the objective ---------------------------------------------------------


def noting(params: Params) -> float:
    trial = ceibo.current_trial()
    trial.attributes["pid"] = os.getpid()
    trial.set_attribute("seen", [trial.number, trial.attempt, trial.study])
    if trial.number == 4:
        raise ValueError("no value")
    assert trial.params == params
    return bowl(params)


@pytest.mark.parametrize("pool", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_objective_knows_its_trial(pool: Callable[[int], Executor] | None) -> None:
    executor = None if pool is None else pool(2)
    result = ceibo.minimize(noting, SPACE, n_trials=6, executor=executor, name="lab")
    trials = result.study.trials
    assert [t.attributes["seen"] for t in trials] == [[k, 1, "lab"] for k in range(6)]
    here = {t.attributes["pid"] == os.getpid() for t in trials}
    assert here == {pool is not ProcessPoolExecutor}
    assert [t.state for t in trials] == ["done"] * 4 + ["failed", "done"]
    if executor is not None:
        executor.shutdown()


def test_there_is_no_current_trial_elsewhere() -> None:
    with pytest.raises(NotFoundError, match="inside an objective"):
        ceibo.current_trial()
    ceibo.minimize(bowl, SPACE, n_trials=1)
    with pytest.raises(NotFoundError, match="inside an objective"):
        ceibo.current_trial()


def test_attributes_are_told_and_kept(storage: str) -> None:
    import numpy as np

    study = Study.create(SPACE, storage=storage)
    study.tell(study.ask(), 0.4)
    given = {"operator": "Ann", "curve": np.array([1.5, np.nan]), "shape": (2, np.int64(3))}
    study.tell(study.ask(), 0.3, attributes=given)
    kept = {"operator": "Ann", "curve": [1.5, "nan"], "shape": [2, 3]}
    again = Study.open(storage)
    assert [t.attributes for t in again.trials] == [{}, kept]
    again.tell(1, 0.3, attributes={"operator": "Bob"})  # the same value, another attribute
    again.tell(1, 0.3, attributes={"operator": "Bob"})
    assert study.trials[1].attributes == {**kept, "operator": "Bob"}
    assert len(study.trials[1].measurements) == 1
    events = study.ledger.store.events(study.ledger.id)
    assert [e.kind for e in events].count("noted") == 2
    trial = study.ask()
    study.tell(trial, float("nan"), attributes={"why": "leak"})
    assert (study.trials[2].state, study.trials[2].attributes) == ("failed", {"why": "leak"})
    assert study.verify().ok
    for wrong in ({"": 1}, {"a": object()}, {3: 4}, [1], {"a": {1: 2}}):
        with pytest.raises(InputError, match="attribute"):
            study.tell(study.ask(), 0.1, attributes=wrong)  # type: ignore[arg-type]


def test_unknown_data_of_a_note_is_a_newer_versions(storage: str) -> None:
    study = Study.create(SPACE, storage=storage)
    study.tell(study.ask(), 0.3, attributes={"a": 1})
    note = schema.events.c.kind == "noted"
    change = schema.events.update().where(note).values(data='{"links": []}', checksum=None)
    study.ledger.store._database.write(lambda connection: connection.execute(change))
    with pytest.raises(NewerSchemaError, match="upgrade ceibo"):
        _ = Study.open(storage).trials


def test_trials_have_times() -> None:
    study = Study.create(SPACE)
    before = datetime.now(UTC) - timedelta(seconds=1)
    trial = study.ask()
    assert (study.trials[0].ended, study.trials[0].duration) == (None, None)
    time.sleep(0.05)
    study.tell(trial, 0.3)
    study.add({"x": 0.5}, 0.2)
    done, added = study.trials
    assert done.started is not None
    assert done.ended is not None
    assert before < done.started < done.ended < datetime.now(UTC) + timedelta(seconds=1)
    assert done.duration is not None
    assert 0.04 < done.duration < 60
    assert (added.started, added.duration) == (None, None)
    ended = done.ended
    study.tell(0, 0.31, key="again")
    assert study.trials[0].ended == ended
    study.fail(study.ask(), "leak")
    assert study.trials[2].duration is not None


# -- dead workers and broken pools ------------------------------------------------------


def die_at_two(params: Params) -> float:
    trial = ceibo.current_trial()
    if trial.number == 2 and trial.attempt == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return bowl(params)


def test_a_broken_pool_is_made_anew() -> None:
    """The user had to make pool and call again, seven times for two fatal settings."""
    with ProcessPoolExecutor(2) as executor:
        result = ceibo.minimize(die_at_two, SPACE, n_trials=8, executor=executor)
    assert [t.state for t in result.study.trials] == ["done"] * 8
    assert result.study.trials[2].attempt == 2


def die_at_two_always(params: Params) -> float:
    if ceibo.current_trial().number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return bowl(params)


def test_a_trial_that_kills_every_process_is_given_up_in_one_call() -> None:
    seen: list[int] = []
    with ProcessPoolExecutor(2) as executor:
        result = ceibo.minimize(
            die_at_two_always,
            SPACE,
            n_trials=6,
            executor=executor,
            callbacks=[lambda s, t: seen.append(t.number)],
        )
    states = [t.state for t in result.study.trials]
    assert states == ["done", "done", "failed", "done", "done", "done"]
    assert (result.study.trials[2].reason or "").startswith("given up")
    assert sorted(seen) == list(range(6))


def die(params: Params) -> float:
    os.kill(os.getpid(), signal.SIGKILL)
    return bowl(params)


def test_a_pool_that_breaks_for_ever_ends_the_run() -> None:
    with ProcessPoolExecutor(1) as executor, pytest.raises(ExecutorLostError) as caught:
        ceibo.minimize(die, SPACE, n_trials=50, executor=executor)
    assert "3 trials in a row failed" in str(caught.value)
    states = [t.state for t in caught.value.study.trials]  # type: ignore[attr-defined]
    assert states[:3] == ["failed"] * 3
    assert len(states) <= 4


class Fragile(ThreadPoolExecutor):
    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        raise RuntimeError("cannot schedule new futures after shutdown")


def test_another_executor_that_breaks_carries_the_study() -> None:
    with Fragile(1) as executor, pytest.raises(ExecutorLostError) as caught:
        ceibo.minimize(bowl, SPACE, n_trials=5, executor=executor)
    assert [t.state for t in caught.value.study.trials] == ["queued"]  # type: ignore[attr-defined]


def test_waiting_for_a_dead_worker_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study.create(SPACE, storage=f"sqlite:///{tmp_path}/lab.db")
    study.asking.ask(Lease("dead", 1.0), None)
    study.optimize(bowl, n_trials=3, progress=True)
    assert [t.state for t in study.trials] == ["done"] * 3
    said = capsys.readouterr().err
    whole = (
        r"waiting for 1 trial of another worker; if it is dead, it is handed out again in \d s\n"
    )
    assert len(re.findall(whole, said)) == 1


def test_waiting_for_a_dead_worker_is_in_the_log_where_no_progress_is_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not at once: workers that live end at different times, and nothing is wrong then."""
    monkeypatch.setattr("ceibo.study.runner._PATIENCE", 0.1)
    study = Study.create(SPACE, storage=f"sqlite:///{tmp_path}/lab.db")
    study.asking.ask(Lease("dead", 1.5), None)
    study.optimize(bowl, n_trials=3)
    (said,) = [each for each in caplog.records if each.name == "ceibo"]
    assert said.levelname == "WARNING"
    assert re.search(r"it is handed out again in \d s$", said.message)


def test_the_live_line_shows_the_end_in_a_notebook_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Jupyter `Live.stop` does not refresh: a finished run stood at 16 of 18 trials."""
    from rich.live import Live

    shown: list[tuple[str, bool]] = []

    def update(self: Live, renderable: object, *, refresh: bool = False) -> None:
        shown.append((str(renderable), refresh))

    monkeypatch.setattr(Live, "update", update)
    ceibo.minimize(bowl, SPACE, n_trials=3, progress=True)
    assert shown[-1][0].startswith("3/3 trials")
    assert shown[-1][1]
