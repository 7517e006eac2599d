"""What keeps a worker's leases alive while its evaluations run: a thread, and one to stand by."""

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, final

from ceibo.errors import StorageError
from ceibo.study.store import standby
from ceibo.study.store.records import Lease
from ceibo.study.store.store import Store


@final
class Heartbeat:
    """Context manager around a worker's evaluations that renews its leases thrice per lease.

    A database that does not answer is asked again at the next beat, and the evaluation goes on.
    `held` are the numbers of the trials that the worker held at the last beat. With `standing_by`
    another process renews them when the thread cannot: for evaluations in this process, which may
    keep every thread from running.
    """

    def __init__(
        self, store: Store, study_id: int, lease: Lease, standing_by: bool = False
    ) -> None:
        self.held: frozenset[int] = frozenset()
        self.last_error: StorageError | None = None
        self._store, self._study_id, self._lease = store, study_id, lease
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ceibo-heartbeat", daemon=True)
        self._standby = Standby(store, study_id, lease) if standing_by else None

    def __enter__(self) -> Self:
        if self._standby is not None:
            self._standby.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=self._lease.seconds)
        if self._standby is not None:
            self._standby.end()

    def _run(self) -> None:
        while not self._stop.wait(self._lease.seconds / 3):
            try:
                self.held = self._store.heartbeat(self._study_id, self._lease)
                self.last_error = None
            except StorageError as error:
                self.last_error = error
            else:
                if self._standby is not None:
                    self._standby.hear()


@final
class Standby:
    """The process that renews a worker's leases when it has not heard of it for half a lease.

    Without it, where processes or their pipes are different, there is the thread alone.
    """

    def __init__(self, store: Store, study_id: int, lease: Lease) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._job: dict[str, Any] | None = store.renewal(study_id, lease)
        if self._job is not None:
            self._job["silence"] = lease.seconds / 2

    def start(self) -> None:
        """Starts the process."""
        if self._job is None or os.name != "posix" or not sys.executable:
            return
        job = self._job | {"parent": os.getpid(), "path": sys.path}
        with suppress(OSError):
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(Path(standby.__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._say(json.dumps(job).encode() + b"\n")

    def hear(self) -> None:
        """Tells it that the worker's own heartbeat is well."""
        self._say(b".")

    def end(self) -> None:
        """Ends the process, and returns when it is gone."""
        process = self._process
        if process is None or process.stdin is None:
            return
        self._say(b"q")  # a forked child may hold the pipe open
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _say(self, what: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                os.write(self._process.stdin.fileno(), what)
