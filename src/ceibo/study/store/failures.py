"""What a database error means: whether waiting helps, and a sentence that says what to do."""

import os
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import sqlalchemy as sa

from ceibo.study.store.url import hide_secrets, show_url


@final
class Raced(Exception):
    """A compare-and-swap found that another process was first; the transaction must run again."""


@final
@dataclass(frozen=True)
class Failure:
    """The meaning of an error; `transient` if the same transaction may succeed later.

    `unreachable` if a server gave no answer at all.
    """

    transient: bool
    sentence: str
    unreachable: bool = False


def diagnose(error: Exception, url: sa.URL) -> Failure:
    """The meaning of an error raised by a driver, by SQLAlchemy around it, or by a lost race."""
    failure = _diagnose(error, url)
    return replace(failure, sentence=hide_secrets(failure.sentence, url))


def _diagnose(error: Exception, url: sa.URL) -> Failure:
    place = show_url(url)
    if isinstance(error, Raced):
        return Failure(True, f"{place} is too busy: other processes were always faster; try again.")
    if isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in str(error):
        why = f"a text in it cannot be read ({_line(error)})"
        return Failure(False, f"{place} is damaged: {why}; restore a copy.")
    if isinstance(error, sa.exc.TimeoutError):
        sentence = f"no connection to {place} became free; use fewer threads per process."
        return Failure(True, sentence)
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) and error.orig is not None else error
    if isinstance(error, sa.exc.IntegrityError):
        what = f"{place} refused a row that contradicts another: {_line(cause)}"
        return Failure(True, f"{what}; try again, and report it if it stays.")
    if isinstance(cause, sqlite3.Error):
        return _sqlite(cause, place, Path(url.database or ""))
    return _postgresql(cause, place)


def _sqlite(error: sqlite3.Error, place: str, file: Path) -> Failure:
    name = getattr(error, "sqlite_errorname", "")
    if "no such table: ceibo_" in str(error):
        gone = f"{place} no longer holds the studies that were in it"
        return Failure(False, f"{gone}; check whether the file was deleted or replaced.")
    disk = f"the disk of {place}"
    sentences = {
        "BUSY": f"{place} stayed locked by other processes; try again, or use PostgreSQL",
        "LOCKED": f"{place} stayed locked by another thread; try again",
        "PROTOCOL": f"{place} stayed locked by other processes; try again",
        "READONLY": f"{place} is read-only; make the file and its folder writable",
        "FULL": f"{disk} is full; free some space and repeat",
        "IOERR": f"{disk} cannot be written or read; check that it is not full or broken",
        "NOTADB": f"{place} is not an SQLite database; choose another file",
        "CORRUPT": f"{place} is damaged; restore a copy, or salvage it with sqlite3's .recover",
        "CANTOPEN": _cannot_open(place, file),
    }
    for kind, sentence in sentences.items():
        if name.startswith(f"SQLITE_{kind}"):
            transient = kind in ("BUSY", "LOCKED", "PROTOCOL")
            return Failure(transient, f"{sentence} ({_line(error)}).")
    return Failure(False, f"{place} failed: {_line(error)}.")


def _cannot_open(place: str, file: Path) -> str:
    folder = Path(os.path.realpath(file)).parent
    if not folder.is_dir():
        return f"cannot open {place}: the folder {folder} does not exist; create it first"
    if not os.access(folder, os.W_OK):
        beside = f"{file.name}, {file.name}-wal and {file.name}-shm"
        return (
            f"cannot open {place}: the folder {folder} is read-only; make it writable, or copy"
            f" {beside} together to a folder that is"
        )
    if not file.exists():
        gone = f"{place} no longer holds the studies that were in it"
        return f"{gone}: the file was deleted or renamed; put it back, or open the study again"
    return f"cannot open {place}; check that it is a file and that you may read and write it"


_REFUSED = (
    "password authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "permission denied",
)
_UNKNOWN_NAME = ("could not translate host name", "failed to resolve host", "not known")
# 08 connection, 40 rollback (deadlock, serialisation), 53 resources but for a full disk, 55P03 lock
# timeout, 57 shutdown and cancel, 25P03 idle in transaction too long (this process slept), XX000 a
# crash under way
_TRANSIENT_STATES = ("08", "40", "53200", "53300", "53400", "55P03", "57", "25P03", "XX000")


def _postgresql(error: BaseException, place: str) -> Failure:
    state = getattr(error, "sqlstate", None)
    if state is None:  # no answer from the server: refused, lost or never reached
        if any(text in str(error) for text in _REFUSED):
            return _connection_refused(error, place)
        sentence = f"cannot reach {place}: {_line(error)}; check that the server runs."
        # A name that cannot be looked up is more often wrong than away.
        return Failure(True, sentence, not any(text in str(error) for text in _UNKNOWN_NAME))
    if state == "53100":
        full = f"the disk of {place} is full; free some space and repeat"
        return Failure(False, f"{full} ({_line(error)}).")
    if state in ("25006", "42501"):
        read_only = f"{place} is read-only, or this user may not write to it"
        return Failure(False, f"{read_only}; check the user's rights ({_line(error)}).")
    if state.startswith(("28", "3D")):
        return _connection_refused(error, place)
    transient = state.startswith(_TRANSIENT_STATES)
    return Failure(transient, f"{place} failed: {_line(error)} (SQLSTATE {state}).")


def _connection_refused(error: BaseException, place: str) -> Failure:
    refused = f"{place} refused the connection: {_line(error)}"
    return Failure(False, f"{refused}; check user and database.")


def _line(error: BaseException) -> str:
    """The first line of an error's message, without its full stop."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
