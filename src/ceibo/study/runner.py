"""One worker of a study: asks, evaluates, tells, until a limit is reached."""

import os
import socket
import time
import traceback
import uuid
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, Final, final

from ceibo.decide.stopping import Stop, StopReason, Verdict
from ceibo.errors import (
    EvaluationsFailedError,
    ExecutorLostError,
    InputError,
    NotStoredError,
    StorageError,
)
from ceibo.study.evaluation import Inline, Objective, evaluate, hand_out, how_lost, result_of
from ceibo.study.interrupts import Interrupts
from ceibo.study.limits import Limits
from ceibo.study.progress import Progress
from ceibo.study.reported import Reported, reported
from ceibo.study.store import DONE, FAILED, MAX_LOST, RUNNING, Heartbeat, Lease, hand_out_key
from ceibo.study.study import Study
from ceibo.study.trial import Trial, trial_of

Callback = Callable[[Study, Trial], bool | None]

# seconds between looks at the clock and at the trials of other workers
_POLL: Final = 0.25
# seconds in which a broken pool marks all its futures as broken
_LAST_NEWS: Final = 1.0


@final
class Runner:
    """Evaluates the trials of a study, here or on an executor."""

    def __init__(
        self, study: Study, objective: Objective, limits: Limits, executor: Executor, jobs: int
    ) -> None:
        self.study, self.objective, self.limits = study, objective, limits
        self.executor, self.jobs = executor, jobs
        worker = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.lease = Lease(worker, limits.lease)
        self.running: dict[Future[Any], Trial] = {}
        self.waiting: Trial | None = None  # handed out, and to be evaluated alone
        self.began = time.monotonic()
        self.failures = 0  # in a row
        self.verdict: Verdict | None = None
        self.interrupts = Interrupts()

    def run(
        self,
        callbacks: tuple[Callback, ...],
        progress: bool | None,
        interrupts: Interrupts | None = None,
    ) -> Stop:
        """Runs until a limit is reached, and says which.

        `interrupts` is what the caller receives signals with; by default Ctrl-C is received here.
        """
        ledger = self.study.ledger
        # evaluations in this process may keep its threads from running
        inside = isinstance(self.executor, Inline | ThreadPoolExecutor)
        with (
            Interrupts() if interrupts is None else nullcontext(interrupts) as self.interrupts,
            Progress(self.study, self.limits.n_trials, progress) as display,
            Heartbeat(ledger.store, ledger.id, self.lease, standing_by=inside),
        ):
            try:
                stop = self._loop(callbacks, display)
                if self.waiting is not None:
                    self._give_back()
                return stop
            except KeyboardInterrupt:
                self._give_back()
                message = "interrupted; the same call with the same storage goes on from here."
                return Stop(StopReason.INTERRUPTED, message)
            except StorageError as error:
                # Trials in flight are handed out again when their leases expire.
                for future in self.running:
                    future.cancel()
                self._note_unstored(error)
                raise
            except BaseException as error:
                self._give_back(isinstance(error, ExecutorLostError | SystemExit))
                raise

    def _loop(self, callbacks: tuple[Callback, ...], display: Progress) -> Stop:
        stop = self._limit_reached()
        while True:
            self.interrupts.rearm()  # an objective that caught Ctrl-C has made something of it
            while stop is None and self._has_room() and self._launch():
                self._check_signals()
                display.show(len(self.running), self.verdict)
                if self.jobs == 1:
                    break
            if not self.running:
                if stop is None and self._others_at_work():
                    # the trials of a worker that dies are handed out again
                    time.sleep(_POLL)
                    self._check_signals()
                    stop = self._limit_reached()
                    continue
                return stop or self._budget_stop()
            finished = wait(self.running, timeout=_POLL, return_when="FIRST_COMPLETED").done
            self._check_signals()
            any_finished = bool(finished)
            while finished:
                # No reference is kept: Dask repeats an evaluation that is lost with a worker for
                # as long as there is one to its future.
                future = min(finished, key=lambda each: self.running[each].number)
                finished.remove(future)
                trial = self._finish(future)
                del future
                display.show_trial(trial, len(self.running))
                answers = [callback(self.study, trial) for callback in callbacks]
                if any(answers):
                    stop = stop or Stop(StopReason.CALLBACK, "a callback asked to stop.")
            if any_finished or self.limits.timeout is not None:
                stop = stop or self._limit_reached()
                display.verdict = self.verdict

    def _check_signals(self) -> None:
        """Ends the run after a signal, before the outcome of a command that it ended is read."""
        if self.interrupts.number is not None:
            raise KeyboardInterrupt

    def _has_room(self) -> bool:
        """Whether an evaluation may start now; a trial's last attempt runs alone (`_launch`)."""
        if self.waiting is not None or any(map(_might_be_last, self.running.values())):
            return not self.running
        return len(self.running) < self.jobs

    def _ask(self) -> Trial | None:
        stored = self.study.asking.ask(self.lease, self.limits.n_trials)
        return None if stored is None else trial_of(stored)

    def _launch(self) -> bool:
        """Starts one evaluation; false if there is none to start.

        A trial's last attempt runs alone, so that it is not lost to a crash caused by another.
        """
        trial = self.waiting or self._ask()
        self.waiting = None
        if trial is None:
            return False
        if _might_be_last(trial) and self.running:
            self.waiting = trial
            return True
        given = hand_out(trial.number, trial.attempt)
        try:
            future = self.executor.submit(evaluate, self.objective, dict(trial.params), given)
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
            raise self._executor_lost(error) from error  # the trial did not fail
        here = isinstance(self.executor, Inline)
        if isinstance(error, KeyboardInterrupt) or (here and isinstance(error, SystemExit)):
            raise error
        first_ever = not self.study.ledger.refresh().in_state(DONE, FAILED)
        told = Reported()
        try:
            told = reported(self.study.outcomes, result_of(future), None)
            if told.not_finite:
                gave = f"{told.not_finite_shown}, which is not finite"
                raise EvaluationsFailedError(f"trial {trial.number} gave {gave}.")
        except Exception as failure:
            # Raised by the objective, or because its value is no finite measurement.
            if error is None or isinstance(failure, EvaluationsFailedError):
                reason = str(failure)
            else:
                reason = "".join(traceback.format_exception(failure))
            _tell(self.study, trial, replace(told, reason=reason), self.lease.worker)
            del self.running[future]
            self.failures += 1
            limit = self.limits.max_failures
            if limit is not None and self.failures >= limit:
                raise
            if first_ever and not isinstance(failure, EvaluationsFailedError):
                raise
        else:
            _tell(self.study, trial, told, self.lease.worker)
            del self.running[future]
            self.failures = 0
        return trial_of(self.study.ledger.trial(trial.number))

    def _limit_reached(self) -> Stop | None:
        timeout = self.limits.timeout
        if timeout is not None and time.monotonic() - self.began > timeout:
            return Stop(StopReason.TIMEOUT, f"the time given, {timeout:g} s, was used up.")
        if self.limits.cost is not None:
            self.verdict = self.study.should_stop(self.limits.cost)
            if self.verdict:
                return Stop(StopReason.COST, self.verdict.message)
        return None

    def _budget_stop(self) -> Stop:
        total = self.limits.n_trials
        pending = len(self.study.ledger.refresh().in_state(RUNNING))
        if pending == 0:
            return Stop(StopReason.BUDGET, f"all {total} trials are done.")
        wait_for, them = ("waits for", "it") if pending == 1 else ("wait for", "them")
        which, what = ", asked by hand,", "a result"
        if self.study.outcomes is not None:
            which, what = "", "a result or an outcome"
        message = (
            f"all {total} trials are handed out; {pending} of them{which} {wait_for} {what}: tell,"
            f" fail or release {them}."
        )
        return Stop(StopReason.BUDGET, message)

    def _others_at_work(self) -> bool:
        return any(worker != self.lease.worker for worker in self.study.ledger.workers().values())

    def _unstored(self) -> dict[Future[Any], Reported]:
        """What was measured in the meantime by evaluations in flight."""
        measured = {}
        for future in self.running:
            if future.done() and not future.cancelled() and future.exception() is None:
                with suppress(InputError):
                    told = reported(self.study.outcomes, future.result(), None)
                    if not told.not_finite:
                        measured[future] = told
        return measured

    def _give_back(self, count_lost: bool = False) -> None:
        """Stores what has finished and releases the rest, so that it is handed out again.

        `count_lost` counts evaluations that died; not after Ctrl-C, which ends a pool's processes.
        """
        for future in self.running:
            future.cancel()
        try:
            for future, told in self._unstored().items():
                _tell(self.study, self.running[future], told, self.lease.worker)
                del self.running[future]
            lost: dict[int, str | None] = {}
            if count_lost:
                lost = {trial.number: how_lost(future) for future, trial in self.running.items()}
            ledger = self.study.ledger
            for number, worker in ledger.workers().items():
                if worker == self.lease.worker:
                    ledger.store.release(ledger.id, number, worker, lost.get(number))
        except StorageError as error:
            self._note_unstored(error)
            raise
        self.running = {}
        self.waiting = None

    def _note_unstored(self, error: StorageError) -> None:
        """Adds the measurements that could not be stored to the error."""
        kept = []
        for future, told in self._unstored().items():
            trial, measurement = self.running[future], told.measurement
            message = f"trial {trial.number} was measured: {measurement!r}"
            key = hand_out_key(trial.attempt)
            kept.append(NotStoredError(message, trial.number, measurement, key))
            error.add_note(message)
        error.unstored = tuple(kept)

    def _executor_lost(self, error: BaseException) -> ExecutorLostError:
        if isinstance(error, BrokenExecutor):
            wait(self.running, timeout=_LAST_NEWS)
        return ExecutorLostError(
            f"the executor broke ({type(error).__name__}: {error}); nothing is lost: with a"
            f" storage, the same call with a new executor goes on. A trial that is lost {MAX_LOST}"
            " times becomes a failed one."
        )


def _tell(study: Study, trial: Trial, told: Reported, worker: str) -> None:
    """Stores what came of a trial, with which its worker is then through."""
    study.ledger.tell(trial.number, told, hand_out_key(trial.attempt), worker)


def _might_be_last(trial: Trial) -> bool:
    """Whether the trial may be given up if it is lost once more; released hand-outs count too."""
    return trial.attempt >= MAX_LOST
