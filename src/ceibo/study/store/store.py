"""Store: every change of a study in one short transaction, with its place in the history."""

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

import sqlalchemy as sa

from ceibo.decide.measurement import Measurement
from ceibo.errors import ConflictError, MissingDatabaseError, NotFoundError, StorageError
from ceibo.study.store import changes, history, lifecycle, measurements, migration, schema, turns
from ceibo.study.store.backup import back_up
from ceibo.study.store.checksum import checksum_of_row
from ceibo.study.store.database import CONNECT_SECONDS, Database, await_server
from ceibo.study.store.integrity import Examination, examine
from ceibo.study.store.measurements import Named
from ceibo.study.store.readers import check_columns, study_from_row, suggestion_from_row
from ceibo.study.store.records import (
    EMPTY,
    RUNNING,
    Change,
    Event,
    Lease,
    NewTrial,
    Picking,
    Snapshot,
    StoredTrial,
    StudyRecord,
    Telling,
    Told,
)
from ceibo.study.store.rows import check_label, check_lease, to_text

studies, trials = schema.studies, schema.trials


@final
class Store:
    """Studies, trials and measurements in one database, shared safely by threads and across fork.

    `patience` is how long, in seconds, an operation is repeated while the database does not answer.
    """

    def __init__(self, url: str, *, create: bool = True, patience: float = 300.0) -> None:
        self._database = Database(url, patience)
        self._check_file(create)
        if create:  # a worker, which waits; whoever only asks is told at once
            await_server(self._database)
        else:
            self._check_tables()
        self._database.prepare_file()
        if self._database.read(schema.stored_version, CONNECT_SECONDS) is None:
            self._database.write(migration.create_tables, CONNECT_SECONDS)

    def _check_file(self, create: bool) -> None:
        file = self._database.file
        if file is None:
            return
        if not file.absolute().parent.is_dir():
            raise StorageError(f"the folder of {file} does not exist; create it first.")
        if not create and not file.exists():
            raise MissingDatabaseError(
                f"there is no file {file}; check the path, or create a study there first."
            )

    def _check_tables(self) -> None:
        """Refuse a database without studies: it is another program's, or the URL is mistyped."""
        if self._database.read(schema.stored_version, CONNECT_SECONDS) is None:
            self._database.close()
            if self._database.is_memory:
                raise NotFoundError(
                    f"{self.url} is memory, where only the program that made a study has it; give"
                    " the study a storage."
                )
            raise NotFoundError(
                f"there are no ceibo studies in {self.url}; check the URL, or create a study there."
            )

    @property
    def url(self) -> str:
        """The database's URL, without its password."""
        return self._database.place

    @property
    def in_memory(self) -> bool:
        """Whether it lives and dies with this process."""
        return self._database.is_memory

    def close(self) -> None:
        """Close the connections; a store in memory is gone."""
        self._database.close()

    @property
    def is_moved(self) -> bool:
        """Whether the file was deleted, renamed or replaced under this store."""
        return self._database.is_moved

    def backup(self, target: Path, force: bool = False) -> None:
        """Write all studies to a new SQLite file; one that exists is replaced only by `force`."""
        back_up(self._database, target, force)

    def create_study(self, name: str, space: Any, settings: Any, data: Any = None) -> StudyRecord:
        """Record a new study, whose name must be new; the others are JSON data."""
        check_label(name, "study name")
        token = uuid.uuid4().hex
        row = {"name": name, "space": to_text(space), "settings": to_text(settings), "token": token}
        row |= {} if data is None else {"data": to_text(data)}
        query = sa.select(studies).where(studies.c.name == name)

        def work(connection: sa.Connection) -> StudyRecord:
            migration.upgrade(connection)
            found = connection.execute(query).first()
            if found is None:
                insert = studies.insert().values(**row, created=self._database.now, seq=0, trials=0)
                connection.execute(insert)
                # the number that the database gave it is part of what the checksum covers
                seal = {"checksum": checksum_of_row(studies, connection.execute(query).one())}
                connection.execute(studies.update().where(studies.c.name == name).values(**seal))
                found = connection.execute(query).one()
            elif found.token != token:  # the same: an earlier run was committed without an answer
                raise ConflictError(
                    f"a study named {name!r} exists already; open it, or choose another name."
                )
            return study_from_row(found)

        return self._database.write(work)

    def study(self, name: str) -> StudyRecord:
        """The study of that name."""

        def work(connection: sa.Connection) -> StudyRecord:
            query = sa.select(*schema.whole(connection, studies)).where(studies.c.name == name)
            row = connection.execute(query).first()
            if row is None:
                names = sa.select(studies.c.name).order_by(studies.c.id).limit(10)
                listed = ", ".join(map(repr, connection.scalars(names)))
                others = f"; there are: {listed}" if listed else " yet"
                raise NotFoundError(f"there is no study named {name!r} in {self.url}{others}.")
            return study_from_row(row)

        return self._database.read(work)

    def studies(self) -> tuple[StudyRecord, ...]:
        """All studies, in order of creation."""

        def work(connection: sa.Connection) -> tuple[StudyRecord, ...]:
            query = sa.select(*schema.whole(connection, studies)).order_by(studies.c.id)
            return tuple(map(study_from_row, connection.execute(query)))

        return self._database.read(work)

    def create_trials(
        self,
        study_id: int,
        new: Sequence[NewTrial],
        *,
        expect_number: int | None = None,
        turn: str | None = None,
        known_changes: int | None = None,
    ) -> tuple[StoredTrial, ...]:
        """Record trials under the next free numbers, with their suggestions, in one transaction.

        `expect_number` is the number the first one was computed for: if another process took it, or
        holds the study's turn, nothing is recorded and NumberTakenError is raised. `turn` is the
        caller's own turn, which ends with it. If the study's space has changed more often than
        `known_changes`, nothing is recorded either.
        """
        place = expect_number, turn, known_changes
        return lifecycle.create_trials(self._database, study_id, new, *place)

    def change_space(self, study_id: int, data: Any, picking: Picking) -> None:
        """Record another space; queued trials that are no setting of it are judged by `picking`."""
        changes.change_space(self._database, study_id, data, picking)

    def changes(self, study_id: int) -> tuple[Change, ...]:
        """All changes of the space of a study."""
        return self._database.read(lambda connection: history.read_changes(connection, study_id))

    def take_turn(self, study_id: int, token: str, seconds: float) -> bool:
        """Keep others from recording suggestions for a while; false if another does already."""
        return turns.take(self._database, study_id, token, seconds)

    def give_turn(self, study_id: int, token: str) -> None:
        """Give a turn back before its time."""
        turns.give(self._database, study_id, token)

    def claim(
        self, study_id: int, lease: Lease | None = None, picking: Picking | None = None
    ) -> StoredTrial | None:
        """Take over the first trial that waits in the queue or whose worker let its lease lapse.

        Without a lease (asked by hand) the trial is never handed out again by itself. A trial that
        was lost MAX_LOST times becomes "failed" instead. `picking` says which trials are wanted;
        the others stay.
        """
        return lifecycle.claim(self._database, study_id, lease, picking)

    def heartbeat(self, study_id: int, lease: Lease) -> frozenset[int]:
        """Renew the worker's leases; returns the numbers of the trials that it still holds."""
        check_lease(lease)
        held = _held_by(study_id, lease.worker)

        def work(connection: sa.Connection) -> frozenset[int]:
            connection.execute(self._renewal(study_id, lease))
            return frozenset(connection.execute(sa.select(trials.c.number).where(*held)).scalars())

        return self._database.write(work, lease.seconds)

    def renewal(self, study_id: int, lease: Lease) -> dict[str, Any] | None:
        """What a process without this store needs to renew a worker's leases; None in memory.

        `file` is an SQLite file, or `server` what psycopg connects with, and `statement` the SQL.
        """
        database = self._database
        if database.is_memory:
            return None
        dialect = database.url.get_dialect()()
        literal = {"literal_binds": True}
        statement = self._renewal(study_id, lease).compile(dialect=dialect, compile_kwargs=literal)
        file = None if database.file is None else str(database.file.absolute())
        server = dialect.create_connect_args(database.url)[1] if file is None else None
        return {"file": file, "server": server, "statement": str(statement)}

    def _renewal(self, study_id: int, lease: Lease) -> sa.Update:
        until = self._database.now + lease.seconds
        return trials.update().where(*_held_by(study_id, lease.worker)).values(lease_until=until)

    def leases(self, study_id: int) -> dict[int, tuple[str, float]]:
        """Number -> (worker, seconds left) of the leased running trials; below 0 it has lapsed."""
        clock = self._database.now.label("clock")
        query = (
            sa.select(trials.c.number, trials.c.worker, trials.c.lease_until, clock)
            .where(trials.c.study_id == study_id, trials.c.state == RUNNING)
            .where(trials.c.lease_until.is_not(None))
            .order_by(trials.c.number)
        )
        rows = self._database.read(lambda connection: connection.execute(query).all())
        for row in rows:
            check_columns(trials, row, f"trial {row.number}", ("number", "worker", "lease_until"))
        return {row.number: (row.worker, row.lease_until - row.clock) for row in rows}

    def tell(self, study_id: int, number: int, told: Measurement | Telling, key: str = "") -> Told:
        """Store a measurement of a trial, or those of several outcomes, all or none.

        The same measurement again under its key changes nothing, another one is a ConflictError.
        Any state becomes "done" once no value that is needed is missing: a result that comes late,
        or for a trial given up as failed, is still data. If the database stays away,
        NotStoredError holds the measurement.
        """
        telling = told if isinstance(told, Telling) else Telling({"": told}, key=key)
        return measurements.tell(self._database, study_id, number, telling)

    def correct(
        self, study_id: int, number: int, measurement: Measurement, key: str | None = None
    ) -> Measurement:
        """Replace a measurement that was told wrongly; returns the wrong one.

        The history keeps the wrong one. `key` says which measurement of the trial is meant, and may
        be left out if there is one. If the measurement is right already, nothing is recorded.
        """
        return self.correct_outcomes(study_id, number, {"": measurement}, key)[""]

    def correct_outcomes(
        self,
        study_id: int,
        number: int,
        values: Mapping[str, Measurement],
        key: str | None = None,
        keeps_block: bool = False,
    ) -> dict[str, Measurement]:
        """Replace a measurement of each of these outcomes, all or none; returns the wrong ones.

        With `keeps_block` a value that names no block is in the blocks of the one it replaces.
        """
        named = Named(key=key, keeps_block=keeps_block)
        return measurements.correct(self._database, study_id, number, values, named)

    def void(self, study_id: int, number: int, named: Named, reason: str) -> Measurement:
        """Take back a measurement that must not count; returns it.

        The history keeps it. A trial that lacks a value it needs is running again, held by nobody.
        """
        return measurements.void(self._database, study_id, number, named, reason)

    def fail(
        self,
        study_id: int,
        number: int,
        reason: str,
        worker: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> int:
        """Record that an evaluation failed; returns the sequence number of the record.

        The trial becomes "failed" unless it has a measurement, or `worker` no longer holds it.
        """
        given = attributes or {}
        return lifecycle.fail(self._database, study_id, number, reason, worker, given)

    def release(
        self, study_id: int, number: int, worker: str | None = None, lost: str | None = None
    ) -> bool:
        """Put a running trial back into the queue, to be handed out again.

        Returns False, and changes nothing, if the trial is not running or `worker` is given and
        does not hold it. `lost` says how the evaluation was lost, if it was.
        """
        return lifecycle.leave(self._database, study_id, number, "released", worker, lost)

    def withdraw(self, study_id: int, number: int) -> bool:
        """Take a trial back for good, without an outcome; returns False if it has ended."""
        return lifecycle.leave(self._database, study_id, number, "withdrawn")

    def snapshot(self, study_id: int, at: int | None = None, since: Snapshot = EMPTY) -> Snapshot:
        """The study after event `at` (now by default), read on from the snapshot `since`."""
        return history.read_snapshot(self._database, study_id, since, at)

    def refresh(self, study_id: int, snapshot: Snapshot) -> Snapshot:
        """The study as it is now, reading only what happened since `snapshot`."""
        return history.read_snapshot(self._database, study_id, snapshot, None)

    def events(self, study_id: int, since: int = 0) -> tuple[Event, ...]:
        """The history after event `since`, in order."""

        def work(connection: sa.Connection) -> tuple[Event, ...]:
            until = history.read_last_seq(connection, study_id)
            return tuple(history.read_events(connection, study_id, since, until))

        return self._database.read(work)

    def examine(self, study_id: int) -> Examination:
        """Whether the rows of a study are as they were written, and agree with one another."""
        return self._database.read(lambda connection: examine(connection, study_id))

    def suggestions(self, study_id: int, numbers: Sequence[int] | None = None) -> dict[int, Any]:
        """Number -> what was recorded with the suggestion of that trial (all by default)."""
        wanted = [trials.c.study_id == study_id, trials.c.suggestion.is_not(None)]
        if numbers is not None:
            wanted.append(trials.c.number.in_(list(numbers)))

        def work(connection: sa.Connection) -> dict[int, Any]:
            query = sa.select(*schema.whole(connection, trials)).where(*wanted)
            rows = connection.execute(query.order_by(trials.c.number))
            return {row.number: suggestion_from_row(row) for row in rows}

        return self._database.read(work)


def _held_by(study_id: int, worker: str) -> tuple[sa.ColumnElement[bool], ...]:
    """The conditions that select the trials that a worker holds."""
    running = trials.c.study_id == study_id, trials.c.state == RUNNING
    return *running, trials.c.worker == worker
