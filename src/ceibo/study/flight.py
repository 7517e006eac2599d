"""The evaluations under way on an executor, each with its trial: begun, lost, given back."""

from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, final

from ceibo.decide.block_names import Block
from ceibo.errors import (
    CeiboError,
    ConflictError,
    ExecutorLostError,
    InputError,
    NotStoredError,
    StorageError,
)
from ceibo.study.evaluation import (
    Evaluated,
    Inline,
    Objective,
    evaluate,
    hand_out,
    how_lost,
    result_of,
)
from ceibo.study.pool import rebuilt
from ceibo.study.record import Record
from ceibo.study.reported import Reported, reported
from ceibo.study.store import MAX_LOST, Lease, hand_out_key
from ceibo.study.trial import Trial

# seconds in which a broken pool marks all its futures as broken
_LAST_NEWS: Final = 1.0


@final
class Flight:
    """The evaluations of one worker that are under way.

    What they measure is in `block`, unless it names its own. `lost` are the numbers of trials that
    were on a pool of processes when it broke.
    """

    def __init__(
        self,
        study: Record,
        objective: Objective,
        executor: Executor,
        lease: Lease,
        block: Block = (),
    ) -> None:
        self.study, self.objective, self.block = study, objective, block
        self.executor, self.lease = executor, lease
        self.running: dict[Future[Any], Trial] = {}
        self.lost: set[int] = set()
        self.breaks: list[str] = []  # how pools broke, until somebody has said so
        self._own_pool: Executor | None = None  # in place of one that broke

    def start(self, trial: Trial) -> None:
        """Begins the evaluation of a trial; here, it also ends it."""
        given = hand_out(trial, self.study.name)
        while True:
            params = self.study.ledger.frame.complete(trial.params)
            try:
                future = self.executor.submit(evaluate, self.objective, params, given)
                break
            except (BrokenExecutor, RuntimeError) as error:
                self.replace_pool(error)
        self.running[future] = trial
        if isinstance(self.executor, Inline):
            self.executor.work()

    def tell(self, future: Future[Any], told: Reported) -> None:
        """Stores what came of a trial, with which this worker is then through."""
        self._store(self.running[future], told, self.lease.worker)
        del self.running[future]

    def _store(self, trial: Trial, told: Reported, worker: str | None) -> None:
        """Tells a result; where somebody else has told another one, as a further measurement."""
        ledger, key = self.study.ledger, hand_out_key(trial.attempt)
        try:
            ledger.tell(trial.number, told, key, worker)
        except ConflictError:
            own = f"{key}-{self.lease.worker}".lstrip("-")
            ledger.tell(trial.number, told, own, worker)

    def release(self, future: Future[Any], lost: str | None = None) -> None:
        """Gives a trial back unmeasured; `lost` says how its evaluation was lost, if it was."""
        ledger, number = self.study.ledger, self.running[future].number
        ledger.store.release(ledger.id, number, self.lease.worker, lost)
        del self.running[future]

    def cancel(self) -> None:
        """Cancels what has not begun."""
        for future in self.running:
            future.cancel()

    def give_back(self, count_lost: bool = False) -> None:
        """Stores what has finished and releases the rest, so that it is handed out again.

        `count_lost` counts evaluations that died; not after Ctrl-C, which ends a pool's processes.
        What an executor cannot cancel any more is stored when it ends, though the run has ended.
        """
        self.cancel()
        try:
            for future, told in self._measured().items():
                self.tell(future, told)
            lost: dict[int, str | None] = {}
            if count_lost:
                lost = {trial.number: how_lost(future) for future, trial in self.running.items()}
            ledger = self.study.ledger
            for number, worker in ledger.workers().items():
                if worker == self.lease.worker:
                    ledger.store.release(ledger.id, number, worker, lost.get(number))
        except StorageError as error:
            self.note_unstored(error)
            raise
        late, self.running = self.running, {}
        for future, trial in late.items():
            if not future.cancelled():
                future.add_done_callback(partial(self._tell_late, trial))

    def _tell_late(self, trial: Trial, future: Future[Any]) -> None:
        """Stores the result of an evaluation that has outlived its run, if the study is open."""
        told = self._value_of(future)
        if told is not None:
            with suppress(CeiboError):
                self._store(trial, told, None)

    def _measured(self) -> dict[Future[Any], Reported]:
        """What was measured in the meantime."""
        values = {future: self._value_of(future) for future in self.running}
        return {future: told for future, told in values.items() if told is not None}

    def _value_of(self, future: Future[Any]) -> Reported | None:
        """What an evaluation has measured; None if it has not ended, or has failed."""
        if not future.done() or future.cancelled() or future.exception() is not None:
            return None
        result = result_of(future)
        try:
            told = self.reported(result)
        except InputError:
            return None
        return None if told.not_finite else told

    def reported(self, result: Evaluated) -> Reported:
        """What an objective has returned, checked."""
        told = reported(self.study.outcomes, result.value, None).within(self.block)
        return replace(told, attributes=result.attributes)

    def note_unstored(self, error: StorageError) -> None:
        """Adds the measurements that could not be stored to the error."""
        kept = []
        for future, told in self._measured().items():
            trial, measurement = self.running[future], told.measurement
            message = f"trial {trial.number} was measured: {measurement!r}"
            key = hand_out_key(trial.attempt)
            kept.append(NotStoredError(message, trial.number, measurement, key))
            error.add_note(message)
        error.unstored = tuple(kept)

    def replace_pool(self, error: BaseException) -> None:
        """Makes a broken pool of processes anew, and gives back the trials that were on it.

        Another executor is its maker's to replace, and the run ends.
        """
        pool = None
        if isinstance(error, BrokenExecutor):
            wait(self.running, timeout=_LAST_NEWS)
            pool = rebuilt(self.executor)
        if pool is None:
            raise ExecutorLostError(
                f"the executor broke ({type(error).__name__}: {error}); nothing is lost: the study"
                " goes on with a new executor, by study.optimize or, with a storage, the same call."
                f" A trial that is lost {MAX_LOST} times becomes a failed one."
            ) from error
        self.close()
        self.executor = self._own_pool = pool
        broken = {future: how_lost(future) for future in self.running}
        for future, how in broken.items():
            if how is not None or not future.done():
                self.lost.add(self.running[future].number)
                self.release(future, how)
        self.breaks.append(str(error))

    def close(self) -> None:
        """Lets go of the pool that was made here, if there is one."""
        if self._own_pool is not None:
            self._own_pool.shutdown(wait=False, cancel_futures=True)
