"""What the store hands out: frozen records, and the fold that turns events into trials."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from ceibo.decide.measurement import Measurement
from ceibo.errors import StorageError

QUEUED, RUNNING, DONE, FAILED, WITHDRAWN = "queued", "running", "done", "failed", "withdrawn"
STATES = (QUEUED, RUNNING, DONE, FAILED, WITHDRAWN)
KINDS = ("asked", "queued", "claimed", "measured", "corrected", "failed", "released", "withdrawn")


@final
@dataclass(frozen=True, slots=True)
class StudyRecord:
    """A stored study; `space` and `settings` are the JSON data given when it was created."""

    id: int
    name: str
    space: Any
    settings: Any
    created: float


@final
@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's claim on its trials, which lapses after `seconds` unless it is renewed."""

    worker: str
    seconds: float = 60.0


@final
@dataclass(frozen=True, slots=True)
class NewTrial:
    """A trial to be recorded.

    It is handed out at once unless it is `queued`, comes with its measurement, or has failed, for
    the `reason` given.
    """

    params: Mapping[str, Any]
    suggestion: Any = None
    lease: Lease | None = None
    queued: bool = False
    measurement: Measurement | None = None
    reason: str | None = None


@final
@dataclass(frozen=True, slots=True)
class StoredMeasurement:
    """One measurement of a trial, told by event `seq` at `time` on the database's clock.

    A corrected one keeps its `seq`, so that the model sees what it would have seen had the right
    value been told. `version` is the event that gave it its present value, `replaced` what it was
    before, oldest first.
    """

    seq: int
    key: str
    measurement: Measurement
    time: float
    version: int
    replaced: tuple[Measurement, ...] = ()


@final
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


@final
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


@final
@dataclass(frozen=True, slots=True)
class Snapshot:
    """A study after its event `seq`: all its trials, in order of number (trials[k].number == k)."""

    seq: int
    trials: tuple[StoredTrial, ...]

    def in_state(self, *states: str) -> tuple[StoredTrial, ...]:
        """The trials in one of these states, in order of number."""
        return tuple(trial for trial in self.trials if trial.state in states)


@final
@dataclass(frozen=True, slots=True)
class Told:
    """Where a measurement stands in the history, and whether this call put it there."""

    seq: int
    new: bool


EMPTY = Snapshot(0, ())


def damaged(what: str, found: object) -> StorageError:
    """The error for stored data that ceibo cannot have written; `found` says what is wrong."""
    found = str(found).rstrip(".")
    return StorageError(
        f"{what} is damaged in the database: {found}; restore a copy (nothing was changed)."
    )


def fold(
    snapshot: Snapshot, params: Sequence[Mapping[str, Any]], events: Iterable[Event], seq: int
) -> Snapshot:
    """The snapshot after further events.

    Each event leads from one state of its trial to the next. `params` are the parameters of the
    trials that are new in these events, in order of number.
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
    """A trial after an event of its own."""
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
    before: tuple[StoredMeasurement, ...], event: Event
) -> tuple[StoredMeasurement, ...]:
    """A trial's measurements after an event: one more, one replaced, or the same."""
    value, seq = event.measurement, event.seq
    if value is None:
        return before
    if event.kind == "measured":
        return (*before, StoredMeasurement(seq, event.key, value, event.time, version=seq))
    if event.key not in [str(each.version) for each in before]:
        found = f"it replaces event {event.key}, no value of the trial"
        raise damaged(f"a correction of trial {event.number}", found)
    return tuple(
        replace(each, measurement=value, version=seq, replaced=(*each.replaced, each.measurement))
        if str(each.version) == event.key
        else each
        for each in before
    )
