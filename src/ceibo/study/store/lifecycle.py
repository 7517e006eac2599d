"""The life of a trial: created, claimed, failed, released or withdrawn.

Each write may run again after a commit whose answer was lost. A token that stays the same from run
to run tells it what an earlier run has already stored.
"""

import itertools
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from ceibo.checks import LONGEST_LEASE
from ceibo.errors import NumberTakenError
from ceibo.study.store import changes, schema, turns
from ceibo.study.store.checksum import checksum_of
from ceibo.study.store.database import Database
from ceibo.study.store.failures import Raced
from ceibo.study.store.readers import (
    check_row,
    name_of_trial,
    params_from_row,
    suggestion_from_row,
    trial_from_row,
)
from ceibo.study.store.records import (
    FAILED,
    QUEUED,
    RUNNING,
    WITHDRAWN,
    Event,
    Lease,
    NewTrial,
    Pick,
    Picking,
    StoredTrial,
)
from ceibo.study.store.rows import check_lease, event_row, new_rows, noted_rows, to_reason
from ceibo.study.store.transaction import StudyTransaction, change_study, is_trial, new_attributes

trials = schema.trials

MAX_LOST = 3
"""A trial that was lost with this many workers is taken for the cause: it is recorded as failed."""
GIVEN_UP = "given up"
"""How the reason of its failure begins."""

_SLACK = 1.0  # seconds by which clocks are corrected without going back

# event -> the states it leads from, and the state it leads to
_LEAVING = {"released": ((RUNNING,), QUEUED), "withdrawn": ((QUEUED, RUNNING), WITHDRAWN)}


def hand_out_key(attempt: int) -> str:
    """The key under which a worker tells the result of the attempt-th hand-out of a trial."""
    # The late result of an earlier attempt is thus a further measurement.
    return "" if attempt <= 1 else f"attempt-{attempt}"


def create_trials(
    database: Database,
    study_id: int,
    new: Sequence[NewTrial],
    expect_number: int | None,
    turn: str | None = None,
    known_changes: int | None = None,
) -> tuple[StoredTrial, ...]:
    """Record trials and their first events under the next free numbers."""
    rows = [new_rows(trial) for trial in new]
    token, runs = uuid.uuid4().hex, itertools.count()

    def work(transaction: StudyTransaction) -> tuple[StoredTrial, ...]:
        connection, study = transaction.connection, transaction.study
        mine = sa.select(trials).where(trials.c.study_id == study_id, trials.c.token == token)
        if next(runs) and (stored := connection.execute(mine.order_by(trials.c.number)).all()):
            # an earlier run was committed without an answer
            return _trials_at_creation(stored)
        if expect_number not in (None, study.trials):
            raise NumberTakenError(
                f"the next trial is number {study.trials}, not {expect_number}: another process"
                " was first; compute the suggestion again."
            )
        if known_changes is not None:
            changes.check(transaction, known_changes)
        if expect_number is not None:
            turns.check(transaction, turn)
        seqs = itertools.count(study.seq + 1)
        for index, (trial, events) in enumerate(rows):
            place = {"study_id": study_id, "number": study.trials + index}
            lease = new[index].lease if trial["worker"] is not None else None
            for event in events:
                event.update(place, seq=next(seqs))
            made = {"created_seq": events[0]["seq"], "token": token}
            trial.update(place, **made, **_held(transaction, lease))
            trial["checksum"] = checksum_of(trials, trial)
        connection.execute(trials.insert(), [trial for trial, _ in rows])
        happened = [event for _, events in rows for event in events]
        transaction.insert_events(happened)
        transaction.advance(len(happened), len(rows))
        fresh = sa.select(trials).where(
            trials.c.study_id == study_id, trials.c.number >= study.trials
        )
        return _trials_at_creation(connection.execute(fresh.order_by(trials.c.number)))

    return change_study(database, study_id, work) if rows else ()


def _trials_at_creation(rows: Iterable[sa.Row[Any]]) -> tuple[StoredTrial, ...]:
    return tuple(trial_from_row(row, row.created_seq) for row in rows)


