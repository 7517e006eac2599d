"""Examining a database for damage: every row read and compared, nothing raised, nothing changed.

What cannot be found: the loss of the last transactions, if all traces of them are gone together
with them. That is so for the end of a write-ahead log that was cut off or damaged: SQLite takes the
first damaged entry for the end of the log.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, final

import sqlalchemy as sa

from ceibo.errors import DamagedError, StorageError
from ceibo.study.store import schema
from ceibo.study.store.counters import COUNTERS, check_counters
from ceibo.study.store.failures import diagnose
from ceibo.study.store.readers import check_row, event_from_row, given_from_row, study_from_row
from ceibo.study.store.records import ABOUT_VALUES, EMPTY, Event, Given, StoredTrial, fold

studies, trials, events = schema.studies, schema.trials, schema.events

_DRIVER = (sa.exc.DBAPIError, UnicodeDecodeError)


@final
@dataclass(frozen=True)
class Finding:
    """One damage: what is damaged, in which study (its id) and trial if it is known, and how.

    `what` is "file", "schema", "study", "trial", "event", "counter", "state" or "orphan".
    """

    what: str
    study: int | None
    trial: int | None
    sentence: str


@final
@dataclass(frozen=True)
class Examination:
    """The damages found in a study or a database, and how many of its rows have no checksum."""

    findings: tuple[Finding, ...]
    rows: int
    uncovered: int


def examine(connection: sa.Connection, study_id: int | None = None) -> Examination:
    """Examine one study, or by default all that is in a database."""
    tally = _Tally(connection, study_id)
    with _any_text(connection):
        tally.examine()
    return Examination(tuple(tally.findings), tally.rows, tally.uncovered)


@contextmanager
def _any_text(connection: sa.Connection) -> Iterator[None]:
    """Let SQLite hand out text that is no UTF-8, rather than stop at it."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver: Any = connection.connection.driver_connection
    driver.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        driver.text_factory = str


@final
@dataclass
class _Tally:
    """An examination under way."""

    connection: sa.Connection
    study_id: int | None
    findings: list[Finding] = field(default_factory=list)
    rows: int = 0
    uncovered: int = 0

    def find(self, what: str, found: object, trial: object = None) -> None:
        """Note a damage."""
        if isinstance(found, sa.exc.DBAPIError | UnicodeDecodeError):
            found = diagnose(found, self.connection.engine.url).sentence
        if isinstance(found, DamagedError):
            found = found.finding
        number = trial if isinstance(trial, int) else None
        self.findings.append(Finding(what, self.study_id, number, str(found).rstrip(".")))

    def examine(self) -> None:
        """Examine the file, the version, and then each study."""
        self.check_file()
        try:
            version = schema.stored_version(self.connection)
        except (StorageError, *_DRIVER) as error:
            self.find("schema", error)
            return
        if version is None:
            self.find("schema", "there are no ceibo studies in this database")
            return
        if self.study_id is not None:
            self.examine_study()
            return
        ids = [row.id for row in self.read(studies, "study")]
        for self.study_id in ids:
            self.examine_study()
        self.study_id = None
        self.check_orphans(ids)

    def check_file(self) -> None:
        """SQLite's own check of its file: pages, indices against tables, constraints."""
        if self.connection.dialect.name != "sqlite":
            return
        try:
            said = self.connection.exec_driver_sql("PRAGMA integrity_check(20)").scalars().all()
        except _DRIVER as error:
            self.find("file", error)
            return
        for line in said:
            if line != "ok":
                self.find("file", f"SQLite says: {line}")

    def read(self, table: sa.Table, what: str) -> Iterator[sa.Row[Any]]:
        """The rows of the study under examination, as far as they can be read."""
        owner = studies.c.id if table is studies else table.c.study_id
        query = sa.select(*schema.whole(self.connection, table))
        if self.study_id is not None:
            query = query.where(owner == self.study_id)
        try:
            yield from self.connection.execute(query.order_by(*table.primary_key.columns))
        except _DRIVER as error:
            self.find(what, error)

    def count(self, row: sa.Row[Any]) -> None:
        self.rows += 1
        self.uncovered += row.checksum is None

    def examine_study(self) -> None:
        """Examine the row of a study, its trials and its events, and whether they agree."""
        before = len(self.findings)
        outcomes: Mapping[str, Any] = {"": None}
        for row in self.read(studies, "study"):
            self.count(row)
            try:
                outcomes = (study_from_row(row).data or {}).get("outcomes", outcomes)
            except StorageError as error:
                self.find("study", error)
        self.check_counters()
        history = self.read_history()
        changing, given = self.read_trials()
        if len(self.findings) > before:
            return  # how they agree is no question then
        try:
            snapshot = fold(EMPTY, given, history, len(history))
        except StorageError as error:
            self.find("event", error)
            return
        for event in history:
            if event.kind in ABOUT_VALUES and event.outcome not in outcomes:
                unknown = f"it names the outcome {event.outcome!r:.40}, which the study does not"
                self.find("event", f"event {event.seq}: {unknown} have", event.number)
        for trial, stands in zip(snapshot.trials, changing, strict=True):
            self.compare(trial, stands)

    def check_counters(self) -> None:
        """The counters of the study, against the other tables."""
        try:
            head = self.connection.execute(COUNTERS, {"study": self.study_id}).first()
            if head is None:
                self.find("study", f"there is no study with the id {self.study_id}")
            else:
                check_counters(head)
        except (StorageError, TypeError, *_DRIVER) as error:
            self.find("counter", error)

    def read_history(self) -> list[Event]:
        """The events that can be read."""
        found: list[Event] = []
        for expected, row in enumerate(self.read(events, "event"), 1):
            self.count(row)
            if row.seq != expected:
                self.find("event", f"event {row.seq!r:.20} stands where {expected} belongs")
                return found
            try:
                found.append(event_from_row(row))
            except StorageError as error:
                self.find("event", error, row.number)
        return found

    def read_trials(self) -> tuple[list[Mapping[str, Any]], list[Given]]:
        """What changes in the trials that can be read, and what they began with."""
        changing: list[Mapping[str, Any]] = []
        given = []
        for expected, row in enumerate(self.read(trials, "trial")):
            self.count(row)
            if row.number != expected:
                self.find("trial", f"trial {row.number!r:.20} stands where {expected} belongs")
                break
            try:
                check_row(trials, row, f"trial {row.number}")
                given.append(given_from_row(row))
            except StorageError as error:
                self.find("trial", error, row.number)
            changing.append({"state": row.state, "attempt": row.attempt, "worker": row.worker})
        return changing, given

    def compare(self, trial: StoredTrial, row: Mapping[str, Any]) -> None:
        """The state in the row of a trial, with that to which its events lead."""
        for name, stands in row.items():
            led = getattr(trial, name)
            if stands != led:
                sentence = f"its {name} is {stands!r:.40}, but its events lead to {led!r:.40}"
                self.find("state", f"trial {trial.number}: {sentence}", trial.number)

    def check_orphans(self, ids: list[Any]) -> None:
        """Trials and events of studies that are not there."""
        for table in (trials, events):
            owners = sa.select(table.c.study_id, sa.func.count()).group_by(table.c.study_id)
            try:
                for owner, count in self.connection.execute(owners):
                    if owner not in ids:
                        lost = f"{count} rows of {table.name} belong to the study id {owner!r:.20}"
                        self.find("orphan", f"{lost}, which is not there")
            except _DRIVER as error:
                self.find("orphan", error)
