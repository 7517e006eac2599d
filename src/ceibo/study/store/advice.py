"""Advice about the SQLite library that Python was built with."""

import sqlite3

# Fixed in these releases, and in all that follow the last one.
_FIXED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))


def sqlite_advice(version: tuple[int, int, int] | None = None) -> str | None:
    """What to know about this version of SQLite (this program's by default); None if nothing."""
    found = sqlite3.sqlite_version_info if version is None else version
    fixed = found >= _FIXED[-1] or any(found[:2] == each[:2] and found >= each for each in _FIXED)
    if fixed:
        return None
    shown = ".".join(map(str, found))
    return (
        f"SQLite {shown} has a rare defect (sqlite.org/wal.html#walresetbug): two processes that"
        " write and tidy the log at the same instant can damage the file. No case is known with"
        " ceibo. Where many processes share one file, use a Python with SQLite 3.51.3 or newer"
        " (or 3.50.7, 3.44.6), or PostgreSQL; `ceibo backup` makes copies meanwhile."
    )
