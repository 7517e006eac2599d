"""One dimension of a search space, and its coordinate in [0, 1].

`Float`      continuous: the linear or logarithmic position in the box; the ends are exactly 0 and
1. `Float(step)`, `Int`, `Categorical`
             n levels: level k owns the cell [k/n, (k+1)/n) and stands at its centre (k + 1/2)/n.
             Neighbours are equally far apart, a design spread evenly over the cube gives every
             level the same share (with levels on the ends, the first and the last would get half),
             and decoding is one floor().
`Int(log)`   the logarithmic position of the value in a box widened by half a step,
             [low - 1/2, high + 1/2], so that here too the cell of a value is what rounds to it.

Round trips value -> unit -> value are exact for every level. A continuous value comes back exactly
at the ends, always inside [low, high], and otherwise within 4 eps·max(|low|, |high|) (linear) or
within the relative error 4 eps·(1 + max(|ln low|, |ln high|)) (log), where eps = 2^-52; subnormals
add the smallest subnormal.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from functools import cached_property
from typing import Any

import numpy as np

from ceibo.errors import InputError

Choice = str | int | float | bool | None
Value = Choice

MAX_LEVELS = 2**40
"""Beyond this many levels a double in [0, 1] no longer tells neighbours apart with room to spare.
"""
MAX_LISTED_LEVELS = 10_000
"""Longest list of levels that is written out; a longer dimension is searched as continuous and
rounded.
"""


class AnyDimension(ABC):
    """What Float, Int and Categorical are, so that a dict of different ones has a type for type
    checkers.
    """

    @abstractmethod
    def check(self, value: object, name: str) -> Value:
        """The value if it belongs to the dimension, or an error that names the parameter."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, as in a study file."""


