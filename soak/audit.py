"""Whether a study holds exactly what was acknowledged."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import final

import sqlalchemy as sa

from ceibo.study.store import QUEUED, RUNNING, Store, StoredTrial
from ceibo.study.store.records import Event
from soak.children import Acknowledged


@final
@dataclass(frozen=True)
class Audit:
    """Counts of what must not happen; all zero is a pass."""

    lost: int  # acknowledged measurements that are not stored with the same bits
    # trials with more values of an outcome than needed, not counting those that were handed out
    # again after their lease had lapsed
    twice: int
    gaps: int  # missing or duplicated trial or event numbers
    open: int  # trials left queued or running

    @property
    def passed(self) -> bool:
        return not (self.lost or self.twice or self.gaps or self.open)


def audit(
    store: Store, study_id: int, acknowledged: Sequence[Acknowledged], lease: float | None = None
) -> Audit:
    """Compares a study, read from the database, with what its workers saw acknowledged.

    With the length of a `lease`, a trial that was handed out again only after its lease had lapsed
    may be measured by both workers: a worker may wait for its server for longer than that.
    """
    snapshot, events = store.snapshot(study_id), store.events(study_id)
    late = set() if lease is None else _handed_out_late(events, lease)
    stored = {
        (t.number, m.outcome, m.key): m.measurement.value
        for t in snapshot.trials
        for m in t.measurements
    }
    return Audit(
        lost=sum(stored.get((a.number, a.outcome, a.key)) != a.value for a in acknowledged),
        twice=sum(_is_told_twice(t) and t.number not in late for t in snapshot.trials),
        gaps=int([t.number for t in snapshot.trials] != list(range(len(snapshot.trials))))
        + int([event.seq for event in events] != list(range(1, len(events) + 1)))
        + int(snapshot.seq != len(events)),
        open=len(snapshot.in_state(QUEUED, RUNNING)),
    )


def _is_told_twice(trial: StoredTrial) -> bool:
    """Whether a trial has more values of an outcome than can have been needed.

    One of one objective is done with its first value. One of several outcomes may be handed out
    again while some of them are missing, and is then told once for each time.
    """
    counts = Counter(each.outcome for each in trial.measurements)
    most = 1 if counts.keys() <= {""} else trial.attempt
    return max(counts.values(), default=0) > most


def _handed_out_late(events: Sequence[Event], lease: float) -> set[int]:
    """The trials of which every hand-out came a lease or more after the one before."""
    times: dict[int, list[float]] = {}
    for event in events:
        if event.kind in ("asked", "claimed"):
            times.setdefault(event.number, []).append(event.time)
    return {
        number
        for number, each in times.items()
        if len(each) > 1 and all(b - a >= lease for a, b in pairwise(each))
    }


def intact(url: str) -> bool:
    """Whether the file passes SQLite's check; PostgreSQL checks its log when it starts."""
    parsed = sa.make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return True
    connection = sqlite3.connect(Path(parsed.database or ""))
    try:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()
