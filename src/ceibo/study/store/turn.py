"""The turns that threads take with an SQLite database, and its rest while the process forks."""

import atexit
import threading
from typing import Self, final

import sqlalchemy as sa

from ceibo.study.store import forks
from ceibo.study.store.keeper import Keeper

_PARTING_SECONDS = 1.0


@final
class Turn:
    """Context manager: one thread at a time uses the database, and none during a fork.

    In memory threads share one connection; a file, watched by its keeper, is closed before a fork.
    """

    def __init__(self, engine: sa.Engine, keeper: Keeper | None) -> None:
        self._engine, self._keeper = engine, keeper
        self._lock = threading.RLock()
        forks.register(self)

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def close(self, copy: bool) -> None:
        """Close the file, after copying its log into it if `copy`."""
        with self:
            if self._keeper is not None:
                self._keeper.let_go(self._engine, copy)

    def rest(self, seconds: float) -> bool:
        """Wait until no thread uses the database, and close its file, until `resume`."""
        if not self._lock.acquire(timeout=seconds):
            return False
        self.close(copy=False)
        return True

    def resume(self) -> None:
        """Let threads go on after `rest`."""
        self._lock.release()

    def renew(self) -> None:
        """Make ready for use in a child process, where no other thread exists."""
        self._lock = threading.RLock()

    def leave(self) -> None:
        """Complete and close the file at the program's end, unless a thread goes on using it."""
        if self._lock.acquire(timeout=_PARTING_SECONDS):
            self.close(copy=True)
            self._lock.release()


@atexit.register
def _leave_all() -> None:
    for turn in forks.registered():
        if isinstance(turn, Turn):
            turn.leave()
