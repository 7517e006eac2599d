"""Drawings of spaces with rules: paths that stay within an equality, and where the rules hold.

A parameter that is moved takes the others of its equalities along. Parts of a mixture shrink or
grow in proportion to each other (Cox's direction), as far as their ranges allow; parameters of
other equalities move together as little as possible.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np

from ceibo.acquisition.region.terms import Column, Linear, Scale
from ceibo.decide.region import region_of
from ceibo.decide.rules import columns_of, requirements_of
from ceibo.decide.space import Space
from ceibo.gp.inputs import Array, Mask

_HALVINGS: Final = 30  # after which the end of a path is known
_ROUNDS: Final = 60  # of moving columns, until none of them has to stop at its end
_SETTLED: Final = 1e-15  # of what is summed up: rounding


def equalities_of(space: Space) -> list[Linear]:
    """The equalities that hold everywhere in the space."""
    found = []
    for each in requirements_of(space.rules, space.dimensions):
        if len(each.alternatives) == 1:
            terms = each.alternatives[0]
            found += [term for term in terms if isinstance(term, Linear) and term.equal]
    return found


def holding(space: Space, X: Array) -> Mask | None:
    """Where the rules hold, (n,), of points whose levels may lie between two; None without any."""
    region = region_of(space) if space.rules else None
    if region is None:
        return None
    nearest = X.copy()
    for column, levels in space.discrete.items():
        places = np.argmin(np.abs(levels - X[:, [column]]), axis=1)
        nearest[:, column] = levels[places]
    inside = np.all((X >= -1e-9) & (X <= 1 + 1e-9), axis=1)
    return np.asarray(inside & region.holds(np.clip(nearest, 0.0, 1.0)))


def sample_inside(space: Space, count: int, rng: np.random.Generator) -> Array:
    """Points (count, d) at which the rules of a space hold, evenly distributed."""
    region = region_of(space)
    if region is None:
        raise ValueError("a space without rules has no region")
    return np.asarray(region.sample(count, rng))


def moved(space: Space, X: Array, kept: Iterable[int]) -> Array:
    """Points (n, d) brought onto the equalities by moving columns other than the kept ones."""
    if not space.rules:
        return X
    columns = columns_of(space.dimensions)
    X, still = X.copy(), set(kept)
    for equality in equalities_of(space):
        free = [
            int(k)
            for k in np.flatnonzero(equality.coefficients)
            if k not in still and k not in space.discrete and isinstance(columns[k], Scale)
        ]
        if free:
            X[:, free] = _balanced(X, equality, columns, free)
    return X


def _balanced(X: Array, equality: Linear, columns: tuple[Column, ...], free: list[int]) -> Array:
    """Coordinates (n, m) of free columns at which an equality holds, as far as they reach."""
    scales = [column for k in free if isinstance(column := columns[k], Scale)]
    low, high = (np.array([getattr(each, end) for each in scales]) for end in ("low", "high"))
    V = np.stack([each.value(X[:, k]) for each, k in zip(scales, free, strict=True)], axis=1)
    c = equality.coefficients[free]
    fixed = np.zeros(len(X))
    for k in np.flatnonzero(equality.coefficients):
        column = columns[k]
        if k not in free and column is not None:
            fixed += equality.coefficients[k] * column.value(X[:, k])
    wanted = equality.bound - fixed  # of Σ c v over the free columns
    is_mixture = bool(np.all(low >= 0) and abs(np.sum(np.sign(c))) == len(c))
    for _ in range(_ROUNDS):
        gap = wanted - V @ c
        weights = _weights(V, c, high - low, is_mixture)
        can_move = np.where(np.sign(gap)[:, None] * c > 0, high > V, low < V)
        weights *= can_move
        total = np.sum(weights * np.abs(c), axis=1)
        rounding = _SETTLED * (np.abs(wanted) + np.abs(V) @ np.abs(c))
        going = (total > 0) & (np.abs(gap) > rounding)
        if not np.any(going):
            break
        share = np.divide(gap, total, out=np.zeros_like(gap), where=going)
        V = np.clip(V + share[:, None] * np.sign(c) * weights, low, high)
    units = [each.unit(V[:, place]) for place, each in enumerate(scales)]
    return np.clip(np.stack(units, axis=1), 0.0, 1.0)


def _weights(V: Array, c: Array, width: Array, is_mixture: bool) -> Array:
    """How far each free column moves for the same gap, (n, m)."""
    if not is_mixture:
        return np.broadcast_to(np.abs(c) * width**2, V.shape).copy()
    # parts that are all zero grow alike
    nothing = np.sum(V * np.abs(c), axis=1) <= 0
    return np.where(nothing[:, None], 1.0 / np.abs(c), V)


def path_along(space: Space, place: Array, column: int, units: Array) -> Array:
    """Points (n, d) through a place along a column, the ends of where rules hold among them."""
    at = units
    if column not in space.discrete:
        at = np.unique(np.append(units, place[column]))
        held = holding(space, _at(space, place, column, at))
        if held is not None:
            at = np.unique(np.concatenate([at, *_ends(space, place, column, (at, held))]))
    return _at(space, place, column, at)


def _at(space: Space, place: Array, column: int, units: Array) -> Array:
    X = np.tile(place, (len(units), 1))
    X[:, column] = units
    return moved(space, X, (column,))


def _ends(
    space: Space, place: Array, column: int, known: tuple[Array, Mask]
) -> tuple[Array, Array]:
    """Coordinates on both sides of each end of where rules hold, as near as numbers can tell."""
    at, held = known
    change = np.flatnonzero(held[:-1] != held[1:])
    inside = np.where(held[change], at[change], at[change + 1])
    outside = np.where(held[change], at[change + 1], at[change])
    for _ in range(_HALVINGS if len(change) else 0):
        middle = (inside + outside) / 2
        holds = holding(space, _at(space, place, column, middle))
        assert holds is not None
        inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
    return inside, outside
