"""Forks: no SQLite file is open, and no thread is inside SQLite, while the process forks.

A child that inherits an open file would believe that it holds the parent's locks, and a child of a
process whose other thread was inside SQLite could wait for ever for a lock of that thread.
"""

import os
import threading
import time
import weakref
from typing import Protocol


class Resting(Protocol):
    """What is put to rest before a fork."""

    def rest(self, seconds: float) -> bool:
        """Take every thread's turn and close the files; False if that took longer."""

    def resume(self) -> None:
        """Let threads go on."""

    def renew(self) -> None:
        """Make ready for use in a child, where no other thread exists."""


LONGEST_REST = 150.0
"""Seconds after which a fork goes on with files open: longer than any transaction may take.

Only threads that fork inside transactions, and so wait for one another, come to that.
"""
_FIRST_WAIT = 0.05
_LONGEST_WAIT = 5.0

_known: "weakref.WeakSet[Resting]" = weakref.WeakSet()
# Held from before a fork until after it: forks of several threads go one after the other. The same
# thread may fork within a fork.
_forking = threading.RLock()


class _Mine(threading.local):
    """The forks under way in this thread: what rests for each, None if nothing does."""

    def __init__(self) -> None:
        self.forks: list[list[Resting] | None] = []


_mine = _Mine()


def register(database: Resting) -> None:
    """Put a database to rest before each fork from now on; waits while a fork is under way."""
    with _forking:
        _known.add(database)


def registered() -> list[Resting]:
    """The databases in use."""
    with _forking:
        return list(_known)


def _before() -> None:
    _mine.forks.append(None)
    wait = _FIRST_WAIT
    deadline = time.monotonic() + LONGEST_REST
    resting = _rest_all(wait)
    while resting is None and time.monotonic() < deadline:
        # A thread inside a transaction may want to fork too: it goes first.
        time.sleep(0.001)
        wait = min(2 * wait, _LONGEST_WAIT)
        resting = _rest_all(wait)
    _mine.forks[-1] = resting


def _rest_all(wait: float) -> list[Resting] | None:
    """Every database put to rest, or None, with nothing held, if one stayed in use."""
    _forking.acquire()
    resting: list[Resting] = []
    complete = False
    try:
        for database in list(_known):
            if not database.rest(wait):
                return None
            resting.append(database)
        complete = True
        return resting
    finally:
        if not complete:
            for database in resting:
                database.resume()
            _forking.release()


def _after_in_parent() -> None:
    resting = _mine.forks.pop()
    if resting is not None:
        for database in resting:
            database.resume()
        _forking.release()


def _after_in_child() -> None:
    global _forking
    resting = _mine.forks.pop() or []
    _mine.forks = [None] * len(_mine.forks)
    _forking = threading.RLock()
    for database in resting:
        database.resume()
    for database in list(_known):
        if database not in resting:
            database.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
