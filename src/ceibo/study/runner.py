"""One worker of a study: asks, evaluates, tells, until a limit is reached."""

import logging
import math
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
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar, final

from ceibo.decide.block_names import Block
from ceibo.decide.stopping import Stop, StopReason, Verdict
from ceibo.errors import (
    EvaluationsFailedError,
    ExecutorLostError,
    NoMeasurementError,
    StopRun,
    StorageError,
)
from ceibo.study.carrying import FIRST
from ceibo.study.evaluation import Inline, Objective, is_handing_over, result_of
from ceibo.study.flight import Flight
from ceibo.study.interrupts import Interrupts
from ceibo.study.limits import Limits
from ceibo.study.progress import Progress
from ceibo.study.record import Record
from ceibo.study.reported import Reported
from ceibo.study.store import DONE, FAILED, MAX_LOST, QUEUED, RUNNING, Heartbeat, Lease
from ceibo.study.trial import Trial, trial_of
from ceibo.text import plural

_logger: Final = logging.getLogger("ceibo")
_PATIENCE: Final = 5.0  # seconds; the last trials of workers that live end at different times
S = TypeVar("S", bound=Record)
Callback = Callable[[S, Trial], object]

# seconds between looks at the clock and at the trials of other workers
_POLL: Final = 0.25


