"""A thread that keeps a worker's leases alive while its evaluations run."""

import threading
from typing import Self, final

from ceibo.errors import StorageError
from ceibo.study.store.records import Lease
from ceibo.study.store.store import Store


@final
class Heartbeat:
    """Context manager around a worker's evaluations that renews its leases thrice per lease.

    A database that does not answer is asked again at the next beat, and the evaluation goes on.
    `held` are the numbers of the trials that the worker held at the last beat.
    """

    def __init__(self, store: Store, study_id: int, lease: Lease) -> None:
        self.held: frozenset[int] = frozenset()
        self.last_error: StorageError | None = None
        self._store, self._study_id, self._lease = store, study_id, lease
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ceibo-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=self._lease.seconds)

    def _run(self) -> None:
        while not self._stop.wait(self._lease.seconds / 3):
            try:
                self.held = self._store.heartbeat(self._study_id, self._lease)
                self.last_error = None
            except StorageError as error:
                self.last_error = error
