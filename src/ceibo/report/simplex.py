"""Three parts of a mixture as a triangle: which parts, where rules hold, and how they are drawn.

Notation: v_k ≥ 0 the amounts of three parts with Σ c_k v_k = T, the other parts held;
s_k = c_k v_k/T their shares, which sum to 1; t_k = (s_k − l_k)/(1 − Σ l) the shares beyond the
least ones l_k that are drawn. In the picture, whose coordinates go from 0 to 1 across and up, part
0 is all there is at the top, part 1 in the lower left corner, part 2 in the lower right corner.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, final

import numpy as np

from ceibo.acquisition.region.terms import Among, Count, Linear, Scale, Term, Zero
from ceibo.decide import Space
from ceibo.decide.rules import columns_of, requirements_of
from ceibo.decide.surface.ruled import equalities_of
from ceibo.gp.inputs import Array, Mask

_LEAST_TOTAL: Final = 1e-3  # of the whole mixture: less of three parts is not drawn
_LEAST_AREA: Final = 1e-9  # of the triangle: less is a line
_ZOOM: Final = 0.75  # a smaller part of the triangle is enlarged
_MARGIN: Final = 0.04  # around an enlarged part, of its width
_SLACK: Final = 1e-9
_MOST_PARTS: Final = 12  # looked at, the most important first

Polygon = Array  # (n, 3), the shares at its corners


@final
@dataclass(frozen=True, eq=False)
class Simplex:
    """Three parts of a mixture, and the convex pieces of the triangle in which rules hold."""

    columns: tuple[int, int, int]
    scales: tuple[Scale, ...]
    weights: Array  # c, (3,)
    total: float  # T
    pieces: tuple[Polygon, ...]
    least: Array  # l, (3,)
    is_whole: bool  # whether the mixture has no other part

    def units(self, across: Array, up: Array) -> Array:
        """The coordinates (n, 3) of the three columns at points of the picture, (n,) each."""
        beyond = np.stack([up, 1 - across - up / 2, across - up / 2], axis=-1)
        values = (self.least + beyond * (1 - np.sum(self.least))) * self.total / self.weights
        return np.stack([scale.unit(values[:, k]) for k, scale in enumerate(self.scales)], axis=1)

    def shares(self, X: Array) -> Array:
        """The shares (n, 3) of the three parts at points (n, d); NaN where none is there."""
        columns = zip(self.columns, self.scales, self.weights, strict=True)
        amounts = np.stack([c * scale.value(X[:, k]) for k, scale, c in columns], axis=1)
        sums = np.sum(amounts, axis=1, keepdims=True)
        nothing = np.full_like(amounts, np.nan)
        return np.asarray(np.divide(amounts, sums, out=nothing, where=sums > 0))

    def picture(self, shares: Array) -> tuple[Array, Array]:
        """Where shares (n, 3) lie in the picture, across and up."""
        beyond = (shares - self.least) / (1 - np.sum(self.least))
        return beyond[:, 2] + beyond[:, 0] / 2, beyond[:, 0]

    def inside(self, across: Array, up: Array) -> Mask:
        """Whether points of the picture lie in a piece, (n,)."""
        found = np.zeros(len(across), dtype=bool)
        for piece in self.pieces:
            x, y = self.picture(piece)
            turns = np.roll(x, -1) - x, np.roll(y, -1) - y
            sides = turns[0] * (up[:, None] - y) - turns[1] * (across[:, None] - x)
            found |= np.all(sides >= -_SLACK, axis=1) | np.all(sides <= _SLACK, axis=1)
        return found


def simplex_of(space: Space, place: Array, order: Sequence[int]) -> Simplex | None:
    """The three parts that matter most of a mixture of three or more, the others as at a place.

    None if there is no such mixture, or if rules leave no area of any three parts.
    """
    for equality in equalities_of(space) if space.rules else ():
        parts = _parts(space, equality)
        if parts is None:
            continue
        ordered = [k for k in order if k in parts][:_MOST_PARTS]
        for three in sorted(combinations(range(len(ordered)), 3), key=sum):
            first, second, third = sorted(ordered[k] for k in three)
            found = _of_three(space, place, (first, second, third), equality)
            if found is not None:
                return _enlarged(found)
    return None


def _parts(space: Space, equality: Linear) -> list[int] | None:
    """The columns of an equality if it is a mixture: three or more amounts that add up."""
    columns = columns_of(space.dimensions)
    used = [int(k) for k in np.flatnonzero(equality.coefficients)]
    signs = set(np.sign(equality.coefficients[used]))
    if len(used) < 3 or len(signs) > 1 or equality.bound * signs.pop() <= 0:
        return None
    for k in used:
        column = columns[k]
        plain = isinstance(column, Scale) and not column.log and column.low >= 0
        if not plain or k in space.discrete or space.is_conditional(space.names[k]):
            return None
    return used


def _of_three(
    space: Space, place: Array, three: tuple[int, int, int], equality: Linear
) -> Simplex | None:
    """The triangle of three parts."""
    columns = columns_of(space.dimensions)
    values = np.array(
        [0.0 if each is None else float(each.value(place[k])) for k, each in enumerate(columns)]
    )
    sign = np.sign(equality.coefficients[three[0]])
    amounts = sign * equality.coefficients * values
    bound = sign * equality.bound
    total = float(bound - np.sum(amounts) + np.sum(amounts[list(three)]))
    if total <= _LEAST_TOTAL * bound:
        return None
    weights = sign * equality.coefficients[list(three)]
    scales = tuple(each for k in three if isinstance(each := columns[k], Scale))
    pieces = [np.eye(3)]
    for row, (scale, c) in enumerate(zip(scales, weights, strict=True)):
        one = np.eye(3)[row]
        pieces = _clipped(pieces, one, scale.high * c / total)
        pieces = _clipped(pieces, -one, -scale.low * c / total)
    held = _Held(three, weights, total, values, place)
    for requirement in requirements_of(space.rules, space.dimensions):
        pieces = [new for piece in pieces for new in held.pieces(piece, requirement.alternatives)]
    kept = tuple(piece for piece in pieces if _area(piece) > _LEAST_AREA)
    if not kept:
        return None
    whole = len(np.flatnonzero(equality.coefficients)) == 3
    return Simplex(three, scales, weights, total, kept, np.zeros(3), whole)


@final
@dataclass(frozen=True, eq=False)
class _Held:
    """The values of all columns, of which three are free."""

    three: tuple[int, int, int]
    weights: Array
    total: float
    values: Array
    place: Array

    def pieces(self, piece: Polygon, alternatives: Sequence[tuple[Term, ...]]) -> list[Polygon]:
        """What alternatives leave of a piece."""
        left = []
        for terms in alternatives:
            found = [piece]
            for term in terms:
                found = self._limited(found, term)
            if any(each is piece for each in found):
                return [piece]
            left += found
        return left

    def _limited(self, pieces: list[Polygon], term: Term) -> list[Polygon]:
        if isinstance(term, Linear):
            return self._halved(pieces, term)
        if isinstance(term, Among):
            near = np.abs(term.coordinates - self.place[term.column]) < _SLACK
            return pieces if np.any(near) else []
        if isinstance(term, Zero):
            is_zero = term.column not in self.three and self.values[term.column] == 0
            return pieces if is_zero else []
        assert isinstance(term, Count)
        others = [k for k in term.columns if k not in self.three]
        count = len(term.columns) - len(others) + int(np.sum(self.values[others] != 0))
        return pieces if term.least <= count <= term.most else []

    def _halved(self, pieces: list[Polygon], term: Linear) -> list[Polygon]:
        """The part in which a linear rule holds; an equality leaves all or nothing."""
        parts = list(self.three)
        normal = term.coefficients[parts] * self.total / self.weights
        others = np.delete(term.coefficients * self.values, parts)
        bound = float(term.bound - np.sum(others))
        scale = float(np.sum(np.abs(term.coefficients * self.values))) + abs(term.bound)
        slack = _SLACK * max(scale, float(np.max(np.abs(normal))))
        if np.ptp(normal) <= slack:
            rest = float(normal[0]) - bound
            holds = abs(rest) <= slack if term.equal else rest <= slack
            return pieces if holds else []
        return [] if term.equal else _clipped(pieces, normal, bound)


def _clipped(pieces: list[Polygon], normal: Array, bound: float) -> list[Polygon]:
    """The parts of convex polygons where normal·s ≤ bound; those wholly inside as they are."""
    slack = _SLACK * max(float(np.max(np.abs(normal))), abs(bound))
    left = []
    for piece in pieces:
        beyond = piece @ normal - bound
        if np.all(beyond <= slack):
            left.append(piece)
            continue
        corners = []
        for k, (one, other) in enumerate(zip(piece, np.roll(piece, -1, axis=0), strict=True)):
            here, there = beyond[k], beyond[(k + 1) % len(piece)]
            if here <= 0:
                corners.append(one)
            if (here <= 0) != (there <= 0):
                corners.append(one + (other - one) * here / (here - there))
        if len(corners) > 2:
            left.append(np.array(corners))
    return left


def _area(piece: Polygon) -> float:
    """The area of a polygon as a part of the triangle."""
    x, y = piece[:, 1], piece[:, 2]
    return float(abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)))


def _enlarged(found: Simplex) -> Simplex:
    """The same with the triangle that just holds the pieces, if that is much smaller."""
    lowest = np.min(np.concatenate(found.pieces), axis=0)
    width = 1 - float(np.sum(lowest))
    if width > _ZOOM:
        return found
    return replace(found, least=np.maximum(lowest - _MARGIN * width, 0.0))
