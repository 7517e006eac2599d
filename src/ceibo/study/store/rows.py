"""Rows of the tables from what the caller gave, and records from rows."""

import json
import math
from typing import Any

import sqlalchemy as sa

from ceibo.decide.measurement import Measurement
from ceibo.errors import InputError, NewerSchemaError
from ceibo.study.store.records import (
    DONE,
    FAILED,
    KINDS,
    QUEUED,
    RUNNING,
    STATES,
    Event,
    Lease,
    NewTrial,
    StoredTrial,
    StudyRecord,
    damaged,
)

MAX_REASON = 20_000
"""Longest stored reason of a failure, in characters; of a longer one the two ends are kept."""


def event_row(kind: str, state: str, key: str, worker: str | None = None) -> dict[str, Any]:
    """The row of an event without its place (study, trial and sequence number)."""
    blank = dict.fromkeys(("value", "noise", "replicates", "reason"))
    return {"kind": kind, "state": state, "key": key, "worker": worker, **blank}


def measurement_columns(measurement: Measurement) -> dict[str, Any]:
    """The columns of an event that hold its measurement."""
    replicates = to_text(list(measurement.replicates)) if measurement.replicates else None
    return {"value": measurement.value, "noise": measurement.noise, "replicates": replicates}


def new_rows(new: NewTrial) -> tuple[dict[str, Any], dict[str, Any]]:
    """The row of a new trial and of its first event, without their place."""
    check_lease(new.lease)
    worker = None if new.lease is None else new.lease.worker
    if new.measurement is not None:
        if not new.measurement.is_finite:
            got = f"{new.measurement!r}; record a failure"
            raise InputError(f"expected a finite measurement, got {got}.")
        event = {**event_row("measured", DONE, ""), **measurement_columns(new.measurement)}
    elif new.reason is not None:
        event = {**event_row("failed", FAILED, ""), "reason": to_reason(new.reason)}
    elif new.queued:
        event = event_row("queued", QUEUED, "")
    else:
        event = event_row("asked", RUNNING, "", worker=worker)
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


def to_text(data: Any) -> str:
    """JSON as text, in the order given: floats keep every bit, and a database cannot rewrite it."""
    try:
        return json.dumps(data, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"expected plain JSON data without NaN or infinity, got other data: {error}."
        ) from None


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
        raise InputError(f"expected a {what} of at most 200 printable characters, got {text!r}.")


def check_lease(lease: Lease | None) -> None:
    """Refuse a lease that could never be held."""
    if lease is None:
        return
    check_label(lease.worker, "worker name")
    if not 0 < lease.seconds < math.inf:
        wanted = "a lease of a positive number of seconds"
        raise InputError(f"expected {wanted}, got {lease.seconds!r}.")


def study_from_row(row: sa.Row[Any]) -> StudyRecord:
    """The study that a row holds."""
    what = f"study {row.name!r}"
    space, settings = from_text(row.space, what), from_text(row.settings, what)
    return StudyRecord(row.id, row.name, space, settings, row.created)


def trial_from_row(row: sa.Row[Any], seq: int) -> StoredTrial:
    """The trial that a row holds, which event `seq` has just created or handed out."""
    params = params_from_text(row.number, row.params)
    return StoredTrial(
        row.number, params, row.state, row.attempt, row.worker, None, row.created_seq, seq
    )


def event_from_row(row: sa.Row[Any]) -> Event:
    """The event that a row holds; an unknown kind is refused, as it may change what others mean."""
    if row.kind not in KINDS:
        raise NewerSchemaError(
            f"trial {row.number} has an event of the kind {row.kind!r}, which this ceibo does not"
            " know; upgrade ceibo (nothing was changed)."
        )
    if row.state not in STATES:
        found = f"expected one of {', '.join(STATES)}, got {str(row.state)[:60]!r}"
        raise damaged(f"the state of trial {row.number}", found)
    measurement = None
    if row.kind in ("measured", "corrected"):
        what = f"a measurement of trial {row.number}"
        replicates = tuple(from_text(row.replicates, what)) if row.replicates else ()
        try:
            measurement = Measurement(row.value, row.noise, replicates)
        except InputError as error:
            raise damaged(what, error) from error
    facts = (row.seq, row.number, row.kind, row.state, row.key, row.time)
    return Event(*facts, row.worker, measurement, row.reason)


def params_from_text(number: int, text: str) -> dict[str, Any]:
    """The parameters of a trial, stored as this text."""
    what = f"trial {number}"
    params = from_text(text, what)
    if not isinstance(params, dict):
        raise damaged(what, f"expected parameters, got {params!r}")
    return params


def from_text(text: str, what: str) -> Any:
    """The JSON data stored as this text; `what` names it in the error."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        raise damaged(what, f"expected JSON, got {str(text)[:60]!r}") from None
