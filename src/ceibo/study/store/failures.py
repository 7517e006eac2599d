"""What a database error means: whether waiting helps, and a sentence that says what to do."""

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import final

import sqlalchemy as sa


@final
class Raced(Exception):
    """A compare-and-swap found that another process was first; the transaction must run again."""


@final
@dataclass(frozen=True)
class Failure:
    """The meaning of an error; `transient` if the same transaction may succeed later."""

    transient: bool
    sentence: str


def diagnose(error: Exception, url: sa.URL) -> Failure:
    """The meaning of an error raised by a driver, by SQLAlchemy around it, or by a lost race."""
    place = url.render_as_string(hide_password=True)
    if isinstance(error, Raced):
        return Failure(True, f"{place} is too busy: other processes were always faster; try again.")
    if isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in str(error):
        return Failure(
            False,
            f"{place} is damaged: a text in it cannot be read ({_line(error)}); restore a copy.",
        )
    if isinstance(error, sa.exc.TimeoutError):
        return Failure(
            True, f"no connection to {place} became free; use fewer threads per process."
        )
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) and error.orig is not None else error
    if isinstance(error, sa.exc.IntegrityError):
        return Failure(
            True,
            f"{place} refused a row that contradicts another: {_line(cause)}; try again, and report"
            " it if it stays.",
        )
    if isinstance(cause, sqlite3.Error):
        return _sqlite(cause, place, Path(url.database or ""))
    return _postgresql(cause, place)


def _sqlite(error: sqlite3.Error, place: str, file: Path) -> Failure:
    name = getattr(error, "sqlite_errorname", "")
    if "no such table: ceibo_" in str(error):
        return Failure(
            False,
            f"{place} no longer holds the studies that were in it; check whether the file was"
            " deleted or replaced.",
        )
    for prefix, transient, sentence in (
        (
            "SQLITE_BUSY",
            True,
            f"{place} stayed locked by other processes; try again, or use PostgreSQL",
        ),
        ("SQLITE_LOCKED", True, f"{place} stayed locked by another thread; try again"),
        ("SQLITE_PROTOCOL", True, f"{place} stayed locked by other processes; try again"),
        ("SQLITE_READONLY", False, f"{place} is read-only; make the file and its folder writable"),
        ("SQLITE_FULL", False, f"the disk of {place} is full; free some space and repeat"),
        (
            "SQLITE_IOERR",
            False,
            f"the disk of {place} cannot be written or read; check that it is not full or broken",
        ),
        ("SQLITE_NOTADB", False, f"{place} is not an SQLite database; choose another file"),
        (
            "SQLITE_CORRUPT",
            False,
            f"{place} is damaged; restore a copy, or salvage it with sqlite3's .recover",
        ),
        ("SQLITE_CANTOPEN", False, _cannot_open(place, file)),
    ):
        if name.startswith(prefix):
            return Failure(transient, f"{sentence} ({_line(error)}).")
    return Failure(False, f"{place} failed: {_line(error)}.")


def _cannot_open(place: str, file: Path) -> str:
    folder = file.absolute().parent
    if not folder.is_dir():
        return f"cannot open {place}: the folder {folder} does not exist; create it first"
    if not os.access(folder, os.W_OK):
        return f"cannot open {place}: the folder {folder} is read-only; make it writable"
    return f"cannot open {place}; check that it is a file and that you may read and write it"


_REFUSED = (
    "password authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "permission denied",
)
# 08 connection, 40 rollback (deadlock, serialisation), 53 resources but for a full disk, 55P03 lock
# timeout, 57 shutdown and cancel, 25P03 idle in transaction too long (this process slept), XX000 a
# crash under way
_TRANSIENT_STATES = ("08", "40", "53200", "53300", "53400", "55P03", "57", "25P03", "XX000")


def _postgresql(error: BaseException, place: str) -> Failure:
    state = getattr(error, "sqlstate", None)
    if state is None:  # no answer from the server: refused, lost or never reached
        if any(text in str(error) for text in _REFUSED):
            return _connection_refused(error, place)
        return Failure(True, f"cannot reach {place}: {_line(error)}; check that the server runs.")
    if state == "53100":
        return Failure(
            False, f"the disk of {place} is full; free some space and repeat ({_line(error)})."
        )
    if state in ("25006", "42501"):
        return Failure(
            False,
            f"{place} is read-only, or this user may not write to it; check the user's rights"
            f" ({_line(error)}).",
        )
    if state.startswith(("28", "3D")):
        return _connection_refused(error, place)
    return Failure(
        state.startswith(_TRANSIENT_STATES), f"{place} failed: {_line(error)} (SQLSTATE {state})."
    )


def _connection_refused(error: BaseException, place: str) -> Failure:
    return Failure(
        False, f"{place} refused the connection: {_line(error)}; check user and database."
    )


def _line(error: BaseException) -> str:
    """The first line of an error's message, without its full stop."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
