"""One worker of a study: asks, evaluates here or on an executor, tells, until a limit is reached."""

import os
import socket
import time
import traceback
import uuid
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final, final

from ceibo.errors import CeiboError, InputError, StorageError
from ceibo.study.measurement import Measurement
from ceibo.study.progress import Progress
from ceibo.study.space import Params
from ceibo.study.stopping import Stop, StopReason, Worth
from ceibo.study.store import DONE, FAILED, Heartbeat, Lease
from ceibo.study.study import Study
from ceibo.study.trial import Trial, trial_of

Objective = Callable[[Params], float | Measurement]
Callback = Callable[[Study, Trial], bool | None]

_POLL: Final = 0.25  # seconds between looks at the clock and at the trials of other workers


class EvaluationsFailedError(CeiboError):
    """Too many evaluations in a row gave no finite value."""


class ExecutorLostError(CeiboError):
    """The executor broke; nothing is lost: finished evaluations are stored, the others will be handed out again."""


@final
@dataclass(frozen=True)
class Limits:
    """When a run ends, and how long the trials of a dead worker wait."""

    n_trials: int | None = None
    cost: float | None = None
    timeout: float | None = None
    max_failures: int = 3
    lease: float = 60.0

    def __post_init__(self) -> None:
        for name in ("cost", "timeout", "lease"):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            if value is not None and not (number and 0 < value < float("inf")):
                raise InputError(f"{name} must be a finite number above zero, got {value!r}.")
        for name in ("n_trials", "max_failures"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InputError(f"{name} must be a whole number above zero, got {value!r}.")


@final
class Inline(Executor):
    """Evaluates at once, in the calling thread."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def job_count(executor: Executor | None, jobs: int | None) -> int:
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise InputError(f"jobs must be a whole number above zero, got {jobs!r}.")
    if executor is None:
        if jobs is not None and jobs > 1:
            raise InputError(f"jobs={jobs} needs an executor, such as concurrent.futures.ProcessPoolExecutor({jobs}).")
        return 1
    return jobs or _workers(executor) or os.cpu_count() or 1


def _workers(executor: Executor) -> int | None:
    """How many evaluations an executor runs at a time, if it says so."""
    if (client := getattr(executor, "_client", None)) is not None and hasattr(client, "nthreads"):  # Dask
        return sum(client.nthreads().values()) or None
    for name in ("_max_workers", "num_workers"):  # the standard library and loky; mpi4py
        if isinstance(count := getattr(executor, name, None), int) and count > 0:
            return count
    return None


def _evaluate(objective: Objective, params: Params, hand_out: tuple[int, int]) -> float | Measurement:
    """What executors run. `hand_out` sets repeats of one setting apart: Dask would answer them from its cache."""
    return objective(params)


@final
class Runner:
    """One worker of a study: asks, evaluates, tells, until a limit is reached."""

    def __init__(self, study: Study, objective: Objective, limits: Limits, executor: Executor, jobs: int) -> None:
        self.study, self.objective, self.limits, self.executor, self.jobs = study, objective, limits, executor, jobs
        self.lease = Lease(f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}", limits.lease)
        self.running: dict[Future[Any], Trial] = {}
        self.began = time.monotonic()
        self.failures = 0  # in a row
        self.worth: Worth | None = None

    def run(self, callbacks: tuple[Callback, ...], progress: bool | None) -> Stop:
        with (
            Progress(self.study, self.limits.n_trials, self.limits.cost, progress) as display,
            Heartbeat(self.study._store, self.study._id, self.lease),
        ):
            try:
                return self._loop(callbacks, display)
            except KeyboardInterrupt:
                self._give_back()
                message = "interrupted; the same call with the same storage goes on from here."
                return Stop(StopReason.INTERRUPTED, message)
            except StorageError as error:
                self._note_unstored(error)  # trials in flight are handed out again when their leases lapse
                raise
            except BaseException:
                self._give_back()
                raise

    def _loop(self, callbacks: tuple[Callback, ...], display: Progress) -> Stop:
        stop = self._limit_reached()
        while True:
            while stop is None and len(self.running) < self.jobs and self._launch():
                display.show(len(self.running), self.worth)
                if self.jobs == 1:
                    break
            if not self.running:
                if stop is None and self._others_at_work():
                    time.sleep(_POLL)  # their trials are ours if they die
                    stop = self._limit_reached()
                    continue
                return stop or self._budget_stop()
            finished = wait(self.running, timeout=_POLL, return_when=FIRST_COMPLETED).done
            news = bool(finished)
            while finished:
                # Popped: Dask evaluates again what is lost with a worker, as long as anyone holds the future.
                future = min(finished, key=lambda each: self.running[each].number)
                finished.remove(future)
                trial = self._finish(future)
                del future
                display.finished(trial, len(self.running))
                asked = [callback(self.study, trial) for callback in callbacks]  # every one is called
                if any(asked):
                    stop = stop or Stop(StopReason.CALLBACK, "a callback asked to stop.")
            if news or self.limits.timeout is not None:
                stop = stop or self._limit_reached()
                display.judged(self.worth)

    def _launch(self) -> bool:
        """Starts one evaluation; false if there is none to start."""
        trial = self.study._ask(self.lease, self.limits.n_trials)
        if trial is None:
            return False
        try:
            hand_out = (trial.number, trial.attempt)
            future = self.executor.submit(_evaluate, self.objective, dict(trial.params), hand_out)
        except (BrokenExecutor, RuntimeError) as error:
            raise self._executor_lost(error) from error
        self.running[future] = trial
        return True

    def _finish(self, future: Future[Any]) -> Trial:
        """Records the outcome of an evaluation."""
        trial = self.running[future]
        try:
            error = future.exception()
        except CancelledError as cancelled:
            error = cancelled
        if isinstance(error, BrokenExecutor | CancelledError):
            raise self._executor_lost(error) from error  # nobody's fault
        first_ever = not self.study._refresh().in_state(DONE, FAILED)
        try:
            if error is not None:
                raise error
            measurement = _measurement(future.result())
            if not measurement.is_finite:
                raise EvaluationsFailedError(f"trial {trial.number} gave {measurement.value!r}, which is not finite.")
        except Exception as failure:
            # The objective's own exceptions and values that are no measurement alike.
            said = error is None or isinstance(error, EvaluationsFailedError)  # the message says it all
            text = str(failure) if said else "".join(traceback.format_exception(failure))
            self.study._store.fail(self.study._id, trial.number, text, self.lease.worker)
            del self.running[future]
            self.failures += 1
            not_a_number = isinstance(failure, EvaluationsFailedError)
            if (first_ever and not not_a_number) or self.failures >= self.limits.max_failures:
                raise
        else:
            self.study.tell(trial, measurement)
            del self.running[future]
            self.failures = 0
        return trial_of(self.study._refresh().trials[trial.number])

    def _limit_reached(self) -> Stop | None:
        elapsed = time.monotonic() - self.began
        if self.limits.timeout is not None and elapsed > self.limits.timeout:
            return Stop(StopReason.TIMEOUT, f"the time given, {self.limits.timeout:g} s, was used up.")
        if self.limits.cost is not None:
            self.worth = self.study.should_stop(self.limits.cost)
            if self.worth:
                return Stop(StopReason.COST, self.worth.message)
        return None

    def _budget_stop(self) -> Stop:
        return Stop(StopReason.BUDGET, f"all {self.limits.n_trials} trials are done.")

    def _others_at_work(self) -> bool:
        return any(worker != self.lease.worker for worker, _ in self.study._store.leases(self.study._id).values())

    def _finished(self) -> list[tuple[Trial, Measurement]]:
        """Evaluations in flight that have come to an end with a value in the meantime."""
        ended = []
        for future, trial in self.running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                with suppress(InputError):
                    ended.append((trial, _measurement(future.result())))
        return [(trial, measurement) for trial, measurement in ended if measurement.is_finite]

    def _give_back(self) -> None:
        """Stores what has finished and releases the rest, so that it is handed out again."""
        for future in self.running:
            future.cancel()
        for trial, measurement in self._finished():
            self.study.tell(trial, measurement)
        for number, (worker, _) in self.study._store.leases(self.study._id).items():
            if worker == self.lease.worker:
                self.study._store.release(self.study._id, number, worker)
        self.running = {}

    def _note_unstored(self, error: StorageError) -> None:
        for trial, measurement in self._finished():
            error.add_note(f"trial {trial.number} was measured: {measurement!r}")

    def _executor_lost(self, error: BaseException) -> ExecutorLostError:
        return ExecutorLostError(
            f"the executor broke ({type(error).__name__}: {error}); nothing is lost: with a storage, the same call "
            f"with a new executor goes on."
        )


def _measurement(value: float | Measurement) -> Measurement:
    return value if isinstance(value, Measurement) else Measurement(value)
