"""One evaluation: the objective called here or on an executor, and what came of it.

An exception of the objective makes a failed trial; after one of the executor the trial is handed
out again. They are told apart where the objective is called. What comes from another process comes
as bytes and text: an exception that cannot be unpickled would break a process pool.
"""

import os
import pickle
import traceback
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FrameType
from typing import Any, Final, final

from ceibo.checks import check_whole
from ceibo.decide.space import Params
from ceibo.errors import InputError, ObjectiveError, ObjectiveExitError, StopRun
from ceibo.study.current import CurrentTrial, being
from ceibo.study.reported import Values, measurement_of
from ceibo.study.trial import Trial

Objective = Callable[[Params], Values]

# The memory in which this module was loaded; a forked child has the same, with another process id.
_LOADED: Final = uuid.uuid4().hex


@final
@dataclass(frozen=True)
class HandOut:
    """One hand-out of a trial: Dask would answer a repeated setting from its cache.

    `home` is the process that handed it out, `study` the name of the study.
    """

    number: int
    attempt: int
    home: tuple[str, int]
    study: str = ""
    repeats: int = 1


def hand_out(trial: Trial, study: str) -> HandOut:
    """The present hand-out of a trial, by this process."""
    return HandOut(trial.number, trial.attempt, _process(), study, trial.repeats)


def _process() -> tuple[str, int]:
    return _LOADED, os.getpid()


@final
@dataclass(frozen=True)
class Evaluated:
    """What an objective returned or raised, with the attributes that it gave its trial."""

    value: Any = None
    error: Exception | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


@final
class RaisedByObjective(Exception):
    """Carries an exception of the objective, which is thus not taken for one of the executor's."""

    def __init__(self, error: BaseException, attributes: Mapping[str, Any]) -> None:
        super().__init__(error, attributes)
        self.error, self.attributes = error, attributes

    def original(self) -> BaseException:
        """The objective's exception."""
        return self.error


@final
class RaisedElsewhere(Exception):
    """Carries an exception out of another process: pickled, and as text if that is of no use."""

    def __init__(
        self, pickled: bytes | None, line: str, text: str, attributes: Mapping[str, Any]
    ) -> None:
        super().__init__(pickled, line, text, attributes)
        self.pickled, self.line, self.text = pickled, line, text
        self.attributes = attributes

    def original(self) -> BaseException:
        """The objective's exception, or an ObjectiveError that says what it was."""
        error = _unpickled(self.pickled)
        if error is None:
            error = ObjectiveError(
                f"the objective raised {self.line}, which cannot be brought here from its process."
            )
        error.__cause__ = RemoteTraceback(self.text)
        return error


@final
class RemoteTraceback(Exception):
    """The traceback of an exception in another process, as text."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def _pickled(error: BaseException) -> bytes | None:
    """The exception as bytes that can be read again, or None."""
    try:
        pickled = pickle.dumps(error)
    except Exception:  # whatever the exception's own code raises
        return None
    return None if _unpickled(pickled) is None else pickled


def _unpickled(pickled: bytes | None) -> BaseException | None:
    if pickled is None:
        return None
    try:
        error = pickle.loads(pickled)
    except Exception:  # as above
        return None
    return error if isinstance(error, BaseException) else None


@final
class Inline(Executor):
    """An executor that evaluates in the calling thread, by `work`."""

    def __init__(self) -> None:
        self._tasks: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._tasks.append((future, partial(function, *args, **kwargs)))
        return future

    def work(self) -> None:
        """Evaluates what was submitted, whose futures the caller holds by now."""
        while self._tasks:
            future, task = self._tasks.pop()
            try:
                future.set_result(task())
            except (Exception, SystemExit) as error:
                future.set_exception(error)


def job_count(executor: Executor | None, jobs: int | None) -> int:
    """How many evaluations run at a time: `jobs`, or as many as the executor has workers."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        wanted = "a concurrent.futures executor, or None"
        raise InputError(f"executor must be {wanted}, got {executor!r}.")
    if jobs is not None:
        jobs = check_whole(jobs, "jobs")
    if executor is None:
        if jobs is not None and jobs > 1:
            example = f"concurrent.futures.ProcessPoolExecutor({jobs})"
            raise InputError(f"jobs={jobs} needs an executor, such as {example}.")
        return 1
    return jobs or _workers(executor) or os.cpu_count() or 1


def _workers(executor: Executor) -> int | None:
    """How many evaluations an executor runs at a time, if it says so."""
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):  # Dask
        return sum(client.nthreads().values()) or None
    # the standard library and loky; mpi4py
    for name in ("_max_workers", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return None


def evaluate(objective: Objective, params: Params, given: HandOut) -> Evaluated:
    """Calls the objective on an executor."""
    elsewhere = given.home != _process()
    trial = CurrentTrial(given.number, dict(params), given.attempt, given.study, given.repeats)
    try:
        with being(trial):
            result = _call(objective, params)
        told = _portable(result) if elsewhere else result
        return Evaluated(told, None, trial.attributes.settled())
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        attributes = trial.attributes.settled()
        if not elsewhere and isinstance(error, Exception):
            raise RaisedByObjective(error, attributes) from error
        if not elsewhere:
            raise
        line = "".join(traceback.format_exception_only(error)).strip()
        text = "".join(traceback.format_exception(error))
        known = StopRun(error.reason) if isinstance(error, StopRun) else error
        carrier = RaisedElsewhere(_pickled(known), line, text, attributes)
    # raised here it has no context, which libraries that pickle all of an exception would send
    raise carrier


def _call(objective: Objective, params: Params) -> Values:
    """Calls the objective, and nothing else, so that `is_handing_over` knows it by its caller."""
    return objective(params)


_HANDING_OVER: Final = (evaluate.__code__, Inline.work.__code__)


def is_handing_over(frame: FrameType | None, start: CodeType) -> bool:
    """Whether the code that runs here begins an evaluation, or brings its result to its future.

    An exception that a signal raises there would lose the result. `frame` is that of the code, and
    `start` the code that submits evaluations.
    """
    inner = None
    while frame is not None:
        if frame.f_code is _call.__code__:
            return inner is None
        if frame.f_code in _HANDING_OVER or frame.f_code is start:
            return True
        inner, frame = frame, frame.f_back
    return False


def _portable(result: Any) -> Any:
    """What an objective returned, as what every process can read: measurements if they are."""
    try:
        if isinstance(result, Mapping):
            return {name: measurement_of(value, None) for name, value in result.items()}
        return measurement_of(result, None)
    except InputError as error:
        try:
            pickle.loads(pickle.dumps(result))
        except Exception:  # whatever the object's own code raises
            raise error from None
        return result


def how_lost(future: Future[Any]) -> str | None:
    """How an evaluation was lost together with its worker; None if it was not."""
    if not future.done() or future.cancelled():
        return None
    error = future.exception()
    if isinstance(error, BrokenExecutor | SystemExit):
        return f"{type(error).__name__}: {error}"
    return None


def result_of(future: Future[Any]) -> Evaluated:
    """What the objective returned or raised."""
    error = future.exception()
    if error is None:
        evaluated: Evaluated = future.result()
        return evaluated
    attributes: Mapping[str, Any] = {}
    if isinstance(error, RaisedByObjective | RaisedElsewhere):
        attributes = error.attributes
        error = error.original()
    if not isinstance(error, Exception):
        left = ObjectiveExitError(
            f"the objective raised {error!r} on the executor, which is no result."
        )
        left.__cause__ = error
        error = left
    return Evaluated(None, error, attributes)
