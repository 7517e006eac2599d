"""The stored record of one study, as Study, the runner and `verify` use it.

Users see `Study`; a Ledger is its inside: the snapshot read last, the evidence and the belief that
follow from it, and the writes that belong to workers.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from ceibo.decide.belief import Belief
from ceibo.decide.direction import Direction
from ceibo.decide.evidence import Evidence
from ceibo.decide.record import hyperparameters_of, to_record
from ceibo.decide.settings import Settings
from ceibo.decide.space import Params, Space
from ceibo.decide.suggest import Suggestion, suggest
from ceibo.errors import InputError, NumberTakenError, StorageError, TurnTakenError
from ceibo.gp import Hyperparameters
from ceibo.gp.inputs import Array
from ceibo.study.gathering import Gatherer
from ceibo.study.store import Lease, NewTrial, Snapshot, Store, StoredTrial, StudyRecord
from ceibo.study.store.records import EMPTY, damaged
from ceibo.study.turn import Turn

_LOOK_BACK: Final = 16  # how many trials back the fit looks for values to start from
_LOOKS: Final = 8  # looks at another's turn between two at what else there is to do


@final
class Ledger:
    """One study of a store: what it is, what was recorded, what follows from that."""

    def __init__(self, store: Store, record: StudyRecord) -> None:
        self.store = store
        self.id = record.id
        self.name = record.name
        try:
            self.space = Space.from_json(record.space)
            self.direction = Direction(record.settings["direction"])
            self.seed: int = record.settings["seed"]
            choices = record.settings["suggest"]
        except (InputError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise _damaged_study(record.name, error) from error
        self.settings = _settings_of(record.name, choices)
        self.snapshot: Snapshot = EMPTY
        self._gatherer = Gatherer(record.name, self.space, self.direction)
        self._belief: tuple[int, Belief] | None = None
        self._suggesting = 0.0  # seconds that the last suggestion took
        self._crowded = False  # whether others asked during the last ask

    # -- reading -----------------------------------------------------------------------

    def refresh(self) -> Snapshot:
        """Reads what was recorded since the last snapshot; returns the new one."""
        self.snapshot = self.store.refresh(self.id, self.snapshot)
        return self.snapshot

    def trial(self, number: int) -> StoredTrial:
        """A trial as it is now."""
        return self.refresh().trials[number]

    def coordinates(self, trial: StoredTrial) -> Array:
        """The place (d,) of a trial in the unit cube."""
        return self._gatherer.place(trial)

    def evidence(self, snapshot: Snapshot) -> Evidence:
        """The evidence in a snapshot."""
        return self._gatherer.gather(snapshot)

    def belief(self) -> Belief:
        """What is believed now; the same object until something is recorded."""
        snapshot = self.refresh()
        if self._belief is None or self._belief[0] != snapshot.seq:
            evidence = self.evidence(snapshot)
            self._belief = snapshot.seq, Belief(evidence, self.space, self.settings, self.seed)
        return self._belief[1]

    # -- suggesting --------------------------------------------------------------------

    def suggest(self, snapshot: Snapshot, number: int, start: Hyperparameters | None) -> Suggestion:
        """The suggestion for trial `number` from what a snapshot shows."""
        evidence = self.evidence(snapshot)
        return suggest(evidence, self.space, self.settings, start, self.seed, number)

    def peek(self) -> tuple[int, Params]:
        """Number and parameters of the next suggestion, which is not recorded."""
        snapshot = self.refresh()
        number = len(snapshot.trials)
        return number, self.suggest(snapshot, number, self._start_values(number)).params

    def ask(self, lease: Lease | None, limit: int | None) -> StoredTrial | None:
        """Hands a trial out; None if all are handed out and there may be no more than `limit`."""
        claimed = self.store.claim(self.id, lease)
        if claimed is not None:
            return claimed
        turn = Turn(self.store, self.id, wanted=self._crowded)
        try:
            trial = self._ask_anew(lease, limit, turn)
        except StorageError:
            raise  # a turn that cannot be given back lapses
        except BaseException:
            turn.give_back()
            raise
        self._crowded = turn.crowded
        turn.give_back()
        return trial

    def _ask_anew(self, lease: Lease | None, limit: int | None, turn: Turn) -> StoredTrial | None:
        """Records a new suggestion, at once or, if others do the same, when it is its turn."""
        taken = -1
        while True:
            if turn.wanted and not turn.take(self._suggesting):
                if turn.looks % _LOOKS:
                    continue
                claimed = self.store.claim(self.id, lease)  # queued trials are nobody's turn
                if claimed is not None:
                    return claimed
                if limit is None or len(self.refresh().trials) < limit:
                    continue
            snapshot = self.refresh()
            number = len(snapshot.trials)
            if number == taken:
                found = f"trial {number} is taken, but it is not there"
                raise damaged(f"study {self.name!r}", found)
            if limit is not None and number >= limit:
                return None
            began = time.monotonic()
            suggestion = self.suggest(snapshot, number, self._start_values(number))
            self._suggesting = time.monotonic() - began
            record = to_record(suggestion, snapshot.seq, self.seed)
            new = NewTrial(suggestion.params, record, lease)
            try:
                (trial,) = self.create([new], expect_number=number, turn=turn.token)
            except NumberTakenError as error:
                # another worker was first; its trial is pending in the next snapshot
                if not isinstance(error, TurnTakenError):
                    taken = number
                turn.wanted = turn.crowded = True
                continue
            turn.end()
            return trial

    def _start_values(self, number: int) -> Hyperparameters | None:
        """Hyperparameters recorded with the latest trial before `number` that has them."""
        records = self.store.suggestions(self.id, range(max(0, number - _LOOK_BACK), number))
        for earlier in sorted(records, reverse=True):
            try:
                found = hyperparameters_of(records[earlier])
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                what = f"the suggestion of trial {earlier} of study {self.name!r}"
                raise damaged(what, f"{type(error).__name__}: {error}") from error
            if found is not None:
                return found
        return None

    # -- writing -----------------------------------------------------------------------

    def create(
        self, trials: Sequence[NewTrial], expect_number: int | None = None, turn: str | None = None
    ) -> tuple[StoredTrial, ...]:
        """Records new trials, all or none."""
        return self.store.create_trials(self.id, trials, expect_number=expect_number, turn=turn)

    def fail(self, number: int, reason: str, worker: str | None = None) -> None:
        """Records a failure."""
        self.store.fail(self.id, number, reason, worker)

    def release(self, number: int, worker: str, reason: str | None) -> None:
        """Gives a worker's trial back; with a reason if it was lost."""
        self.store.release(self.id, number, worker, reason)

    def workers(self) -> dict[int, str]:
        """Number -> the worker that holds a lease on it."""
        return {number: worker for number, (worker, _) in self.store.leases(self.id).items()}


def _settings_of(name: str, choices: Mapping[str, Any]) -> Settings:
    """The settings of a study; a kernel or an acquisition may come from a package not installed."""
    try:
        return Settings.from_json(choices)
    except InputError as error:
        raise StorageError(f"study {name!r} cannot be used here: {error}") from error
    except TypeError as error:
        raise _damaged_study(name, error) from error


def _damaged_study(name: str, error: Exception) -> StorageError:
    return damaged(f"study {name!r}", f"{type(error).__name__}: {error}")
