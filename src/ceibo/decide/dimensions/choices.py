"""Values that people list: plain ones, or tuples of them; what makes two of them the same."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ceibo.decide.dimensions import ranges
from ceibo.decide.dimensions.base import Value, to_plain
from ceibo.errors import Given, InputError, show_value

_KINDS: Final = (str, int, float, bool, type(None))
_DEEPEST: Final = 4  # tuples within tuples
_MOST_NAMED: Final = 50  # values that an error names

Identity = tuple[type, object]  # what tells values apart


def listed_values(values: object, kind: str, option: str, example: str) -> tuple[Value, ...]:
    """The values of a list that was given for an option of a dimension of that kind."""
    if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes | Mapping):
        return tuple(to_choice(value, kind, option) for value in values)
    raise InputError(kind, f"a list of {option}, as in {example}", Given(option, values))


def to_choice(value: object, kind: str, option: str, depth: int = 0) -> Value:
    """A value that can be listed and stored; lists and tuples of such values become tuples."""
    plain = to_plain(value)
    if isinstance(plain, list | tuple):
        if depth == _DEEPEST:
            wanted = f"tuples nested at most {_DEEPEST} deep"
            raise InputError(kind, wanted, Given(value=value), "write it as a string")
        return tuple(to_choice(each, kind, option, depth + 1) for each in plain)
    if type(plain) not in _KINDS:
        wanted = f"{option} of type str, int, float, bool or None, or tuples of them"
        raise InputError(kind, wanted, Given(value=value))
    if type(plain) is int:
        return ranges.whole(plain, kind, "")
    if isinstance(plain, float) and not math.isfinite(plain):
        got = Given(value=plain)
        raise InputError(kind, "finite numbers", got, "write it as a string")
    return plain  # type: ignore[return-value]  # the type was checked above


def one_of(values: Sequence[Value]) -> str:
    """What a value must be; of very many only the first are named."""
    first = ", ".join(map(show_value, values[:_MOST_NAMED]))
    rest = len(values) - _MOST_NAMED
    return f"one of [{first}]" if rest <= 0 else f"one of [{first}, …] ({rest} more)"


def identity(value: object) -> Identity:
    """What makes two values the same: the type, then the value; 0.0 and -0.0 are two."""
    plain = to_plain(value)
    kind = type(plain)
    if kind is float:
        return kind, repr(plain)
    if isinstance(plain, list | tuple):
        return tuple, tuple(map(identity, plain))
    return (kind, plain) if kind in _KINDS else (object, None)  # the latter is no value's