def _held(transaction: StudyTransaction, lease: Lease | None) -> dict[str, float | None]:
    """The columns of a trial that is held by this lease from now on."""
    if lease is None:
        return {"lease": None, "lease_until": None}
    return {"lease": lease.seconds, "lease_until": transaction.time + lease.seconds}


def claim(
    database: Database, study_id: int, lease: Lease | None, picking: Picking | None = None
) -> StoredTrial | None:
    """Hand out the first wanted trial that is queued or whose lease has lapsed, or None."""
    check_lease(lease)
    now = database.now
    if database.read(lambda connection: _claimable(connection, now, study_id, picking)) is None:
        return None  # the common case costs no write lock
    token, runs = uuid.uuid4().hex, itertools.count()

    def work(transaction: StudyTransaction) -> StoredTrial | None:
        mine = sa.select(trials).where(trials.c.study_id == study_id, trials.c.claim == token)
        if next(runs) and (row := transaction.connection.execute(mine).first()):
            # an earlier run was committed without an answer
            return trial_from_row(row, transaction.study.seq)
        if picking is not None:
            changes.check(transaction, picking.known)
        row = _next_claimable(transaction, picking)
        return None if row is None else _hand_out(transaction, row, lease, token)

    return change_study(database, study_id, work)


def _claimable(
    connection: sa.Connection,
    now: sa.ColumnElement[float],
    study_id: int,
    picking: Picking | None = None,
) -> sa.Row[Any] | None:
    """The first trial that is queued, or whose lease has lapsed or is longer than it can be.

    Those that are left for others are passed over.
    """
    running = trials.c.state == RUNNING
    found = [trials.c.state == QUEUED, sa.and_(running, trials.c.lease_until < now)]
    columns = schema.whole(connection, trials)
    if columns == [trials]:  # older tables do not have the length of a lease
        found.append(sa.and_(running, _too_long(now)))
    query = (
        sa.select(*columns)
        .where(trials.c.study_id == study_id, trials.c.state.in_([QUEUED, RUNNING]))
        .where(sa.or_(*found))
        .order_by(trials.c.number)
    )
    if picking is None or picking.judge is None:
        query = query.limit(1)
    for row in connection.execute(query).all():
        check_row(trials, row, name_of_trial(row))
        if _pick(row, picking) is not Pick.LEAVE:
            return row
    return None


def _pick(row: sa.Row[Any], picking: Picking | None) -> Pick:
    """What is to become of a trial that waits."""
    if picking is None or picking.judge is None:
        return Pick.TAKE
    suggestion = None if row.suggestion is None else suggestion_from_row(row)
    return picking.judge(params_from_row(row), suggestion)


def _too_long(now: sa.ColumnElement[float]) -> sa.ColumnElement[bool]:
    """Whether a lease ends later than its length allows: it was taken before a clock went back."""
    return trials.c.lease_until > now + sa.func.coalesce(trials.c.lease, LONGEST_LEASE) + _SLACK


def _cut_leases(transaction: StudyTransaction) -> None:
    """Let leases that are longer than they can be end after their length, unless renewed."""
    longest = transaction.now + sa.func.coalesce(trials.c.lease, LONGEST_LEASE)
    of_study = trials.c.study_id == transaction.study_id, trials.c.state == RUNNING
    update = trials.update().where(*of_study, _too_long(transaction.now))
    transaction.connection.execute(update.values(lease_until=longest))


def _next_claimable(transaction: StudyTransaction, picking: Picking | None) -> sa.Row[Any] | None:
    """The first claimable trial.

    Those before it that were lost too often are recorded as failed, and those that are no setting
    of the space any more as withdrawn.
    """
    _cut_leases(transaction)
    claimable = (transaction.connection, transaction.now, transaction.study_id, picking)
    while (row := _claimable(*claimable)) is not None:
        if _pick(row, picking) is Pick.WITHDRAW:
            transaction.append(row, changes.withdrawal(row))
        elif (lost := _times_lost(transaction.history(row))) >= MAX_LOST:
            transaction.append(row, _giving_up(lost))
        else:
            break
        transaction.lock()
    return row


