"""What tests of the doors share: a PostgreSQL server, and the lines in Optuna's log."""

import logging
from collections.abc import Iterator

import pytest

from soak.server import Server, running_server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """What ceibo says in Optuna's log, at Optuna's usual verbosity."""
    import optuna  # an extra, which not every environment has

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.INFO)
    handler = _Lines()
    logger = optuna.logging.get_logger("optuna.ceibo")
    logger.addHandler(handler)
    yield handler.lines
    logger.removeHandler(handler)
    optuna.logging.set_verbosity(level)
