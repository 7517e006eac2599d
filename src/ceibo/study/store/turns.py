"""The turn of a study: while a worker holds it, no other records a new suggestion.

Suggestions are computed outside any transaction, and the first to be recorded makes the others'
worthless. Without turns a worker that computes slowly would lose to quicker ones for ever.
"""

from typing import Any, Final

import sqlalchemy as sa

from ceibo.errors import TurnTakenError
from ceibo.study.store import schema
from ceibo.study.store.database import Database
from ceibo.study.store.transaction import StudyTransaction, change_study

studies = schema.studies

LONGEST: Final = 60.0
"""Seconds that a turn lasts at most; one that ends later was taken before a clock went back."""
_SLACK: Final = 1.0  # seconds by which clocks are corrected without going back


def take(database: Database, study_id: int, token: str, seconds: float) -> bool:
    """Take the study's turn, or renew one's own; false if another holds it."""
    free = sa.or_(studies.c.turn.is_(None), studies.c.turn == token, ~_holds(database.now))
    query = sa.select(studies.c.id).where(studies.c.id == study_id, free)

    def work(transaction: StudyTransaction) -> bool:
        if is_held(transaction, token):
            return False
        until = transaction.time + min(seconds, LONGEST)
        _set(transaction, token, until)
        return True

    def looks_free(connection: sa.Connection) -> bool:
        if schema.stored_version(connection) != schema.VERSION:
            return True  # older tables have no turns; a write brings them to this version
        return connection.execute(query).first() is not None

    # a look costs no write lock
    return database.read(looks_free) and change_study(database, study_id, work)


def give(database: Database, study_id: int, token: str) -> None:
    """Give the turn back, if `token` holds it."""

    def work(transaction: StudyTransaction) -> None:
        if transaction.study.turn == token:
            _set(transaction, None, None)

    change_study(database, study_id, work)


def check(transaction: StudyTransaction, token: str | None) -> None:
    """Refuse a new suggestion during another's turn; one's own turn ends with it."""
    if is_held(transaction, token):
        raise TurnTakenError(
            "it is another process's turn to record a suggestion; wait, and compute it again."
        )
    if token is not None and transaction.study.turn == token:
        _set(transaction, None, None)


def is_held(transaction: StudyTransaction, token: str | None) -> bool:
    """Whether another than `token` holds the turn now."""
    study = transaction.study
    if study.turn in (None, token) or not isinstance(study.turn_until, float):
        return False
    left = study.turn_until - transaction.time
    return bool(0.0 <= left <= LONGEST + _SLACK)


def _holds(now: sa.ColumnElement[float]) -> sa.ColumnElement[bool]:
    left = studies.c.turn_until - now
    return sa.and_(left >= 0.0, left <= LONGEST + _SLACK)


def _set(transaction: StudyTransaction, turn: str | None, until: Any) -> None:
    update = studies.update().where(studies.c.id == transaction.study_id)
    transaction.connection.execute(update.values(turn=turn, turn_until=until))
