"""Between rows and records: building rows from what the caller gave, reading and locking rows."""

import json
import math
import uuid
from typing import Any

import sqlalchemy as sa

from ceibo.decide.measurement import Measurement
from ceibo.errors import ConflictError, InputError, NotFoundError
from ceibo.study.store import schema
from ceibo.study.store.failures import Raced
from ceibo.study.store.records import (
    DONE,
    FAILED,
    QUEUED,
    RUNNING,
    Event,
    Lease,
    NewTrial,
    StoredMeasurement,
    StoredTrial,
    StudyRecord,
    Told,
    damaged,
    event_of,
    from_text,
    measurements_after,
)

MAX_REASON = 20_000
"""Longest stored reason of a failure, in characters; of a longer one the two ends are kept."""

studies, trials, events = schema.studies, schema.trials, schema.events


def lock_study(connection: sa.Connection, study_id: int) -> sa.Row[Any]:
    """The study's row, locked until the transaction ends (SQLite: BEGIN IMMEDIATE has locked the
    file).

    Writers of a study therefore go one after the other, which makes the order of sequence numbers
    the order in which they become visible: whoever sees event n sees all events before it.
    """
    row = connection.execute(
        sa.select(studies).where(studies.c.id == study_id).with_for_update()
    ).first()
    if row is None:
        raise NotFoundError(f"there is no study with id {study_id}")
    return row


def advance(
    connection: sa.Connection, study: sa.Row[Any], new_events: int, new_trials: int
) -> None:
    """Move the study past the events and trials just inserted; a lost race repeats the
    transaction.
    """
    changed = connection.execute(
        studies.update()
        .where(studies.c.id == study.id, studies.c.seq == study.seq)
        .values(seq=study.seq + new_events, trials=study.trials + new_trials)
    )
    if changed.rowcount != 1:
        raise Raced


def trial_row(connection: sa.Connection, study: sa.Row[Any], number: int) -> sa.Row[Any]:
    """The trial of that number."""
    row = connection.execute(sa.select(trials).where(*is_trial(study.id, number))).first()
    if row is None:
        existing = f"numbers 0 to {study.trials - 1}" if study.trials else "no trials yet"
        raise NotFoundError(f"study {study.name!r} has no trial {number!r}; it has {existing}")
    return row


def is_trial(study_id: int, number: int) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that picks one trial."""
    return trials.c.study_id == study_id, trials.c.number == number


def times_lost(connection: sa.Connection, study_id: int, number: int) -> int:
    """How often a worker began a trial and never came back with an outcome, nor gave it back in
    good order.
    """
    by_workers = (
        events.c.study_id == study_id,
        events.c.number == number,
        events.c.worker.is_not(None),
    )
    happened = connection.execute(
        sa.select(events.c.kind, events.c.reason).where(*by_workers)
    ).all()
    begun = [kind for kind, _ in happened if kind in ("asked", "claimed")]
    back = [
        kind
        for kind, reason in happened
        if kind == "failed" or (kind == "released" and reason is None)
    ]
    return len(begun) - len(back)


def history(connection: sa.Connection, study_id: int, since: int, until: int | None) -> list[Event]:
    """The events after `since`, up to `until`, in order."""
    query = sa.select(events).where(events.c.study_id == study_id, events.c.seq > since)
    if until is not None:
        query = query.where(events.c.seq <= until)
    return [event_of(row) for row in connection.execute(query.order_by(events.c.seq))]


def measurements_of(
    connection: sa.Connection, study_id: int, number: int
) -> tuple[StoredMeasurement, ...]:
    """The measurements of a trial as they are now."""
    values = (events.c.number == number, events.c.kind.in_(["measured", "corrected"]))
    query = sa.select(events).where(events.c.study_id == study_id, *values).order_by(events.c.seq)
    told: tuple[StoredMeasurement, ...] = ()
    for row in connection.execute(query):
        told = measurements_after(told, event_of(row))
    return told


def told_before(number: int, told: StoredMeasurement, measurement: Measurement) -> Told:
    """What a repeated tell returns: nothing new, or an error if it says something different.

    Who repeats what was told before a correction does not know of it, and does not undo it.
    """
    if measurement in (told.measurement, *told.replaced[:1]):
        return Told(told.seq, False)
    where = f"under the key {told.key!r}" if told.key else "already"
    raise ConflictError(
        f"trial {number} has {told.measurement!r} {where}, now came {measurement!r}; "
        'a repeated measurement needs a key of its own, as in tell(trial, value, key="run-2"), '
        "and a wrong one is replaced by correct(trial, value)"
    )


def to_correct(
    told: tuple[StoredMeasurement, ...], trial: sa.Row[Any], key: str | None
) -> StoredMeasurement:
    """The measurement that a correction means: the one of that key, or the only one."""
    if not told:
        raise ConflictError(
            f"trial {trial.number} is {trial.state} and has no value to correct; tell its value"
            " first"
        )
    found = [each for each in told if key in (None, each.key)]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{each.key!r}: {each.measurement}" for each in told)
    if found:
        raise ConflictError(
            f"trial {trial.number} has {len(told)} measurements; say by its key which one to"
            f" correct: {listed}"
        )
    raise NotFoundError(
        f"trial {trial.number} has no measurement with the key {key!r}; it has {listed}"
    )


def new_event(kind: str, state: str, key: str, worker: str | None = None) -> dict[str, Any]:
    """The row of an event, but for its place."""
    blank = dict.fromkeys(("value", "noise", "replicates", "reason"))
    return {"kind": kind, "state": state, "key": key, "worker": worker, **blank}


def given_up(lost: int) -> dict[str, Any]:
    """The failure of a trial that was lost too often."""
    event = new_event("failed", FAILED, uuid.uuid4().hex)
    event["reason"] = (
        f"given up: {lost} times a worker began it and was gone before there was a result (killed,"
        " out of memory, a crash, or sys.exit in the objective). To try once more, enqueue the"
        " same parameters"
    )
    return event


def measured(measurement: Measurement) -> dict[str, Any]:
    """A measurement's columns of an event."""
    replicates = to_text(list(measurement.replicates)) if measurement.replicates else None
    return {"value": measurement.value, "noise": measurement.noise, "replicates": replicates}


