"""Packages that only some experiments need."""

from collections.abc import Iterator
from contextlib import contextmanager

from ceibo.errors import InputError


@contextmanager
def optional(what: str, install: str) -> Iterator[None]:
    """Says how to install what is missing, where something inside cannot be imported."""
    try:
        yield
    except ImportError as error:
        raise InputError(f"{what} needs {error.name}: pip install '{install}'.") from error
