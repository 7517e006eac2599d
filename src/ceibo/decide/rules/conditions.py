"""What must hold: comparisons, choices and counts, joined by and and or.

A negation is carried down to the leaves, so that every leaf says by how much it is broken. By how
much is in units of the leaf's scale: Σ_k |c_k|·range_k + |bound| of a comparison, one of a choice.
"""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

TOLERANCE: Final = 1e-9
"""What breaks a rule by no more than this part of its scale counts as holding it."""
_ROUNDING: Final = 8 * sys.float_info.epsilon
_BROKEN: Final = TOLERANCE * (1 + 1e-6)  # the least that anything broken counts

OPPOSITES: Final = {"==": "!=", "!=": "==", "<=": "<", "<": "<="}


class Condition(ABC):
    """Something that holds or not, at values of the parameters that it names."""

    @abstractmethod
    def violation(self, params: Mapping[str, Any]) -> float:
        """By how much it is broken, in units of its scale; above TOLERANCE if it is."""

    @abstractmethod
    def negated(self) -> "Condition":
        """What holds exactly where this does not."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The parameters it names, each once."""


@final
@dataclass(frozen=True)
class Comparison(Condition):
    """Σ_k c_k·v_k `sign` bound, where the sign is <=, <, == or !=.

    `is_exact` if every v_k has levels: then nothing but the rounding of the numbers is forgiven.
    """

    coefficients: Mapping[str, Fraction]
    bound: Fraction
    sign: str
    scale: float
    is_exact: bool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.coefficients)

    @cached_property
    def _factors(self) -> tuple[float, ...]:
        """The coefficients as they are used with measured values."""
        return tuple(map(float, self.coefficients.values()))

    def negated(self) -> "Comparison":
        sign = OPPOSITES[self.sign]
        if self.sign in ("==", "!="):
            return Comparison(self.coefficients, self.bound, sign, self.scale, self.is_exact)
        flipped = {name: -each for name, each in self.coefficients.items()}
        return Comparison(flipped, -self.bound, sign, self.scale, self.is_exact)

    def violation(self, params: Mapping[str, Any]) -> float:
        excess, slack = self._excess(params)
        if self.sign == "==":
            holds = abs(excess) <= slack
        elif self.sign == "!=":
            holds = abs(excess) > slack
        elif self.sign == "<":
            holds = excess < (-slack if self.is_exact else 0.0)
        else:
            holds = excess <= slack
        if holds:
            return 0.0
        return max(abs(excess) / self.scale, _BROKEN)

    def _excess(self, params: Mapping[str, Any]) -> tuple[float, float]:
        """The sum less its bound, and how far from zero still counts as zero."""
        values = [params[name] for name in self.coefficients]
        if self.is_exact and all(type(each) is int for each in values):
            factors = self.coefficients.values()
            whole = sum((c * v for c, v in zip(factors, values, strict=True)), -self.bound)
            return float(whole), 0.0
        terms = [c * v for c, v in zip(self._factors, values, strict=True)]
        terms.append(-float(self.bound))
        rounding = _ROUNDING * math.fsum(map(abs, terms))
        slack = rounding if self.is_exact else max(TOLERANCE * self.scale, rounding)
        return math.fsum(terms), slack


@final
@dataclass(frozen=True)
class OneOf(Condition):
    """A parameter has one of some values, of all those it can have."""

    name: str
    wanted: tuple[Any, ...]
    others: tuple[Any, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def negated(self) -> "OneOf":
        return OneOf(self.name, self.others, self.wanted)

    def violation(self, params: Mapping[str, Any]) -> float:
        value = params[self.name]
        return 0.0 if any(is_same(each, value) for each in self.wanted) else 1.0


@final
@dataclass(frozen=True)
class Counted(Condition):
    """From `least` to `most` parameters are other than zero; `zeros`: what counts as zero."""

    zeros: Mapping[str, float]
    least: int
    most: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.zeros)

    def negated(self) -> Condition:
        fewer = Counted(self.zeros, 0, self.least - 1)
        more = Counted(self.zeros, self.most + 1, len(self.zeros))
        return AnyOf(tuple(each for each in (fewer, more) if each.least <= each.most))

    def violation(self, params: Mapping[str, Any]) -> float:
        count = sum(abs(params[name]) > zero for name, zero in self.zeros.items())
        return float(max(self.least - count, count - self.most, 0))


@dataclass(frozen=True)
class _Joined(Condition):
    parts: tuple[Condition, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.parts for name in part.names))


@final
@dataclass(frozen=True)
class AllOf(_Joined):
    """Every part holds."""

    def negated(self) -> "AnyOf":
        return AnyOf(tuple(part.negated() for part in self.parts))

    def violation(self, params: Mapping[str, Any]) -> float:
        return max((part.violation(params) for part in self.parts), default=0.0)


@final
@dataclass(frozen=True)
class AnyOf(_Joined):
    """At least one part holds."""

    def negated(self) -> AllOf:
        return AllOf(tuple(part.negated() for part in self.parts))

    def violation(self, params: Mapping[str, Any]) -> float:
        return min((part.violation(params) for part in self.parts), default=1.0)


def conjuncts(condition: Condition) -> Iterator[Condition]:
    """The parts that must hold each, however deep they stand."""
    if isinstance(condition, AllOf):
        for part in condition.parts:
            yield from conjuncts(part)
    else:
        yield condition


def is_same(one: object, other: object) -> bool:
    """Whether two choices are the same: of one type, and written alike."""
    if type(one) is not type(other):
        return False
    return one == other if isinstance(one, str) else repr(one) == repr(other)
