"""A whole setting as a person can dial it, with the rules of its space still held.

Each continuous number has the digits of `to_dial`. Where rounding would break a rule, as it may in
a mixture whose parts sum to one, the parameters of the rules are rounded up or down together, with
as many decimals as the coarsest of them has; the nearest such setting that holds is taken. If none
does, the setting keeps all its digits.
"""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from ceibo.decide.dimensions import Dimension, Float
from ceibo.decide.dimensions.dial import to_dial
from ceibo.decide.rules import first_broken
from ceibo.decide.space import Params, Space

_MOST_TOGETHER: Final = 12  # parameters that are rounded up or down in all combinations


def dial_setting(space: Space, params: Mapping[str, Any], keep: Collection[str] = ()) -> Params:
    """The nearest setting that can be dialled and holds the rules; `keep` names what stays."""
    exact = dict(params)
    names = [
        name
        for name in exact
        if name not in keep and _is_dialled(space.dimensions[name], exact[name])
    ]
    simple = {**exact, **{name: _dialled(space.dimensions[name], exact[name]) for name in names}}
    if first_broken(space.rules, simple) is None:
        return simple
    ruled = {name for rule in space.rules for name in rule.names}
    together = [name for name in names if name in ruled]
    if 0 < len(together) <= _MOST_TOGETHER:
        for values in _ways(space, exact, together):
            tried = {**simple, **dict(zip(together, values, strict=True))}
            if first_broken(space.rules, tried) is None:
                return tried
    return exact


def _is_dialled(dimension: Dimension, value: object) -> bool:
    """Whether a value has digits that nobody would set."""
    continuous = isinstance(dimension, Float) and dimension.step is None
    return continuous and isinstance(value, float)


def _dialled(dimension: Dimension, value: float) -> float:
    return float(to_dial(dimension, value))


def _ways(space: Space, exact: Params, names: Sequence[str]) -> list[tuple[float, ...]]:
    """Roundings of parameters up or down, with the nearest to the setting first."""
    places = min(_places(to_dial(space.dimensions[name], exact[name])) for name in names)
    unit = 10.0**-places
    choices = []
    for name in names:
        dimension, value = space.dimensions[name], exact[name]
        assert isinstance(dimension, Float)
        ends = {round(math.floor(value / unit) * unit, places) + 0.0}
        ends.add(round(math.ceil(value / unit) * unit, places) + 0.0)
        inside = sorted(each for each in ends if dimension.low <= each <= dimension.high)
        choices.append(inside or [value])

    def distance(values: tuple[float, ...]) -> float:
        pairs = zip(names, values, strict=True)
        return math.fsum(((value - exact[name]) / unit) ** 2 for name, value in pairs)

    return sorted(itertools.product(*choices), key=distance)


def _places(text: str) -> int:
    """The decimal places of a number as it is written; many where it has an exponent."""
    mantissa, exponent, _ = text.partition("e")
    return 15 if exponent else len(mantissa.partition(".")[2])
