"""minimize() and maximize(): the loop around a study, here or on any executor, with progress and honest endings."""

import os
import socket
import time
import traceback
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from typing import Any, Final, final

from ceibo.errors import CeiboError, InputError, NotFoundError, StorageError
from ceibo.study.dimension import Dimension
from ceibo.study.estimate import Estimate, Observed
from ceibo.study.measurement import Measurement
from ceibo.study.progress import Progress
from ceibo.study.space import Params, Space
from ceibo.study.stopping import Stop, StopReason, Worth
from ceibo.study.store import DONE, FAILED, Heartbeat, Lease
from ceibo.study.study import Study
from ceibo.study.suggest import DEFAULT_ACQUISITION
from ceibo.study.trial import Trial

Objective = Callable[[Params], float | Measurement]
Callback = Callable[[Study, Trial], bool | None]

DEFAULT_TRIALS: Final = 50
_POLL: Final = 0.25  # seconds between looks at the clock and at the trials of other workers


class EvaluationsFailedError(CeiboError):
    """Too many evaluations in a row gave no finite value."""


@final
@dataclass(frozen=True)
class Result:
    """What a run found and why it ended; the answers are the study's."""

    study: Study
    stop: Stop

    @property
    def best(self) -> Estimate:
        """The measured setting with the best posterior mean, with its uncertainty."""
        return self.study.best

    @property
    def recommended(self) -> Estimate:
        """The setting with the best posterior mean over the whole space."""
        return self.study.recommended

    @property
    def best_observed(self) -> Observed:
        """The best raw value, to show the difference."""
        return self.study.best_observed


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
            if value is not None and (isinstance(value, bool) or not 0 < value < float("inf")):
                raise InputError(f"{name} must be a finite number above zero, got {value!r}.")
        for name in ("n_trials", "max_failures"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InputError(f"{name} must be a whole number above zero, got {value!r}.")


def minimize(  # noqa: PLR0913 - public, keyword-only
    objective: Objective,
    space: Mapping[str, Dimension] | Space,
    *,
    n_trials: int | None = None,
    cost: float | None = None,
    timeout: float | None = None,
    storage: str | None = None,
    name: str = "study",
    direction: str = "minimize",
    seed: int = 0,
    acquisition: str = DEFAULT_ACQUISITION,
    n_initial: int | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    callbacks: Iterable[Callback] = (),
    max_failures: int = 3,
    lease: float = 60.0,
    progress: bool | None = None,
) -> Result:
    """Minimises a noisy objective.

    Args:
        objective: called with a dict of parameters; returns a number, or a Measurement with its noise or replicates.
            An exception is recorded as a failed trial.
        space: name -> Float, Int or Categorical.
        n_trials: trials in all, those already in the study included; 50 if neither cost nor timeout is given.
        cost: price of one evaluation in the objective's units: stop when no measurement promises more.
        timeout: seconds after which no new trial is started.
        storage: database URL; with one, a study of this name is continued if it exists. In memory by default.
        name: of the study in the storage.
        direction: "minimize" or "maximize".
        seed, acquisition, n_initial: of a new study; see Study.create.
        executor: any concurrent.futures executor; it is kept full.
        jobs: evaluations at a time on the executor; its number of workers by default.
        callbacks: each called as callback(study, trial) after every finished trial; a true result stops the run.
        max_failures: this many failed evaluations in a row end the run with the last exception. An exception in the
            first trial ever of a study is raised at once.
        lease: seconds after which a trial of a worker that has died is handed out again.
        progress: show progress; by default only in a terminal.

    Returns:
        Result: `best`, `recommended`, `best_observed`, `stop`, and the `study`. Ctrl-C ends the run early with a
        result too; the same call goes on with a stored study.

    Example:
        >>> import ceibo
        >>> result = ceibo.minimize(lambda p: (p["x"] - 0.3) ** 2, {"x": ceibo.Float(0, 1)}, n_trials=12)
        >>> abs(result.best.params["x"] - 0.3) < 0.1
        True
    """
    if n_trials is None and cost is None and timeout is None:
        n_trials = DEFAULT_TRIALS
    limits = Limits(n_trials, cost, timeout, max_failures, lease)
    if not callable(objective):
        raise InputError(f"objective must be a function of a dict of parameters, got {objective!r}.")
    options = {"direction": direction, "seed": seed, "acquisition": acquisition, "n_initial": n_initial}
    study = open_or_create(space, storage, name, options)
    runner = _Runner(study, objective, limits, executor or _Inline(), _job_count(executor, jobs))
    return Result(study, runner.run(tuple(callbacks), progress))


def maximize(objective: Objective, space: Mapping[str, Dimension] | Space, **options: Any) -> Result:
    """Maximises a noisy objective; takes the options of `minimize`."""
    return minimize(objective, space, **options, direction="maximize")


def open_or_create(
    space: Mapping[str, Dimension] | Space, storage: str | None, name: str, options: Mapping[str, Any]
) -> Study:
    """The stored study of this name, after checking that it is the same, or a new one."""
    if storage is not None:
        try:
            study = Study.open(storage, name, space=space)
        except NotFoundError:
            pass
        except StorageError as error:
            if "there is no file" not in str(error):
                raise
        else:
            if study.direction != options["direction"]:
                raise InputError(f"study {name!r} is to {study.direction}; start one under another name.")
            return study
    return Study.create(space, storage=storage, name=name, **options)


@final
class _Inline(Executor):
    """Evaluates at once, in the calling thread."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def _job_count(executor: Executor | None, jobs: int | None) -> int:
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise InputError(f"jobs must be a whole number above zero, got {jobs!r}.")
    if executor is None:
        if jobs is not None and jobs > 1:
            raise InputError(f"jobs={jobs} needs an executor, such as concurrent.futures.ProcessPoolExecutor({jobs}).")
        return 1
    known = jobs or getattr(executor, "_max_workers", None)  # of the standard library's executors
    return int(known or os.cpu_count() or 1)


@final
class _Runner:
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
                message = "interrupted; the same call with the same storage goes on from here."
                return Stop(StopReason.INTERRUPTED, message)
            finally:
                self._give_back()

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
            finished, _ = wait(self.running, timeout=_POLL, return_when=FIRST_COMPLETED)
            for future in sorted(finished, key=lambda each: self.running[each].number):
                trial = self._finish(future)
                display.finished(trial, len(self.running))
                asked = [callback(self.study, trial) for callback in callbacks]  # every one is called
                if any(asked):
                    stop = stop or Stop(StopReason.CALLBACK, "a callback asked to stop.")
            if finished or self.limits.timeout is not None:
                stop = stop or self._limit_reached()

    def _launch(self) -> bool:
        """Starts one evaluation; false if there is none to start."""
        trial = self.study._ask(self.lease, self.limits.n_trials)
        if trial is None:
            return False
        try:
            future = self.executor.submit(self.objective, dict(trial.params))
        except BaseException:  # Ctrl-C in the objective, or an executor that broke: the trial is not lost
            self.study._store.release(self.study._id, trial.number, self.lease.worker)
            raise
        self.running[future] = trial
        return True

    def _finish(self, future: Future[Any]) -> Trial:
        """Records the outcome of an evaluation."""
        trial = self.running[future]
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            raise error  # nobody's fault: all trials in flight are given back
        first_ever = not self.study._refresh().in_state(DONE, FAILED)
        try:
            if error is not None:
                raise error
            value = future.result()
            measurement = value if isinstance(value, Measurement) else Measurement(value)
            if not measurement.is_finite:
                raise EvaluationsFailedError(f"trial {trial.number} gave {measurement.value!r}, which is not finite.")
        except Exception as failure:
            # The objective's own exceptions and values that are no measurement alike.
            text = "".join(traceback.format_exception(failure)) if error is not None else str(failure)
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
        return self.study.trials[trial.number]

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

    def _give_back(self) -> None:
        """Releases what is still in flight, so that it is handed out again."""
        for future, trial in self.running.items():
            future.cancel()
            self.study._store.release(self.study._id, trial.number, self.lease.worker)
        self.running = {}
