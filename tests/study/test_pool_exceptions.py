"""Exceptions and results that cannot be pickled or unpickled, from a process pool."""

import pickle
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import pytest

import ceibo
from ceibo import Float
from ceibo.decide.space import Params
from ceibo.errors import InputError, ObjectiveError, ObjectiveExitError
from ceibo.study.evaluation import HandOut, Objective, RaisedElsewhere, evaluate

SPACE = {"x": Float(0, 1)}


class TwoArguments(Exception):
    """Cannot be unpickled: its arguments are not those of its constructor."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"{what} at {where}")


class Locked(Exception):
    """Cannot be pickled."""

    def __init__(self) -> None:
        super().__init__(threading.Lock())

    def __str__(self) -> str:
        return "the oven is locked"


class Reducing(Exception):
    """Whose pickling raises."""

    def __reduce__(self) -> NoReturn:
        raise ZeroDivisionError


class Disguised(Exception):
    """Which is unpickled as something that is no exception."""

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, ("no exception",)


class Halting(BaseException):
    """No Exception, and cannot be unpickled."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"{what} at {where}")


class Leaving(BaseException):
    """No Exception."""


class Reading(float):
    """A number that cannot be unpickled."""

    def __reduce__(self) -> tuple[type[TwoArguments], tuple[str]]:
        return TwoArguments, ("too few",)


class Thing:
    """No number, and cannot be unpickled."""

    def __reduce__(self) -> tuple[type[TwoArguments], tuple[str]]:
        return TwoArguments, ("too few",)


def two_arguments(params: Params) -> float:
    raise TwoArguments("too hot", "the lid")


def locked(params: Params) -> float:
    raise Locked


def reducing(params: Params) -> float:
    raise Reducing("it reduces")


def disguised(params: Params) -> float:
    raise Disguised("in disguise")


def halting(params: Params) -> float:
    raise Halting("it halts", "once")


def leaving(params: Params) -> float:
    raise Leaving


def plain(params: Params) -> float:
    raise ValueError("plainly wrong")


def thing(params: Params) -> float:
    return Thing()  # type: ignore[return-value]  # given on purpose


def reading(params: Params) -> float:
    return Reading(params["x"])


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1) as running:
        yield running


# Some libraries (tblib, which comes with Dask) make more exceptions survive: both are right.
Kinds = type[Exception] | tuple[type[Exception], ...]
REASONS: dict[Objective, tuple[Kinds, str]] = {
    two_arguments: ((ObjectiveError, TwoArguments), "TwoArguments: too hot at the lid"),
    locked: ((ObjectiveError, Locked), "Locked: the oven is locked"),
    reducing: ((ObjectiveError, Reducing), "Reducing: it reduces"),
    disguised: ((ObjectiveError, Disguised), "Disguised: in disguise"),
    halting: ((ObjectiveError, ObjectiveExitError), "Halting: it halts at once"),
    leaving: (ObjectiveExitError, "Leaving"),
    plain: (ValueError, "ValueError: plainly wrong"),
    thing: (ceibo.InputError, "got <test_pool_exceptions.Thing object"),
}


class Model:
    """An objective that holds what no other process can be given."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, params: Params) -> float:
        return float(params["x"])


@pytest.mark.parametrize("objective", [lambda p: p["x"], Model()], ids=["lambda", "a lock"])
def test_an_objective_that_cannot_be_sent_is_refused_with_advice(
    objective: Objective, pool: ProcessPoolExecutor
) -> None:
    with pytest.raises(InputError, match=r"`def` at the top level .* ThreadPoolExecutor"):
        ceibo.minimize(objective, SPACE, n_trials=4, executor=pool)
    with ThreadPoolExecutor(1) as threads:
        assert (
            ceibo.minimize(objective, SPACE, n_trials=4, executor=threads).best.number is not None
        )


@pytest.mark.parametrize("objective", REASONS, ids=lambda each: each.__name__)
def test_whatever_is_raised_is_a_failed_trial(
    objective: Objective, pool: ProcessPoolExecutor, tmp_path: Path
) -> None:
    storage = f"sqlite:///{tmp_path / 'lab.db'}"
    study = ceibo.Study.create(SPACE, storage=storage)
    study.add({"x": 0.5}, 1.0)  # an exception in the first trial ever is raised
    kind, expected = REASONS[objective]
    with pytest.raises(kind) as caught:
        ceibo.minimize(objective, SPACE, storage=storage, executor=pool, max_failures=2)
    failed = [trial for trial in study.trials if trial.state == "failed"]
    assert len(failed) == 2
    assert all(expected in (trial.reason or "") for trial in failed)
    shown = "".join(traceback.format_exception(caught.value))
    assert "in evaluate" in shown  # the other process's traceback


def test_numbers_that_cannot_be_unpickled_are_numbers(pool: ProcessPoolExecutor) -> None:
    result = ceibo.minimize(reading, SPACE, n_trials=3, executor=pool)
    values = [trial.measurements[0].value for trial in result.study.trials]
    assert values == [trial.params["x"] for trial in result.study.trials]


def test_in_this_process_the_exception_itself_is_raised() -> None:
    with ThreadPoolExecutor(1) as threads, pytest.raises(Locked):
        ceibo.minimize(locked, SPACE, n_trials=3, executor=threads)


@pytest.mark.parametrize("objective", [two_arguments, locked, disguised])
def test_what_is_sent_has_nothing_else_with_it(objective: Objective) -> None:
    with pytest.raises(RaisedElsewhere) as caught:
        evaluate(objective, {"x": 0.5}, HandOut(0, 1, ("another process", 1)))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.line, again.text) == (caught.value.line, caught.value.text)
