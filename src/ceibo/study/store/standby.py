"""Renews the leases of a worker whose own heartbeat has fallen silent although it lives.

It is a process of its own and uses the standard library (and psycopg) alone: an objective that
holds Python's global lock stops every thread of the worker, its heartbeat too. The worker writes
one line of JSON to standard input, and a byte after each of its own beats. When standard input ends
or has a "q", or the worker is no longer the parent, this process ends. It renews nothing while the
worker is stopped (SIGSTOP, Ctrl-Z), whose trials others may take.
"""

import importlib
import json
import os
import select
import sqlite3
import sys
import time
from typing import Any
from urllib.parse import quote

LOOK = 1.0  # seconds at most between looks at the parent
CONNECTING = 10  # seconds to wait for a server


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped; only Linux says so."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False


def renew(job: dict[str, Any]) -> None:
    """Executes the job's statement in a connection of its own."""
    if job["file"] is not None:
        # a file that was deleted must not come back as an empty one
        address = f"file:{quote(job['file'])}?mode=rw"
        connection: Any = sqlite3.connect(address, timeout=job["silence"], uri=True)
    else:
        sys.path[:] = job["path"]
        psycopg = importlib.import_module("psycopg")
        connection = psycopg.connect(**{"connect_timeout": CONNECTING} | job["server"])
    try:
        connection.execute(job["statement"])
        connection.commit()
    finally:
        connection.close()


def watch(job: dict[str, Any]) -> None:
    """Renews whenever the worker has been silent for too long, until it is gone."""
    parent, silence = job["parent"], job["silence"]
    heard = time.monotonic()
    while os.getppid() == parent:
        if select.select([0], [], [], min(LOOK, silence / 4))[0]:
            said = os.read(0, 4096)
            if not said or b"q" in said:
                return
            heard = time.monotonic()
        elif time.monotonic() - heard >= silence and not is_stopped(parent):
            try:
                renew(job)
            except Exception:  # whatever the driver raises: the next time may be better
                continue
            heard = time.monotonic()


def main() -> None:
    line = b""
    while not line.endswith(b"\n"):
        said = os.read(0, 1 << 16)
        if not said:
            return
        line += said
    watch(json.loads(line))


if __name__ == "__main__":
    main()
