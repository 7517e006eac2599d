"""Reading the history of a study: its events, and the snapshot they lead to."""

import sqlalchemy as sa

from ceibo.errors import InputError, NotFoundError
from ceibo.study.store import schema
from ceibo.study.store.database import Database
from ceibo.study.store.records import Event, Snapshot, fold
from ceibo.study.store.rows import event_from_row, params_from_text

studies, trials, events = schema.studies, schema.trials, schema.events


def read_snapshot(database: Database, study_id: int, since: Snapshot, at: int | None) -> Snapshot:
    """The study after event `at` (None: the newest), from a snapshot and the events after it."""

    def work(connection: sa.Connection) -> Snapshot:
        newest = connection.scalar(sa.select(studies.c.seq).where(studies.c.id == study_id))
        if newest is None:
            raise NotFoundError(f"there is no study with id {study_id} in {database.place}.")
        if at is not None and not 0 <= at <= newest:
            raise InputError(f"expected a sequence number from 0 to {newest}, got {at}.")
        seq = newest if at is None else at
        if seq == since.seq:
            return since
        new_trials = (
            sa.select(trials.c.number, trials.c.params)
            .where(trials.c.study_id == study_id, trials.c.number >= len(since.trials))
            .where(trials.c.created_seq <= seq)
            .order_by(trials.c.number)
        )
        # all rows at once: one by one takes twice as long
        rows = connection.execute(new_trials).all()
        params = [params_from_text(number, text) for number, text in rows]
        return fold(since, params, read_events(connection, study_id, since.seq, seq), seq)

    return database.read(work)


def read_events(
    connection: sa.Connection, study_id: int, since: int, until: int | None
) -> list[Event]:
    """The events after `since`, up to `until` (None: all), in order."""
    query = sa.select(events).where(events.c.study_id == study_id, events.c.seq > since)
    if until is not None:
        query = query.where(events.c.seq <= until)
    rows = connection.execute(query.order_by(events.c.seq)).all()
    return [event_from_row(row) for row in rows]
