"""Store: every change of a study in one short transaction, with its place in the study's
history.
"""

import itertools
import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from ceibo.decide.measurement import Measurement
from ceibo.errors import (
    ConflictError,
    InputError,
    MissingDatabaseError,
    NotFoundError,
    NotStoredError,
    NumberTakenError,
    StorageError,
)
from ceibo.study.store import schema
from ceibo.study.store.database import CONNECT_SECONDS, Database
from ceibo.study.store.failures import Raced
from ceibo.study.store.records import (
    DONE,
    EMPTY,
    FAILED,
    QUEUED,
    RUNNING,
    WITHDRAWN,
    Event,
    Lease,
    NewTrial,
    Snapshot,
    StoredMeasurement,
    StoredTrial,
    StudyRecord,
    Told,
    event_of,
    fold,
    from_text,
)
from ceibo.study.store.rows import (
    advance,
    check_label,
    check_lease,
    created,
    given_up,
    handed_out,
    history,
    is_trial,
    lock_study,
    measured,
    measurements_of,
    new_event,
    new_rows,
    params_of,
    study_of,
    times_lost,
    to_correct,
    to_reason,
    to_text,
    told_before,
    trial_row,
)

studies, trials, events = schema.studies, schema.trials, schema.events

MAX_LOST = 3
"""A trial that was lost with this many workers is taken for the cause: it is recorded as failed."""