def _times_lost(history: Sequence[Event]) -> int:
    """How often a worker began a trial and neither ended it nor gave it back unharmed."""
    happened = [event for event in history if event.worker is not None]
    begun = [event for event in happened if event.kind in ("asked", "claimed")]
    failed = [event for event in happened if event.kind == "failed"]
    unharmed = [event for event in happened if (event.kind, event.reason) == ("released", None)]
    return len(begun) - len(failed) - len(unharmed) - _times_told(history)


def _times_told(history: Sequence[Event]) -> int:
    """How often a worker told all it had of a trial that was not done with it."""
    holder, times = None, 0
    for event in history:
        told = event.kind == "measured"
        times += told and holder is not None and event.worker is None
        if event.state != RUNNING:
            holder = None
        elif told or event.kind in ("asked", "claimed"):
            holder = event.worker
    return times


def _giving_up(lost: int) -> dict[str, Any]:
    """The event that records a trial as failed because it was lost too often."""
    event = event_row("failed", FAILED, uuid.uuid4().hex)
    event["reason"] = (
        f"{GIVEN_UP}: {lost} times a worker began it and was gone before there was a result"
        " (killed, out of memory, a crash, or sys.exit in the objective). To try once more,"
        " enqueue the same parameters"
    )
    return event


def _hand_out(
    transaction: StudyTransaction, row: sa.Row[Any], lease: Lease | None, token: str
) -> StoredTrial:
    """Give a trial to the worker of the lease; a lost race repeats the transaction."""
    study_id, connection = transaction.study_id, transaction.connection
    worker = None if lease is None else lease.worker
    unchanged = (trials.c.state == row.state, trials.c.attempt == row.attempt)
    update = trials.update().where(*is_trial(study_id, row.number), *unchanged)
    out = {"state": RUNNING, "attempt": row.attempt + 1, "claim": token}
    changed = connection.execute(update.values(**out, **_held(transaction, lease), worker=worker))
    if changed.rowcount != 1:
        raise Raced
    seq = transaction.study.seq + 1
    event = event_row("claimed", RUNNING, token, worker=worker)
    transaction.insert_events([{**event, "study_id": study_id, "number": row.number, "seq": seq}])
    transaction.advance(1, 0)
    query = sa.select(trials).where(*is_trial(study_id, row.number))
    return trial_from_row(connection.execute(query).one(), seq)


def fail(
    database: Database,
    study_id: int,
    number: int,
    reason: str,
    worker: str | None,
    attributes: Mapping[str, Any],
) -> int:
    """Record a failed evaluation, once; returns the sequence number of the record."""
    token = uuid.uuid4().hex
    event = event_row("failed", FAILED, token, worker=worker)
    event["reason"] = to_reason(reason)

    def work(transaction: StudyTransaction) -> int:
        trial = transaction.trial(number)
        for old in transaction.history(trial):
            same = trial.state == FAILED and old.reason == event["reason"]
            if old.kind == "failed" and (old.key == token or same):
                fresh = noted_rows(new_attributes(transaction, trial, attributes), trial.state)
                return transaction.append(trial, *fresh) if fresh else old.seq
        holds = trial.state == RUNNING and worker in (None, trial.worker)
        event["state"] = FAILED if trial.state == QUEUED or holds else trial.state
        noted = noted_rows(attributes, trial.state)
        return transaction.append(trial, *noted, event)

    return change_study(database, study_id, work)


def leave(
    database: Database,
    study_id: int,
    number: int,
    kind: str,
    worker: str | None = None,
    reason: str | None = None,
) -> bool:
    """Release or withdraw a trial, if its state allows that and the worker (None: any) holds it."""
    before, after = _LEAVING[kind]
    event = event_row(kind, after, uuid.uuid4().hex)
    event["reason"] = None if reason is None else to_reason(reason)

    def work(transaction: StudyTransaction) -> bool:
        trial = transaction.trial(number)
        if any((old.kind, old.key) == (kind, event["key"]) for old in transaction.history(trial)):
            return True  # an earlier run was committed without an answer
        if trial.state not in before or worker not in (None, trial.worker):
            return False
        transaction.append(trial, {**event, "worker": trial.worker})
        return True

    return change_study(database, study_id, work)