@final
class Runner(Generic[S]):
    """Evaluates the trials of a study, here or on an executor.

    Measurements that name no block are in `block`. `notify`, if given, is called with what happens
    beside the trials: a worker that is waited for, a pool that was made anew. Without it, and where
    no progress is shown, a worker that is waited for long is said in the log.
    """

    def __init__(
        self,
        study: S,
        objective: Objective,
        limits: Limits,
        executor: Executor,
        jobs: int,
        block: Block = (),
    ) -> None:
        self.study, self.limits, self.jobs = study, limits, jobs
        worker = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.lease = Lease(worker, limits.lease)
        self.flight = Flight(study, objective, executor, self.lease, block)
        self.waiting: Trial | None = None  # handed out, and to be evaluated alone
        self.began = time.monotonic()
        self.failures = 0  # in a row
        self.verdict: Verdict | None = None
        self.interrupts = Interrupts()
        self.notify: Callable[[str], None] | None = None
        self._log_at = math.inf  # when it is said in the log that another worker is waited for

    def run(
        self,
        callbacks: tuple[Callback[S], ...],
        progress: bool | None,
        interrupts: Interrupts | None = None,
    ) -> Stop:
        """Runs until a limit is reached, and says which.

        `interrupts` is what the caller receives signals with; by default Ctrl-C is received here.
        """
        ledger = self.study.ledger
        # evaluations in this process may keep its threads from running
        inside = isinstance(self.flight.executor, Inline | ThreadPoolExecutor)
        with (
            _own_or(interrupts) as self.interrupts,
            Progress(self.study, self.limits.n_trials, progress) as display,
            Heartbeat(ledger.store, ledger.id, self.lease, standing_by=inside),
        ):
            try:
                stop = self._loop(callbacks, display)
                if self.waiting is not None:
                    self.flight.give_back()
                return stop
            except KeyboardInterrupt:
                self.flight.give_back()
                return Stop(StopReason.INTERRUPTED, _how_to_go_on(self.study))
            except StorageError as error:
                # Trials in flight are handed out again when their leases expire.
                self.flight.cancel()
                self.flight.note_unstored(error)
                raise
            except BaseException as error:
                self.flight.give_back(isinstance(error, ExecutorLostError | SystemExit))
                raise
            finally:
                self.flight.close()

    def _loop(self, callbacks: tuple[Callback[S], ...], display: Progress) -> Stop:
        stop = self._limit_reached()
        while True:
            self.interrupts.rearm()  # an objective that caught Ctrl-C has made something of it
            while stop is None and self._has_room() and self._launch():
                self._check_signals()
                display.show(len(self.flight.running), self.verdict)
                if self.jobs == 1:
                    break
            self._say_broken()
            for trial in self._given_up():
                display.show_trial(trial, len(self.flight.running))
                stop = _call_all(callbacks, self.study, trial) or stop
            if not self.flight.running:
                if stop is None and (others := self._others_at_work()):
                    # the trials of a worker that dies are handed out again
                    self._say_waiting(display, others)
                    time.sleep(_POLL)
                    self._check_signals()
                    stop = self._limit_reached()
                    continue
                return stop or self._budget_stop()
            display.waiting = ""
            finished = wait(self.flight.running, timeout=_POLL, return_when="FIRST_COMPLETED").done
            self._check_signals()
            any_finished = bool(finished)
            while finished := finished.intersection(self.flight.running):
                # No reference is kept: Dask repeats an evaluation that is lost with a worker for
                # as long as there is one to its future.
                future = min(finished, key=lambda each: self.flight.running[each].number)
                finished.remove(future)
                ended = self._finish(future)
                del future
                if isinstance(ended, Stop):
                    stop = stop or ended
                elif ended is not None:
                    display.show_trial(ended, len(self.flight.running))
                    stop = _call_all(callbacks, self.study, ended) or stop
            if any_finished or self.limits.timeout is not None:
                stop = stop or self._limit_reached()
                display.verdict = self.verdict

    def _check_signals(self) -> None:
        """Ends the run after a signal, before the outcome of a command that it ended is read."""
        if self.interrupts.number is not None:
            raise KeyboardInterrupt

    def _has_room(self) -> bool:
        """Whether an evaluation may start now; a trial's last attempt runs alone (`_launch`)."""
        if self.waiting is not None or any(map(_might_be_last, self.flight.running.values())):
            return not self.flight.running
        return len(self.flight.running) < self.jobs

    def _ask(self) -> Trial | None:
        limit, last = self.limits.n_trials, self.limits.confirm_from
        stored = self.study.asking.ask(self.lease, limit, confirm_from=last)
        return None if stored is None else trial_of(stored)

    def _launch(self) -> bool:
        """Starts one evaluation; false if there is none to start.

        A trial's last attempt runs alone, so that it is not lost to a crash caused by another.
        """
        trial = self.waiting or self._ask()
        self.waiting = None
        if trial is None:
            return False
        if _might_be_last(trial) and self.flight.running:
            self.waiting = trial
            return True
        self.flight.start(trial)
        return True

    def _finish(self, future: Future[Any]) -> Trial | Stop | None:
        """Records the outcome of an evaluation; None if it was lost with a pool of processes."""
        trial = self.flight.running[future]
        try:
            error = future.exception()
        except CancelledError as cancelled:
            error = cancelled
        if isinstance(error, BrokenExecutor | CancelledError):
            self.flight.replace_pool(error)  # the trial did not fail
            return None
        here = isinstance(self.flight.executor, Inline)
        if isinstance(error, KeyboardInterrupt) or (here and isinstance(error, SystemExit)):
            raise error
        first_ever = not self.study.ledger.refresh().in_state(DONE, FAILED)
        result = result_of(future)
        if isinstance(result.error, StopRun):
            self.flight.release(future)
            return _asked_to_stop(StopReason.OBJECTIVE, result.error)
        told = Reported(attributes=result.attributes)
        try:
            if result.error is not None:
                raise result.error
            told = self.flight.reported(result)
            if told.not_finite:
                gave = f"{told.not_finite_shown}, which is not finite"
                raise EvaluationsFailedError(f"trial {trial.number} gave {gave}.")
        except Exception as failure:
            # Raised by the objective, or because its value is no finite measurement.
            if error is None or isinstance(failure, EvaluationsFailedError):
                reason = str(failure)
            else:
                reason = "".join(traceback.format_exception(failure))
            self.flight.tell(future, replace(told, reason=reason))
            self.failures += 1
            limit = self.limits.max_failures
            is_own = not isinstance(failure, EvaluationsFailedError)
            if limit is not None and self.failures >= limit:
                if not told.not_finite or limit == 1:
                    raise
                end = f"{failure} {self.failures} failures in a row end the run."
                raise EvaluationsFailedError(end) from None
            if first_ever and is_own and not self.limits.first_counts:
                with suppress(AttributeError, TypeError):  # as some exceptions are frozen
                    failure.add_note(FIRST)
                raise
        else:
            self.flight.tell(future, told)
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
            return Stop(StopReason.BUDGET, f"all {total} trials are done{self._bought()}.")
        wait_for, them = ("waits for", "it") if pending == 1 else ("wait for", "them")
        which, what = ", asked by hand,", "a result"
        if self.study.outcomes is not None:
            which, what = "", "a result or an outcome"
        message = (
            f"all {total} trials are handed out; {pending} of them{which} {wait_for} {what}: tell,"
            f" fail or release {them}."
        )
        return Stop(StopReason.BUDGET, message)

    def _bought(self) -> str:
        """What the last look has bought, if there was one."""
        if not self.limits.confirm or self.study.outcomes is not None:
            return ""
        try:
            return f"; the best setting measured is {self.study.closeness()}"
        except NoMeasurementError:  # every trial has failed
            return ""

    def _others_at_work(self) -> list[float]:
        """The seconds until the leases of other workers' trials lapse, if they are not renewed."""
        leases = self.study.ledger.store.leases(self.study.ledger.id)
        return [left for worker, left in leases.values() if worker != self.lease.worker]

    def _say_waiting(self, display: Progress, others: list[float]) -> None:
        """Says what is waited for: once where there is no live line, on it as time goes by."""
        them = "it is" if len(others) == 1 else "they are"
        text = (
            f"waiting for {plural(len(others), 'trial')} of another worker; if it is dead, {them}"
            f" handed out again in {max(max(others), 0.0):.0f} s"
        )
        now = time.monotonic()
        if not display.waiting:
            self._log_at = now + _PATIENCE if display.screen is None else math.inf
            if self.notify is not None:
                self.notify(text)
                self._log_at = math.inf
        if now >= self._log_at:
            _logger.warning(text)
            self._log_at = math.inf
        display.wait(text)

    def _say_broken(self) -> None:
        while self.flight.breaks:
            how = self.flight.breaks.pop()
            text = f"a process died: {how} The pool was made anew, and its trials go again."
            if self.notify is not None:
                self.notify(text)

    def _given_up(self) -> list[Trial]:
        """The trials that have failed because pools broke under them, since the last look.

        Too many of them in a row end the run, as other failures do.
        """
        if not self.flight.lost:
            return []
        trials = self.study.ledger.refresh().trials
        ended = {n for n in self.flight.lost if trials[n].state not in (QUEUED, RUNNING)}
        self.flight.lost -= ended
        failed = [trial_of(trials[n]) for n in sorted(ended) if trials[n].state == FAILED]
        self.failures += len(failed)
        limit = self.limits.max_failures
        if failed and limit is not None and self.failures >= limit:
            raise ExecutorLostError(
                f"{self.failures} trials in a row failed, the last one because its processes died"
                f" {MAX_LOST} times; look for what ends them (memory, a crash, an objective that a"
                " new process cannot import, such as one written in a notebook), or set"
                " max_failures=None to go on past such trials."
            )
        return failed


def _own_or(given: Interrupts | None) -> AbstractContextManager[Interrupts]:
    """What receives signals: given by the caller, or of the run's own."""
    if given is not None:
        return nullcontext(given)
    start = Flight.start.__code__
    return Interrupts(spared=lambda frame: is_handing_over(frame, start))


def _how_to_go_on(study: Record) -> str:
    if study.ledger.store.in_memory:
        return "interrupted; result.study.optimize(objective, …) goes on from here."
    return "interrupted; the same call with the same storage goes on from here."


def _call_all(callbacks: tuple[Callback[S], ...], study: S, trial: Trial) -> Stop | None:
    """Calls the callbacks; the first that raises StopRun says why the run is to end."""
    stop = None
    for callback in callbacks:
        try:
            callback(study, trial)
        except StopRun as asked:
            stop = stop or _asked_to_stop(StopReason.CALLBACK, asked)
    return stop


def _asked_to_stop(reason: StopReason, asked: StopRun) -> Stop:
    return Stop(reason, asked.reason or f"{reason.value}.")


def _might_be_last(trial: Trial) -> bool:
    """Whether the trial may be given up if it is lost once more; released hand-outs count too."""
    return trial.attempt >= MAX_LOST
