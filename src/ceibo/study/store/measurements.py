"""The measurements of a trial: told, repeated, corrected and voided."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import sqlalchemy as sa

from ceibo.decide.block_names import block_line
from ceibo.decide.measurement import Measurement
from ceibo.errors import ConflictError, InputError, NotFoundError, NotStoredError, StorageError
from ceibo.study.store.database import Database
from ceibo.study.store.records import (
    DONE,
    FAILED,
    ONE_OUTCOME,
    RUNNING,
    StoredMeasurement,
    Telling,
    Told,
    Values,
    values_after,
)
from ceibo.study.store.rows import (
    check_label,
    event_row,
    measurement_columns,
    noted_rows,
    telling_rows,
    to_reason,
)
from ceibo.study.store.transaction import StudyTransaction, change_study, new_attributes


def tell(database: Database, study_id: int, number: int, telling: Telling) -> Told:
    """Store what is told of a trial, all or none, each outcome once per key."""
    for outcome, measurement in telling.values.items():
        if not measurement.is_finite:
            of = f" of {outcome!r}" if outcome else ""
            raise InputError(
                f"expected a finite value{of} for trial {number}, got {measurement!r}; record a"
                " failure."
            )
    check_label(telling.key, "key", empty=True)

    def work(transaction: StudyTransaction) -> Told:
        trial = transaction.trial(number)
        plain = tuple(telling.values) == telling.needed == ONE_OUTCOME
        plain = plain and telling.failure is None
        if plain and not transaction.has_event(number, "measured", telling.key):
            event = event_row("measured", DONE, telling.key, worker=trial.worker)
            row = event | measurement_columns(telling.values[""])
            noted = noted_rows(telling.attributes, trial.state)
            return Told(transaction.append(trial, *noted, row), True)
        return _tell_further(transaction, trial, telling)

    try:
        return change_study(database, study_id, work)
    except StorageError as error:
        told = _plainly(telling.values)
        message = (
            f"trial {number} was measured, {told!r}, but not stored: {error} "
            "This exception holds the measurement; tell it again once the database answers."
        )
        raise NotStoredError(message, number, told, telling.key) from error


def _plainly(values: Mapping[str, Measurement]) -> Measurement | dict[str, Measurement]:
    """Values by outcome, or the only one of a study that names no outcomes."""
    return values[""] if "" in values else dict(values)


def _tell_further(transaction: StudyTransaction, trial: sa.Row[Any], telling: Telling) -> Told:
    """Store what is new of what is told, after comparing the rest with what the trial has."""
    known = _read_values(transaction, trial)
    rows = noted_rows(new_attributes(transaction, trial, telling.attributes), trial.state)
    noted = len(rows)
    told = Told(0, False)
    for outcome, measurement in telling.values.items():
        key = _unused_key(known, outcome, telling.key)
        stored = [each for each in known.measurements if (each.outcome, each.key) == (outcome, key)]
        if stored:
            repeated = _answer_repeat(trial.number, stored[0], measurement)
            told = max(told, repeated, key=lambda each: each.seq)
            continue
        have = known.outcomes().union(row["outcome"] for row in rows[noted:])
        state, holder = trial.state, trial.worker
        if rows[noted:]:
            state, holder = rows[-1]["state"], rows[-1]["worker"]
        one = replace(telling, values={outcome: measurement}, key=key, failure=None)
        rows += telling_rows(one, state, holder, have)
    if telling.failure is not None and not _has_failed(transaction, trial, telling):
        state = rows[-1]["state"] if rows else trial.state
        rows += telling_rows(replace(telling, values={}), state, trial.worker, ())
    return Told(transaction.append(trial, *rows), True) if rows else told


def _has_failed(transaction: StudyTransaction, trial: sa.Row[Any], telling: Telling) -> bool:
    """Whether this failure is on record: told again, or stored by a run without an answer."""
    reason = to_reason(telling.failure or "")
    for event in transaction.history(trial):
        same = trial.state == FAILED and event.reason == reason
        if event.kind == "failed" and (same or event.key == telling.token):
            return True
    return False


def _unused_key(known: Values, outcome: str, key: str) -> str:
    """The key for a value told under `key`: another, where values under it were voided."""
    voided = {(each.told.outcome, each.told.key): each.told.version for each in known.voided}
    own = key
    while (outcome, own) in voided:
        own = f"{key}-again-{voided[outcome, own]}".lstrip("-")
    return own


def _answer_repeat(number: int, stored: StoredMeasurement, measurement: Measurement) -> Told:
    """The answer to a measurement told again under its key: nothing new if it is the same."""
    # So is the value before a correction, of which whoever repeats it does not know.
    if measurement in (stored.measurement, *stored.replaced[:1]):
        return Told(stored.seq, False)
    where = f"under the key {stored.key!r}" if stored.key else "already"
    has = f"{stored.outcome} = {stored.measurement!r}" if stored.outcome else stored.measurement
    value = f"{{{stored.outcome!r}: …}}" if stored.outcome else "value"
    if replace(measurement, block=stored.measurement.block) == stored.measurement:
        raise ConflictError(
            f"trial {number} has {has} {where}, got the same {_place(measurement)}; if the block"
            f" was wrong, use correct(trial, {value}, block=…), and a repeated measurement needs a"
            f' key of its own, as in tell(trial, {value}, block=…, key="run-2").'
        )
    raise ConflictError(
        f"trial {number} has {has} {where}, got {measurement!r}; "
        f'a repeated measurement needs a key of its own, as in tell(trial, {value}, key="run-2"), '
        f"and a wrong one is replaced by correct(trial, {value})."
    )


def _place(measurement: Measurement) -> str:
    """Where a measurement was made, for an error."""
    return f"in block {block_line(measurement.block)}" if measurement.block else "without a block"


def correct(
    database: Database,
    study_id: int,
    number: int,
    values: Mapping[str, Measurement],
    named: "Named",
) -> dict[str, Measurement]:
    """Replace measurements of a trial, one of each outcome given; returns what they were."""
    key = named.key
    for outcome, measurement in values.items():
        if not measurement.is_finite:
            of = f" of {outcome!r}" if outcome else ""
            raise InputError(
                f"expected a finite value in place of a measurement{of} of trial {number}, got"
                f" {measurement!r}; if the right value is not known, give the best guess with a"
                " noise as large as the doubt, or void it."
            )
    if key is not None:
        check_label(key, "key", empty=True)
    tried: list[dict[str, StoredMeasurement]] = []

    def right_of(wrong: Mapping[str, StoredMeasurement]) -> dict[str, Measurement]:
        if not named.keeps_block:
            return dict(values)
        return {o: _in_block_of(wrong[o].measurement, each) for o, each in values.items()}

    def work(transaction: StudyTransaction) -> dict[str, Measurement]:
        trial = transaction.trial(number)
        for wrong in tried:  # an earlier run may have been committed without an answer
            if _successors(transaction, trial, wrong) == right_of(wrong):
                return {outcome: each.measurement for outcome, each in wrong.items()}
        known = _read_values(transaction, trial)
        meant = {each: _Meant(trial, each, key, "correct").of(known) for each in values}
        right = right_of(meant)
        wrong = {name: old for name, old in meant.items() if old.measurement != right[name]}
        if wrong:
            tried.append(meant)
            transaction.append(
                trial, *(_correction(trial, old, right[name]) for name, old in wrong.items())
            )
        return {outcome: each.measurement for outcome, each in meant.items()}

    try:
        return change_study(database, study_id, work)
    except StorageError as error:
        right = ", ".join(f"{o} = {m}" if o else str(m) for o, m in values.items())
        raise StorageError(
            f"trial {number} was not corrected to {right}: {error} Correct it again once the"
            " database answers."
        ) from error


def _in_block_of(wrong: Measurement, right: Measurement) -> Measurement:
    """The right measurement; if it names no block it is in those of the wrong one."""
    return right if right.block else replace(right, block=wrong.block)


def _correction(
    trial: sa.Row[Any], wrong: StoredMeasurement, measurement: Measurement
) -> dict[str, Any]:
    event = event_row("corrected", trial.state, str(wrong.version))
    return event | measurement_columns(measurement) | {"outcome": wrong.outcome}


def void(
    database: Database, study_id: int, number: int, named: "Named", reason: str
) -> Measurement:
    """Take back a measurement of a trial, which the record keeps; returns it."""
    if named.key is not None:
        check_label(named.key, "key", empty=True)
    tried: list[StoredMeasurement] = []

    def work(transaction: StudyTransaction) -> Measurement:
        trial = transaction.trial(number)
        known = _read_values(transaction, trial)
        versions = [(each.told.outcome, each.told.version) for each in known.voided]
        for old in tried:  # as above
            if (old.outcome, old.version) in versions:
                return old.measurement
        old = _Meant(trial, named.outcome, named.key, "void").of(known)
        tried.append(old)
        left = {each.outcome for each in known.measurements if each is not old}
        lacks = trial.state == DONE and not left.issuperset(named.needed)
        event = event_row("voided", RUNNING if lacks else trial.state, str(old.version))
        transaction.append(trial, event | {"outcome": old.outcome, "reason": to_reason(reason)})
        return old.measurement

    try:
        return change_study(database, study_id, work)
    except StorageError as error:
        raise StorageError(
            f"no measurement of trial {number} was voided: {error} Void it again once the database"
            " answers."
        ) from error


@final
@dataclass(frozen=True, slots=True)
class Named:
    """A measurement of a trial by its outcome and key, None where that says nothing.

    `needed` are the outcomes that a trial needs to be done. `keeps_block` says that what is put in
    its place, if that names no block, is in the same blocks.
    """

    outcome: str | None = None
    key: str | None = None
    needed: tuple[str, ...] = ONE_OUTCOME
    keeps_block: bool = False


@final
@dataclass(frozen=True, slots=True)
class _Meant:
    """The measurement of a trial that is to be corrected or voided (`wish`)."""

    trial: sa.Row[Any]
    outcome: str | None
    key: str | None
    wish: str

    def of(self, known: Values) -> StoredMeasurement:
        """The one of that outcome and key, or the only one."""
        number = self.trial.number
        stored = [each for each in known.measurements if self.outcome in (None, each.outcome)]
        if not stored:
            value = f"value of {self.outcome!r}" if self.outcome else "value"
            state = f"is {self.trial.state} and has no {value} to {self.wish}"
            raise ConflictError(f"trial {number} {state}; tell its value first.")
        found = [each for each in stored if self.key in (None, each.key)]
        if len(found) == 1:
            return found[0]
        listed = ", ".join(map(_listed, stored))
        if found:
            has = f"trial {number} has {len(stored)} measurements"
            by = "key" if len({each.outcome for each in found}) == 1 else "outcome"
            raise ConflictError(f"{has}; say by its {by} which one to {self.wish}: {listed}.")
        missing = f"trial {number} has no measurement with the key {self.key!r}"
        raise NotFoundError(f"{missing}; it has {listed}.")


def _listed(stored: StoredMeasurement) -> str:
    of = f"{stored.outcome} " if stored.outcome else ""
    return f"{of}{stored.key!r}: {stored.measurement}"


def _read_values(transaction: StudyTransaction, trial: sa.Row[Any]) -> Values:
    """What was told of a trial, as it is now."""
    values = Values()
    for event in transaction.history(trial):
        values = values_after(values, event)
    return values


def _successors(
    transaction: StudyTransaction, trial: sa.Row[Any], wrong: Mapping[str, StoredMeasurement]
) -> dict[str, Measurement]:
    """What has replaced values, by outcome; those that nothing replaced as they are."""
    history = {
        (event.outcome, event.key): event.measurement
        for event in transaction.history(trial)
        if event.kind == "corrected" and event.measurement is not None
    }
    return {
        outcome: history.get((outcome, str(old.version)), old.measurement)
        for outcome, old in wrong.items()
    }
