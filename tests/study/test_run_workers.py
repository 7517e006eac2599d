"""minimize() on executors and in several processes: kept full, nothing lost when workers die,
Ctrl-C.
"""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ceibo
from ceibo import Float, Measurement, StopReason, Study
from ceibo.decide.space import Params
from ceibo.errors import ExecutorLostError, ObjectiveExitError
from ceibo.study.asking import Asking
from ceibo.study.evaluation import job_count
from ceibo.study.ledger import Ledger
from ceibo.study.store import Lease

if TYPE_CHECKING:
    import distributed

SPACE = {"x": Float(0, 1), "y": Float(0, 1)}


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'lab.db'}"


def bowl(params: Params) -> Measurement:
    return Measurement((params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2, noise=0.01)


def slow_bowl(params: Params) -> Measurement:
    time.sleep(0.1)
    return bowl(params)


def in_order(study: Study, n_trials: int) -> None:
    """All told once, numbers without gaps, no lease left, every suggestion explained by its
    record.
    """
    assert [t.number for t in study.trials] == list(range(n_trials))
    assert [len(t.measurements) for t in study.trials] == [1] * n_trials
    assert study.ledger.workers() == {}
    assert study.verify().ok


# -- executors -------------------------------------------------------------------------


def test_threads_are_kept_full() -> None:
    """Every evaluation waits for three others: the run would never end if fewer than four were
    under way.
    """
    gate = threading.Barrier(4)

    def together(params: Params) -> Measurement:
        gate.wait(timeout=300)
        return bowl(params)

    with ThreadPoolExecutor(4) as executor:
        result = ceibo.minimize(together, SPACE, n_trials=16, executor=executor)
    in_order(result.study, 16)
    # Later trials saw earlier ones as pending: all are different.
    assert len({tuple(t.params.values()) for t in result.study.trials}) == 16


def test_no_more_jobs_than_asked_for() -> None:
    with ThreadPoolExecutor(8) as executor:
        running: list[int] = []

        def note(study: Study, trial: ceibo.Trial) -> None:
            running.append(sum(t.state == "running" for t in study.trials))

        ceibo.minimize(bowl, SPACE, n_trials=8, executor=executor, jobs=2, callbacks=[note])
    assert max(running) <= 2


def test_failures_on_an_executor() -> None:
    def flaky(params: Params) -> Measurement:
        if params["x"] > 0.7:
            raise ValueError("too hot")
        return bowl(params)

    with ThreadPoolExecutor(2) as executor:
        result = ceibo.minimize(
            flaky, SPACE, n_trials=14, executor=executor, max_failures=14, seed=1
        )
    failed = [t for t in result.study.trials if t.state == "failed"]
    assert failed
    assert all("ValueError: too hot" in (t.reason or "") for t in failed)
    assert result.study.verify().ok


class Recording(ThreadPoolExecutor):
    """Remembers what was submitted."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.futures: list[Future[object]] = []

    def submit(self, *args: object, **kwargs: object) -> Future[object]:  # type: ignore[override]
        self.futures.append(super().submit(*args, **kwargs))  # type: ignore[arg-type]
        return self.futures[-1]


def test_finished_evaluations_are_kept_whatever_ends_the_run(storage: str) -> None:
    """A callback raises while one evaluation is under way and three have finished, one of them
    recorded. The one under way is recorded when it ends.
    """
    first, over = Study.create(SPACE, seed=0).ask(), threading.Event()

    def objective(params: Params) -> Measurement:
        if params["x"] == first.params["x"]:
            over.wait(timeout=300)
        return bowl(params)

    def broken(study: Study, trial: ceibo.Trial) -> None:
        wait(executor.futures[1:])
        raise ZeroDivisionError

    with Recording(4) as executor:
        with pytest.raises(ZeroDivisionError):
            ceibo.minimize(
                objective, SPACE, n_trials=4, storage=storage, executor=executor, callbacks=[broken]
            )
        study = Study.open(storage)
        assert [t.state for t in study.trials] == ["queued", "done", "done", "done"]
        over.set()
    assert [t.state for t in study.trials] == ["done"] * 4
    assert len(study.trials[0].measurements) == 1


def die_once(params: Params) -> Measurement:
    """Kills its own process the first time it is called in the folder named by the environment."""
    mark = Path(os.environ["CEIBO_TEST_FOLDER"]) / "died"
    time.sleep(0.05)
    if float(params["x"]) > 0.5:
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return bowl(params)
        os.kill(os.getpid(), signal.SIGKILL)
    return bowl(params)


def test_a_process_of_the_pool_is_killed(
    storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CEIBO_TEST_FOLDER", str(tmp_path))
    with ProcessPoolExecutor(2) as executor:
        result = ceibo.minimize(die_once, SPACE, n_trials=10, storage=storage, executor=executor)
    in_order(result.study, 10)
    assert (tmp_path / "died").exists()
    assert result.study.ledger.workers() == {}
    assert max(t.attempt for t in result.study.trials) == 2


def deadly(params: Params) -> Measurement:
    """Kills its process wherever x is large, at once; elsewhere it takes its time."""
    if params["x"] > 0.6:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.3)
    return bowl(params)


def test_a_trial_that_kills_its_process_is_given_up(storage: str) -> None:
    """Every call would end like the first; trials that only shared a pool with a deadly one are
    measured.
    """
    study, calls = Study.create(SPACE, storage=storage), 0
    while calls < 20 and len([t for t in study.trials if t.state in ("done", "failed")]) < 4:
        calls += 1
        with suppress(ExecutorLostError), ProcessPoolExecutor(2) as executor:
            ceibo.minimize(deadly, SPACE, n_trials=4, storage=storage, executor=executor)
    dead = [t for t in study.trials if t.params["x"] > 0.6]
    assert dead
    assert [t.state for t in study.trials] == [
        "failed" if t in dead else "done" for t in study.trials
    ]
    assert {t.attempt for t in dead} == {3}
    assert all("given up: 3 times a worker began it" in (t.reason or "") for t in dead)
    assert study.verify().ok
    study.enqueue(dead[0].params)  # as the reason says
    assert study.ask().params == dead[0].params


def leave(params: Params) -> Measurement:
    if params["x"] > 0.6:
        sys.exit("no licence")
    return bowl(params)


def test_sys_exit_on_an_executor_is_a_failed_trial(storage: str) -> None:
    """It ends no program there: thread and process pools hand it over like any exception."""
    # an exception in the first ever is raised
    Study.create(SPACE, storage=storage).add({"x": 0.1, "y": 0.1}, 0.5)
    with ProcessPoolExecutor(1) as executor:
        result = ceibo.minimize(
            leave, SPACE, n_trials=7, storage=storage, executor=executor, max_failures=None
        )
    failed = [t for t in result.study.trials if t.state == "failed"]
    assert failed
    assert all("the objective raised SystemExit('no licence')" in (t.reason or "") for t in failed)
    assert len(failed) + len([t for t in result.study.trials if t.state == "done"]) == 7
    with ThreadPoolExecutor(1) as executor, pytest.raises(ObjectiveExitError, match="no licence"):
        ceibo.minimize(leave, {**SPACE, "x": Float(0.7, 1)}, n_trials=6, executor=executor)


def broken_inside(params: Params) -> Measurement:
    if params["x"] > 0.6:
        raise BrokenProcessPool("a data loader's worker died")
    if params["x"] > 0.4:
        raise CancelledError
    return bowl(params)


def test_what_the_objective_raises_is_not_taken_for_the_executors(tmp_path: Path) -> None:
    for kind, pool in enumerate((ProcessPoolExecutor(1), ThreadPoolExecutor(2), None)):
        storage = f"sqlite:///{tmp_path / str(kind)}.db"
        Study.create(SPACE, storage=storage).add({"x": 0.1, "y": 0.1}, 0.5)
        result = ceibo.minimize(
            broken_inside, SPACE, n_trials=10, storage=storage, executor=pool, max_failures=None
        )
        trials = result.study.trials
        for trial in trials:
            assert trial.state == ("failed" if trial.params["x"] > 0.4 else "done")
            if trial.state == "failed":
                assert "in broken_inside" in (trial.reason or "")
                name = "BrokenProcessPool: a data" if trial.params["x"] > 0.6 else "CancelledError"
                assert name in (trial.reason or "").rstrip().splitlines()[-1]
        assert {trial.state for trial in trials} == {"failed", "done"}
        if pool is not None:
            pool.shutdown()


def test_an_executor_that_was_shut_down(storage: str) -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(ExecutorLostError, match="cannot schedule new futures after shutdown"):
        ceibo.minimize(bowl, SPACE, n_trials=3, storage=storage, executor=executor)
    assert [t.state for t in Study.open(storage).trials] == ["queued"]


def test_how_many_evaluations_an_executor_runs() -> None:
    class Silent(Executor):
        def submit(self, *args: object, **kwargs: object) -> Future[None]:  # type: ignore[override]
            raise NotImplementedError

    with ThreadPoolExecutor(3) as executor:
        assert job_count(executor, None) == 3
        assert job_count(executor, 2) == 2
    assert job_count(Silent(), None) == os.cpu_count()
    assert job_count(None, None) == 1


@pytest.fixture(scope="module")
def cluster() -> "Iterator[distributed.Client]":
    import distributed

    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "silence_logs": 50,
    }
    with distributed.LocalCluster(**options) as running, distributed.Client(running) as client:
        yield client


def test_dask_with_a_worker_killed(cluster: "distributed.Client", storage: str) -> None:
    """Dask runs the evaluation of a dead worker again by itself."""
    killed: list[int] = []

    def kill(study: Study, trial: ceibo.Trial) -> None:
        if trial.number >= 3 and not killed:
            killed.extend(list(cluster.run(os.getpid).values())[:1])
            os.kill(killed[0], signal.SIGKILL)

    with cluster.get_executor() as executor:
        assert job_count(executor, None) == 2
        result = ceibo.minimize(
            slow_bowl, SPACE, n_trials=12, storage=storage, executor=executor, callbacks=[kill]
        )
    assert killed
    in_order(result.study, 12)


@pytest.mark.needs("distributed")
def test_dask_runs_the_evaluation_of_a_dead_worker_again(storage: str, tmp_path: Path) -> None:
    """Retried while Dask allows it, then recorded as failed; what has been told is not evaluated
    again.
    """
    import dask
    import distributed

    (tmp_path / "calls").mkdir()

    def deadly(params: Params) -> Measurement:
        x = float(params["x"])
        (tmp_path / "calls" / f"{x!r} {time.time_ns()}").touch()
        if x > 0.95 or (x > 0.5 and not (tmp_path / "died").exists()):  # always; once
            (tmp_path / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return bowl(params)

    options = {
        "n_workers": 1,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "silence_logs": 50,
    }
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(**options) as running,
        distributed.Client(running) as client,
        client.get_executor() as executor,
    ):
        # One at a time, so that a death is nobody else's.
        study = ceibo.minimize(deadly, SPACE, n_trials=5, storage=storage, executor=executor).study
    calls = Counter(float(path.name.split()[0]) for path in (tmp_path / "calls").iterdir())
    states = {float(trial.params["x"]): trial.state for trial in study.trials}
    first = next(x for x in states if x > 0.5)
    assert states == {x: "failed" if x > 0.95 else "done" for x in states}
    assert calls == {x: 2 if x == first or x > 0.95 else 1 for x in states}
    assert sorted(states.values()) == ["done"] * 4 + ["failed"]
    assert all(
        "KilledWorker" in str(trial.reason) for trial in study.trials if trial.state == "failed"
    )


def draw(params: Params) -> float:
    return float.fromhex(os.urandom(6).hex())


def test_dask_measures_a_repeated_setting_anew(cluster: "distributed.Client") -> None:
    """Dask takes functions to be pure, and would hand out the first value again."""
    with cluster.get_executor() as executor:
        space = {"a": ceibo.Categorical(["this", "that"])}
        result = ceibo.minimize(draw, space, n_trials=6, executor=executor)
    assert len({t.measurements[0].value for t in result.study.trials}) == 6


# -- several processes -----------------------------------------------------------------

WORKER = """
    import os, signal, sys, time
    import ceibo

    # ignored where the tests run in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
    calls = []

    def bowl(params):
        calls.append(params)
        print("measuring", params["x"], flush=True)
        time.sleep({sleep})
        return ceibo.Measurement((params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2, noise=0.01)

    space = {{"x": ceibo.Float(0, 1), "y": ceibo.Float(0, 1)}}
    result = ceibo.minimize(bowl, space, n_trials={n_trials}, storage={storage!r}, lease={lease})
    print("ended:", result.stop.reason.name, flush=True)
"""


def start(
    storage: str, n_trials: int, sleep: str = "0", lease: float = 60.0
) -> subprocess.Popen[str]:
    code = textwrap.dedent(WORKER).format(
        storage=storage, n_trials=n_trials, sleep=sleep, lease=lease
    )
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def end(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=600)
    assert (process.returncode, err) == (0, "")
    return out


def test_processes_share_the_work(storage: str) -> None:
    """All begin at once, on a file that does not exist yet, and stop at exactly the trials
    given.
    """
    outputs = [end(process) for process in [start(storage, 16, "0.05") for _ in range(3)]]
    assert all("ended: BUDGET" in output for output in outputs)
    assert sum(output.count("measuring") for output in outputs) == 16
    in_order(Study.open(storage), 16)


def test_the_trial_of_a_killed_process_is_done_by_another(storage: str) -> None:
    doomed = start(storage, 6, "600", lease=1.0)
    assert doomed.stdout is not None
    assert doomed.stdout.readline().startswith("measuring")
    doomed.kill()
    doomed.communicate()
    assert [t.state for t in Study.open(storage).trials] == ["running"]
    output = end(start(storage, 6))
    assert output.count("measuring") == 6
    study = Study.open(storage)
    in_order(study, 6)
    assert study.trials[0].attempt == 2


def test_ctrl_c(storage: str) -> None:
    """A real SIGINT: the trial is given back, a result is returned, the same call goes on."""
    process = start(storage, 5, "600 if len(calls) == 2 else 0")
    assert process.stdout is not None
    for _ in range(2):
        assert process.stdout.readline().startswith("measuring")
    process.send_signal(signal.SIGINT)
    assert "ended: INTERRUPTED" in end(process)
    assert [t.state for t in Study.open(storage).trials] == ["done", "queued"]
    output = end(start(storage, 5))
    assert output.count("measuring") == 4
    assert "ended: BUDGET" in output
    study = Study.open(storage)
    in_order(study, 5)
    unbroken = ceibo.minimize(bowl, SPACE, n_trials=5).study
    assert [t.params for t in study.trials] == [t.params for t in unbroken.trials]


def test_interrupts_are_not_held_against_a_trial(storage: str) -> None:
    """Stopped every evening, it still goes on; leaving by sys.exit in the objective is another
    matter.
    """

    def interrupted(params: Params) -> float:
        raise KeyboardInterrupt

    def left(params: Params) -> float:
        raise SystemExit

    for _ in range(5):
        ceibo.minimize(interrupted, SPACE, n_trials=2, storage=storage)
    assert [(t.state, t.attempt) for t in Study.open(storage).trials] == [("queued", 5)]
    for _ in range(3):
        with pytest.raises(SystemExit):
            ceibo.minimize(left, SPACE, n_trials=2, storage=storage)
    result = ceibo.minimize(bowl, SPACE, n_trials=2, storage=storage)
    assert [(t.state, t.attempt) for t in result.study.trials] == [("failed", 8), ("done", 1)]


def test_an_interrupt_while_storing_loses_nothing(
    storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C between the end of an evaluation and its tell."""
    tell = Ledger.tell

    def interrupted(self: Ledger, *args: object, **kwargs: object) -> None:
        monkeypatch.setattr(Ledger, "tell", tell)
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "tell", interrupted)
    result = ceibo.minimize(bowl, SPACE, n_trials=5, storage=storage)
    assert result.stop.reason is StopReason.INTERRUPTED
    assert "goes on from here" in result.stop.message
    assert [t.state for t in result.study.trials] == ["done"]


def test_an_interrupt_after_asking_gives_the_trial_back(
    storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Asking.ask

    def interrupted(self: Asking, lease: Lease | None, limit: int | None, **_: object) -> None:
        ask(self, lease, limit)
        raise KeyboardInterrupt

    monkeypatch.setattr(Asking, "ask", interrupted)
    assert (
        ceibo.minimize(bowl, SPACE, n_trials=5, storage=storage).stop.reason
        is StopReason.INTERRUPTED
    )
    assert [t.state for t in Study.open(storage).trials] == ["queued"]


def test_a_trial_that_is_told_from_elsewhere_meanwhile_ends_no_run() -> None:
    """It did, and results that other workers had were lost with it."""
    study = Study.create({"x": Float(0, 1)}, seed=0)

    def objective(params: Params) -> float:
        if ceibo.current_trial().number == 3:
            study.tell(3, 5.0)
        time.sleep(0.02)
        return float(params["x"])

    with ThreadPoolExecutor(4) as executor:
        study.optimize(objective, n_trials=8, executor=executor, progress=False)
    assert [trial.state for trial in study.trials] == ["done"] * 8
    told = [each.value for each in study.trials[3].measurements]
    assert told == [5.0, study.trials[3].params["x"]]  # the worker's is a further measurement
    assert not study.ledger.workers()


def test_a_list_that_took_up_what_cannot_be_stored_loses_no_measurement() -> None:
    study = Study.create({"x": Float(0, 1)}, seed=0)

    def objective(params: Params) -> float:
        attributes = ceibo.current_trial().attributes
        attributes["losses"], attributes["models"] = [], []
        attributes["losses"].append(float("nan"))
        attributes["models"].append(object)
        attributes["large"] = 10**100
        with pytest.raises(ceibo.InputError, match="attribute 'larger'"):
            attributes["larger"] = 10**5000
        return float(params["x"])

    study.optimize(objective, n_trials=2, progress=False)
    kept = {"losses": ["nan"], "models": "[<class 'object'>]", "large": 10**100}
    assert [trial.attributes for trial in study.trials] == [kept, kept]
