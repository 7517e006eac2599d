"""A PostgreSQL server for the doors that need one."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# the checks in soak/ are shared with these tests
sys.path.insert(0, str(Path(__file__).parents[2]))

from soak.server import Server, running_server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running
