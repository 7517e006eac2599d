"""Rows of the tables, from what the caller gave."""

import json
import math
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from ceibo.decide.measurement import Measurement
from ceibo.errors import InputError
from ceibo.study.store.records import (
    DONE,
    FAILED,
    FURTHER,
    NOTED,
    QUEUED,
    RUNNING,
    Lease,
    NewTrial,
    Telling,
)

MAX_REASON = 20_000
"""Longest stored reason of a failure, in characters; of a longer one the two ends are kept."""


def event_row(kind: str, state: str, key: str, worker: str | None = None) -> dict[str, Any]:
    """The row of an event without its place (study, trial and sequence number) and time."""
    blank = dict.fromkeys(("value", "noise", "replicates", "reason", "data"))
    return {"kind": kind, "state": state, "key": key, "worker": worker, "outcome": "", **blank}


def noted_rows(attributes: Mapping[str, Any], state: str) -> list[dict[str, Any]]:
    """The event that gives a trial attributes and leaves its state; none without attributes."""
    if not attributes:
        return []
    data = to_text({"attributes": dict(attributes)})
    return [{**event_row(NOTED, state, uuid.uuid4().hex), "data": data}]


def measurement_columns(measurement: Measurement) -> dict[str, Any]:
    """The columns of an event that hold its measurement."""
    replicates = to_text(list(measurement.replicates)) if measurement.replicates else None
    columns = {"value": measurement.value, "noise": measurement.noise, "replicates": replicates}
    told = measurement.to_json()
    further = {name: told[name] for name in FURTHER if name in told}
    return {**columns, "data": to_text(further) if further else None}


def new_rows(new: NewTrial) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The row of a new trial and of its first events, without their place."""
    check_lease(new.lease)
    worker = None if new.lease is None else new.lease.worker
    told = new.told
    if new.measurement is not None:
        told = Telling({"": new.measurement})
    if told is not None:
        events = telling_rows(told, RUNNING, None, ())
    elif new.reason is not None:
        events = [{**event_row("failed", FAILED, ""), "reason": to_reason(new.reason)}]
    elif new.queued:
        events = [event_row("queued", QUEUED, "")]
    else:
        events = [event_row("asked", RUNNING, "", worker=worker)]
    out = events[0]["kind"] == "asked"
    trial = {
        "params": to_text(dict(new.params)),
        "suggestion": None if new.suggestion is None else to_text(new.suggestion),
        "state": events[-1]["state"],
        "attempt": int(out),
        "worker": worker if out else None,
        "data": None,
    }
    return trial, events


def telling_rows(
    telling: Telling, state: str, holder: str | None, known: Iterable[str]
) -> list[dict[str, Any]]:
    """The events of what is told of a trial at once, one per outcome, and then its failure.

    Args:
        telling: what is told.
        state: of the trial before.
        holder: the worker that holds the trial.
        known: the outcomes that have a value already.
    """
    missing = set(telling.needed).difference(known)
    rows = []
    held = holder
    for outcome, measurement in telling.values.items():
        if not measurement.is_finite:
            got = f"{measurement!r}; record a failure"
            raise InputError(f"expected a finite measurement, got {got}.")
        missing.discard(outcome)
        state = state_after_value(state, bool(missing))
        if state == RUNNING and telling.ends:
            held = None
        event = event_row("measured", state, telling.key, worker=held)
        rows.append({**event, **measurement_columns(measurement), "outcome": outcome})
    if telling.failure is not None:
        mine = state == RUNNING and telling.worker in (None, holder)
        state = FAILED if state == QUEUED or mine else state
        event = event_row("failed", state, telling.token, worker=telling.worker)
        rows.append({**event, "reason": to_reason(telling.failure)})
    return rows


def state_after_value(state: str, is_missing: bool) -> str:
    """The state of a trial of which a value was told, by whether one that it needs is missing."""
    if not is_missing:
        return DONE
    return RUNNING if state == QUEUED else state


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
