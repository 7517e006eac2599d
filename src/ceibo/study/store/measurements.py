"""The measurements of a trial: told, repeated and corrected."""

from typing import Any

import sqlalchemy as sa

from ceibo.decide.measurement import Measurement
from ceibo.errors import ConflictError, InputError, NotFoundError, NotStoredError, StorageError
from ceibo.study.store.database import Database
from ceibo.study.store.records import DONE, StoredMeasurement, Told, measurements_after
from ceibo.study.store.rows import check_label, event_row, measurement_columns
from ceibo.study.store.transaction import StudyTransaction, change_study


def tell(
    database: Database, study_id: int, number: int, measurement: Measurement, key: str
) -> Told:
    """Store a measurement of a trial, once per key."""
    if not measurement.is_finite:
        raise InputError(
            f"expected a finite value for trial {number}, got {measurement!r}; record a failure."
        )
    check_label(key, "key", empty=True)

    def work(transaction: StudyTransaction) -> Told:
        trial = transaction.trial(number)
        if transaction.has_event(number, "measured", key):
            told = _read_measurements(transaction, trial)
            stored = next(each for each in told if each.key == key)
            return _answer_repeat(number, stored, measurement)
        event = event_row("measured", DONE, key, worker=trial.worker)
        seq = transaction.append(trial, event | measurement_columns(measurement))
        return Told(seq, True)

    try:
        return change_study(database, study_id, work)
    except StorageError as error:
        message = (
            f"trial {number} was measured, {measurement!r}, but not stored: {error} "
            "This exception holds the measurement; tell it again once the database answers."
        )
        raise NotStoredError(message, number, measurement, key) from error


def _answer_repeat(number: int, stored: StoredMeasurement, measurement: Measurement) -> Told:
    """The answer to a measurement told again under its key: nothing new if it is the same."""
    # So is the value before a correction, of which whoever repeats it does not know.
    if measurement in (stored.measurement, *stored.replaced[:1]):
        return Told(stored.seq, False)
    where = f"under the key {stored.key!r}" if stored.key else "already"
    raise ConflictError(
        f"trial {number} has {stored.measurement!r} {where}, got {measurement!r}; "
        'a repeated measurement needs a key of its own, as in tell(trial, value, key="run-2"), '
        "and a wrong one is replaced by correct(trial, value)."
    )


def correct(
    database: Database, study_id: int, number: int, measurement: Measurement, key: str | None
) -> Measurement:
    """Replace a measurement of a trial; returns what it was."""
    if not measurement.is_finite:
        raise InputError(
            f"expected a finite value in place of a measurement of trial {number}, got"
            f" {measurement!r}; if the right value is not known, give the best guess with a"
            " noise as large as the doubt."
        )
    if key is not None:
        check_label(key, "key", empty=True)
    tried: list[StoredMeasurement] = []

    def work(transaction: StudyTransaction) -> Measurement:
        trial = transaction.trial(number)
        for wrong in tried:  # an earlier run may have been committed without an answer
            if _successor(transaction, trial, wrong) == measurement:
                return wrong.measurement
        wrong = _measurement_to_correct(_read_measurements(transaction, trial), trial, key)
        if wrong.measurement == measurement:
            return measurement
        tried.append(wrong)
        event = event_row("corrected", trial.state, str(wrong.version))
        transaction.append(trial, event | measurement_columns(measurement))
        return wrong.measurement

    try:
        return change_study(database, study_id, work)
    except StorageError as error:
        raise StorageError(
            f"trial {number} was not corrected to {measurement}: {error} Correct it again once the"
            " database answers."
        ) from error


def _measurement_to_correct(
    stored: tuple[StoredMeasurement, ...], trial: sa.Row[Any], key: str | None
) -> StoredMeasurement:
    """The measurement that a correction means: the one of that key, or the only one."""
    if not stored:
        state = f"is {trial.state} and has no value to correct"
        raise ConflictError(f"trial {trial.number} {state}; tell its value first.")
    found = [each for each in stored if key in (None, each.key)]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{each.key!r}: {each.measurement}" for each in stored)
    if found:
        has = f"trial {trial.number} has {len(stored)} measurements"
        raise ConflictError(f"{has}; say by its key which one to correct: {listed}.")
    missing = f"trial {trial.number} has no measurement with the key {key!r}"
    raise NotFoundError(f"{missing}; it has {listed}.")


def _read_measurements(
    transaction: StudyTransaction, trial: sa.Row[Any]
) -> tuple[StoredMeasurement, ...]:
    """The measurements of a trial as they are now."""
    stored: tuple[StoredMeasurement, ...] = ()
    for event in transaction.history(trial):
        stored = measurements_after(stored, event)
    return stored


def _successor(
    transaction: StudyTransaction, trial: sa.Row[Any], wrong: StoredMeasurement
) -> Measurement | None:
    """What replaced a value, or None if nothing has."""
    for event in transaction.history(trial):
        if (event.kind, event.key) == ("corrected", str(wrong.version)):
            return event.measurement
    return None