class Store:
    """Studies, trials and measurements in one database; safe to share between threads and across
    fork.

    `patience` is how long, in seconds, an operation is repeated while the database does not answer.
    """

    def __init__(self, url: str, *, create: bool = True, patience: float = 300.0) -> None:
        self._database = Database(url, patience)
        self._check_file(create)
        if not create:
            self._check_tables()
        self._database.prepare_file()
        if (self._database.read(schema.stored_version, CONNECT_SECONDS) or 0) < schema.TABLES:
            self._database.write(schema.upgrade, CONNECT_SECONDS)

    def _check_file(self, create: bool) -> None:
        file = self._database.file
        if file is None:
            return
        if not file.absolute().parent.is_dir():
            raise StorageError(f"the folder of {file} does not exist; create it first")
        if not create and not file.exists():
            raise MissingDatabaseError(
                f"there is no file {file}; check the path, or create a study there first"
            )

    def _check_tables(self) -> None:
        """Refuse a database without studies before anything is changed in it: it is another
        program's, or a typo.
        """
        if self._database.read(schema.stored_version, CONNECT_SECONDS) is None:
            self._database.close()
            if self._database.is_memory:
                raise NotFoundError(
                    f"{self.url} is memory, where only the program that made a study has it"
                )
            raise NotFoundError(
                f"there are no ceibo studies in {self.url}; check the URL, or create a study there"
            )

    @property
    def url(self) -> str:
        """The database's URL, without its password."""
        return self._database.url.render_as_string(hide_password=True)

    @property
    def in_memory(self) -> bool:
        """Whether it lives and dies with this process."""
        return self._database.is_memory

    def close(self) -> None:
        """Close the connections; a store in memory is gone."""
        self._database.close()

    # Studies

    def create_study(self, name: str, space: Any, settings: Any) -> StudyRecord:
        """Record a new study; space and settings are JSON data. An existing name is a
        ConflictError.
        """
        check_label(name, "study name")
        token = uuid.uuid4().hex
        row = {"name": name, "space": to_text(space), "settings": to_text(settings), "token": token}

        def work(connection: sa.Connection) -> StudyRecord:
            found = connection.execute(sa.select(studies).where(studies.c.name == name)).first()
            if found is None:
                insert = studies.insert().values(**row, created=self._database.now, seq=0, trials=0)
                connection.execute(insert)
                found = connection.execute(sa.select(studies).where(studies.c.name == name)).one()
            elif (
                found.token != token
            ):  # with our token, an earlier attempt was committed unanswered
                raise ConflictError(
                    f"a study named {name!r} exists already; open it, or choose another name"
                )
            return study_of(found)

        return self._database.write(work)

    def study(self, name: str) -> StudyRecord:
        """The study of that name."""

        def work(connection: sa.Connection) -> StudyRecord:
            row = connection.execute(sa.select(studies).where(studies.c.name == name)).first()
            if row is None:
                known = connection.execute(
                    sa.select(studies.c.name).order_by(studies.c.id).limit(10)
                ).scalars()
                listed = ", ".join(map(repr, known)) or "none"
                raise NotFoundError(
                    f"there is no study named {name!r} in {self.url}; there are: {listed}"
                )
            return study_of(row)

        return self._database.read(work)

    def studies(self) -> tuple[StudyRecord, ...]:
        """All studies, in order of creation."""
        query = sa.select(studies).order_by(studies.c.id)
        return self._database.read(
            lambda connection: tuple(map(study_of, connection.execute(query)))
        )

    # Trials

    def create_trials(
        self, study_id: int, new: Sequence[NewTrial], *, expect_number: int | None = None
    ) -> tuple[StoredTrial, ...]:
        """Record trials under the next free numbers, with their suggestions, in one transaction.

        `expect_number` is the number the first one was computed for: if another process took it,
        nothing is recorded and NumberTakenError is raised.
        """
        rows = [new_rows(trial) for trial in new]
        token, runs = uuid.uuid4().hex, itertools.count()

        def work(connection: sa.Connection) -> tuple[StoredTrial, ...]:
            study = lock_study(connection, study_id)
            mine = sa.select(trials).where(trials.c.study_id == study_id, trials.c.token == token)
            if next(runs) and (stored := connection.execute(mine.order_by(trials.c.number)).all()):
                return tuple(map(created, stored))  # an earlier run was committed without an answer
            if expect_number not in (None, study.trials):
                raise NumberTakenError(
                    f"the next trial is number {study.trials}, not {expect_number}: another process"
                    " was first"
                )
            for index, (trial, event) in enumerate(rows):
                place = {"study_id": study_id, "number": study.trials + index}
                seq = study.seq + 1 + index
                trial.update(place, created_seq=seq, token=token)
                event.update(place, seq=seq)
            self._insert_trials(connection, [trial for trial, _ in rows])
            self._insert_events(connection, [event for _, event in rows])
            advance(connection, study, len(rows), len(rows))
            fresh = sa.select(trials).where(
                trials.c.study_id == study_id, trials.c.number >= study.trials
            )
            return tuple(map(created, connection.execute(fresh.order_by(trials.c.number))))

        return self._database.write(work) if rows else ()

    def _insert_trials(self, connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
        """Insert trials; "seconds" is the length of the lease, counted from now by the database, or
        None.
        """
        until = self._database.now + sa.bindparam("seconds", type_=sa.Double())
        connection.execute(trials.insert().values(lease_until=until), rows)

    def claim(self, study_id: int, lease: Lease | None = None) -> StoredTrial | None:
        """Take over the first trial that waits in the queue or whose worker let its lease lapse.

        Without a lease (asked by hand) the trial is never handed out again by itself. A trial that
        was begun MAX_LOST times, each time by a worker that was gone before it had an outcome,
        becomes "failed" instead: handed out again, it would end worker after worker.
        """
        check_lease(lease)
        if self._database.read(lambda connection: self._claimable(connection, study_id)) is None:
            return None  # the common case costs no write lock
        token, runs = uuid.uuid4().hex, itertools.count()
        worker = None if lease is None else lease.worker

        def work(connection: sa.Connection) -> StoredTrial | None:
            study = lock_study(connection, study_id)
            mine = sa.select(trials).where(trials.c.study_id == study_id, trials.c.claim == token)
            if next(runs) and (row := connection.execute(mine).first()):
                return handed_out(row, study.seq)  # an earlier run was committed without an answer
            row = self._claimable(connection, study_id)
            while (
                row is not None
                and (lost := times_lost(connection, study_id, row.number)) >= MAX_LOST
            ):
                self._change(connection, study, row, given_up(lost))
                study, row = lock_study(connection, study_id), self._claimable(connection, study_id)
            if row is None:
                return None
            until = None if lease is None else self._database.now + lease.seconds
            unchanged = (trials.c.state == row.state, trials.c.attempt == row.attempt)
            changed = connection.execute(
                trials.update()
                .where(*is_trial(study_id, row.number), *unchanged)
                .values(
                    state=RUNNING,
                    attempt=row.attempt + 1,
                    worker=worker,
                    lease_until=until,
                    claim=token,
                )
            )
            if changed.rowcount != 1:
                raise Raced
            event = new_event("claimed", RUNNING, token, worker=worker)
            event.update(study_id=study_id, number=row.number, seq=study.seq + 1)
            self._insert_events(connection, [event])
            advance(connection, study, 1, 0)
            claimed = connection.execute(
                sa.select(trials).where(*is_trial(study_id, row.number))
            ).one()
            return handed_out(claimed, study.seq + 1)

        return self._database.write(work)

    def _claimable(self, connection: sa.Connection, study_id: int) -> sa.Row[Any] | None:
        lapsed = sa.and_(trials.c.state == RUNNING, trials.c.lease_until < self._database.now)
        return connection.execute(
            sa.select(trials)
            .where(trials.c.study_id == study_id, trials.c.state.in_([QUEUED, RUNNING]))
            .where(sa.or_(trials.c.state == QUEUED, lapsed))
            .order_by(trials.c.number)
            .limit(1)
        ).first()

    def heartbeat(self, study_id: int, lease: Lease) -> frozenset[int]:
        """Renew the worker's leases; returns the trials it still holds (a missing one went to
        another).
        """
        check_lease(lease)
        held = (
            trials.c.study_id == study_id,
            trials.c.state == RUNNING,
            trials.c.worker == lease.worker,
        )

        def work(connection: sa.Connection) -> frozenset[int]:
            until = self._database.now + lease.seconds
            connection.execute(trials.update().where(*held).values(lease_until=until))
            return frozenset(connection.execute(sa.select(trials.c.number).where(*held)).scalars())

        return self._database.write(work, lease.seconds)

    def leases(self, study_id: int) -> dict[int, tuple[str, float]]:
        """Number -> (worker, seconds left) of the leased running trials; below 0 the lease has
        lapsed.
        """
        left = (trials.c.lease_until - self._database.now).label("left")
        query = (
            sa.select(trials.c.number, trials.c.worker, left)
            .where(
                trials.c.study_id == study_id,
                trials.c.state == RUNNING,
                trials.c.lease_until.is_not(None),
            )
            .order_by(trials.c.number)
        )
        return self._database.read(
            lambda connection: {
                row.number: (row.worker, row.left) for row in connection.execute(query)
            }
        )

    # Outcomes

    def tell(self, study_id: int, number: int, measurement: Measurement, key: str = "") -> Told:
        """Store a measurement of a trial, once per key: the same again is a no-op, another a
        ConflictError.

        Any state becomes "done": a result that comes late, or for a trial given up as failed, is
        still data. If the database stays away, NotStoredError holds the measurement.
        """
        if not measurement.is_finite:
            raise InputError(
                f"expected a finite value for trial {number}, got {measurement!r}; record a failure"
            )
        check_label(key, "key", empty=True)

        def work(connection: sa.Connection) -> Told:
            study = lock_study(connection, study_id)
            trial = trial_row(connection, study, number)
            same_key = (events.c.number == number, events.c.kind == "measured", events.c.key == key)
            row = connection.execute(
                sa.select(events.c.seq).where(events.c.study_id == study_id, *same_key)
            ).first()
            if row is not None:
                told = measurements_of(connection, study_id, number)
                return told_before(
                    number, next(each for each in told if each.key == key), measurement
                )
            event = new_event("measured", DONE, key, worker=trial.worker) | measured(measurement)
            self._change(connection, study, trial, event)
            return Told(study.seq + 1, True)

        try:
            return self._database.write(work)
        except StorageError as error:
            raise NotStoredError(
                f"trial {number} was measured, {measurement!r}, but not stored: {error}. "
                "This exception holds the measurement; tell it again once the database answers",
                number,
                measurement,
                key,
            ) from error

    def correct(
        self, study_id: int, number: int, measurement: Measurement, key: str | None = None
    ) -> Measurement:
        """Replace a measurement that was told wrongly; returns what it was, which the history
        keeps.

        `key` says which measurement of the trial, and may be left out if there is one. If it is
        what it should be already, nothing is recorded. The event's own key is the event it
        replaces, so that no value has two successors.
        """
        if not measurement.is_finite:
            raise InputError(
                f"expected a finite value in place of a measurement of trial {number}, got"
                f" {measurement!r}; if the right value is not known, give the best guess with a"
                " noise as large as the doubt"
            )
        if key is not None:
            check_label(key, "key", empty=True)
        tried: list[StoredMeasurement] = []

        def work(connection: sa.Connection) -> Measurement:
            study = lock_study(connection, study_id)
            trial = trial_row(connection, study, number)
            for wrong in tried:  # an earlier run may have been committed without an answer
                if self._successor(connection, study_id, number, wrong) == measurement:
                    return wrong.measurement
            wrong = to_correct(measurements_of(connection, study_id, number), trial, key)
            if wrong.measurement == measurement:
                return measurement
            tried.append(wrong)
            event = new_event("corrected", trial.state, str(wrong.version)) | measured(measurement)
            self._change(connection, study, trial, event)
            schema.mark_corrected(connection)
            return wrong.measurement

        try:
            return self._database.write(work)
        except StorageError as error:
            raise StorageError(
                f"trial {number} was not corrected to {measurement}: {error}. Correct it again once"
                " the database answers"
            ) from error

    def _successor(
        self, connection: sa.Connection, study_id: int, number: int, wrong: StoredMeasurement
    ) -> Measurement | None:
        """What replaced a value, or None if nothing has."""
        by = (
            events.c.number == number,
            events.c.kind == "corrected",
            events.c.key == str(wrong.version),
        )
        row = connection.execute(
            sa.select(events).where(events.c.study_id == study_id, *by)
        ).first()
        return None if row is None else event_of(row).measurement

    def fail(self, study_id: int, number: int, reason: str, worker: str | None = None) -> int:
        """Record that an evaluation failed; returns the sequence number of the record.

        The trial becomes "failed" unless it has a measurement, or `worker` no longer holds it.
        """
        token = uuid.uuid4().hex

        def work(connection: sa.Connection) -> int:
            study = lock_study(connection, study_id)
            trial = trial_row(connection, study, number)
            query = sa.select(events.c.seq, events.c.key, events.c.reason)
            failures = query.where(
                events.c.study_id == study_id, events.c.number == number, events.c.kind == "failed"
            ).order_by(events.c.seq)
            for row in connection.execute(failures):
                if row.key == token or (trial.state == FAILED and row.reason == event["reason"]):
                    return int(row.seq)
            ends = trial.state == QUEUED or (
                trial.state == RUNNING and worker in (None, trial.worker)
            )
            event["state"] = FAILED if ends else trial.state
            self._change(connection, study, trial, event)
            return int(study.seq) + 1

        event = new_event("failed", FAILED, token, worker=worker)
        event["reason"] = to_reason(reason)
        return self._database.write(work)

    def release(
        self, study_id: int, number: int, worker: str | None = None, lost: str | None = None
    ) -> bool:
        """Put a running trial back into the queue, to be handed out again; False if it was not
        (its).

        `lost` says how the evaluation perished, if it did; see `claim` for how often that may
        happen.
        """
        event = new_event("released", QUEUED, uuid.uuid4().hex)
        event["reason"] = None if lost is None else to_reason(lost)
        return self._leave(study_id, number, event, (RUNNING,), worker)

    def withdraw(self, study_id: int, number: int) -> bool:
        """Take a trial back for good, without an outcome; False if it has ended."""
        event = new_event("withdrawn", WITHDRAWN, uuid.uuid4().hex)
        return self._leave(study_id, number, event, (QUEUED, RUNNING), None)

    def _leave(
        self,
        study_id: int,
        number: int,
        event: dict[str, Any],
        states: tuple[str, ...],
        worker: str | None,
    ) -> bool:
        """Bring a trial that is in one of these states, and the worker's, to the event's; False if
        it is not.
        """

        def work(connection: sa.Connection) -> bool:
            study = lock_study(connection, study_id)
            trial = trial_row(connection, study, number)
            same = (
                events.c.number == number,
                events.c.kind == event["kind"],
                events.c.key == event["key"],
            )
            mine = sa.select(events.c.seq).where(events.c.study_id == study_id, *same)
            if connection.execute(mine).first() is not None:
                return True
            if trial.state not in states or worker not in (None, trial.worker):
                return False
            self._change(connection, study, trial, {**event, "worker": trial.worker})
            return True

        return self._database.write(work)

    def _change(
        self,
        connection: sa.Connection,
        study: sa.Row[Any],
        trial: sa.Row[Any],
        event: dict[str, Any],
    ) -> None:
        """Append an event of a trial and bring the trial to the event's state."""
        row = {**event, "study_id": study.id, "number": trial.number, "seq": study.seq + 1}
        self._insert_events(connection, [row])
        if event["state"] != trial.state:
            connection.execute(
                trials.update()
                .where(*is_trial(study.id, trial.number))
                .values(state=event["state"], worker=None, lease_until=None)
            )
        advance(connection, study, 1, 0)

    def _insert_events(self, connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
        connection.execute(events.insert().values(time=self._database.now), rows)

    # History

    def snapshot(self, study_id: int, at: int | None = None, since: Snapshot = EMPTY) -> Snapshot:
        """The study as it was after event `at` (now by default), reading on from an earlier
        snapshot.
        """
        return self._read_on(study_id, since, at)

    def refresh(self, study_id: int, snapshot: Snapshot) -> Snapshot:
        """The study as it is now, reading only what happened since `snapshot`."""
        return self._read_on(study_id, snapshot, None)

    def _read_on(self, study_id: int, since: Snapshot, at: int | None) -> Snapshot:
        def work(connection: sa.Connection) -> Snapshot:
            newest = connection.execute(
                sa.select(studies.c.seq).where(studies.c.id == study_id)
            ).scalar()
            if newest is None:
                raise NotFoundError(f"there is no study with id {study_id} in {self.url}")
            if at is not None and not 0 <= at <= newest:
                raise InputError(f"expected a sequence number from 0 to {newest}, got {at}")
            seq = newest if at is None else at
            if seq == since.seq:
                return since
            new_trials = (
                sa.select(trials.c.number, trials.c.params)
                .where(trials.c.study_id == study_id, trials.c.number >= len(since.trials))
                .where(trials.c.created_seq <= seq)
                .order_by(trials.c.number)
            )
            params = [params_of(number, text) for number, text in connection.execute(new_trials)]
            happened = history(connection, study_id, since.seq, seq)
            return fold(since, params, happened, seq)

        return self._database.read(work)

    def events(self, study_id: int, since: int = 0) -> tuple[Event, ...]:
        """The history after event `since`, in order."""
        return self._database.read(
            lambda connection: tuple(history(connection, study_id, since, None))
        )

    def suggestions(self, study_id: int, numbers: Sequence[int] | None = None) -> dict[int, Any]:
        """Number -> what was recorded with the suggestion of that trial (all by default)."""
        query = (
            sa.select(trials.c.number, trials.c.suggestion)
            .where(trials.c.study_id == study_id, trials.c.suggestion.is_not(None))
            .order_by(trials.c.number)
        )
        if numbers is not None:
            query = query.where(trials.c.number.in_(list(numbers)))
        return self._database.read(
            lambda connection: {
                number: from_text(text, f"the suggestion of trial {number}")
                for number, text in connection.execute(query)
            }
        )


def hand_out_key(attempt: int) -> str:
    """The key under which a worker tells the result of the attempt-th hand-out of a trial.

    The first one is the plain value, so that a late result of an earlier attempt is a further
    measurement.
    """
    return "" if attempt <= 1 else f"attempt-{attempt}"
