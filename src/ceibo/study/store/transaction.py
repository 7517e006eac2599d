"""One write transaction on one study: its row locked, its events appended in order."""

from collections.abc import Callable
from typing import Any, TypeVar, final

import sqlalchemy as sa

from ceibo.errors import NotFoundError
from ceibo.study.store import schema
from ceibo.study.store.database import Database
from ceibo.study.store.failures import Raced
from ceibo.study.store.migration import upgrade

T = TypeVar("T")
Clock = sa.ColumnElement[float]

studies, trials, events = schema.studies, schema.trials, schema.events


@final
class StudyTransaction:
    """A write transaction on one study, whose row stays locked until the transaction ends.

    Writers of a study therefore go one after the other, and events become visible in the order of
    their sequence numbers: whoever sees event n sees all events before it.
    """

    study: sa.Row[Any]

    def __init__(self, connection: sa.Connection, now: Clock, study_id: int) -> None:
        self.connection, self.now, self.study_id = connection, now, study_id
        upgrade(connection)
        self.lock()

    def lock(self) -> None:
        """Lock the study's row and read it (on SQLite, BEGIN IMMEDIATE has locked the file)."""
        query = sa.select(studies).where(studies.c.id == self.study_id).with_for_update()
        row = self.connection.execute(query).first()
        if row is None:
            raise NotFoundError(
                f"there is no study with id {self.study_id}; look it up by its name again."
            )
        self.study = row

    def trial(self, number: int) -> sa.Row[Any]:
        """The row of the trial of that number."""
        query = sa.select(trials).where(*is_trial(self.study_id, number))
        row = self.connection.execute(query).first()
        if row is None:
            count = self.study.trials
            existing = f"numbers 0 to {count - 1}" if count else "no trials yet"
            raise NotFoundError(
                f"study {self.study.name!r} has no trial {number!r}; it has {existing}."
            )
        return row

    def has_event(self, number: int, kind: str, key: str) -> bool:
        """Whether a trial has the event of this kind and key."""
        same = (events.c.number == number, events.c.kind == kind, events.c.key == key)
        query = sa.select(events.c.seq).where(events.c.study_id == self.study_id, *same)
        return self.connection.execute(query).first() is not None

    def insert_events(self, rows: list[dict[str, Any]]) -> None:
        """Insert events, which happen now by the database's clock."""
        self.connection.execute(events.insert().values(time=self.now), rows)

    def append(self, trial: sa.Row[Any], event: dict[str, Any]) -> int:
        """Append an event and bring its trial to the event's state; returns the event's number."""
        seq = int(self.study.seq) + 1
        place = {"study_id": self.study_id, "number": trial.number, "seq": seq}
        self.insert_events([event | place])
        if event["state"] != trial.state:
            update = trials.update().where(*is_trial(self.study_id, trial.number))
            changed = {"state": event["state"], "worker": None, "lease_until": None}
            self.connection.execute(update.values(**changed))
        self.advance(1, 0)
        return seq

    def advance(self, new_events: int, new_trials: int) -> None:
        """Count the events and trials just inserted; a lost race repeats the transaction."""
        study = self.study
        changed = self.connection.execute(
            studies.update()
            .where(studies.c.id == study.id, studies.c.seq == study.seq)
            .values(seq=study.seq + new_events, trials=study.trials + new_trials)
        )
        if changed.rowcount != 1:
            raise Raced


def is_trial(study_id: int, number: int) -> tuple[sa.ColumnElement[bool], ...]:
    """The conditions that select one trial."""
    return trials.c.study_id == study_id, trials.c.number == number


def change_study(database: Database, study_id: int, work: Callable[[StudyTransaction], T]) -> T:
    """Run `work` in one write transaction on a study; `Database.write` says when it runs again."""
    return database.write(
        lambda connection: work(StudyTransaction(connection, database.now, study_id))
    )
