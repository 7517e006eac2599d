"""The exceptions ceibo raises on purpose.

Each message says what was expected, what came and what to try.
"""


class CeiboError(Exception):
    """Base of every error that ceibo raises on purpose."""


class InputError(CeiboError, ValueError):
    """An argument has the wrong shape, range or name."""


class NotPositiveDefiniteError(CeiboError):
    """A covariance matrix could not be factorized even with the largest jitter."""


class NotFoundError(InputError):
    """No study or trial of that name or number."""


class ConflictError(InputError):
    """Something different is already recorded under that name or key; what is recorded stays."""


class NumberTakenError(CeiboError):
    """Another process took the trial number a suggestion was computed for; compute it again."""


class StorageError(CeiboError):
    """The database cannot be used; what was stored before is still there."""


class NewerSchemaError(StorageError):
    """The database was written by a newer version of ceibo."""


class NotStoredError(StorageError):
    """A measurement could not be stored; it is kept here, so that it can be told again."""

    def __init__(self, message: str, number: int, measurement: object, key: str) -> None:
        super().__init__(message, number, measurement, key)
        self.number, self.measurement, self.key = number, measurement, key

    def __str__(self) -> str:
        return str(self.args[0])


class StorageWarning(UserWarning):
    """The database works, but not as safely as it should."""
