"""A PostgreSQL server for the doors that need one."""

from collections.abc import Iterator

import pytest

from soak.server import Server, running_server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running
