"""From what must hold to the terms of a region: alternatives, each a list of terms.

Where a comparison is strict, or says that something is not equal, the region keeps a margin of
MARGIN of the scale from the bound, so that the rule holds as it is written.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from ceibo.acquisition.region.terms import Among, Column, Count, Linear, Table, Term, Zero
from ceibo.decide.dimensions import Dimension, Int
from ceibo.decide.rules.columns import columns_of, range_of
from ceibo.decide.rules.conditions import (
    TOLERANCE,
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Counted,
    OneOf,
)
from ceibo.errors import InputError
from ceibo.gp.inputs import Array

MARGIN: Final = 1e-6
MOST_ALTERNATIVES: Final = 64

Alternative = tuple[Term, ...]


@final
@dataclass(frozen=True)
class Compiler:
    """Turns conditions into alternatives over the columns of some dimensions."""

    dimensions: Mapping[str, Dimension]

    @cached_property
    def places(self) -> dict[str, int]:
        """Name -> column."""
        return {name: column for column, name in enumerate(self.dimensions)}

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return columns_of(self.dimensions)

    def alternatives(self, condition: Condition) -> list[Alternative]:
        """The ways to hold a condition: none if it cannot be, an empty one if it always is."""
        if isinstance(condition, AllOf):
            found: list[Alternative] = [()]
            for part in condition.parts:
                mine = self.alternatives(part)
                found = _simplified([_joined(a, b) for a in found for b in mine])
            return found
        if isinstance(condition, AnyOf):
            parts = condition.parts
            return _simplified([each for part in parts for each in self.alternatives(part)])
        if isinstance(condition, OneOf):
            return self._among(condition.name, condition.wanted)
        if isinstance(condition, Counted):
            columns = tuple(self.places[name] for name in condition.names)
            return [(Count(columns, condition.least, condition.most),)]
        if isinstance(condition, Comparison):
            return self._compared(condition)
        raise TypeError(f"no terms for a {type(condition).__name__}")

    def _among(self, name: str, values: Sequence[Any]) -> list[Alternative]:
        dimension = self.dimensions[name]
        if not values or len(values) == dimension.levels:
            return [()] if values else []
        coordinates = np.sort([dimension.to_unit(each) for each in values])
        return [(Among(self.places[name], coordinates),)]

    def _compared(self, comparison: Comparison) -> list[Alternative]:
        names = comparison.names
        if len(names) == 1:
            column = self.columns[self.places[names[0]]]
            if isinstance(column, Table):
                return self._levels(comparison, column)
        low, high = self._ends(comparison)
        bound, slack = float(comparison.bound), TOLERANCE * comparison.scale
        if comparison.sign == "!=":
            if high < bound or low > bound:
                return [()]
            below = replace(comparison, sign="<")
            above = replace(comparison, sign="<=").negated()
            return [*self._compared(below), *self._compared(above)]
        if comparison.sign == "<":
            if high < bound:
                return [()]
            if low >= bound:
                return []
            margin = min(MARGIN * comparison.scale, (bound - low) / 2)
            bound -= min(margin, self._half_step(comparison))
        elif low > bound + slack or (comparison.sign == "==" and high < bound - slack):
            return []
        elif comparison.sign == "<=" and high <= bound:
            return [()]
        if self._is_zero(comparison):
            return [(Zero(self.places[names[0]]),)]
        return [(Linear(self._row(comparison), bound, comparison.sign == "=="),)]

    def _half_step(self, comparison: Comparison) -> float:
        """Half of the least distance of a sum of whole numbers from the bound, unless it is on it.

        Infinity where other numbers are in the sum.
        """
        rest, steps = comparison.bound, []
        for name, coefficient in comparison.coefficients.items():
            dimension = self.dimensions[name]
            if not isinstance(dimension, Int):
                return math.inf
            rest -= coefficient * dimension.low
            steps.append(coefficient * dimension.step)
        common = math.lcm(*(each.denominator for each in (rest, *steps)))
        whole = math.gcd(*(int(each * common) for each in (rest, *steps)))
        return float(Fraction(whole, common) / 2) if whole else math.inf

    def _levels(self, comparison: Comparison, table: Table) -> list[Alternative]:
        """A comparison of one column of levels: those that hold it."""
        (name,) = comparison.names
        dimension = self.dimensions[name]
        kept = [
            not comparison.violation({name: dimension.from_unit(u)})
            for u in table.coordinates.tolist()
        ]
        if all(kept) or not any(kept):
            return [()] if all(kept) else []
        return [(Among(self.places[name], table.coordinates[np.array(kept)]),)]

    def _ends(self, comparison: Comparison) -> tuple[float, float]:
        """The least and the largest sum over the box."""
        low = high = 0.0
        for name, coefficient in comparison.coefficients.items():
            ends = range_of(self.dimensions[name]) or (0.0, 0.0)
            products = [float(coefficient) * end for end in ends]
            low, high = low + min(products), high + max(products)
        return low, high

    def _is_zero(self, comparison: Comparison) -> bool:
        """Whether all that is left for a single parameter is zero."""
        if len(comparison.names) > 1 or comparison.bound:
            return False
        return comparison.sign == "==" or (
            comparison.sign == "<=" and self._ends(comparison)[0] == 0
        )

    def _row(self, comparison: Comparison) -> Array:
        row = np.zeros(len(self.dimensions))
        for name, coefficient in comparison.coefficients.items():
            row[self.places[name]] = float(coefficient)
        return row


def _joined(one: Alternative, other: Alternative) -> Alternative | None:
    """The terms of both; of each column one list of coordinates; None if it were empty."""
    terms = list(one)
    for term in other:
        place = next((k for k, each in enumerate(terms) if _same_column(each, term)), None)
        if place is None:
            terms.append(term)
            continue
        first = terms[place]
        if isinstance(first, Among) and isinstance(term, Among):
            both = np.intersect1d(first.coordinates, term.coordinates)
            if not len(both):
                return None
            terms[place] = Among(term.column, both)
    return tuple(terms)


def _same_column(one: Term, other: Term) -> bool:
    both = isinstance(one, Among) and isinstance(other, Among)
    zeros = isinstance(one, Zero) and isinstance(other, Zero)
    return (both or zeros) and one.column == other.column  # type: ignore[union-attr]  # as checked


def _simplified(found: Sequence[Alternative | None]) -> list[Alternative]:
    """The alternatives without those that others contain; lists of one column become one."""
    lists: dict[int, Array] = {}
    others: dict[bytes, Alternative] = {}
    for each in found:
        if each is None:
            continue
        if not each:
            return [()]
        if len(each) == 1 and isinstance(each[0], Among):
            among = each[0]
            before = lists.get(among.column, among.coordinates)
            lists[among.column] = np.union1d(before, among.coordinates)
        else:
            others.setdefault(b"|".join(sorted(map(_key, each))), each)
    merged: list[Alternative] = [(Among(column, lists[column]),) for column in lists]
    merged += others.values()
    if len(merged) > MOST_ALTERNATIVES:
        raise InputError(
            f"it has more than {MOST_ALTERNATIVES} alternatives; split it into several rules, or"
            " name several choices at once by in."
        )
    return merged


def _key(term: Term) -> bytes:
    """What tells terms apart."""
    if isinstance(term, Linear):
        head = f"linear {term.bound!r} {term.equal}"
        return head.encode() + term.coefficients.tobytes()
    if isinstance(term, Among):
        return f"among {term.column}".encode() + term.coordinates.tobytes()
    return repr(term).encode()