def new_rows(new: NewTrial) -> tuple[dict[str, Any], dict[str, Any]]:
    """The row of a new trial and of its first event."""
    check_lease(new.lease)
    worker = None if new.lease is None else new.lease.worker
    if new.measurement is not None:
        if not new.measurement.is_finite:
            raise InputError(
                f"expected a finite measurement, got {new.measurement!r}; record a failure"
            )
        event = {**new_event("measured", DONE, ""), **measured(new.measurement)}
    elif new.reason is not None:
        event = {**new_event("failed", FAILED, ""), "reason": to_reason(new.reason)}
    elif new.queued:
        event = new_event("queued", QUEUED, "")
    else:
        event = new_event("asked", RUNNING, "", worker=worker)
    out = event["state"] == RUNNING
    trial = {
        "params": to_text(dict(new.params)),
        "suggestion": None if new.suggestion is None else to_text(new.suggestion),
        "state": event["state"],
        "attempt": int(out),
        "worker": worker if out else None,
        "seconds": new.lease.seconds if new.lease is not None and out else None,
    }
    return trial, event


def created(row: sa.Row[Any]) -> StoredTrial:
    """A trial as it was just created."""
    return handed_out(row, row.created_seq)


def handed_out(row: sa.Row[Any], seq: int) -> StoredTrial:
    """A trial as it was just handed out, by event `seq`."""
    params = params_of(row.number, row.params)
    return StoredTrial(
        row.number, params, row.state, row.attempt, row.worker, None, row.created_seq, seq
    )


def params_of(number: int, text: str) -> dict[str, Any]:
    """The parameters of a trial from what is stored."""
    what = f"trial {number}"
    params = from_text(text, what)
    if not isinstance(params, dict):
        raise damaged(what, f"expected parameters, got {params!r}")
    return params


def study_of(row: sa.Row[Any]) -> StudyRecord:
    """A study from its row."""
    what = f"study {row.name!r}"
    return StudyRecord(
        row.id, row.name, from_text(row.space, what), from_text(row.settings, what), row.created
    )


def to_text(data: Any) -> str:
    """JSON as text, in the order given: floats keep every bit, and a database cannot rewrite it."""
    try:
        return json.dumps(data, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"expected plain JSON data without NaN or infinity: {error}") from None


def to_reason(reason: str) -> str:
    """The reason as text every database takes: no NUL, no half characters, of bounded length."""
    text = str(reason).replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
    if len(text) <= MAX_REASON:
        return text
    half = MAX_REASON // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def check_label(text: object, what: str, empty: bool = False) -> None:
    """Refuse names and keys that some database would change."""
    valid = isinstance(text, str) and len(text) <= 200 and text.isprintable() and (empty or text)
    if not valid:
        raise InputError(f"expected a {what} of at most 200 printable characters, got {text!r}")


def check_lease(lease: Lease | None) -> None:
    """Refuse a lease that could never be held."""
    if lease is None:
        return
    check_label(lease.worker, "worker name")
    if not 0 < lease.seconds < math.inf:
        raise InputError(f"expected a lease of a positive number of seconds, got {lease.seconds!r}")
