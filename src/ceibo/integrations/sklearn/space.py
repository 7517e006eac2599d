"""Search spaces as scikit-learn users write them: scipy.stats distributions and lists, or ceibo's
own dimensions.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from ceibo.decide import Categorical, Float, Int, Space
from ceibo.decide.dimensions import MAX_LISTED_LEVELS, Dimension
from ceibo.errors import InputError

_TAIL: Final = 1e-3  # probability left out at an end that a distribution never quite reaches
_HAIR: Final = 1e-5  # probability within which the density at an end is looked at


@final
@dataclass(frozen=True)
class Parameter:
    """One parameter of the estimator: the dimension searched, and what its value means to the
    estimator.
    """

    dimension: Dimension
    decode: Callable[[Any], Any]


@final
@dataclass(frozen=True)
class Parameters:
    """The parameters searched, and those of a single value."""

    searched: dict[str, Parameter]
    fixed: dict[str, Any]
    space: Space

    @staticmethod
    def of(distributions: Mapping[str, Any]) -> "Parameters":
        if not isinstance(distributions, Mapping) or not distributions:
            raise InputError(
                "param_distributions must be one dict of parameter name -> distribution or list,"
                f" got {type(distributions).__name__}; run one search per dict of a list."
            )
        searched, fixed = {}, {}
        for name, given in distributions.items():
            if _is_list(given) and len(given) == 1:
                fixed[name] = given[0]
            else:
                searched[name] = _parameter(given, name)
        if not searched:
            raise InputError(
                "param_distributions must have at least one parameter with more than one value."
            )
        return Parameters(
            searched, fixed, Space({name: each.dimension for name, each in searched.items()})
        )

    def decode(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """What is passed to the estimator's set_params."""
        return self.fixed | {
            name: each.decode(params[name]) for name, each in self.searched.items()
        }


def _parameter(given: Any, name: str) -> Parameter:
    if isinstance(given, Dimension):
        # dimensions remember things, and searches must not touch theirs
        return Parameter(deepcopy(given), _as_it_is)
    if _is_list(given):
        return _listed(list(given), name)
    if all(hasattr(given, method) for method in ("ppf", "support", "rvs")):
        return _whole_numbers(given, name) if hasattr(given, "pmf") else _continuous(given)
    raise InputError(
        f"parameter {name!r}: expected a list of values, a scipy.stats distribution such as"
        f" loguniform(1e-3, 1e3), or a dimension such as ceibo.Float(0, 1), got {given!r}."
    )


def _as_it_is(value: Any) -> Any:
    return value


def _listed(values: list[Any], name: str) -> Parameter:
    """Ascending numbers keep their order, as equally spaced levels; anything else is a choice."""
    if not 2 <= len(values) <= MAX_LISTED_LEVELS:
        raise InputError(
            f"parameter {name!r}: expected 1 to {MAX_LISTED_LEVELS} values, got {len(values)}."
        )
    numbers = all(
        isinstance(value, int | float | np.number) and not isinstance(value, bool)
        for value in values
    )
    if numbers and len(values) > 2 and all(a < b for a, b in itertools.pairwise(values)):
        return Parameter(Int(0, len(values) - 1), values.__getitem__)
    return Parameter(Categorical(range(len(values))), values.__getitem__)


def _continuous(distribution: Any) -> Parameter:
    """The coordinate is the probability: equal steps are equally likely, so a loguniform is
    searched in its log.
    """
    low, high = (float(end) for end in distribution.support())
    if _cut_off(distribution):
        return Parameter(Float(0.0, 1.0), lambda u: min(max(float(distribution.ppf(u)), low), high))
    # A quantile may round to the end that is left out, where the density is steep.
    least, most = math.nextafter(low, math.inf), math.nextafter(high, -math.inf)
    return Parameter(
        Float(_TAIL, 1.0 - _TAIL), lambda u: min(max(float(distribution.ppf(u)), least), most)
    )


def _cut_off(distribution: Any) -> bool:
    """Whether the distribution is an interval with both its ends, as uniform and loguniform are.

    The others (expon, gamma, norm, beta) run out: no draw of theirs is ever at an end, where the
    estimator's parameter is often invalid (C = 0), while a search that may go there will, since
    ends are the places least known.
    """
    low, high = (float(end) for end in distribution.support())
    if not (math.isfinite(low) and math.isfinite(high)):
        return False
    # With a density above zero and finite at the end, twice the probability is twice as far from
    # it. Unlike the density itself, this does not depend on the scale, nor on how the end is
    # rounded.
    near, twice = (
        np.abs(distribution.ppf([probability, 1.0 - probability]) - [low, high])
        for probability in (_HAIR, 2 * _HAIR)
    )
    return bool(np.all((1.8 * near < twice) & (twice < 2.2 * near)))


def _whole_numbers(distribution: Any, name: str) -> Parameter:
    low, high = (float(end) for end in distribution.support())
    rare = _TAIL * float(distribution.pmf(distribution.ppf(0.5)))
    low = (
        low
        if math.isfinite(low) and distribution.pmf(low) > rare
        else float(distribution.ppf(_TAIL))
    )
    high = (
        high
        if math.isfinite(high) and distribution.pmf(high) > rare
        else float(distribution.ppf(1.0 - _TAIL))
    )
    if not low < high:
        raise InputError(
            f"parameter {name!r}: the distribution has one value only; give it as a list,"
            f" [{low:g}]."
        )
    return Parameter(Int(int(low), int(high)), int)


def _is_list(given: Any) -> bool:
    return isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes)
