"""One evaluation: the objective called here or on an executor, and what came of it.

An exception of the objective makes a failed trial; after one of the executor the trial is handed
out again. They are told apart where the objective is called.
"""

import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any, SupportsFloat, final

from ceibo.checks import check_whole
from ceibo.decide.measurement import Measurement
from ceibo.decide.space import Params
from ceibo.errors import InputError, ObjectiveExitError

Objective = Callable[[Params], SupportsFloat | Measurement]


@final
class RaisedByObjective(Exception):
    """Carries an exception of the objective that would be taken for one of the executor's."""

    def original(self) -> Exception:
        """The objective's exception."""
        error: Exception = self.args[0]
        if error.__traceback__ is None:  # another process sends its traceback as text
            error.__cause__ = self.__cause__
        return error


@final
class Inline(Executor):
    """An executor that evaluates at once, in the calling thread."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except (Exception, SystemExit) as error:
            future.set_exception(error)
        return future


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


def evaluate(
    objective: Objective, params: Params, _hand_out: tuple[int, int]
) -> SupportsFloat | Measurement:
    """Calls the objective on an executor.

    `_hand_out` tells repeats of one setting apart, which Dask would answer from its cache.
    """
    try:
        return objective(params)
    except (BrokenExecutor, CancelledError) as error:  # of the objective's own pool or future
        raise RaisedByObjective(error) from error


def how_lost(future: Future[Any]) -> str | None:
    """How an evaluation was lost together with its worker; None if it was not."""
    if not future.done() or future.cancelled():
        return None
    error = future.exception()
    if isinstance(error, BrokenExecutor | SystemExit):
        return f"{type(error).__name__}: {error}"
    return None


def result_of(future: Future[Any]) -> Any:
    """Returns what the objective returned; raises what it raised."""
    error = future.exception()
    if isinstance(error, RaisedByObjective):
        raise error.original()
    if error is not None and not isinstance(error, Exception):
        raise ObjectiveExitError(
            f"the objective raised {error!r} on the executor, which is no result."
        ) from error
    return future.result()


def measurement_of(value: SupportsFloat | Measurement) -> Measurement:
    """What an objective returned, a measurement or a plain number, as a measurement."""
    return value if isinstance(value, Measurement) else Measurement(value)
