"""A thread that keeps a worker's leases alive while its evaluations run."""

import threading
from types import TracebackType
from typing import Self

from ceibo.errors import StorageError
from ceibo.study.store.records import Lease
from ceibo.study.store.store import Store


class Heartbeat:
    """Renews a worker's leases three times per lease, as a context manager around its work.

    A database that does not answer is tried again at the next beat; the evaluation is never
    disturbed, as a result that comes after its lease has lapsed is kept as well. `held` is what the
    last beat confirmed.
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=self._lease.seconds)

    def _run(self) -> None:
        while not self._stop.wait(self._lease.seconds / 3):
            try:
                self.held = self._store.heartbeat(self._study_id, self._lease)
                self.last_error = None
            except StorageError as error:
                self.last_error = error
