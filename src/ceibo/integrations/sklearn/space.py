"""Search spaces of scikit-learn users: scipy.stats distributions, lists, ceibo's dimensions."""

import itertools
import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from ceibo.decide import Categorical, Float, Int, Ordinal, Space
from ceibo.decide.dimensions import MAX_LISTED_LEVELS, Dimension
from ceibo.errors import InputError, show_value
from ceibo.gp.inputs import Array
from ceibo.integrations.copies import choices_of
from ceibo.integrations.sklearn.branches import check_parents, levels_of

# probability left out at an end that a distribution does not reach
_TAIL: Final = 1e-3
_LEVELS: Final = np.linspace(0, 1, 5)  # at which quantiles are examined
_SAME: Final = 1e-9  # of the range: quantiles no further from even ones are those of an even spread
_MOST_UNEVEN: Final = (
    0.75  # std of the gaps between levels, by their mean: 0.58 of 1, 2, 4, 8, 64 in log
)
_HAIR: Final = 1e-5  # probability from an end at which the density there is examined


POSITION: Final = "position in its list"
"""What is searched of a list whose numbers are on no scale; stored in the files of searches."""


@final
@dataclass(frozen=True)
class Parameter:
    """The dimension searched for one parameter, and its value decoded for the estimator.

    `shown` is the same dimension in the estimator's units, where ceibo has one: None stands for
    the dimension itself, which is then `what`.
    """

    dimension: Dimension
    decode: Callable[[Any], Any]
    shown: Dimension | None = None
    what: str = ""
    is_as_shown: bool = False  # its values, though the parameters that it depends on are not

    def label(self, name: str) -> str:
        """Its name, with what is searched of it."""
        return f"{name} ({self.what})" if self.what else name

    def show(self, value: Any) -> Any:
        """A value of the dimension as one of those shown."""
        shown = None if self.is_as_shown else self.shown
        if isinstance(shown, Categorical):
            return shown.choices[value]
        return value if shown is None else self.decode(value)

    def sample(self) -> list[Any]:
        """All its values, or some if there are many, and then with nine digits."""
        levels = self.dimension.levels
        count = levels if levels is not None and levels <= MAX_LISTED_LEVELS else len(_LEVELS)
        units = [(place + 0.5) / count for place in range(count)]
        values = [self.decode(self.dimension.from_unit(u)) for u in units]
        return values if count == levels else [_rounded(value) for value in values]


