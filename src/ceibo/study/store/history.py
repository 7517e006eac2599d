"""Reading the history of a study: its events, and the snapshot they lead to."""

from collections.abc import Iterator

import sqlalchemy as sa

from ceibo.errors import InputError, NotFoundError
from ceibo.study.store import schema
from ceibo.study.store.counters import COUNTERS, check_counters
from ceibo.study.store.database import Database
from ceibo.study.store.garbage import no_collections
from ceibo.study.store.readers import event_from_row, given_from_row, name_of_trial
from ceibo.study.store.records import OF_STUDY, Change, Event, Given, Snapshot, damaged, fold

trials, events = schema.trials, schema.events


def read_snapshot(database: Database, study_id: int, since: Snapshot, at: int | None) -> Snapshot:
    """The study after event `at` (None: the newest), from a snapshot and the events after it."""

    def work(connection: sa.Connection) -> Snapshot:
        newest = read_last_seq(connection, study_id)
        if at is not None and not 0 <= at <= newest:
            raise InputError(f"expected a sequence number from 0 to {newest}, got {at}.")
        seq = newest if at is None else at
        if seq == since.seq:
            return since
        with no_collections():
            new = list(_read_given(connection, study_id, len(since.trials), seq))
            return fold(since, new, read_events(connection, study_id, since.seq, seq), seq)

    return database.read(work)


def read_changes(connection: sa.Connection, study_id: int) -> tuple[Change, ...]:
    """All changes of the space of a study, in order."""
    query = (
        sa.select(*schema.whole(connection, events))
        .where(events.c.study_id == study_id, events.c.number == OF_STUDY)
        .order_by(events.c.seq)
    )
    found = map(event_from_row, connection.execute(query).all())
    return tuple(Change(event.seq, event.time, event.data) for event in found)


def read_last_seq(connection: sa.Connection, study_id: int) -> int:
    """The sequence number of the last event of a study."""
    head = connection.execute(COUNTERS, {"study": study_id}).first()
    if head is None:
        raise NotFoundError(f"there is no study with id {study_id}; look it up by its name again.")
    check_counters(head)
    return int(head.seq)


def _read_given(connection: sa.Connection, study_id: int, first: int, seq: int) -> Iterator[Given]:
    """What the trials from number `first` on began with, made by event `seq` or before."""
    query = (
        sa.select(*schema.whole(connection, trials))
        .where(trials.c.study_id == study_id, trials.c.number >= first)
        .where(trials.c.created_seq <= seq)
        .order_by(trials.c.number)
    )
    # all rows at once: one by one takes twice as long
    for number, row in enumerate(connection.execute(query).all(), first):
        if row.number != number:
            raise damaged(name_of_trial(row), f"it follows trial {number - 1}")
        yield given_from_row(row)


def read_events(connection: sa.Connection, study_id: int, since: int, until: int) -> list[Event]:
    """The events after `since` up to `until`, in order."""
    query = (
        sa.select(*schema.whole(connection, events))
        .where(events.c.study_id == study_id, events.c.seq > since, events.c.seq <= until)
        .order_by(events.c.seq)
    )
    found = list(map(event_from_row, connection.execute(query).all()))
    if [event.seq for event in found] != list(range(since + 1, until + 1)):
        what = f"the history of study {study_id}"
        raise damaged(what, f"events are missing between {since + 1} and {until}")
    return found
