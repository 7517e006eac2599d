"""minimize() and maximize(): budgets, prices, endings, failures, in one process."""

import math
import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import ceibo
from ceibo import Float, InputError, Measurement, StopReason, Study
from ceibo.decide.space import Params
from ceibo.errors import EvaluationsFailedError, NotStoredError, StorageError

SPACE = {"x": Float(0, 1)}


def bowl(params: Params) -> Measurement:
    return Measurement((params["x"] - 0.3) ** 2, noise=0.01)


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'lab.db'}"


def test_minimize() -> None:
    result = ceibo.minimize(bowl, SPACE, n_trials=12, seed=0)
    assert result.best.params["x"] == pytest.approx(0.3, abs=0.1)
    assert result.recommended.params["x"] == pytest.approx(0.3, abs=0.1)
    assert result.best_observed.value >= 0
    assert (result.stop.reason, result.stop.message) == (
        StopReason.BUDGET,
        "all 12 trials are done.",
    )
    assert len(result.study.trials) == 12
    assert result.study.verify().ok
    assert result.study.ledger.workers() == {}
    assert result.profit is None


def test_maximize_is_minimize_of_the_negative() -> None:
    up = ceibo.maximize(lambda p: Measurement(-bowl(p).value, 0.01), SPACE, n_trials=8)
    down = ceibo.minimize(bowl, SPACE, n_trials=8)
    assert [t.params for t in up.study.trials] == [t.params for t in down.study.trials]
    assert up.study.direction == "maximize"


def test_a_plain_number_is_of_unknown_noise() -> None:
    result = ceibo.minimize(lambda p: p["x"], SPACE, n_trials=3)
    assert [t.measurements[0].noise for t in result.study.trials] == [None] * 3


def test_the_budget_counts_what_is_there(storage: str) -> None:
    study = Study.create(SPACE, storage=storage)
    study.add({"x": 0.1}, 0.5)
    study.enqueue({"x": 0.25})
    called: list[object] = []

    def counted(params: Params) -> Measurement:
        called.append(params["x"])
        return bowl(params)

    result = ceibo.minimize(counted, SPACE, n_trials=6, storage=storage)
    assert len(called) == 5
    assert called[0] == 0.25
    assert len(result.study.trials) == 6
    again = ceibo.minimize(counted, SPACE, n_trials=6, storage=storage)
    assert len(called) == 5  # nothing left to do
    assert again.stop.reason is StopReason.BUDGET
    ceibo.minimize(counted, SPACE, n_trials=8, storage=storage)
    assert len(called) == 7


def test_numbers_of_numpy_are_numbers() -> None:
    options = {"n_trials": np.int64(4), "max_failures": np.int32(2), "timeout": np.float64(100)}
    assert len(ceibo.minimize(bowl, SPACE, **options).study.trials) == 4  # type: ignore[arg-type]


def test_trials_asked_by_hand_are_not_said_to_be_done(storage: str) -> None:
    study = Study.create(SPACE, storage=storage)
    study.ask(3)
    stop = ceibo.minimize(bowl, SPACE, n_trials=5, storage=storage).stop
    assert stop.reason is StopReason.BUDGET
    assert stop.message.startswith(
        "all 5 trials are handed out; 3 of them, asked by hand, wait for a result"
    )
    study.tell(0, 1.0)
    study.tell(1, 1.0)
    message = ceibo.minimize(bowl, SPACE, n_trials=5, storage=storage).stop.message
    assert (
        message
        == "all 5 trials are handed out; 1 of them, asked by hand, waits for a result: tell, fail"
        " or release it."
    )


def test_fifty_trials_if_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ceibo.study.limits.DEFAULT_TRIALS", 5)
    assert len(ceibo.minimize(bowl, SPACE).study.trials) == 5


def test_continuing_is_byte_for_byte(storage: str) -> None:
    unbroken = ceibo.minimize(bowl, SPACE, n_trials=10, seed=3)
    for n in (3, 4, 9, 10):
        broken = ceibo.minimize(bowl, SPACE, n_trials=n, seed=3, storage=storage)
    assert [t.params for t in broken.study.trials] == [t.params for t in unbroken.study.trials]


def test_a_changed_problem_is_refused(storage: str) -> None:
    ceibo.minimize(bowl, SPACE, n_trials=2, storage=storage)
    with pytest.raises(InputError, match="the space has changed"):
        ceibo.minimize(bowl, {"x": Float(0, 2)}, n_trials=3, storage=storage)
    with pytest.raises(InputError, match="study 'study' is to minimize"):
        ceibo.maximize(bowl, SPACE, n_trials=3, storage=storage)
    assert len(ceibo.minimize(bowl, SPACE, n_trials=3, storage=storage).study.trials) == 3


