"""One parameter: Optuna's distribution as a dimension of a space, and ranges that change."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial

from ceibo.decide import Categorical, Float, Int
from ceibo.decide.dimensions import MAX_LEVELS, MAX_LISTED_LEVELS, Dimension
from ceibo.errors import InputError
from ceibo.gp.inputs import Array

_ON_GRID: Final = 1e-9  # of a step: a value no further from the grid is left as it is
_WITHIN: Final = 65  # coordinates tried within a part of a continuous range


@final
@dataclass(frozen=True)
class Axis:
    """One parameter: Optuna's distribution, and the dimension of the space that stands for it.

    A categorical parameter is its index, so that choices may be anything Optuna takes; a whole
    number with a step is its position on the grid.
    """

    distribution: BaseDistribution
    dimension: Dimension

    @staticmethod
    def of(distribution: BaseDistribution) -> "Axis":
        d = distribution
        if isinstance(d, CategoricalDistribution):
            if len(d.choices) > MAX_LISTED_LEVELS:
                wanted = f"at most {MAX_LISTED_LEVELS} choices"
                raise InputError(f"expected {wanted}, got {len(d.choices)}.")
            return Axis(d, Categorical(range(len(d.choices))))
        if isinstance(d, FloatDistribution):
            try:
                return Axis(d, Float(d.low, d.high, log=d.log, step=d.step))
            except InputError:
                # A grid finer than double precision, or a log range of neighbouring numbers.
                return Axis(d, Float(d.low, d.high))
        if isinstance(d, IntDistribution):
            if d.log and d.high < MAX_LEVELS:
                return Axis(d, Int(d.low, d.high, log=True))
            if d.log:
                return Axis(d, Float(d.low, d.high, log=True))
            last = (d.high - d.low) // d.step
            return Axis(d, Int(0, last) if last < MAX_LEVELS else Float(0, last))
        raise InputError(f"expected a float, int or categorical distribution, got {d!r}.")

    def encode(self, value: Any) -> Any:
        """From Optuna's value to that of the dimension."""
        d = self.distribution
        if isinstance(d, CategoricalDistribution):
            return int(d.to_internal_repr(value))
        if isinstance(d, IntDistribution) and not d.log:
            return (int(value) - d.low) // d.step
        return value

    def decode(self, value: Any) -> Any:
        """From the dimension's value to Optuna's."""
        d = self.distribution
        if isinstance(d, CategoricalDistribution):
            return d.choices[value]
        if isinstance(d, IntDistribution):
            whole = round(value) if d.log else d.low + d.step * round(value)
            return min(max(whole, d.low), d.high)
        if isinstance(d, FloatDistribution) and d.step is not None and isinstance(value, float):
            on_grid = d.low + d.step * round((value - d.low) / d.step)
            if abs(on_grid - value) >= _ON_GRID * d.step:
                return min(max(on_grid, d.low), d.high)
        return value

    def contains(self, value: Any) -> bool:
        """Whether a value is in the range of the distribution."""
        d = self.distribution
        try:
            return bool(d._contains(d.to_internal_repr(value)))  # noqa: SLF001 - no public test
        except (ValueError, TypeError):
            return False

    def unit(self, value: Any) -> float:
        """The coordinate of one of Optuna's values."""
        return self.dimension.to_unit(self.encode(value))

    def units_within(self, asked: BaseDistribution) -> Array | None:
        """The coordinates that a narrower range allows; None if it allows all."""
        if asked == self.distribution or isinstance(asked, CategoricalDistribution):
            return None
        inner = Axis.of(asked)
        listed = self.dimension.coordinates
        if listed is None:
            low, high = asked.low, asked.high  # type: ignore[attr-defined]  # a float or an int
            return np.linspace(self.unit(low), self.unit(high), _WITHIN)
        values = [self.decode(self.dimension.from_unit(float(u))) for u in listed]
        return np.array(
            [u for u, value in zip(listed, values, strict=True) if inner.contains(value)]
        )

    def nearest(self, value: Any) -> Any:
        """The value of the range that is nearest to one beside it or off its grid."""
        d = self.distribution
        if isinstance(d, IntDistribution | FloatDistribution):
            value = min(max(value, d.low), d.high)
        if isinstance(d, IntDistribution) and not d.log:
            return min(d.low + d.step * round((value - d.low) / d.step), d.high)
        return self.decode(self.encode(value))


def single_value(distribution: BaseDistribution) -> Any:
    """The value of a distribution that has only one."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[0]
    return distribution.low  # type: ignore[attr-defined]  # a float or an int


def union_of(trials: Iterable[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The distribution of every parameter, and the union of its ranges where they differ."""
    union: dict[str, BaseDistribution] = {}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            known = union.get(name, distribution)
            union[name] = known if known == distribution else hull(known, distribution)
    return union


def hull(first: BaseDistribution, second: BaseDistribution) -> BaseDistribution:
    """The smallest range that holds both, with their grid if it is the same."""
    # Optuna lets nothing but the range and the step change.
    if isinstance(first, IntDistribution) and isinstance(second, IntDistribution):
        low, high = min(first.low, second.low), max(first.high, second.high)
        step = first.step if _same_grid(first, second) else 1
        return IntDistribution(low, high, log=first.log, step=step)
    if isinstance(first, FloatDistribution) and isinstance(second, FloatDistribution):
        lowest, highest = min(first.low, second.low), max(first.high, second.high)
        spacing = first.step if _same_grid(first, second) else None
        return FloatDistribution(lowest, highest, log=first.log, step=spacing)
    return second


def _same_grid(first: Any, second: Any) -> bool:
    return bool(first.step == second.step and first.low == second.low)
