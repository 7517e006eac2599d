"""The evidence in snapshots of a study, at the price of what is new since the last one."""

from typing import final

from ceibo.decide.direction import Direction
from ceibo.decide.evidence import Evidence, Told, Unmeasured, evidence_of
from ceibo.decide.space import Space
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.study.store import DONE, FAILED, WITHDRAWN, Snapshot, StoredTrial
from ceibo.study.store.records import EMPTY, StoredMeasurement, damaged

Found = tuple[int, StoredMeasurement]  # a measurement with the number of its trial


@final
class Gatherer:
    """Gathers the evidence in snapshots of one study; threads may share it.

    It remembers the last snapshot and its evidence. Where the next one only adds measurements to
    it, those alone are looked at; anything else, such as a correction, is gathered afresh.
    """

    def __init__(self, name: str, space: Space, direction: Direction) -> None:
        self._name, self._space, self._direction = name, space, direction
        self._places: dict[int, Array] = {}
        # one attribute, so that another thread sees both of before or both of after
        self._last = EMPTY, evidence_of((), len(space), direction)

    def gather(self, snapshot: Snapshot) -> Evidence:
        """The evidence in a snapshot."""
        self._locate([each for each in snapshot.trials if each.number not in self._places])
        before, known = self._last
        added = _added(before, snapshot)
        if added is None:
            known = evidence_of((), len(self._space), self._direction)
            added = [(each.number, told) for each in snapshot.trials for told in each.measurements]
            added.sort(key=_seq)
        told = [Told(number, self._places[number], each.measurement) for number, each in added]
        unmeasured = self._unmeasured(snapshot)
        evidence = known.extended(told, unmeasured, len(snapshot.trials))
        self._last = snapshot, evidence
        return evidence

    def place(self, trial: StoredTrial) -> Array:
        """The place (d,) of a trial in the unit cube."""
        if trial.number not in self._places:
            self._locate([trial])
        return self._places[trial.number]

    def _locate(self, trials: list[StoredTrial]) -> None:
        """Computes the places of trials."""
        try:
            places = self._space.to_unit_rows(trial.params for trial in trials)
        except InputError as error:
            trial, why = self._first_wrong(trials, error)
            raise damaged(f"trial {trial.number} of study {self._name!r}", why) from why
        self._places.update(zip((trial.number for trial in trials), places, strict=True))

    def _first_wrong(
        self, trials: list[StoredTrial], error: InputError
    ) -> tuple[StoredTrial, InputError]:
        """The first of several trials whose parameters are not of the space, and why."""
        for trial in trials:
            try:
                self._space.to_unit(trial.params)
            except InputError as own:
                return trial, own
        return trials[0], error  # pragma: no cover - one of them was wrong

    def _unmeasured(self, snapshot: Snapshot) -> Unmeasured:
        failed: list[Array] = []
        withdrawn: list[Array] = []
        pending: list[Array] = []
        in_a_row = 0
        for trial in snapshot.trials:
            state = trial.state
            if state == DONE:
                in_a_row = 0
            elif state == FAILED:
                in_a_row += 1
                failed.append(self._places[trial.number])
            elif state == WITHDRAWN:
                withdrawn.append(self._places[trial.number])
            else:
                pending.append(self._places[trial.number])
        return Unmeasured(pending, failed, withdrawn, in_a_row)


def _added(before: Snapshot, now: Snapshot) -> list[Found] | None:
    """The measurements that came after all those before, in order; None if more has changed."""
    if len(now.trials) < len(before.trials):
        return None
    added: list[Found] = []
    for old, new in zip(before.trials, now.trials, strict=False):
        if old is new:
            continue
        kept = len(old.measurements)
        pairs = zip(old.measurements, new.measurements[:kept], strict=False)
        if len(new.measurements) < kept or any(a is not b for a, b in pairs):
            return None
        added += [(new.number, each) for each in new.measurements[kept:]]
    for trial in now.trials[len(before.trials) :]:
        added += [(trial.number, each) for each in trial.measurements]
    added.sort(key=_seq)
    # An event of before cannot come after one of now, unless `now` is an older snapshot.
    return added if not added or added[0][1].seq > before.seq else None


def _seq(found: Found) -> int:
    """Where a measurement stands in the history."""
    return found[1].seq
