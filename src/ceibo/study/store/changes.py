"""Changes of a study's space: events about the study, in order with all others."""

import uuid
from typing import Any

import sqlalchemy as sa

from ceibo.errors import SpaceChangedError
from ceibo.study.store import schema
from ceibo.study.store.database import Database
from ceibo.study.store.readers import params_from_row, suggestion_from_row
from ceibo.study.store.records import OF_STUDY, QUEUED, SPACE, WITHDRAWN, Pick, Picking
from ceibo.study.store.rows import event_row, to_text
from ceibo.study.store.transaction import StudyTransaction, change_study

events, trials = schema.events, schema.trials

_COUNT = (
    sa.select(sa.func.count())
    .select_from(events)
    .where(events.c.study_id == sa.bindparam("study", type_=sa.Integer()))
    .where(events.c.number == OF_STUDY)
)


def check(transaction: StudyTransaction, known: int) -> None:
    """Refuse what was decided by an earlier space than the study has now."""
    stored = transaction.connection.execute(_COUNT, {"study": transaction.study_id}).scalar_one()
    if stored != known:
        raise SpaceChangedError(
            "the space of the study was changed by another process; look at it, and compute the"
            " suggestion again."
        )


def withdrawal(trial: sa.Row[Any]) -> dict[str, Any]:
    """The event by which a trial is withdrawn because it is no setting of the space any more."""
    event = event_row("withdrawn", WITHDRAWN, uuid.uuid4().hex, worker=trial.worker)
    return event | {"reason": "the space has changed, and this setting is not part of it any more"}


def change_space(database: Database, study_id: int, data: Any, picking: Picking) -> None:
    """Record another space, and withdraw the queued trials that are to be."""
    token, text = uuid.uuid4().hex, to_text(data)
    row = event_row(SPACE, "", token) | {"data": text}

    def work(transaction: StudyTransaction) -> None:
        if transaction.has_event(OF_STUDY, SPACE, token):
            return  # an earlier run was committed without an answer
        check(transaction, picking.known)
        place = {"study_id": study_id, "number": OF_STUDY, "seq": transaction.study.seq + 1}
        transaction.insert_events([row | place])
        transaction.advance(1, 0)
        of_study = trials.c.study_id == study_id, trials.c.state == QUEUED
        waiting = sa.select(trials).where(*of_study).order_by(trials.c.number)
        for trial in transaction.connection.execute(waiting).all():
            suggestion = None if trial.suggestion is None else suggestion_from_row(trial)
            judge = picking.judge
            if judge and judge(params_from_row(trial), suggestion) is Pick.WITHDRAW:
                transaction.lock()
                transaction.append(trial, withdrawal(trial))

    change_study(database, study_id, work)
