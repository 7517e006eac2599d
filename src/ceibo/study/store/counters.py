"""The counters in the row of a study, and whether the other tables agree with them."""

from typing import Any

import sqlalchemy as sa

from ceibo.study.store.readers import check_columns
from ceibo.study.store.records import damaged
from ceibo.study.store.schema import events, studies, trials

STUDY = sa.bindparam("study", type_=sa.Integer())
"""The id of the study in the statements below."""

LAST_EVENT = (
    sa.select(sa.func.coalesce(sa.func.max(events.c.seq), 0))
    .where(events.c.study_id == STUDY)
    .scalar_subquery()
    .label("last_event")
)
LAST_TRIAL = (
    sa.select(sa.func.coalesce(sa.func.max(trials.c.number), -1))
    .where(trials.c.study_id == STUDY)
    .scalar_subquery()
    .label("last_trial")
)
COUNTERS: sa.Select[Any] = sa.select(
    studies.c.id, studies.c.name, studies.c.seq, studies.c.trials, LAST_EVENT, LAST_TRIAL
).where(studies.c.id == STUDY)
"""The counters of a study and what they count; one statement, so that both are of one moment."""


def agree(row: sa.Row[Any]) -> bool:
    """Whether the last event and the last trial are those that the counters speak of."""
    whole = type(row.seq) is type(row.last_event) is type(row.trials) is type(row.last_trial) is int
    return whole and row.seq == row.last_event and row.trials == row.last_trial + 1


def check_counters(row: sa.Row[Any]) -> None:
    """Refuse a row of COUNTERS whose counters are not those of the other tables."""
    what = f"study {row.name!r:.200}"
    check_columns(studies, row, what, ("seq", "trials"))
    if not agree(row):
        raise damaged(
            what,
            f"it counts {row.seq} events and {row.trials} trials, but its last event is"
            f" {row.last_event!r:.20} and its last trial {row.last_trial!r:.20}",
        )