@final
@dataclass(frozen=True)
class Parameters:
    """The parameters searched, and those of a single value."""

    searched: dict[str, Parameter]
    fixed: dict[str, Any]
    space: Space

    @staticmethod
    def of(distributions: Mapping[str, Any]) -> "Parameters":
        """The parameters of a search; a list of one value is not searched."""
        if isinstance(distributions, Mapping) and not distributions:
            raise InputError(
                "param_distributions is empty; give at least one parameter, as in"
                ' {"C": loguniform(1e-3, 1e3)}.'
            )
        if not isinstance(distributions, Mapping):
            raise InputError(
                "param_distributions must be one dict of parameter name -> distribution or list,"
                f" got {type(distributions).__name__}; run one search per dict of a list."
            )
        many = [name for name, given in distributions.items() if _is_list(given) and len(given) > 1]
        check_parents(distributions, many)
        searched = {}
        fixed = {}
        for name, given in distributions.items():
            if _is_list(given) and len(given) == 1:
                fixed[name] = given[0]
            else:
                searched[name] = _read_parameter(given, name)
        if not searched:
            raise InputError(
                "param_distributions must have at least one parameter with more than one value."
            )
        for name in searched:
            searched[name] = _with_lists(name, distributions[name], searched, many)
        space = Space({name: each.dimension for name, each in searched.items()})
        return Parameters(searched, fixed, space)

    @property
    def size(self) -> int | None:
        """How many points the space has; None if there is no end of them, or it has branches."""
        discrete = self.space.discrete
        if len(discrete) < len(self.space) or any(map(self.space.is_conditional, self.space.names)):
            return None
        return math.prod(len(levels) for levels in discrete.values())

    @property
    def shown(self) -> Space:
        """The space in the estimator's units, as far as ceibo has such dimensions."""
        dimensions = (each.shown or each.dimension for each in self.searched.values())
        return Space(dict(zip(self._labels, dimensions, strict=True)))

    def show(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters of the space as those of the space shown."""
        named = zip(self._labels, self.searched.items(), strict=True)
        return {label: each.show(params[name]) for label, (name, each) in named if name in params}

    def sample(self) -> dict[str, Any]:
        """Values that tell apart what is shown alike: other quantiles, objects of one text."""
        return self.fixed | {name: each.sample() for name, each in self.searched.items()}

    @property
    def _labels(self) -> list[str]:
        return [each.label(name) for name, each in self.searched.items()]

    def decode(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """What is passed to the estimator's set_params."""
        existing = ((name, each) for name, each in self.searched.items() if name in params)
        return self.fixed | {name: each.decode(params[name]) for name, each in existing}


def warn_if_small(parameters: Parameters, wanted: int) -> None:
    """Warns, as RandomizedSearchCV does, of fewer points than candidates."""
    size = parameters.size
    if size is not None and size < wanted:
        warnings.warn(
            f"The space has {size} points, fewer than n_iter={wanted}: all of them will be"
            " evaluated.",
            UserWarning,
            stacklevel=2,
        )


def _with_lists(
    name: str, given: Any, searched: Mapping[str, Parameter], listed: Collection[str]
) -> Parameter:
    """A parameter whose `when` is on lists as one that has it on what is searched of them."""
    one = searched[name]
    if not isinstance(given, Dimension) or not isinstance(given.when, Mapping):
        return one
    parents = [each for each in given.when if each in listed]
    if not parents:
        return one
    when, shown_when = dict(given.when), dict(given.when)
    for parent in parents:
        p = searched[parent]
        units = p.dimension.coordinates
        levels = [p.dimension.from_unit(u) for u in units.tolist()] if units is not None else []
        pairs = [(level, p.decode(level)) for level in levels]
        found = levels_of(name, parent, given.when[parent], pairs)
        when[parent] = found
        del shown_when[parent]
        shown_when[p.label(parent)] = [p.show(level) for level in found]
    return replace(
        one,
        dimension=replace(one.dimension, when=when),
        shown=replace(one.dimension, when=shown_when),
        is_as_shown=True,
    )


def _read_parameter(given: Any, name: str) -> Parameter:
    if isinstance(given, Dimension):
        # Dimensions cache results; a copy leaves the user's object as it was.
        return Parameter(deepcopy(given), lambda value: value)
    if isinstance(given, tuple):
        _check_no_range(given, name)
    if _is_list(given):
        return _from_list(list(given), name)
    if all(hasattr(given, method) for method in ("ppf", "support", "rvs")):
        return _from_discrete(given, name) if hasattr(given, "pmf") else _from_continuous(given)
    raise InputError(
        f"parameter {name!r}: expected a list of values, a scipy.stats distribution such as"
        f" loguniform(1e-3, 1e3), or a dimension such as ceibo.Float(0, 1), got {given!r}."
    )


def _check_no_range(given: tuple[Any, ...], name: str) -> None:
    """Refuses (low, high) and (low, high, prior): in other tools a range, here two choices."""
    if not 2 <= len(given) <= 3 or not all(map(_is_number, given[:2])):
        return
    if len(given) == 3 and not isinstance(given[2], str):
        return
    low, high = given[:2]
    whole = all(isinstance(each, int | np.integer) for each in (low, high))
    log = ", log=True" if len(given) == 3 and "log" in given[2] else ""
    raise InputError(
        f"parameter {name!r}: expected a range or a list of values, got the tuple"
        f" {show_value(given)}; a range is ceibo.{'Int' if whole else 'Float'}({low}, {high}{log})"
        f" or a distribution of scipy.stats, and just these values are the list"
        f" {show_value(list(given))}."
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _rounded(value: Any) -> Any:
    return f"{value:.9g}" if _is_number(value) else value


def _from_list(values: list[Any], name: str) -> Parameter:
    """Ascending numbers are levels in their order; anything else is a choice."""
    if not 2 <= len(values) <= MAX_LISTED_LEVELS:
        wanted = f"1 to {MAX_LISTED_LEVELS} values"
        raise InputError(f"parameter {name!r}: expected {wanted}, got {len(values)}.")
    numbers = all(map(_is_number, values))
    if numbers and len(values) > 2 and all(a < b for a, b in itertools.pairwise(values)):
        return _from_levels(values)
    indices = Categorical(range(len(values)))
    return Parameter(indices, values.__getitem__, choices_of(values))


def _from_levels(values: list[Any]) -> Parameter:
    """Levels as far apart as their values or their logarithms, whichever are the more even.

    Evenly apart, as their positions are, where neither is nearly even: most of
    0, 1e-4, 1e-3, 1e-2, 0.1, 1 would be one level to a model.
    """
    scales = []
    for log in (False, True):
        # refused: infinite, not positive, or too near to each other for their distances
        with suppress(InputError):
            scales.append(Ordinal(values, log=log))
    levels = min(scales, key=_unevenness, default=None)
    if levels is None or _unevenness(levels) > _MOST_UNEVEN:
        return Parameter(Int(0, len(values) - 1), values.__getitem__, what=POSITION)
    places = {level: place for place, level in enumerate(levels.listed)}
    return Parameter(levels, lambda level: values[places[level]])


def _unevenness(levels: Ordinal) -> float:
    """The standard deviation of the gaps between levels, by their mean."""
    gaps = np.diff(levels.coordinates)
    return float(np.std(gaps) / np.mean(gaps))


def _from_continuous(distribution: Any) -> Parameter:
    """The dimension is the probability, so that a loguniform is searched in its log."""
    low, high = _support(distribution)
    dimension = Float(0.0, 1.0)
    if not _has_ends(distribution):
        dimension = Float(_TAIL, 1.0 - _TAIL)
        # Where the density is steep, a quantile may round to the end that is left out.
        low, high = math.nextafter(low, math.inf), math.nextafter(high, -math.inf)
    shown = _shown(distribution) if dimension == Float(0.0, 1.0) else None
    what = "quantile" if shown is None else ""
    decode = lambda u: min(max(float(distribution.ppf(u)), low), high)  # noqa: E731 - a closure
    return Parameter(dimension, decode, shown, what)


def _shown(distribution: Any) -> Dimension | None:
    """The range of a uniform or loguniform distribution; None for others."""
    low, high = _support(distribution)
    quantiles = distribution.ppf(_LEVELS)
    if _is_even(quantiles, low, high):
        return Float(low, high)
    if low > 0 and math.log(low) < math.log(high):
        even = _is_even(np.log(quantiles), math.log(low), math.log(high))
        return Float(low, high, log=True) if even else None
    return None


def _is_even(quantiles: Array, low: float, high: float) -> bool:
    """Whether the quantiles of _LEVELS are evenly spaced between both ends."""
    even = low * (1 - _LEVELS) + high * _LEVELS
    rounding = 8 * math.ulp(max(abs(low), abs(high)))
    return bool(np.all(np.abs(quantiles - even) <= _SAME * (high - low) + rounding))


def _has_ends(distribution: Any) -> bool:
    """Whether the distribution is an interval with both its ends, as uniform and loguniform are."""
    # The others (expon, gamma, norm, beta) run out: no draw is ever at an end, where the
    # estimator's parameter is often invalid (C = 0), and where a search would go.
    low, high = _support(distribution)
    if not (math.isfinite(low) and math.isfinite(high)):
        return False
    # Where the density at the end is finite and above zero, the quantile of twice the probability
    # is twice as far from it. Unlike the density itself, this depends neither on the scale nor on
    # how the end is rounded.
    near = np.abs(distribution.ppf([_HAIR, 1.0 - _HAIR]) - [low, high])
    twice = np.abs(distribution.ppf([2 * _HAIR, 1.0 - 2 * _HAIR]) - [low, high])
    return bool(np.all((1.8 * near < twice) & (twice < 2.2 * near)))


def _support(distribution: Any) -> tuple[float, float]:
    low, high = distribution.support()
    return float(low), float(high)


def _from_discrete(distribution: Any, name: str) -> Parameter:
    """A range of whole numbers, without an end that is infinite or rare."""
    low, high = _support(distribution)
    rare = _TAIL * float(distribution.pmf(distribution.ppf(0.5)))
    if not (math.isfinite(low) and distribution.pmf(low) > rare):
        low = float(distribution.ppf(_TAIL))
    if not (math.isfinite(high) and distribution.pmf(high) > rare):
        high = float(distribution.ppf(1.0 - _TAIL))
    if not low < high:
        why = "the distribution has one value only"
        raise InputError(f"parameter {name!r}: {why}; give it as a list, [{low:g}].")
    return Parameter(Int(int(low), int(high)), int)


def _is_list(given: Any) -> bool:
    return isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes)
