"""Search spaces as scikit-learn users write them: scipy.stats distributions and lists, or ceibo's own dimensions."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from ceibo.errors import InputError
from ceibo.study.dimension import MAX_LISTED_LEVELS, Dimension
from ceibo.study.space import Categorical, Float, Int, Space

_TAIL: Final = 1e-4  # probability left out at an end of a distribution that has no end


@final
@dataclass(frozen=True)
class Parameter:
    """One parameter of the estimator: the dimension searched, and what its value means to the estimator."""

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
                "param_distributions must be one dict of parameter name -> distribution or list, got "
                f"{type(distributions).__name__}; run one search per dict of a list."
            )
        searched, fixed = {}, {}
        for name, given in distributions.items():
            if _is_list(given) and len(given) == 1:
                fixed[name] = given[0]
            else:
                searched[name] = _parameter(given, name)
        if not searched:
            raise InputError("param_distributions must have at least one parameter with more than one value.")
        return Parameters(searched, fixed, Space({name: each.dimension for name, each in searched.items()}))

    def decode(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """What is passed to the estimator's set_params."""
        return self.fixed | {name: each.decode(params[name]) for name, each in self.searched.items()}


def _parameter(given: Any, name: str) -> Parameter:
    if isinstance(given, Float | Int | Categorical):
        return Parameter(deepcopy(given), _as_it_is)  # dimensions remember things, and searches must not touch theirs
    if _is_list(given):
        return _listed(list(given), name)
    if all(hasattr(given, method) for method in ("ppf", "support", "rvs")):
        return _whole_numbers(given, name) if hasattr(given, "pmf") else _continuous(given)
    raise InputError(
        f"parameter {name!r}: expected a list of values, a scipy.stats distribution such as loguniform(1e-3, 1e3), "
        f"or a ceibo Float, Int or Categorical, got {given!r}."
    )


def _as_it_is(value: Any) -> Any:
    return value


def _listed(values: list[Any], name: str) -> Parameter:
    """Ascending numbers keep their order, as equally spaced levels; anything else is a choice."""
    if not 2 <= len(values) <= MAX_LISTED_LEVELS:
        raise InputError(f"parameter {name!r}: expected 1 to {MAX_LISTED_LEVELS} values, got {len(values)}.")
    numbers = all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values)
    if numbers and len(values) > 2 and all(a < b for a, b in itertools.pairwise(values)):
        return Parameter(Int(0, len(values) - 1), values.__getitem__)
    return Parameter(Categorical(range(len(values))), values.__getitem__)


def _continuous(distribution: Any) -> Parameter:
    """The coordinate is the probability: equal steps are equally likely, so a loguniform is searched in its log."""
    low, high = (float(end) for end in distribution.support())
    first = 0.0 if math.isfinite(low) else _TAIL
    last = 1.0 if math.isfinite(high) else 1.0 - _TAIL
    return Parameter(Float(first, last), lambda u: min(max(float(distribution.ppf(u)), low), high))


def _whole_numbers(distribution: Any, name: str) -> Parameter:
    low, high = (float(end) for end in distribution.support())
    low = low if math.isfinite(low) else float(distribution.ppf(_TAIL))
    high = high if math.isfinite(high) else float(distribution.ppf(1.0 - _TAIL))
    if not low < high:
        raise InputError(f"parameter {name!r}: the distribution has one value only; give it as a list, [{low:g}].")
    return Parameter(Int(int(low), int(high)), int)


def _is_list(given: Any) -> bool:
    return isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes)
