"""The table of dimension types: their names, and what is written down under them.

Another package adds a type with `register`. If it also names the class as an entry point of the
group `ceibo.dimensions`, the type is found wherever that package is installed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING
from inspect import isabstract
from typing import Final, TypeVar

from ceibo.checks import nearest
from ceibo.decide.dimensions.base import Dimension, own_fields
from ceibo.decide.dimensions.categorical import Categorical
from ceibo.decide.dimensions.float_ import Float
from ceibo.decide.dimensions.int_ import Int
from ceibo.decide.dimensions.ordinal import Ordinal
from ceibo.errors import Given, InputError
from ceibo.registry import Registry

TYPES: Final = Registry[type[Dimension]]("dimension type", "ceibo.dimensions")
_Type = TypeVar("_Type", bound=type[Dimension])


def register(dimension: _Type) -> _Type:
    """Adds a dimension type under its `type_name`, and returns it; also a class decorator."""
    if isabstract(dimension) or "__dataclass_fields__" not in vars(dimension):
        raise InputError(
            f"{dimension.__qualname__}: expected a dataclass with every method of Dimension."
        )
    TYPES.add(dimension.type_name, dimension)
    return dimension


for _type in (Float, Int, Categorical, Ordinal):
    register(_type)


def check_registered(dimension: Dimension, name: str) -> None:
    """Raises an error unless the dimension of parameter `name` can be read back from its JSON."""
    if type(dimension) not in TYPES.values():
        raise InputError(
            f"parameter {name!r}: expected a registered type of dimension, got {dimension!r};"
            " call ceibo.decide.dimensions.register with its class."
        )


def dimension_from_json(data: object, name: str) -> Dimension:
    """The dimension of parameter `name` that `to_json` or a study file wrote down."""
    subject = f"parameter {name!r}"
    kind = data.get("type") if isinstance(data, Mapping) else None
    found = TYPES.get(kind) if isinstance(kind, str) else None
    if not isinstance(data, Mapping) or found is None:
        known = TYPES.load_installed()
        *most, last = (f'"{each}"' for each in known)
        wanted = f"a table with type = {', '.join(most)} or {last}"
        raise InputError(subject, wanted, Given(value=data), _did_you_mean(kind, known))
    keys = [each.name for each in own_fields(found)]
    given = [key for key in data if key != "type"]
    if unknown := [key for key in given if key not in (*keys, "when")]:
        wanted = f"a table of type {kind!r} with the keys {', '.join(keys)}"
        raise InputError(
            subject, wanted, repr(unknown[0]), _did_you_mean(unknown[0], (*keys, "when"))
        )
    needed = [each.name for each in own_fields(found) if each.default is MISSING]
    if missing := [key for key in needed if key not in given]:
        wanted = f"{' and '.join(missing)} in a table of type {kind!r}"
        raise InputError(subject, wanted, Given(value=dict(data)))
    make: Callable[..., Dimension] = found
    try:
        return make(**{key: data[key] for key in given})
    except InputError as error:
        raise error.about(subject) from None


def _did_you_mean(word: object, known: Iterable[str]) -> str:
    close = nearest(word, known) if isinstance(word, str) else None
    return "" if close is None else f"did you mean {close!r}?"
