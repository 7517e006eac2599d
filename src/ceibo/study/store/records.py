"""What the store hands out: frozen records, and the fold that turns events into trials."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple, final

from ceibo.decide.measurement import Measurement
from ceibo.errors import DamagedError

QUEUED, RUNNING, DONE, FAILED, WITHDRAWN = "queued", "running", "done", "failed", "withdrawn"
STATES = (QUEUED, RUNNING, DONE, FAILED, WITHDRAWN)
ENDED = (DONE, FAILED, WITHDRAWN)
KINDS = (
    "asked",
    "queued",
    "claimed",
    "measured",
    "corrected",
    "voided",
    "failed",
    "released",
    "withdrawn",
    "noted",
)
NOTED = "noted"
"""The kind of the events that give a trial attributes."""
SPACE = "space"
"""The kind of the events by which a study's space changes, which are about no trial."""
OF_STUDY = -1
"""The number that such events have in place of a trial's."""
FURTHER = ("count", "block")
"""What the data of an event may hold of its measurement, beside the columns of the table."""
ABOUT_VALUES = ("measured", "corrected", "voided")
"""The kinds of events that name an outcome; it is "" where a study has one thing to measure."""
ONE_OUTCOME = ("",)
"""What a trial needs to be done where the study names no outcomes."""


@final
@dataclass(frozen=True, slots=True)
class StudyRecord:
    """A stored study; `space`, `settings` and `data` are the JSON data it was created with.

    `data` is None, or has the study's "outcomes" by name, the "constraints" between parameters, and
    "outliers" if measurements may be doubted, "varying_noise" if noise may differ over the space.
    """

    id: int
    name: str
    space: Any
    settings: Any
    created: float
    data: Any = None


@final
@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's claim on its trials, which lapses after `seconds` unless it is renewed."""

    worker: str
    seconds: float = 60.0


@final
@dataclass(frozen=True, slots=True)
class Telling:
    """What is told of a trial at once: values by outcome, and the outcomes it needs to be done.

    `failure` says why the trial has failed although it has these values, and `worker` whose
    failure it is. `ends` says that whoever holds the trial has nothing more to tell: if outcomes
    are missing, it waits for them. By the `token` a failure is recognised when it is told again.
    `attributes` are given to the trial.
    """

    values: Mapping[str, Measurement]
    needed: tuple[str, ...] = ONE_OUTCOME
    key: str = ""
    failure: str | None = None
    ends: bool = False
    worker: str | None = None
    token: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class NewTrial:
    """A trial to be recorded.

    It is handed out at once unless it is `queued`, comes with its measurement (or with what is
    `told` of it), or has failed, for the `reason` given.
    """

    params: Mapping[str, Any]
    suggestion: Any = None
    lease: Lease | None = None
    queued: bool = False
    measurement: Measurement | None = None
    reason: str | None = None
    told: Telling | None = None


@final
class Given(NamedTuple):
    """What never changes in a trial: its parameters, and its aims.

    The aims say what it is for ("purpose") and how many values to take ("repeats"), as far as that
    is not the search and one.
    """

    params: dict[str, Any]
    aims: dict[str, Any]


@final
@dataclass(frozen=True, slots=True)
class StoredMeasurement:
    """One measurement of a trial, told by event `seq` at `time` on the database's clock.

    `outcome` names what was measured, "" where the study has one thing to measure. A corrected one
    keeps its `seq`, so that the model sees what it would have seen had the right value been told.
    `version` is the event that gave it its present value, `replaced` what it was before, oldest
    first.
    """

    seq: int
    key: str
    measurement: Measurement
    time: float
    version: int
    replaced: tuple[Measurement, ...] = ()
    outcome: str = ""


@final
@dataclass(frozen=True, slots=True)
class VoidedMeasurement:
    """A measurement that does not count, and why; `told` is what it was until then."""

    told: StoredMeasurement
    reason: str


@final
@dataclass(frozen=True, slots=True)
class StoredTrial:
    """A trial as it was at some point of the history.

    `attempt` counts how often it was handed out, `created` and `changed` are the sequence numbers
    of its first and its last event, `reason` is that of its last failure. `voided` are the
    measurements that were voided, in that order. For its `aims` see `Given`.

    `started` is the time of its last hand-out and `ended` that of the event by which it ended, on
    the database's clock, as far as the history was read.
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
    voided: tuple[VoidedMeasurement, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    aims: Mapping[str, Any] = field(default_factory=dict)
    started: float | None = field(default=None, compare=False)
    ended: float | None = field(default=None, compare=False)

    @property
    def repeats(self) -> int:
        """How many values to take."""
        return int(self.aims.get("repeats", 1))


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
    outcome: str = ""
    data: Any = None


@final
@dataclass(frozen=True, slots=True)
class Change:
    """A change of a study's space by event `seq`; `data` is its JSON data."""

    seq: int
    time: float
    data: Any


@final
@dataclass(frozen=True, slots=True)
class Snapshot:
    """A study after its event `seq`: all its trials, in order of number (trials[k].number == k).

    `changes` are those of its space until then; without any it is the one of the beginning.
    """

    seq: int
    trials: tuple[StoredTrial, ...]
    changes: tuple[Change, ...] = ()

    def in_state(self, *states: str) -> tuple[StoredTrial, ...]:
        """The trials in one of these states, in order of number."""
        return tuple(trial for trial in self.trials if trial.state in states)


