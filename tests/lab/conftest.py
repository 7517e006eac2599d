"""Small experiments, run once for several tests."""

from pathlib import Path

import pytest

from ceibo_lab.records import Read, read
from ceibo_lab.runner import Options, sweep
from tests.lab.small import small_cells


@pytest.fixture(scope="session")
def serial(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """The records of the small cells, made one after the other in this process."""
    path = tmp_path_factory.mktemp("serial") / "small.jsonl"
    sweep(small_cells(), path, Options("serial"))
    return read(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "records"
