"""The stored record of one study, as Study, the runner and `verify` use it.

Users see `Study`; a Ledger is its inside: the snapshot read last, the belief that follows from it,
and the writes that belong to workers.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, final

from ceibo.decide.belief import Belief
from ceibo.decide.direction import Direction
from ceibo.decide.frame import Frame
from ceibo.decide.joint import JointBelief
from ceibo.decide.outcomes import Outcomes
from ceibo.decide.precision import Precision
from ceibo.decide.settings import Settings, two_for_each
from ceibo.decide.space import Space
from ceibo.errors import InputError, StorageError
from ceibo.study.deciding import Plan
from ceibo.study.reported import Reported
from ceibo.study.spaces import Spaces
from ceibo.study.store import NewTrial, Snapshot, Store, StoredTrial, StudyRecord, Telling
from ceibo.study.store.readers import newer
from ceibo.study.store.records import EMPTY, ONE_OUTCOME, damaged


@final
class Ledger:
    """One study of a store: what it is, what was recorded, what follows from that.

    `outcomes` are None in a study of one objective; `direction` is that of the first goal.
    """

    def __init__(self, store: Store, record: StudyRecord) -> None:
        self.store = store
        self.id = record.id
        self.name = record.name
        try:
            space = _space_of(record)
            self.outcomes = _outcomes_of(record)
            self.direction = _direction_of(record, self.outcomes)
            self.seed: int = record.settings["seed"]
            choices = record.settings["suggest"]
        except (InputError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise _damaged_study(record.name, error) from error
        self.settings = _settings_of(record, choices, space)
        self.snapshot: Snapshot = EMPTY
        plan = Plan(record.name, Frame(space), self.settings, self.seed)
        self.spaces = Spaces(plan, self.direction, self.outcomes)
        self.changes = store.changes(self.id)
        """The changes of the space until the last look at the record."""
        self.needed = ONE_OUTCOME if self.outcomes is None else self.outcomes.needed
        """The outcomes that a trial needs to be done."""
        self._belief: tuple[int, Belief | JointBelief] | None = None
        self.improvements: dict[tuple[bytes, ...], float] = {}
        """State of the evidence -> remaining improvement, kept from verdict to verdict."""

    # -- the space ---------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        """The space as it is now, with what earlier trials need to be placed in it."""
        return self.spaces.frame(self.changes)

    @property
    def space(self) -> Space:
        """The space as it is now."""
        return self.frame.space

    # -- reading -----------------------------------------------------------------------

    def refresh(self) -> Snapshot:
        """Reads what was recorded since the last snapshot; returns the new one."""
        before = self.snapshot
        snapshot = self.store.refresh(self.id, before)
        if snapshot is not before:
            known = ONE_OUTCOME if self.outcomes is None else self.outcomes.names
            _check_outcomes(self.name, known, snapshot, before.seq)
            if len(snapshot.changes) > len(self.changes):
                self.spaces.frame(snapshot.changes)  # says what is wrong with them
                self.changes = snapshot.changes
                self.improvements.clear()
            self.snapshot = snapshot
        return self.snapshot

    def trial(self, number: int) -> StoredTrial:
        """A trial as it is now."""
        return self.refresh().trials[number]

    def belief(self) -> Belief:
        """What is believed now of one objective; the same object until something is recorded."""
        belief = self.any_belief()
        if not isinstance(belief, Belief):
            raise InputError(f"study {self.name!r} has several outcomes; ask for its joint belief.")
        return belief

    def any_belief(self) -> Belief | JointBelief:
        """What is believed now, of one objective or of several outcomes."""
        snapshot = self.refresh()
        if self._belief is None or self._belief[0] != snapshot.seq:
            self._belief = snapshot.seq, self.spaces.decider(snapshot.changes).belief(snapshot)
        return self._belief[1]

    # -- writing -----------------------------------------------------------------------

    def create(
        self,
        trials: Sequence[NewTrial],
        expect_number: int | None = None,
        turn: str | None = None,
        known_changes: int | None = None,
    ) -> tuple[StoredTrial, ...]:
        """Records new trials, all or none."""
        return self.store.create_trials(
            self.id, trials, expect_number=expect_number, turn=turn, known_changes=known_changes
        )

    def tell(self, number: int, told: Reported, key: str, worker: str | None = None) -> None:
        """Records what was reported of a trial, all or none; `worker` has nothing more to tell."""
        if not told.values:
            reason, given = told.failure or "", told.attributes
            self.store.fail(self.id, number, reason, worker, given)
            return
        telling = Telling(
            told.values, self.needed, key, ends=worker is not None, attributes=told.attributes
        )
        if (failure := told.failure) is not None:
            token = uuid.uuid4().hex
            telling = replace(telling, failure=failure, worker=worker, token=token)
        self.store.tell(self.id, number, telling)

    def attempt(self, number: int) -> int:
        """How often a trial was handed out; 0 for one that does not exist."""
        trials = self.refresh().trials
        return trials[number].attempt if number < len(trials) else 0

    def workers(self) -> dict[int, str]:
        """Number -> the worker that holds a lease on it."""
        return {number: worker for number, (worker, _) in self.store.leases(self.id).items()}


def _check_outcomes(name: str, known: Sequence[str], snapshot: Snapshot, since: int) -> None:
    """Refuses values, told after event `since`, of outcomes that a study does not have."""
    for trial in snapshot.trials:
        if trial.changed > since:
            for each in trial.measurements:
                if each.outcome not in known:
                    what = f"trial {trial.number} of study {name!r}"
                    raise newer(what, f"a value of the outcome {each.outcome!r}")


def _space_of(record: StudyRecord) -> Space:
    """The space of a study; rules that this version cannot read are of a newer one."""
    space = Space.from_json(record.space)
    if record.data is None or "constraints" not in record.data:
        return space
    try:
        return Space(space, record.data["constraints"])
    except InputError as error:
        raise StorageError(f"study {record.name!r} cannot be used here: {error}") from error


def _outcomes_of(record: StudyRecord) -> Outcomes | None:
    """The outcomes of a study; kinds that this version does not know are of a newer one."""
    if record.data is None or "outcomes" not in record.data:
        return None
    try:
        return Outcomes.from_json(record.data["outcomes"])
    except InputError as error:
        raise StorageError(f"study {record.name!r} cannot be used here: {error}") from error


def _direction_of(record: StudyRecord, outcomes: Outcomes | None) -> Direction:
    """The direction of a study's objective, or of its first goal."""
    if outcomes is None:
        return Direction(record.settings["direction"])
    return outcomes[outcomes.goals[0]].direction


def _settings_of(record: StudyRecord, choices: Mapping[str, Any], space: Space) -> Settings:
    """The settings of a study; a kernel or an acquisition may come from a package not installed."""
    name = record.name
    price = (record.data or {}).get("precision")
    try:
        settings = Settings.from_json(choices)
        if settings.n_initial is None:  # as version 0.1 left it
            settings = replace(settings, n_initial=two_for_each(space.breadth))
        return (
            settings if price is None else replace(settings, precision=Precision.from_json(price))
        )
    except InputError as error:
        raise StorageError(f"study {name!r} cannot be used here: {error}") from error
    except TypeError as error:
        raise _damaged_study(name, error) from error


def _damaged_study(name: str, error: Exception) -> StorageError:
    return damaged(f"study {name!r}", f"{type(error).__name__}: {error}")
