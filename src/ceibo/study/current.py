"""The trial that is being evaluated, for the objective that evaluates it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, final

from ceibo.decide.space import Params
from ceibo.errors import NotFoundError
from ceibo.study.attributes import Attributes


@final
@dataclass(frozen=True)
class CurrentTrial:
    """The trial that an objective evaluates: its number, its params, and the name of its study.

    `attempt` counts how often it was handed out, `repeats` is how many values to take. What is put
    into `attributes` is stored with the result, also with a failure: numbers, texts, None, and
    lists and dicts of them.
    """

    number: int
    params: Params
    attempt: int
    study: str
    repeats: int = 1
    attributes: Attributes = field(default_factory=Attributes)

    def set_attribute(self, name: str, value: Any) -> None:
        """The same as `attributes[name] = value`."""
        self.attributes[name] = value


_CURRENT: ContextVar[CurrentTrial] = ContextVar("ceibo_current_trial")


def current_trial() -> CurrentTrial:
    """The trial that is being evaluated, inside an objective that ceibo calls.

    It is known in other processes and on executors too. A thread that the objective starts by
    itself knows it if it is run in a copy of the context (`contextvars.copy_context().run`).

    Example:
        >>> import ceibo
        >>> def objective(params):
        ...     trial = ceibo.current_trial()
        ...     trial.attributes["folder"] = f"run-{trial.number}"
        ...     return (params["x"] - 0.3) ** 2
        >>> result = ceibo.minimize(objective, {"x": ceibo.Float(0, 1)}, n_trials=3)
        >>> result.study.trials[2].attributes
        {'folder': 'run-2'}
    """
    found = _CURRENT.get(None)
    if found is None:
        raise NotFoundError(
            "there is no current trial here: it is known inside an objective while minimize,"
            " optimize or study.optimize evaluates it. In a thread that the objective started, run"
            " the thread's function by contextvars.copy_context().run."
        )
    return found


@contextmanager
def being(trial: CurrentTrial) -> Iterator[None]:
    """Makes a trial the current one."""
    token = _CURRENT.set(trial)
    try:
        yield
    finally:
        _CURRENT.reset(token)
