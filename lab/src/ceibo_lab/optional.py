"""Packages that only some experiments need."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, final

from ceibo.errors import InputError

LAB: Final = "path/to/the/clone/lab"
"""What pip installs for ceibo-lab itself, which no index has."""


@final
class MissingPackageError(InputError, ImportError):
    """Says something about the machine, nothing about what was to be run: it leaves no record."""


@contextmanager
def optional(what: str, install: str) -> Iterator[None]:
    """Says how to install what is missing, where something inside cannot be imported."""
    try:
        yield
    except MissingPackageError:
        raise
    except ImportError as error:
        raise MissingPackageError(f"{what} needs {error.name}: pip install '{install}'.") from error
