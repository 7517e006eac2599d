"""The evidence in snapshots of a study, at the price of what is new since the last one."""

from typing import final

from ceibo.decide.direction import Direction
from ceibo.decide.evidence import Evidence, Told, evidence_of
from ceibo.decide.frame import Frame
from ceibo.decide.joint import JointEvidence, joint_evidence_of
from ceibo.decide.outcomes import Outcomes
from ceibo.gp.inputs import Array
from ceibo.study.places import Places
from ceibo.study.store import QUEUED, RUNNING, Snapshot, StoredTrial
from ceibo.study.store.records import EMPTY, StoredMeasurement

Found = tuple[int, StoredMeasurement]  # a measurement with the number of its trial


@final
class Gatherer:
    """Gathers the evidence in snapshots of one study; threads may share it.

    It remembers the last snapshot and its evidence. Where the next one only adds measurements to
    it, those alone are looked at; anything else, such as a correction, is gathered afresh.
    """

    def __init__(self, name: str, frame: Frame, direction: Direction) -> None:
        self._direction = direction
        self._places = Places(name, frame)
        # one attribute, so that another thread sees both of before or both of after
        self._last = EMPTY, evidence_of((), len(frame.space), direction)

    def gather(self, snapshot: Snapshot) -> Evidence:
        """The evidence in a snapshot."""
        places = self._places
        places.find(snapshot.trials)
        before, known = self._last
        added = _added(before, snapshot)
        if added is None:
            known = evidence_of((), len(places.space), self._direction)
            added = _all(snapshot)
        told = [Told(number, places[number], each.measurement) for number, each in added]
        evidence = known.extended(told, places.unmeasured(snapshot), len(snapshot.trials))
        self._last = snapshot, evidence
        return evidence

    def place(self, trial: StoredTrial) -> Array:
        """The place (d,) of a trial in the unit cube."""
        return self._places.of(trial)


@final
class JointGatherer:
    """Gathers the evidence of several outcomes; threads may share it."""

    def __init__(self, name: str, frame: Frame, outcomes: Outcomes) -> None:
        self._outcomes = outcomes
        self._places = Places(name, frame)

    def gather(self, snapshot: Snapshot) -> JointEvidence:
        """The evidence in a snapshot."""
        places, names = self._places, self._outcomes.names
        places.find(snapshot.trials)
        told: dict[str, list[Told]] = {name: [] for name in names}
        for number, each in _all(snapshot):
            told[each.outcome].append(Told(number, places[number], each.measurement))
        pending: dict[str, list[Array]] = {name: [] for name in names}
        for trial in snapshot.in_state(QUEUED, RUNNING):
            known = {each.outcome for each in trial.measurements}
            for name in names:
                if name not in known:
                    pending[name] += [places[trial.number]] * trial.repeats
        count, dimension = len(snapshot.trials), len(places.space)
        unmeasured = places.unmeasured(snapshot)
        return joint_evidence_of(self._outcomes, dimension, told, unmeasured, pending, count)

    def place(self, trial: StoredTrial) -> Array:
        """The place (d,) of a trial in the unit cube."""
        return self._places.of(trial)


def _all(snapshot: Snapshot) -> list[Found]:
    """The measurements in a snapshot, in the order told."""
    found = [(each.number, told) for each in snapshot.trials for told in each.measurements]
    return sorted(found, key=_seq)


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
