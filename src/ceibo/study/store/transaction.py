"""One write transaction on one study: its row locked, its events appended in order."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, final

import sqlalchemy as sa

from ceibo.errors import NotFoundError
from ceibo.study.store import schema
from ceibo.study.store.checksum import checksum_of
from ceibo.study.store.counters import (
    COUNTERS,
    LAST_EVENT,
    LAST_TRIAL,
    STUDY,
    agree,
    check_counters,
)
from ceibo.study.store.database import Database
from ceibo.study.store.failures import Raced
from ceibo.study.store.migration import upgrade
from ceibo.study.store.readers import check_columns, check_row, event_from_row, name_of_trial
from ceibo.study.store.records import NOTED, RUNNING, Event, damaged

T = TypeVar("T")
Clock = sa.ColumnElement[float]

studies, trials, events = schema.studies, schema.trials, schema.events

# The statements of every write are built once: building one takes longer than executing it.
_NUMBER = sa.bindparam("at_number", type_=sa.Integer())
_TURN = ("turn", "turn_until")
_READ = [studies.c[name] for name in ("id", "name", "seq", "trials", *_TURN)]
_LOCKED = sa.select(*_READ).where(studies.c.id == STUDY).with_for_update().cte("locked")
_LOCKS: dict[str, sa.Select[Any]] = {}
_TRIAL = sa.select(trials).where(trials.c.study_id == STUDY, trials.c.number == _NUMBER)
_EVENTS = sa.select(events).where(events.c.study_id == STUDY, events.c.number == _NUMBER)
_EVENT = (
    sa.select(events.c.seq)
    .where(events.c.study_id == STUDY, events.c.number == _NUMBER)
    .where(events.c.kind == sa.bindparam("at_kind"), events.c.key == sa.bindparam("at_key"))
)
_LEAVE = (
    trials.update()
    .where(trials.c.study_id == STUDY, trials.c.number == _NUMBER)
    .values(state=sa.bindparam("new_state"), worker=None, lease=None, lease_until=None)
)
_ADVANCE = (
    studies.update()
    .where(studies.c.id == STUDY, studies.c.seq == sa.bindparam("at_seq"))
    .values(
        seq=studies.c.seq + sa.bindparam("new_events"),
        trials=studies.c.trials + sa.bindparam("new_trials"),
    )
)


@final
class StudyTransaction:
    """A write transaction on one study, whose row stays locked until the transaction ends.

    Writers of a study therefore go one after the other, and events become visible in the order of
    their sequence numbers: whoever sees event n sees all events before it. `time` is that of the
    database's clock once the row was locked.
    """

    study: sa.Row[Any]
    time: float

    def __init__(self, connection: sa.Connection, now: Clock, study_id: int) -> None:
        self.connection, self.now, self.study_id = connection, now, study_id
        upgrade(connection)
        self.lock()

    def lock(self) -> None:
        """Lock the study's row and read it (on SQLite, BEGIN IMMEDIATE has locked the file)."""
        dialect = self.connection.dialect.name
        if dialect not in _LOCKS:
            # the clock is read with the row that the lock gave, so it is that of a moment after
            clock = self.now.label("clock")
            _LOCKS[dialect] = sa.select(_LOCKED, clock, LAST_EVENT, LAST_TRIAL)
        query, place = _LOCKS[dialect], {"study": self.study_id}
        row = self.connection.execute(query, place).first()
        if row is None:
            raise NotFoundError(
                f"there is no study with id {self.study_id}; look it up by its name again."
            )
        # PostgreSQL counts as of before it waited for the lock
        check_counters(row if agree(row) else self.connection.execute(COUNTERS, place).one())
        check_columns(studies, row, f"study {row.name!r:.200}", _TURN)
        self.study, self.time = row, row.clock

    def trial(self, number: int) -> sa.Row[Any]:
        """The row of the trial of that number."""
        place = {"study": self.study_id, "at_number": number}
        row = self.connection.execute(_TRIAL, place).first()
        if row is None:
            count = self.study.trials
            existing = f"numbers 0 to {count - 1}" if count else "no trials yet"
            raise NotFoundError(
                f"study {self.study.name!r} has no trial {number!r}; it has {existing}."
            )
        check_row(trials, row, name_of_trial(row))
        return row

    def history(self, trial: sa.Row[Any]) -> list[Event]:
        """The events of a trial, in order, which must have led to the state of its row."""
        place = {"study": self.study_id, "at_number": trial.number}
        rows = self.connection.execute(_EVENTS.order_by(events.c.seq), place)
        found = list(map(event_from_row, rows))
        attempts = sum(event.kind in ("asked", "claimed") for event in found)
        if not found or (found[-1].state, attempts) != (trial.state, trial.attempt):
            stands = f"it is {trial.state}, handed out {trial.attempt} times"
            raise damaged(name_of_trial(trial), f"{stands}, which is not what its events say")
        return found

    def has_event(self, number: int, kind: str, key: str) -> bool:
        """Whether a trial has the event of this kind and key."""
        place = {"study": self.study_id, "at_number": number, "at_kind": kind, "at_key": key}
        return self.connection.execute(_EVENT, place).first() is not None

    def insert_events(self, rows: list[dict[str, Any]]) -> None:
        """Insert events, which happen now by the database's clock."""
        stamped = [row | {"time": self.time} for row in rows]
        self.connection.execute(
            events.insert(), [row | {"checksum": checksum_of(events, row)} for row in stamped]
        )

    def append(self, trial: sa.Row[Any], *new: dict[str, Any]) -> int:
        """Append events and bring their trial to the last one's state; returns its number."""
        first = int(self.study.seq) + 1
        place = {"study_id": self.study_id, "number": trial.number}
        self.insert_events([event | place | {"seq": seq} for seq, event in enumerate(new, first)])
        state = new[-1]["state"]
        if state != trial.state or (state == RUNNING and _is_let_go(trial, new)):
            at = {"study": self.study_id, "at_number": trial.number, "new_state": state}
            self.connection.execute(_LEAVE, at)
        self.advance(len(new), 0)
        return first + len(new) - 1

    def advance(self, new_events: int, new_trials: int) -> None:
        """Count the events and trials just inserted; a lost race repeats the transaction."""
        new = {"new_events": new_events, "new_trials": new_trials}
        place = {"study": self.study_id, "at_seq": self.study.seq}
        changed = self.connection.execute(_ADVANCE, place | new)
        if changed.rowcount != 1:
            raise Raced


def _is_let_go(trial: sa.Row[Any], new: Sequence[Mapping[str, Any]]) -> bool:
    """Whether these events take a trial from the worker that holds it."""
    told = [event for event in new if event["kind"] == "measured"]
    return trial.worker is not None and bool(told) and told[-1]["worker"] is None


def new_attributes(
    transaction: StudyTransaction, trial: sa.Row[Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The attributes that a trial does not have yet, or has with another value."""
    if not given:
        return {}
    has: dict[str, Any] = {}
    for event in transaction.history(trial):
        has |= event.data if event.kind == NOTED else {}
    return {name: each for name, each in given.items() if name not in has or has[name] != each}


def is_trial(study_id: int, number: int) -> tuple[sa.ColumnElement[bool], ...]:
    """The conditions that select one trial."""
    return trials.c.study_id == study_id, trials.c.number == number


def change_study(database: Database, study_id: int, work: Callable[[StudyTransaction], T]) -> T:
    """Run `work` in one write transaction on a study; `Database.write` says when it runs again."""
    return database.write(
        lambda connection: work(StudyTransaction(connection, database.now, study_id))
    )