@dataclass(frozen=True)
class Float(AnyDimension):
    """A real number in [low, high]; `log` for scales spanning decades, `step` for a grid low, low +
    step, …

    Grid values are decimal: `Float(0, 1, step=0.1)` holds 0.3, not 0.1 + 0.1 + 0.1.
    """

    low: float
    high: float
    log: bool = field(default=False, kw_only=True)
    step: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        low, high = _finite(self.low, "Float: low"), _finite(self.high, "Float: high")
        _set(self, low=low, high=high, log=_flag(self.log, "Float"))
        _check_order("Float", low, high)
        if self.log and low <= 0:
            raise InputError(
                f"Float: expected low > 0 with log=True, got low={low!r}; use a positive low or"
                " log=False"
            )
        if self.log and not math.log(low) < math.log(high):
            raise InputError(
                f"Float: low={low!r} and high={high!r} have the same logarithm; use log=False"
            )
        if self.step is not None:
            self._check_step(_finite(self.step, "Float: step"))

    def _check_step(self, step: float) -> None:
        _set(self, step=step)
        if self.log:
            raise InputError(
                "Float: step and log=True exclude each other; drop one, or use Int(…, log=True)"
            )
        if step <= 0:
            raise InputError(f"Float: expected step > 0, got {step!r}")
        if (self.high / 2 - self.low / 2) / step > MAX_LEVELS / 2 or step < 4 * math.ulp(
            _magnitude(self)
        ):
            raise InputError(
                f"Float: step={step!r} is too fine for [{self.low!r}, {self.high!r}]; leave"
                " step out"
            )
        if self.levels == 1:
            raise InputError(
                f"Float: step={step!r} is larger than [{self.low!r}, {self.high!r}], which leaves"
                " one value; use a smaller step or leave the dimension out"
            )

    @cached_property
    def levels(self) -> int | None:
        """The number of values, or None if continuous."""
        if self.step is None:
            return None
        with localcontext() as context:
            context.prec = 60
            return int((_decimal(self.high) - _decimal(self.low)) // _decimal(self.step)) + 1

    def check(self, value: object, name: str) -> float:
        """The value as a float inside the box (on the grid), or an error that names the
        parameter.
        """
        number = _number(value, name, "a number")
        if isinstance(number, int):
            try:
                number = float(number)
            except OverflowError:
                number = math.inf if number > 0 else -math.inf
        slack = 0.0 if self.step is None else 4 * math.ulp(_magnitude(self))  # 0.1 + 0.2 means 0.3
        if not self.low - slack <= number <= self.high + slack:
            raise InputError(
                f"parameter {name!r}: expected a value in [{self.low!r}, {self.high!r}], got"
                f" {value!r}"
            )
        return number if self.step is None else self._snap(number, name)

    def _snap(self, number: float, name: str) -> float:
        snapped = self._level(self._index(number))
        if abs(snapped - number) > 4 * math.ulp(_magnitude(self)):
            raise InputError(
                f"parameter {name!r}: expected {self.low!r} plus a multiple of {self.step!r}, "
                f"got {number!r}; the nearest is {snapped!r}"
            )
        return snapped

    def _index(self, number: float) -> int:
        levels = self.levels
        if self.step is None or levels is None:
            raise TypeError("a continuous Float has no levels")
        with localcontext() as context:
            context.prec = 60
            index = round((_decimal(number) - _decimal(self.low)) / _decimal(self.step))
        return min(max(index, 0), levels - 1)

    def _level(self, index: int) -> float:
        if self.step is None:
            raise TypeError("a continuous Float has no levels")
        with localcontext() as context:
            context.prec = 60
            return float(_decimal(self.low) + index * _decimal(self.step))

    def to_unit(self, value: float) -> float:
        """The coordinate in [0, 1] of a checked value."""
        levels = self.levels
        if levels is not None:
            return (self._index(value) + 0.5) / levels
        if value in (self.low, self.high):
            return 0.0 if value == self.low else 1.0
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            u = (math.log(value) - low) / (high - low)
        else:
            low, high, exponent = _scaled_box(self)
            u = (math.ldexp(value, -exponent) - low) / (high - low)
        return min(max(u, 0.0), 1.0)

    def from_unit(self, u: float) -> float:
        """The value at coordinate u; coordinates beyond [0, 1] mean the ends."""
        levels = self.levels
        if levels is not None:
            return self._level(_cell(u, levels))
        if u <= 0 or u >= 1:
            return self.low if u <= 0 else self.high
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            position = low + u * (high - low)
            value = self.high if position >= high else math.exp(position)
        else:
            low, high, exponent = _scaled_box(self)
            position = low + u * (high - low) if u <= 0.5 else high - (1 - u) * (high - low)
            value = math.ldexp(min(max(position, low), high), exponent)
        return min(max(value, self.low), self.high)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, as in a study file."""
        log = {"log": True} if self.log else {}
        step = {} if self.step is None else {"step": self.step}
        return {"type": "float", "low": self.low, "high": self.high, **log, **step}


@dataclass(frozen=True)
class Int(AnyDimension):
    """A whole number from low to high, both included; `log` where ratios matter (batch sizes)."""

    low: int
    high: int
    log: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        low, high = _whole(self.low, "Int: low"), _whole(self.high, "Int: high")
        _set(self, low=low, high=high, log=_flag(self.log, "Int"))
        _check_order("Int", low, high)
        if self.log and low < 1:
            raise InputError(
                f"Int: expected low >= 1 with log=True, got low={low}; use low=1 or log=False"
            )
        if (high if self.log else high - low) >= MAX_LEVELS:
            raise InputError(
                f"Int: [{low}, {high}] has more than 2**40 values, too many for a double in [0, 1];"
                " use Float, or optimise the exponent with Int"
            )

    @property
    def levels(self) -> int:
        """The number of values."""
        return self.high - self.low + 1

    def check(self, value: object, name: str) -> int:
        """The value as an int inside the box (3.0 counts as 3), or an error that names the
        parameter.
        """
        number = _number(value, name, "a whole number")
        if isinstance(number, float):
            if not number.is_integer():
                raise InputError(
                    f"parameter {name!r}: expected a whole number, got {value!r}; round it first"
                )
            number = int(number)
        if not self.low <= number <= self.high:
            raise InputError(
                f"parameter {name!r}: expected a whole number in [{self.low}, {self.high}], got"
                f" {value!r}"
            )
        return number

    def to_unit(self, value: int) -> float:
        """The coordinate in (0, 1) of a checked value."""
        if not self.log:
            return (value - self.low + 0.5) / self.levels
        low, high = math.log(self.low - 0.5), math.log(self.high + 0.5)
        return (math.log(value) - low) / (high - low)

    def from_unit(self, u: float) -> int:
        """The value whose cell holds u; coordinates beyond [0, 1] mean the ends."""
        if not self.log:
            return self.low + _cell(u, self.levels)
        low, high = math.log(self.low - 0.5), math.log(self.high + 0.5)
        value = round(math.exp(low + min(max(u, 0.0), 1.0) * (high - low)))
        return min(max(value, self.low), self.high)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, as in a study file."""
        return {
            "type": "int",
            "low": self.low,
            "high": self.high,
            **({"log": True} if self.log else {}),
        }


@dataclass(frozen=True)
class Categorical(AnyDimension):
    """One of a few unordered choices; 1, 1.0, True and "1" are four different ones."""

    choices: tuple[Choice, ...]

    def __init__(self, choices: Sequence[Choice]) -> None:
        if isinstance(choices, str | bytes | Mapping) or not isinstance(
            choices, Sequence | np.ndarray
        ):
            raise InputError(
                'Categorical: expected a list of choices, as in ["water", "ethanol"], got'
                f" {choices!r}"
            )
        plain = tuple(_choice(choice) for choice in choices)
        if not 2 <= len(plain) <= MAX_LISTED_LEVELS:
            raise InputError(
                f"Categorical: expected 2 to {MAX_LISTED_LEVELS} choices, got {len(plain)}; "
                "a dimension with one value can be left out of the space"
            )
        keys = [_identity(choice) for choice in plain]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                raise InputError(
                    f"Categorical: expected distinct choices, got {plain[index]!r} twice"
                )
        object.__setattr__(self, "choices", plain)

    def __eq__(self, other: object) -> bool:
        # Tuple equality would say that (1, "a") and (True, "a") are the same choices.
        if not isinstance(other, Categorical):
            return NotImplemented
        return [_identity(c) for c in self.choices] == [_identity(c) for c in other.choices]

    def __hash__(self) -> int:
        return hash(self.choices)

    @property
    def levels(self) -> int:
        """The number of choices."""
        return len(self.choices)

    def _index(self, value: object) -> int | None:
        key = _identity(_plain(value))
        return next((k for k, choice in enumerate(self.choices) if _identity(choice) == key), None)

    def check(self, value: object, name: str) -> Choice:
        """The choice that the value is, type included, or an error that names the parameter."""
        index = self._index(value)
        if index is None:
            raise InputError(
                f"parameter {name!r}: expected one of {list(self.choices)!r}, got {value!r} "
                f"({type(_plain(value)).__name__}); the type counts too"
            )
        return self.choices[index]

    def to_unit(self, value: Choice) -> float:
        """The centre of the cell of a checked choice."""
        index = self._index(value)
        if index is None:
            raise InputError(f"expected one of {list(self.choices)!r}, got {value!r}")
        return (index + 0.5) / len(self.choices)

    def from_unit(self, u: float) -> Choice:
        """The choice whose cell holds u."""
        return self.choices[_cell(u, len(self.choices))]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, as in a study file."""
        return {"type": "categorical", "choices": list(self.choices)}


Dimension = Float | Int | Categorical

_FIELDS: dict[str, tuple[set[str], set[str]]] = {  # type: (required keys, optional keys)
    "float": ({"low", "high"}, {"log", "step"}),
    "int": ({"low", "high"}, {"log"}),
    "categorical": ({"choices"}, set()),
}


def dimension_from_json(data: object, name: str) -> Dimension:
    """The dimension that `to_json` or a study file wrote down; `name` is for the error message."""
    kind = data.get("type") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(kind, str) or kind not in _FIELDS:
        raise InputError(
            f'parameter {name!r}: expected a table with type = "float", "int" or "categorical", got'
            f" {data!r}"
        )
    required, optional = _FIELDS[kind]
    keys = set(data) - {"type"}
    if missing := sorted(required - keys):
        raise InputError(
            f"parameter {name!r}: a {kind} needs {' and '.join(missing)}, got {dict(data)!r}"
        )
    if unknown := sorted(map(str, keys - required - optional)):
        known = ", ".join(sorted(required | optional))
        raise InputError(
            f"parameter {name!r}: unknown key {unknown[0]!r} of a {kind}; known are {known}"
        )
    try:
        if kind == "categorical":
            return Categorical(data["choices"])
        options = {key: data[key] for key in keys & {"log", "step"}}
        make = Float if kind == "float" else Int
        return make(data["low"], data["high"], **options)
    except InputError as error:
        raise InputError(f"parameter {name!r}: {error}") from None


def _cell(u: float, levels: int) -> int:
    """The level whose cell [k/n, (k+1)/n) holds u; exact for cell centres, as n is at most 2^40."""
    return min(max(math.floor(min(max(u, 0.0), 1.0) * levels), 0), levels - 1)


def _magnitude(dimension: Float) -> float:
    return max(abs(dimension.low), abs(dimension.high))


def _scaled_box(dimension: Float) -> tuple[float, float, int]:
    """(low, high) divided by a power of two so that high - low cannot overflow, and that power's
    exponent.
    """
    exponent = math.frexp(_magnitude(dimension))[1]
    return math.ldexp(dimension.low, -exponent), math.ldexp(dimension.high, -exponent), exponent


def _decimal(number: float) -> Decimal:
    return Decimal(repr(number))


def _set(dimension: Float | Int, **values: object) -> None:
    for key, value in values.items():
        object.__setattr__(dimension, key, value)


def _flag(value: object, kind: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{kind}: expected log=True or log=False, got {value!r}")
    return bool(value)


def _check_order(kind: str, low: float, high: float) -> None:
    if not low < high:
        advice = "leave a dimension with one value out of the space" if low == high else "swap them"
        raise InputError(
            f"{kind}: expected low < high, got low={low!r} and high={high!r}; {advice}"
        )


def _finite(value: object, what: str) -> float:
    plain = _plain(value)
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise InputError(f"{what}: expected a number, got {value!r}")
    try:
        number = float(plain) + 0.0  # turns -0.0 into 0.0, which every store can hold
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{what}: expected a finite number, got {value!r}")
    return number


def _whole(value: object, what: str) -> int:
    plain = _plain(value)
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    if isinstance(plain, bool) or not isinstance(plain, int):
        raise InputError(f"{what}: expected a whole number, got {value!r}")
    return plain


def _number(value: object, name: str, expected: str) -> int | float:
    plain = _plain(value)
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise InputError(
            f"parameter {name!r}: expected {expected}, got {value!r} ({type(value).__name__})"
        )
    return plain


def _plain(value: object) -> object:
    """numpy scalars as the Python values they hold."""
    return value.item() if isinstance(value, np.generic) else value


def _choice(value: object) -> Choice:
    plain = _plain(value)
    if plain is not None and type(plain) not in (str, int, float, bool):
        raise InputError(
            f"Categorical: expected choices of type str, int, float, bool or None, got {value!r}"
        )
    if isinstance(plain, float) and not math.isfinite(plain):
        raise InputError(
            f"Categorical: expected finite numbers, got {plain!r}; write it as a string"
        )
    return plain  # type: ignore[return-value]  # the type was checked above


def _identity(value: object) -> tuple[str, str]:
    return type(value).__name__, repr(value)
