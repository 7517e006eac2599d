"""The exceptions that ceibo raises on purpose.

Each message says what was expected, what came and what to try.
"""


class CeiboError(Exception):
    """Base of every error that ceibo raises on purpose."""


class InputError(CeiboError, ValueError):
    """An argument has the wrong shape, range or name."""


class NotFoundError(InputError):
    """No study or trial of that name or number."""


class ConflictError(InputError):
    """Something different is already recorded under that name or key; what is recorded stays."""


class NumberTakenError(CeiboError):
    """Another process took the trial number a suggestion was computed for; compute it again."""


class NoMeasurementError(CeiboError):
    """The study has no measurement yet, so nothing can be said about its best."""


class EvaluationsFailedError(CeiboError):
    """Too many evaluations in a row gave no finite value."""


class CommandFailedError(EvaluationsFailedError):
    """A command gave no finite value; the message has its last output."""


class ObjectiveExitError(CeiboError):
    """On an executor the objective raised SystemExit or the like, which is no result."""


class ExecutorLostError(CeiboError):
    """The executor broke; finished evaluations are stored, the others will be handed out again.

    A trial that was under way three times when an executor broke, the third time alone, is then a
    failed one.
    """


class VerbError(CeiboError):
    """A verb that another distribution adds to the command line cannot be loaded."""


class StorageError(CeiboError):
    """The database cannot be used; what was stored before is still there."""


class MissingDatabaseError(StorageError):
    """There is no database file at that path yet."""


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
