"""When a run ends, and how long the trials of a dead worker wait."""

import operator
from dataclasses import dataclass
from numbers import Real
from typing import final

from ceibo.errors import InputError


@final
@dataclass(frozen=True)
class Limits:
    """When a run ends, and how long the trials of a dead worker wait."""

    n_trials: int | None = None
    cost: float | None = None
    timeout: float | None = None
    max_failures: int | None = 3
    lease: float = 60.0

    def __post_init__(self) -> None:
        for name in ("cost", "timeout", "lease"):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            if (value is not None or name == "lease") and not (number and 0 < value < float("inf")):
                raise InputError(f"{name} must be a finite number above zero, got {value!r}.")
        for name in ("n_trials", "max_failures"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else count_of(value, name))


def count_of(value: object, name: str) -> int:
    """A whole number above zero, numpy's among them."""
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"{name} must be a whole number above zero, got {value!r}.")
    return number
