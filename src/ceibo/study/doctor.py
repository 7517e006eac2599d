"""An examination of a database: what is in it, what is wrong with it, and what to do.

It only reads: nothing is created, brought to another version or repaired. Whatever is found, a
damaged or foreign file included, is a finding and not an exception.
"""

import platform
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final, final

from ceibo.decide.record import versions
from ceibo.errors import CeiboError
from ceibo.study.ledger import Ledger
from ceibo.study.store import Store, StudyRecord
from ceibo.study.store.advice import sqlite_advice
from ceibo.study.store.database import Database
from ceibo.study.store.integrity import examine as examine_rows
from ceibo.study.store.lifecycle import GIVEN_UP
from ceibo.study.store.network import network_file_system
from ceibo.study.store.schema import VERSION, stored_version
from ceibo.text import plural

_PATIENCE: Final = 10.0  # seconds to wait for a database that does not answer
_SHOWN: Final = 20  # damages listed one by one
_HEADER: Final = b"SQLite format 3\0"  # how every SQLite file begins
_RESTORE: Final = (
    "restore a backup; without one, keep a copy of the damaged file and try sqlite3's .recover"
)


@final
@dataclass(frozen=True)
class Finding:
    """Something that is wrong, and what to do about it, where the sentence does not say so."""

    sentence: str
    advice: str


@final
@dataclass(frozen=True)
class Examination:
    """What was looked at, what deserves a look without being wrong, and what is wrong."""

    facts: tuple[str, ...]
    remarks: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        return not self.findings


@final
@dataclass
class _Notes:
    """Facts, remarks and findings as they are gathered."""

    facts: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def find(self, sentence: str, advice: str = _RESTORE) -> None:
        self.findings.append(Finding(sentence.rstrip("."), advice))


def examine(url: str, name: str | None = None) -> Examination:
    """Examines a database and its studies, or the one of that name."""
    notes = _Notes()
    _look_at_program(notes)
    database = Database(url, _PATIENCE)
    try:
        if _look_at_file(database, notes) and _look_at_tables(database, notes):
            with closing(Store(url, create=False, patience=_PATIENCE)) as store:
                _look_at_studies(database, store, name, notes)
    except CeiboError as error:
        notes.find(str(error), "")  # it says what to do
    finally:
        database.close()
    return Examination(tuple(notes.facts), tuple(notes.remarks), tuple(notes.findings))


def _look_at_program(notes: _Notes) -> None:
    used = ", ".join(f"{package} {version}" for package, version in versions().items())
    notes.facts.append(f"Python {platform.python_version()}, {used}")
    if (advice := sqlite_advice()) is not None:
        notes.remarks.append(advice)


def _look_at_file(database: Database, notes: _Notes) -> bool:
    """Whether there is a server, or a file that may be a database."""
    file = database.file
    if file is None:
        return True
    if not file.is_file():
        what = "is not a file" if file.exists() else "does not exist"
        notes.find(f"{file} {what}", "check the path; a study file's `storage` is relative to it")
        return False
    with file.open("rb") as opened:
        header = opened.read(len(_HEADER))
    if header and header != _HEADER:
        notes.find(f"{file} is not an SQLite database, or its first page is damaged")
        return False
    log = file.with_name(file.name + "-wal")
    waiting = log.stat().st_size if log.exists() else 0
    beside = f", and {waiting:,} in its log" if waiting else ""
    notes.facts.append(f"{file}: {file.stat().st_size:,} bytes{beside}")
    if kind := network_file_system(file.resolve().parent):
        notes.remarks.append(
            f"{file} lies on a network file system ({kind}): let one machine write at a time, or"
            " use PostgreSQL"
        )
    return True


def _look_at_tables(database: Database, notes: _Notes) -> bool:
    """Whether the database holds studies that this ceibo can read."""
    version = database.read(stored_version)
    if version is None:
        notes.find(
            f"there are no ceibo studies in {database.place}",
            "check the URL; `ceibo run` and `ceibo ask --new` begin a study",
        )
        return False
    notes.facts.append(f"{database.place}: schema version {version}")
    if version < VERSION:
        notes.remarks.append(
            f"the first write brings it from schema version {version} to {VERSION}, with a checksum"
            " for every record; an older ceibo then refuses it"
        )
    return True


def _look_at_studies(database: Database, store: Store, name: str | None, notes: _Notes) -> None:
    """What every study holds, and what is wrong with its rows."""
    chosen = None if name is None else store.study(name).id
    rows = database.read(lambda connection: examine_rows(connection, chosen))
    for damage in rows.findings[:_SHOWN]:
        notes.find(damage.sentence)
    if len(rows.findings) > _SHOWN:
        notes.find(f"{len(rows.findings) - _SHOWN} more findings of this kind")
    notes.facts.append(f"{rows.rows - rows.uncovered} of {rows.rows} records have a checksum")
    if rows.findings:
        return
    records = store.studies() if name is None else (store.study(name),)
    for record in records:
        try:
            _look_at_study(store, record, notes)
        except CeiboError as error:
            notes.find(f"study {record.name!r} cannot be used: {error}")


def _look_at_study(store: Store, record: StudyRecord, notes: _Notes) -> None:
    ledger = Ledger(store, record)
    trials = ledger.refresh().trials
    states = Counter(trial.state for trial in trials)
    counted = ", ".join(f"{count} {state}" for state, count in states.items()) or "none"
    told = sum(len(trial.measurements) for trial in trials)
    notes.facts.append(
        f"study {record.name!r}: {len(trials)} trials ({counted}), {told} measurements"
    )
    if changes := ledger.changes:
        last = time.strftime("%Y-%m-%d %H:%M", time.localtime(changes[-1].time))
        notes.facts.append(
            f"study {record.name!r}: its space was changed {plural(len(changes), 'time')}, the last"
            f" at {last}"
        )
    leases = store.leases(record.id)
    for number, (worker, left) in leases.items():
        if left < 0:
            notes.remarks.append(
                f"trial {number}: its worker {worker} has not been heard of since its lease lapsed"
                f" {-left:.0f} s ago; the next worker that asks takes the trial over"
            )
    by_hand = [t.number for t in trials if t.state == "running" and t.number not in leases]
    if by_hand:
        listed = ", ".join(map(str, by_hand[:10])) + (", …" if len(by_hand) > 10 else "")
        one = len(by_hand) == 1
        subject, verb = (
            (f"trial {listed} was", "waits") if one else (f"trials {listed} were", "wait")
        )
        notes.remarks.append(
            f"{subject} asked for by hand and {verb} to be told, failed or released"
        )
    lost = [
        t.number for t in trials if t.state == "failed" and (t.reason or "").startswith(GIVEN_UP)
    ]
    for number in lost:
        notes.remarks.append(
            f"trial {number} was given up after several workers were lost with it; if it was not"
            " the cause, enqueue its parameters again"
        )