@pytest.mark.parametrize("option", [{"seed": 99}, {"acquisition": "ucb"}, {"n_initial": 9}])
def test_changed_settings_are_refused(storage: str, option: dict[str, object]) -> None:
    begun = {"seed": 3, "acquisition": "corrected-ei", "n_initial": 2}
    ceibo.minimize(bowl, SPACE, n_trials=2, storage=storage, **begun)  # type: ignore[arg-type]
    ((name, value),) = option.items()
    with pytest.raises(
        InputError,
        match=f"was begun with {name}={begun[name]!r}, now came {name}={value!r}; leave it",
    ):
        ceibo.minimize(bowl, SPACE, n_trials=3, storage=storage, **option)  # type: ignore[arg-type]
    ceibo.minimize(bowl, SPACE, n_trials=3, storage=storage, **begun)  # type: ignore[arg-type]
    study = ceibo.minimize(bowl, SPACE, n_trials=4, storage=storage).study
    assert (len(study.trials), study.seed, study.settings.n_initial) == (4, 3, 2)


def test_the_price_ends_the_run() -> None:
    result = ceibo.minimize(bowl, SPACE, n_trials=60, cost=0.05)
    assert result.stop.reason is StopReason.COST
    assert result.stop.message.startswith("stop: the largest expected improvement is")
    assert 4 <= len(result.study.trials) < 30
    assert result.profit == result.study.profit(0.05)
    longer = ceibo.minimize(bowl, SPACE, n_trials=60, cost=0.002)
    assert len(longer.study.trials) > len(result.study.trials)


