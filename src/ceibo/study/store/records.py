"""What the store hands out: frozen records, and the fold that turns events into trials."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from ceibo.decide.measurement import Measurement
from ceibo.errors import InputError, NewerSchemaError, StorageError

QUEUED, RUNNING, DONE, FAILED, WITHDRAWN = "queued", "running", "done", "failed", "withdrawn"
KINDS = ("asked", "queued", "claimed", "measured", "corrected", "failed", "released", "withdrawn")


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """A stored study; `space` and `settings` are the JSON data given when it was created."""

    id: int
    name: str
    space: Any
    settings: Any
    created: float


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's claim on its trials; it lapses unless renewed within `seconds` of the database's
    clock.
    """

    worker: str
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class NewTrial:
    """A trial to be recorded: handed out at once unless `queued`, or already measured, or already
    failed.
    """

    params: Mapping[str, Any]
    suggestion: Any = None
    lease: Lease | None = None
    queued: bool = False
    measurement: Measurement | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StoredMeasurement:
    """One measurement of a trial; `seq` is its place in the study's history, `time` the database's
    clock.

    A corrected one keeps its place, so that the model sees what it would have seen had the right
    value been told: `version` is the event that gave it its present value, `replaced` what it was
    before, oldest first.
    """

    seq: int
    key: str
    measurement: Measurement
    time: float
    version: int
    replaced: tuple[Measurement, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """A trial as it was at some point of the history.

    `attempt` counts how often it was handed out, `created` and `changed` are the sequence numbers
    of its first and its last event, `reason` is that of its last failure.
    """

    number: int
    params: dict[str, Any]
    state: str
    attempt: int
    worker: str | None
    reason: str | None
    created: int
    changed: int
    measurements: tuple[StoredMeasurement, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a study's history; `state` is the trial's state after it."""

    seq: int
    number: int
    kind: str
    state: str
    key: str
    time: float
    worker: str | None
    measurement: Measurement | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A study after its event `seq`: every trial it had then, in order of number (trials[k].number
    == k).
    """

    seq: int
    trials: tuple[StoredTrial, ...]

    def in_state(self, *states: str) -> tuple[StoredTrial, ...]:
        """The trials in one of these states, in order of number."""
        return tuple(trial for trial in self.trials if trial.state in states)


@dataclass(frozen=True, slots=True)
class Told:
    """Where a measurement stands in the history, and whether this call put it there."""

    seq: int
    new: bool


EMPTY = Snapshot(0, ())


def damaged(what: str, found: object) -> StorageError:
    """The error for what cannot have been written by ceibo."""
    return StorageError(
        f"{what} is damaged in the database: {found}; restore a copy, nothing was changed"
    )


def from_text(text: str, what: str) -> Any:
    """The JSON data that was stored as this text; `what` is it, for the error."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        raise damaged(what, f"expected JSON, got {str(text)[:60]!r}") from None


def event_of(row: sa.Row[Any]) -> Event:
    """An event from its row; one of a kind that is not known here may change what all
    others mean.
    """
    if row.kind not in KINDS:
        raise NewerSchemaError(
            f"trial {row.number} has an event of the kind {row.kind!r}, which this ceibo does not"
            " know; upgrade ceibo (nothing was changed)"
        )
    measurement = None
    if row.kind in ("measured", "corrected"):
        what = f"a measurement of trial {row.number}"
        replicates = tuple(from_text(row.replicates, what)) if row.replicates else ()
        try:
            measurement = Measurement(row.value, row.noise, replicates)
        except InputError as error:
            raise damaged(what, error) from error
    return Event(
        row.seq,
        row.number,
        row.kind,
        row.state,
        row.key,
        row.time,
        row.worker,
        measurement,
        row.reason,
    )


def fold(
    snapshot: Snapshot, params: Sequence[Mapping[str, Any]], events: Iterable[Event], seq: int
) -> Snapshot:
    """The snapshot after further events; `params` are those of the trials that are new in them, in
    order.
    """
    trials = list(snapshot.trials)
    fresh = iter(params)
    for event in events:
        if event.number == len(trials) and (given := next(fresh, None)) is not None:
            trials.append(
                StoredTrial(event.number, dict(given), "", 0, None, None, event.seq, event.seq)
            )
        if event.number >= len(trials):
            raise damaged(f"trial {event.number}", "the history speaks of it, but it is not there")
        trials[event.number] = _after(trials[event.number], event)
    return Snapshot(seq, tuple(trials))


def _after(trial: StoredTrial, event: Event) -> StoredTrial:
    return replace(
        trial,
        state=event.state,
        attempt=trial.attempt + (event.kind in ("asked", "claimed")),
        worker=event.worker if event.state == RUNNING else None,
        reason=event.reason if event.kind == "failed" else trial.reason,
        changed=event.seq,
        measurements=measurements_after(trial.measurements, event),
    )


def measurements_after(
    told: tuple[StoredMeasurement, ...], event: Event
) -> tuple[StoredMeasurement, ...]:
    """A trial's measurements after an event: one more, one replaced, or the same."""
    if event.measurement is None:
        return told
    if event.kind == "measured":
        return (
            *told,
            StoredMeasurement(event.seq, event.key, event.measurement, event.time, event.seq),
        )
    if event.key not in [str(each.version) for each in told]:
        raise damaged(
            f"a correction of trial {event.number}",
            f"it replaces event {event.key}, no value of the trial",
        )
    return tuple(
        _corrected(each, event) if str(each.version) == event.key else each for each in told
    )


def _corrected(wrong: StoredMeasurement, event: Event) -> StoredMeasurement:
    assert event.measurement is not None
    replaced = (*wrong.replaced, wrong.measurement)
    return replace(wrong, measurement=event.measurement, version=event.seq, replaced=replaced)
