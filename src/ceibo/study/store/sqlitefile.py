"""An SQLite file under an open study: whether the file, its log and its index are still there.

SQLite goes on with files that were deleted, renamed or replaced, and nobody else will ever see what
it writes there. Two small files belong to an open database: the log (`-wal`), which holds the
newest changes, and its index (`-shm`), through which processes agree on the log.
"""

import enum
import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, final
from urllib.parse import quote

from ceibo.errors import MovedDatabaseError

_Identity = tuple[int, int]
_FILES = "ceibo_files"
_FROZEN = "ceibo_frozen"


@final
class State(enum.Enum):
    """How the files of a connection are compared with those that lie at their paths."""

    SAME = enum.auto()
    MOVED = enum.auto()  # the database was deleted, renamed or replaced
    REMOVED = enum.auto()  # its log or index was, and nobody has made another
    RENEWED = enum.auto()  # another process has made another log or index
    OUTDATED = enum.auto()  # the file was opened as one that nobody writes, and is written now


@final
class SqliteFile:
    """The file of a database, identified when it is first opened; `shown` names it in messages."""

    def __init__(self, shown: Path) -> None:
        self.shown = shown
        # The log and the index lie beside the file that a link leads to.
        self.path = Path(os.path.realpath(shown))
        self.log, self.index = (Path(f"{self.path}-{end}") for end in ("wal", "shm"))
        self._identity: _Identity | None = None
        self._opened = False

    def address(self) -> str:
        """The file as a URI for SQLite, which creates it only when it is opened first."""
        mode = "rw" if self._opened else "rwc"
        if self.is_frozen:
            mode = "ro&immutable=1"
        return f"file:{quote(os.fsencode(self.path))}?mode={mode}"

    @property
    def is_frozen(self) -> bool:
        """Whether it lies where nothing can be written, and all of it is in the one file.

        SQLite cannot make the log and the index there, and reads it only if told to do without.
        """
        if not self.path.is_file() or os.access(self.path.parent, os.W_OK):
            return False
        return not any(map(_size, (self.log, Path(f"{self.path}-journal"))))

    def identify(self, info: MutableMapping[str, Any]) -> None:
        """Remember which file a new connection has opened; refuse another one than before."""
        found = _identify(self.path)
        self._opened = True
        if self._identity is None:
            self._identity = found
        if found is None or found != self._identity:
            raise self.moved()
        if self.is_frozen:
            info[_FROZEN] = self._version()

    def forget(self) -> None:
        """Accept another file at the path from now on."""
        self._identity = None

    @property
    def is_moved(self) -> bool:
        """Whether the path no longer leads to the file that was opened."""
        return self._identity is not None and _identify(self.path) != self._identity

    def compare(self, info: MutableMapping[str, Any]) -> State:
        """Whether the files of a connection, which has begun a transaction before, are in place.

        `info` lives as long as the connection, and remembers the log and the index it has open.
        """
        if self.is_moved:
            return State.MOVED
        if _FROZEN in info:
            same = self.is_frozen and self._version() == info[_FROZEN]
            return State.SAME if same else State.OUTDATED
        if _FILES not in info:
            return State.SAME
        kept = info[_FILES]
        log, index = _identify(self.log), _identify(self.index)
        if (log, index) == kept:
            return State.SAME
        gone = log in (None, kept[0]) and index in (None, kept[1])
        return State.REMOVED if gone else State.RENEWED

    def note(self, info: MutableMapping[str, Any]) -> None:
        """Remember the log and the index of a connection that is inside its first transaction."""
        if _FILES not in info:
            log, index = _identify(self.log), _identify(self.index)
            if log is not None and index is not None:
                info[_FILES] = (log, index)

    def _version(self) -> tuple[int, int]:
        found = os.stat(self.path)
        return found.st_size, found.st_mtime_ns

    def moved(self) -> MovedDatabaseError:
        """The error that says what became of the file."""
        what = "replaced by another file" if self.path.exists() else "deleted or renamed"
        return MovedDatabaseError(
            f"{self.shown} no longer holds the studies that were in it: the file was {what} while"
            " they were open, so nothing more is recorded. Put it back and go on, or save what"
            " this program still has of it by study.backup(path)."
        )

    def lost_log(self) -> MovedDatabaseError:
        """The error that says that the log or its index was removed."""
        return MovedDatabaseError(
            f"{self.log.name} or {self.index.name} was removed while {self.shown} was open. They"
            " belong to it as long as it is in use, so nothing more is recorded. End every program"
            " that uses it, then start again: what was recorded is there."
        )


def _identify(path: Path) -> _Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
