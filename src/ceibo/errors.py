"""The exceptions that ceibo raises on purpose.

Each message says what was expected, what came and what to try.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final


class CeiboError(Exception):
    """Base of every error that ceibo raises on purpose."""


def show_value(value: object, width: int = 2000) -> str:
    """A value as an error shows it: as Python writes it, cut to a width.

    Python refuses to write integers of thousands of digits, and what is nested thousands of times.
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a value of type {type(value).__name__} that is too long to show"
    return text if len(text) <= width else f"{text[:width]}…"


@final
@dataclass(frozen=True)
class Given:
    """A value in an error, with the name of its option if it has one: log=True in Python."""

    name: str = ""
    value: object = None

    def __str__(self) -> str:
        shown = show_value(self.value)
        return f"{self.name}={shown}" if self.name else shown


Words = str | Given | tuple[str | Given, ...]


class InputError(CeiboError, ValueError):
    """An argument has the wrong shape, range or name.

    Made from one message, or from the parts of "subject: expected …, got …; advice.". A `Given` in
    the parts is written by `render` as the reader would write it; `str` has the Python form.
    """

    def __init__(
        self, subject: str, expected: Words = "", got: Words = "", advice: Words = ""
    ) -> None:
        self.subject, self.expected, self.got, self.advice = subject, expected, got, advice
        super().__init__(self.render())

    def render(self, write: Callable[[Given], str] = str) -> str:
        """The message, with every `Given` in it as `write` writes it."""
        if not self.expected:
            return self.subject

        def join(words: Words) -> str:
            parts = words if isinstance(words, tuple) else (words,)
            return "".join(write(part) if isinstance(part, Given) else part for part in parts)

        about = f"{self.subject}: " if self.subject else ""
        advice = f"; {join(self.advice)}" if self.advice else ""
        stop = "" if advice.endswith("?") else "."
        return f"{about}expected {join(self.expected)}, got {join(self.got)}{advice}{stop}"

    def about(self, subject: str) -> "InputError":
        """The same error with another subject, such as a parameter in place of its type."""
        if not self.expected:
            return InputError(f"{subject}: {self}")
        return InputError(subject, self.expected, self.got, self.advice)


class NotPositiveDefiniteError(CeiboError):
    """A covariance matrix could not be factorized even with the largest jitter."""


class NotFoundError(InputError):
    """No study or trial of that name or number."""


class ConflictError(InputError):
    """Something different is already recorded under that name or key; what is recorded stays."""


class NumberTakenError(CeiboError):
    """Another process took the trial number a suggestion was computed for; compute it again."""


@final
class TurnTakenError(NumberTakenError):
    """Another process has the turn to record a suggestion; wait, and compute it again."""


@final
class SpaceChangedError(NumberTakenError):
    """Another process has changed the space of the study; look at it, and compute again."""


class NoMeasurementError(CeiboError):
    """The study has no measurement yet, so nothing can be said about its best."""


class StopRun(Exception):
    """Raised in an objective or a callback, ends the run in order; the reason is in `result.stop`.

    The trial of an objective that raises it is given back unmeasured.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = str(reason)


class EvaluationsFailedError(CeiboError):
    """Too many evaluations in a row gave no finite value."""


class CommandFailedError(EvaluationsFailedError):
    """A command gave no finite value; the message has its last output."""


class ObjectiveError(CeiboError):
    """The objective raised, in another process, what cannot be brought here; its cause has all."""


class ObjectiveExitError(CeiboError):
    """On an executor the objective raised SystemExit or the like, which is no result."""


class ExecutorLostError(CeiboError):
    """The executor broke; finished evaluations are stored, the others will be handed out again.

    A pool of processes is made anew first. A trial that was under way three times when an executor
    broke, the third time alone, is then a failed one, and several of those in a row end the run.
    """


class VerbError(CeiboError):
    """A verb that another distribution adds to the command line cannot be loaded."""


class StorageError(CeiboError):
    """The database cannot be used; what was stored before is still there.

    `unstored` has what a run had measured and could not store, each as a NotStoredError.
    """

    unstored: tuple["NotStoredError", ...] = ()


class DamagedError(StorageError):
    """Stored data is not as ceibo wrote it; `finding` says what is wrong in one clause."""

    def __init__(self, finding: str) -> None:
        super().__init__(
            f"{finding}; run ceibo doctor to see what else is damaged, and restore a copy (nothing"
            " was changed)."
        )
        self.finding = finding

    def __reduce__(self) -> "tuple[type[DamagedError], tuple[str]]":
        return type(self), (self.finding,)


class MissingDatabaseError(StorageError):
    """There is no database file at that path yet."""


class MovedDatabaseError(StorageError):
    """The database file was deleted, renamed or replaced while the study was open."""


class UnreachableError(StorageError):
    """The database server does not answer."""


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
