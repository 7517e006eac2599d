"""Handing trials out: those that wait first, and otherwise a new suggestion."""

import time
from typing import Final, final

from ceibo.decide.space import Params
from ceibo.errors import NumberTakenError, SpaceChangedError, StorageError, TurnTakenError
from ceibo.study.deciding import Record, Wish
from ceibo.study.dialling import dialled
from ceibo.study.ledger import Ledger
from ceibo.study.picking import FREE, Holding, picking_for
from ceibo.study.store import Lease, NewTrial, Snapshot, StoredTrial
from ceibo.study.store.records import damaged
from ceibo.study.turn import Turn

_LOOK_BACK: Final = 16  # how many trials back the fit looks for values to start from
_LOOKS: Final = 8  # looks at another's turn between two at what else there is to do


@final
class Asking:
    """Hands out the trials of one study; threads may share it."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._suggesting = 0.0  # seconds that the last suggestion took
        self._crowded = False  # whether others asked during the last ask

    def peek(self, confirm_from: int | None = None) -> tuple[int, Params]:
        """Number and parameters of the next suggestion, which is not recorded."""
        snapshot = self.ledger.refresh()
        number = len(snapshot.trials)
        earlier = self._earlier_record(snapshot, number)
        wish = Wish(confirm=_is_reached(confirm_from, number))
        decider = self.ledger.spaces.decider(snapshot.changes)
        return number, decider.suggest(snapshot, number, earlier, wish=wish).params

    def ask(
        self,
        lease: Lease | None,
        limit: int | None,
        holding: Holding = FREE,
        confirm_from: int | None = None,
    ) -> StoredTrial | None:
        """Hands a trial out; None if all are handed out and there may be no more than `limit`.

        `holding` says which parameters are held. New trials of the number `confirm_from` and above
        go into the answer instead of the search.
        """
        claimed = self._claim(lease, holding)
        if claimed is not None:
            return claimed
        turn = Turn(self.ledger.store, self.ledger.id, wanted=self._crowded)
        try:
            trial = self._ask_anew(lease, limit, turn, holding, confirm_from)
        except StorageError:
            raise  # a turn that cannot be given back lapses
        except BaseException:
            turn.give_back()
            raise
        self._crowded = turn.crowded
        turn.give_back()
        return trial

    def _claim(self, lease: Lease | None, holding: Holding) -> StoredTrial | None:
        """The first trial that waits and has the held values."""
        while True:
            picking = picking_for(self.ledger.frame, len(self.ledger.changes), holding)
            try:
                return self.ledger.store.claim(self.ledger.id, lease, picking)
            except SpaceChangedError:
                self.ledger.refresh()

    def _ask_anew(
        self,
        lease: Lease | None,
        limit: int | None,
        turn: Turn,
        holding: Holding,
        confirm_from: int | None,
    ) -> StoredTrial | None:
        """Records a new suggestion, at once or, if others do the same, when it is its turn."""
        taken = -1
        while True:
            if turn.wanted and not turn.take(self._suggesting):
                if turn.looks % _LOOKS:
                    continue
                claimed = self._claim(lease, holding)  # queued trials are nobody's turn
                if claimed is not None:
                    return claimed
                if limit is None or len(self.ledger.refresh().trials) < limit:
                    continue
            snapshot = self.ledger.refresh()
            number = len(snapshot.trials)
            if number == taken:
                found = f"trial {number} is taken, but it is not there"
                raise damaged(f"study {self.ledger.name!r}", found)
            if limit is not None and number >= limit:
                return None
            began = time.monotonic()
            earlier = self._earlier_record(snapshot, number)
            wish = Wish(holding.fixed, holding.confirm or _is_reached(confirm_from, number))
            decider = self.ledger.spaces.decider(snapshot.changes)
            suggestion = decider.suggest(snapshot, number, earlier, wish=wish)
            if holding.dial:
                suggestion = dialled(self.ledger.space, suggestion)
            self._suggesting = time.monotonic() - began
            new = NewTrial(suggestion.params, suggestion.record, lease)
            seen = len(snapshot.changes)
            try:
                (trial,) = self.ledger.create([new], number, turn.token, seen)
            except NumberTakenError as error:
                # another worker was first; its trial is pending in the next snapshot
                if not isinstance(error, TurnTakenError | SpaceChangedError):
                    taken = number
                turn.wanted = turn.crowded = True
                continue
            turn.end()
            return trial

    def _earlier_record(self, snapshot: Snapshot, number: int) -> Record | None:
        """The record of the latest suggestion before `number` that has hyperparameters.

        Those of another space have other columns and scales, and are not used.
        """
        changed = snapshot.changes[-1].seq if snapshot.changes else 0
        records = self.ledger.store.suggestions(
            self.ledger.id, range(max(0, number - _LOOK_BACK), number)
        )
        for earlier in sorted(records, reverse=True):
            try:
                found = self.ledger.spaces.decider(snapshot.changes).has_start(records[earlier])
                found = found and (not changed or records[earlier]["seen"] >= changed)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                what = f"the suggestion of trial {earlier} of study {self.ledger.name!r}"
                raise damaged(what, f"{type(error).__name__}: {error}") from error
            if found:
                record: Record = records[earlier]
                return record
        return None


def _is_reached(confirm_from: int | None, number: int) -> bool:
    """Whether a trial of this number is one of the last, which go into the answer."""
    return confirm_from is not None and number >= confirm_from