def test_the_time_given_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock on which every evaluation takes ten seconds."""
    seconds = 0.0

    def slow(params: Params) -> Measurement:
        nonlocal seconds
        seconds += 10.0
        return bowl(params)

    clock = SimpleNamespace(monotonic=lambda: seconds, sleep=time.sleep)
    monkeypatch.setattr("ceibo.study.runner.time", clock)
    result = ceibo.minimize(slow, SPACE, timeout=25.0)
    assert (result.stop.reason, result.stop.message) == (
        StopReason.TIMEOUT,
        "the time given, 25 s, was used up.",
    )
    assert [t.state for t in result.study.trials] == ["done"] * 3


def test_callbacks() -> None:
    seen: list[tuple[int, str]] = []

    def note(study: Study, trial: ceibo.Trial) -> None:
        assert study.trials[trial.number] == trial
        seen.append((trial.number, trial.state))

    def end(study: Study, trial: ceibo.Trial) -> None:
        if trial.number == 4:
            raise ceibo.StopRun("five are enough")

    result = ceibo.minimize(bowl, SPACE, n_trials=20, callbacks=[end, note])
    assert result.stop.reason is StopReason.CALLBACK
    assert seen == [(k, "done") for k in range(5)]


def test_a_callback_that_raises_loses_nothing(storage: str) -> None:
    def broken(study: Study, trial: ceibo.Trial) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ceibo.minimize(bowl, SPACE, n_trials=5, storage=storage, callbacks=[broken])
    assert [t.state for t in Study.open(storage).trials] == ["done"]


# -- failures --------------------------------------------------------------------------


class Flaky:
    """Raises at these calls."""

    def __init__(self, *calls: int) -> None:
        self.calls, self.count = calls, -1

    def __call__(self, params: Params) -> Measurement:
        self.count += 1
        if self.count in self.calls:
            raise RuntimeError(f"call {self.count} broke")
        return bowl(params)


def test_an_exception_in_the_very_first_trial_is_raised(storage: str) -> None:
    with pytest.raises(RuntimeError, match="call 0 broke"):
        ceibo.minimize(Flaky(0), SPACE, n_trials=5, storage=storage)
    (trial,) = Study.open(storage).trials
    assert trial.state == "failed"
    assert "in __call__" in (trial.reason or "")
    assert (trial.reason or "").rstrip().endswith("RuntimeError: call 0 broke")
    # The same call goes on: the first failure is now known, and another one is not the first ever.
    result = ceibo.minimize(Flaky(0), SPACE, n_trials=5, storage=storage)
    assert [t.state for t in result.study.trials] == ["failed", "failed", "done", "done", "done"]


def test_what_ends_a_run_in_its_first_trial_says_why_and_carries_the_study() -> None:
    with pytest.raises(RuntimeError, match="call 0 broke") as caught:
        ceibo.minimize(Flaky(0), SPACE, n_trials=5)
    (note,) = caught.value.__notes__
    assert "with max_failures given, such as max_failures=3, it counts like any other" in note
    assert "error.study" in note
    assert [t.state for t in caught.value.study.trials] == ["failed"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("most", [2, 3, None])
def test_a_first_exception_counts_like_others_if_max_failures_is_given(most: int | None) -> None:
    result = ceibo.minimize(Flaky(0, 3), SPACE, n_trials=5, max_failures=most)
    assert [t.state for t in result.study.trials] == ["failed", "done", "done", "failed", "done"]


def test_given_max_failures_end_a_run_that_only_fails() -> None:
    with pytest.raises(RuntimeError, match="call 2 broke"):
        ceibo.minimize(Flaky(*range(9)), SPACE, n_trials=9, max_failures=3)
    with pytest.raises(RuntimeError, match="call 0 broke"):
        ceibo.minimize(Flaky(*range(9)), SPACE, n_trials=9, max_failures=1)


def test_later_exceptions_are_failed_trials() -> None:
    result = ceibo.minimize(Flaky(2, 3, 6, 8), SPACE, n_trials=12)
    failed = [t for t in result.study.trials if t.state == "failed"]
    assert [t.number for t in failed] == [2, 3, 6, 8]
    assert all("Traceback" in (t.reason or "") for t in failed)
    assert result.stop.reason is StopReason.BUDGET


def test_the_third_failure_in_a_row_is_raised() -> None:
    study: list[Study] = []
    with pytest.raises(RuntimeError, match="call 5 broke"):
        ceibo.minimize(
            Flaky(1, 3, 4, 5), SPACE, n_trials=12, callbacks=[lambda s, t: study.append(s)]
        )
    assert [t.state for t in study[0].trials] == [
        "done",
        "failed",
        "done",
        "failed",
        "failed",
        "failed",
    ]
    assert (
        ceibo.minimize(Flaky(3, 4, 5), SPACE, n_trials=7, max_failures=4).stop.reason
        is StopReason.BUDGET
    )


def test_without_a_limit_failures_never_end_the_run() -> None:
    result = ceibo.minimize(Flaky(*range(1, 9)), SPACE, n_trials=10, max_failures=None)
    assert [t.state for t in result.study.trials] == ["done"] + ["failed"] * 8 + ["done"]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_are_failures(value: float) -> None:
    answers = iter([value, 1.0, value, value, 2.0])
    result = ceibo.minimize(lambda p: next(answers), SPACE, n_trials=5)
    assert [t.state for t in result.study.trials] == ["failed", "done", "failed", "failed", "done"]
    assert result.study.trials[0].reason == f"trial 0 gave {value!r}, which is not finite."
    said = r"trial 2 gave .* not finite\. 3 failures in a row end the run\.$"
    with pytest.raises(EvaluationsFailedError, match=said):
        ceibo.minimize(lambda p: value, SPACE, n_trials=5)


@pytest.mark.parametrize(
    "value", [None, "0.3", [1.0, 2.0], (0.3, 0.1), {"value": 0.3}, True, np.ones(2)]
)
def test_what_is_no_measurement_is_said_at_once(value: object) -> None:
    with pytest.raises(
        InputError, match=r"expected value to be a number, .*Measurement\.of\(\[…\]\)"
    ) as caught:
        ceibo.minimize(lambda p: value, SPACE, n_trials=5)  # type: ignore[arg-type, return-value]
    assert "a value with its noise is Measurement(value, noise=…)" in str(caught.value)


def test_the_objective_cannot_change_the_record() -> None:
    def rude(params: Params) -> float:
        params["x"] = 99.0
        return 1.0

    assert ceibo.minimize(rude, SPACE, n_trials=1).study.trials[0].params["x"] <= 1.0


def test_a_callback_cannot_change_the_record() -> None:
    result = ceibo.minimize(
        bowl, SPACE, n_trials=6, callbacks=[lambda study, trial: trial.params.pop("x") > 1]
    )
    assert all(set(trial.params) == {"x"} for trial in result.study.trials)
    assert result.study.verify().ok


def test_leaving_by_system_exit_gives_the_trial_back(storage: str) -> None:
    def leave(params: Params) -> float:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        ceibo.minimize(leave, SPACE, n_trials=5, storage=storage)
    assert [t.state for t in Study.open(storage).trials] == ["queued"]


def test_a_storage_that_goes_away_leaves_the_value_with_the_caller(
    storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error holds the measurement; giving trials back, which would fail as well, does not hide
    it.
    """
    study = Study.create(SPACE, storage=storage)

    def away(self: object, work: object, patience: float | None = None) -> None:
        raise StorageError("the disk is gone")

    def objective(params: Params) -> Measurement:
        monkeypatch.setattr("ceibo.study.store.database.Database.write", away)
        return Measurement(0.31, 0.04)

    with pytest.raises(NotStoredError, match=r"trial 0 was measured.*the disk is gone") as caught:
        ceibo.minimize(objective, SPACE, n_trials=5, storage=storage)
    assert caught.value.measurement == Measurement(0.31, 0.04)
    monkeypatch.undo()
    study.tell(caught.value.number, caught.value.measurement, key=caught.value.key)
    assert study.best_observed.value == 0.31


