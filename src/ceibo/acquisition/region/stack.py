"""Requirements as arrays: one list of all linear terms, and alternatives that point into it.

Notation: N points, d columns, m linear terms C v ≤ b (or =) in the values v (N, d).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from ceibo.acquisition.region.terms import Among, Count, Linear, Requirement, Term, Zero
from ceibo.acquisition.region.values import Values
from ceibo.gp.inputs import Array, Indices, Mask

TOLERANCE: Final = 2e-10
"""How far a linear term may be broken, in units of its scale; what is promised is 1e-9."""
_ZERO: Final = 1e-13  # coordinates this close to that of 0 are 0
_SAME: Final = 1e-9  # coordinates of a list this close are one


@final
@dataclass(frozen=True, eq=False)
class Alternative:
    """Terms that hold together."""

    linear: Indices
    among: tuple[Among, ...]
    zeros: tuple[int, ...]
    counts: tuple[Count, ...]

    @property
    def is_listed(self) -> bool:
        """Whether its terms are about columns with listed coordinates alone."""
        return not (len(self.linear) or self.zeros or self.counts)


@final
@dataclass(frozen=True, eq=False)
class Choice:
    """A requirement: its alternatives, the columns it names, and its place in a list of rules."""

    alternatives: tuple[Alternative, ...]
    columns: Indices
    rule: int


@final
class Stack:
    """All requirements over the values of columns."""

    def __init__(self, requirements: Sequence[Requirement], values: Values) -> None:
        self.values = values
        linear: list[Linear] = []
        self.choices = tuple(_compile(each, linear) for each in requirements)
        d = len(values.columns)
        self.C = np.array([each.coefficients for each in linear], dtype=float).reshape(-1, d)
        self.b = np.array([each.bound for each in linear], dtype=float)
        self.equal: Mask = np.array([each.equal for each in linear], dtype=bool)
        scale = np.abs(self.C) @ values.width + np.abs(self.b)
        self.scale = np.where(scale > 0.0, scale, 1.0)

    @cached_property
    def is_plain(self) -> bool:
        """Whether there is nothing to choose: every requirement is linear terms."""
        single = all(len(each.alternatives) == 1 for each in self.choices)
        ways = (way for each in self.choices for way in each.alternatives)
        return single and not any(way.among or way.zeros or way.counts for way in ways)

    @property
    def coupled(self) -> Mask:
        """(d,) columns that some linear term speaks of."""
        return np.asarray((self.C != 0.0).any(axis=0))

    def slack(self, V: Array) -> Array:
        """(N, m) how far inside each term values (N, d) are, in units of its scale."""
        room = (self.b - V @ self.C.T) / self.scale
        return np.asarray(np.where(self.equal, -np.abs(room), room))

    def is_zero(self, X: Array) -> Mask:
        """(N, d) whether the value of each column is exactly 0."""
        return np.asarray(np.abs(X - self.values.zeros) <= _ZERO)

    def margins(self, X: Array, here: Mask) -> list[Array]:
        """For each requirement (N, a): how far inside each alternative the points are.

        A point is inside where the margin is zero or more; it is infinite where only lists count.
        `here` are the columns (N, d) that are active: a rule about others holds.
        """
        slack, zero = self.slack(self.values.at(X)), self.is_zero(X)
        found = []
        for choice in self.choices:
            margin = np.full((len(X), len(choice.alternatives)), -np.inf)
            for place, each in enumerate(choice.alternatives):
                margin[:, place] = _margin(each, X, slack, zero)
            idle = ~here[:, choice.columns].all(axis=1)
            margin[idle] = np.inf
            found.append(margin)
        return found

    def inside(self, alternative: Alternative, X: Array) -> Mask:
        """(N,) whether the terms of an alternative about listed columns hold."""
        good = np.ones(len(X), dtype=bool)
        for among in alternative.among:
            good &= is_listed(X[:, among.column], among.coordinates)
        return good

    def holds(self, X: Array, here: Mask, tolerance: float) -> Mask:
        """(N,) whether every requirement has an alternative that holds."""
        good = np.ones(len(X), dtype=bool)
        for margin in self.margins(X, here):
            good &= margin.max(axis=1, initial=-np.inf) >= -tolerance
        return good


def is_listed(u: Array, coordinates: Array) -> Mask:
    """Whether each coordinate (N,) is one of a list."""
    if len(coordinates) == 0:
        return np.zeros(u.shape, dtype=bool)
    return np.asarray((np.abs(u[:, None] - coordinates) <= _SAME).any(axis=1))


def _margin(alternative: Alternative, X: Array, slack: Array, zero: Mask) -> Array:
    margin = np.full(len(X), np.inf)
    if len(alternative.linear):
        margin = slack[:, alternative.linear].min(axis=1)
    for column in alternative.zeros:
        margin = np.where(zero[:, column], margin, -1.0)
    for count in alternative.counts:
        present = (~zero[:, list(count.columns)]).sum(axis=1)
        excess = np.maximum(present - count.most, count.least - present)
        margin = np.where(excess > 0, np.minimum(margin, -1.0 * excess), margin)
    for among in alternative.among:
        margin = np.where(is_listed(X[:, among.column], among.coordinates), margin, -np.inf)
    return margin


def _compile(requirement: Requirement, linear: list[Linear]) -> Choice:
    alternatives, columns = [], set(requirement.columns)
    for terms in requirement.alternatives:
        places = []
        for term in terms:
            columns.update(_columns(term))
            if isinstance(term, Linear):
                places.append(len(linear))
                linear.append(term)
        alternatives.append(
            Alternative(
                np.array(places, dtype=np.intp),
                tuple(term for term in terms if isinstance(term, Among)),
                tuple(term.column for term in terms if isinstance(term, Zero)),
                tuple(term for term in terms if isinstance(term, Count)),
            )
        )
    named = np.array(sorted(columns), dtype=np.intp)
    return Choice(tuple(alternatives), named, requirement.rule)


def _columns(term: Term) -> list[int]:
    if isinstance(term, Linear):
        return [int(k) for k in np.flatnonzero(term.coefficients)]
    return list(term.columns) if isinstance(term, Count) else [term.column]