@final
class Pick(Enum):
    """What becomes of a trial that could be handed out."""

    TAKE = "handed out"
    LEAVE = "left for others"
    WITHDRAW = "withdrawn, as it is no setting of the space any more"


@final
@dataclass(frozen=True, slots=True)
class Picking:
    """Which of the trials that wait are wanted, by whoever has seen so many changes of the space.

    `judge` is given the parameters and the suggestion of a trial; None takes any.
    """

    known: int
    judge: Callable[[Mapping[str, Any], Any], Pick] | None = None


@final
@dataclass(frozen=True, slots=True)
class Told:
    """Where a measurement stands in the history, and whether this call put it there."""

    seq: int
    new: bool


EMPTY = Snapshot(0, ())


def damaged(what: str, found: object) -> DamagedError:
    """The error for stored data that ceibo cannot have written; `found` says what is wrong."""
    return DamagedError(f"{what} is damaged in the database: {str(found).rstrip('.')}")


def fold(snapshot: Snapshot, new: Sequence[Given], events: Iterable[Event], seq: int) -> Snapshot:
    """The snapshot after further events.

    Each event leads from one state of its trial to the next. `new` are the trials that are new in
    these events, in order of number.
    """
    trials, changes = list(snapshot.trials), list(snapshot.changes)
    count = len(trials) + len(new)
    fresh = iter(new)
    for event in events:
        if event.kind == SPACE:
            changes.append(Change(event.seq, event.time, event.data))
            continue
        if event.number == len(trials) and (given := next(fresh, None)) is not None:
            at = event.seq
            trials.append(
                StoredTrial(event.number, given.params, "", 0, None, None, at, at, aims=given.aims)
            )
        if not 0 <= event.number < len(trials):
            raise damaged(f"trial {event.number}", "the history speaks of it, but it is not there")
        trials[event.number] = _after(trials[event.number], event)
    if len(trials) != count:
        raise damaged(f"trial {len(trials)}", "the history does not speak of it")
    return Snapshot(seq, tuple(trials), tuple(changes))


def _after(trial: StoredTrial, event: Event) -> StoredTrial:
    """A trial after an event of its own."""
    # Not by `replace`, which takes several times as long, and there may be 10^5 events.
    measurements, voided = trial.measurements, trial.voided
    if event.kind in ABOUT_VALUES:
        measurements, voided = values_after(Values(measurements, voided), event)
    out = event.kind in ("asked", "claimed")
    ended = trial.ended
    if event.state != trial.state:
        ended = event.time if event.state in ENDED else None
    return StoredTrial(
        number=trial.number,
        params=trial.params,
        state=event.state,
        attempt=trial.attempt + out,
        worker=_holder(trial, event),
        reason=event.reason if event.kind == "failed" else trial.reason,
        created=trial.created,
        changed=event.seq,
        measurements=measurements,
        voided=voided,
        attributes=trial.attributes if event.kind != NOTED else {**trial.attributes, **event.data},
        aims=trial.aims,
        started=event.time if out else trial.started,
        ended=ended,
    )


def _holder(trial: StoredTrial, event: Event) -> str | None:
    """The worker that holds a trial after an event."""
    if event.state != RUNNING:
        return None
    return event.worker if event.kind in ("asked", "claimed", "measured") else trial.worker


@final
class Values(NamedTuple):
    """What was told of a trial: the measurements that count, and those that do not any more."""

    measurements: tuple[StoredMeasurement, ...] = ()
    voided: tuple[VoidedMeasurement, ...] = ()

    def outcomes(self) -> set[str]:
        """The outcomes that have a value."""
        return {each.outcome for each in self.measurements}


def values_after(before: Values, event: Event) -> Values:
    """A trial's values after an event: one more, one replaced, one voided, or the same."""
    if event.kind not in ABOUT_VALUES:
        return before
    measurements, voided = before
    value, seq = event.measurement, event.seq
    if event.kind == "measured" and value is not None:
        told = StoredMeasurement(seq, event.key, value, event.time, seq, (), event.outcome)
        return Values((*measurements, told), voided)
    found = [i for i, each in enumerate(measurements) if _is_meant(each, event)]
    if not found:
        verb, noun = ("voids", "a void") if value is None else ("replaces", "a correction")
        wrong = f"it {verb} event {event.key}, no value of the trial"
        raise damaged(f"{noun} of trial {event.number}", wrong)
    at = found[0]
    old, rest = measurements[at], measurements[at + 1 :]
    if value is None:
        mark = VoidedMeasurement(old, event.reason or "")
        return Values((*measurements[:at], *rest), (*voided, mark))
    new = replace(old, measurement=value, version=seq, replaced=(*old.replaced, old.measurement))
    return Values((*measurements[:at], new, *rest), voided)


def _is_meant(told: StoredMeasurement, event: Event) -> bool:
    """Whether an event replaces or voids this value."""
    return (str(told.version), told.outcome) == (event.key, event.outcome)