# -- bad input -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"n_trials": 0},
        {"n_trials": 2.5},
        {"cost": -1.0},
        {"cost": "cheap"},
        {"timeout": 0},
        {"timeout": math.inf},
        {"lease": math.nan},
        {"lease": None},
        {"max_failures": 0},
        {"max_failures": True},
        {"jobs": 0},
        {"jobs": 1.0},
        {"executor": "threads"},
        {"callbacks": 3},
        {"callbacks": print},
        {"callbacks": [3]},
        {"progress": "yes"},
        {"seed": "a"},
        {"acquisition": "guess"},
        {"n_initial": -1},
    ],
)
def test_bad_options(options: dict[str, object], tmp_path: Path) -> None:
    name, value = next(iter(options.items()))
    with pytest.raises(InputError, match=f"{name} must be .*{re.escape(repr(value))}"):
        ceibo.minimize(bowl, SPACE, **options)  # type: ignore[arg-type]


def test_other_bad_input() -> None:
    with pytest.raises(InputError, match="objective must be a function"):
        ceibo.minimize(3, SPACE)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one parameter"):
        ceibo.minimize(bowl, {})
    with pytest.raises(InputError, match="jobs=4 needs an executor"):
        ceibo.minimize(bowl, SPACE, jobs=4)
    with pytest.raises(InputError, match=r"did you mean sqlite:///lab\.db"):
        ceibo.minimize(bowl, SPACE, storage="lab.db")
    with pytest.raises(
        InputError, match=r"expected sqlite:///file\.db .*got ''; leave storage out"
    ):
        # an environment variable that is not set
        ceibo.minimize(bowl, SPACE, n_trials=2, storage="")


def test_an_option_that_there_is_not_is_refused() -> None:
    """By name, with the one that was meant, by the function that was called."""
    mistyped: dict[str, Any] = {"ntrials": 3}
    measured: list[object] = []
    objective = cast("Any", measured.append)
    study = Study.create(SPACE)
    goal = {"a": ceibo.Minimize()}
    runs: dict[str, Callable[..., object]] = {
        "minimize": partial(ceibo.minimize, objective, SPACE),
        "maximize": partial(ceibo.maximize, objective, SPACE),
        "optimize": partial(ceibo.optimize, objective, SPACE, goal),
    }
    for name, run in runs.items():
        for wrong, meant in (("ntrials", "n_trials"), ("n_jobs", "jobs"), ("n_calls", "n_trials")):
            words = rf"^{name}\(\) has no option '{wrong}'; did you mean '{meant}'\?"
            with pytest.raises(TypeError, match=words):
                run(**{wrong: 2})
        with pytest.raises(TypeError, match=rf"^{name}\(\) has no option 'zz'; it has .*n_trials"):
            run(zz=2)
    with pytest.raises(TypeError, match=r"no option 'ntrials'; did you mean 'n_trials'"):
        study.optimize(objective, **mistyped)
    with pytest.raises(TypeError, match=r"^maximize\(\) has no option 'direction', because"):
        runs["maximize"](direction="maximize")
    assert not measured


def test_a_run_leaves_the_callers_random_numbers_alone() -> None:
    """In a process of its own: some packages draw from the shared generator when imported."""
    code = """
import random, ceibo
random.seed(4)
before = random.getstate()
ceibo.minimize(lambda p: p["x"] ** 2, {"x": ceibo.Float(0, 1)}, n_trials=6)
print(random.getstate() == before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == ("True", 0), done.stderr
