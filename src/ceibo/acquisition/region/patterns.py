"""What a start obeys: of every requirement one alternative, of every count one set of columns."""

import math
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from ceibo.acquisition.region.stack import Alternative, Choice, Stack
from ceibo.acquisition.region.terms import Count
from ceibo.gp.inputs import Array, Indices, Mask

_LEAST: Final = 1e-6  # share of its range below which a part that must be present never falls


@final
@dataclass(frozen=True, eq=False)
class Pattern:
    """For each of N points: the linear terms, and which columns are 0 or must not be 0."""

    applies: Mask  # (N, m)
    zero: Mask  # (N, d)
    present: Mask  # (N, d)
    possible: Mask  # (N,) False where the listed columns break a requirement

    def keep(self, rows: Mask | Indices) -> "Pattern":
        """The pattern of some of the points."""
        parts = (self.applies, self.zero, self.present, self.possible)
        return Pattern(*(part[rows] for part in parts))

    def bounds(self, stack: Stack) -> tuple[Array, Array]:
        """Lower and upper coordinates (N, d) of columns, before those that are held."""
        lower, upper = np.zeros(self.zero.shape), np.ones(self.zero.shape)
        zeros = stack.values.zeros
        lower = np.where(self.present & (zeros <= _LEAST), zeros + _LEAST, lower)
        upper = np.where(self.present & (zeros >= 1.0 - _LEAST), zeros - _LEAST, upper)
        return np.where(self.zero, zeros, lower), np.where(self.zero, zeros, upper)


def pattern_at(
    stack: Stack, X: Array, here: Mask, wanted: tuple[int, int] | None = None
) -> Pattern:
    """The pattern in which points (N, d) are the furthest inside; `here` are active columns.

    Of one requirement a certain alternative may be wanted: (requirement, alternative).
    """
    found = _blank(stack, X)
    if stack.is_plain and here.all():
        found.applies[:] = True
        return found
    amounts = np.abs(X - stack.values.zeros)
    all_margins = stack.margins(X, here)
    for place, (choice, margin) in enumerate(zip(stack.choices, all_margins, strict=True)):
        best = np.argmax(margin, axis=1)
        if wanted is not None and wanted[0] == place:
            best = np.full(len(X), wanted[1])
        possible = found.possible & (margin.max(axis=1) > -np.inf)
        found = replace(found, possible=possible)
        busy = here[:, choice.columns].all(axis=1)
        for index, alternative in enumerate(choice.alternatives):
            rows = np.flatnonzero(busy & (best == index))
            _take(found, stack, alternative, rows)
            for count in alternative.counts:
                _largest(found, stack, count, rows, amounts)
    return found


def draw_pattern(stack: Stack, X: Array, here: Mask, rng: np.random.Generator) -> Pattern:
    """Patterns at random for points (N, d) whose listed columns are chosen.

    A requirement that the listed columns settle asks nothing; else one of the alternatives that
    they leave is taken, each as likely as another, and of a count any set of columns, after its
    size.
    """
    found = _blank(stack, X)
    if stack.is_plain and here.all():
        found.applies[:] = True
        return found
    for choice in stack.choices:
        busy = here[:, choice.columns].all(axis=1)
        open_, settled = _open(stack, choice, X)
        np.logical_and(found.possible, ~busy | open_.any(axis=1), out=found.possible)
        weights = np.where(open_, rng.random(open_.shape), -1.0)
        drawn = np.argmax(weights, axis=1)
        for index, alternative in enumerate(choice.alternatives):
            rows = np.flatnonzero(busy & ~settled & (drawn == index) & open_[:, index])
            _take(found, stack, alternative, rows)
            for count in alternative.counts:
                _random(found, stack, count, rows, rng)
    return found


def _blank(stack: Stack, X: Array) -> Pattern:
    nothing = np.zeros(X.shape, dtype=bool)
    applies = np.zeros((len(X), len(stack.b)), dtype=bool)
    return Pattern(applies, nothing, nothing.copy(), np.ones(len(X), dtype=bool))


def _open(stack: Stack, choice: Choice, X: Array) -> tuple[Mask, Mask]:
    """(N, a) alternatives that listed columns leave open, and (N,) whether they settle one."""
    left = np.stack([stack.inside(each, X) for each in choice.alternatives], axis=1)
    alone = np.array([each.is_listed for each in choice.alternatives])
    return left, (left & alone).any(axis=1)


def _take(found: Pattern, stack: Stack, alternative: Alternative, rows: Indices) -> None:
    found.applies[np.ix_(rows, alternative.linear)] = True
    for column in alternative.zeros:
        found.zero[rows, column] = True
        if np.isnan(stack.values.zeros[column]):
            found.possible[rows] = False


def _largest(found: Pattern, stack: Stack, count: Count, rows: Indices, amounts: Array) -> None:
    """The largest parts are present: those that are there, within the limits of the count."""
    columns = np.array(count.columns, dtype=np.intp)
    parts = np.where(np.isnan(amounts), np.inf, amounts)[np.ix_(rows, columns)]
    present = (parts > 1e-13).sum(axis=1)
    _support(found, stack, count, rows, (-parts, np.clip(present, count.least, count.most)))


def _random(
    found: Pattern, stack: Stack, count: Count, rows: Indices, rng: np.random.Generator
) -> None:
    """Any set of columns of a size from the least, or one, to the most, as likely as another."""
    columns = np.array(count.columns, dtype=np.intp)
    always = np.isnan(stack.values.zeros[columns])
    keys = np.where(always, -1.0, rng.random((len(rows), len(columns))))
    least = min(max(count.least, 1), count.most)
    range_ = np.arange(least, count.most + 1)
    weights = np.array([math.comb(len(columns), size) for size in range_], dtype=float)
    sizes = rng.choice(range_, size=len(rows), p=weights / weights.sum())
    _support(found, stack, count, rows, (keys, sizes))


def _support(
    found: Pattern, stack: Stack, count: Count, rows: Indices, chosen: tuple[Array, Indices]
) -> None:
    """Marks the columns with the lowest keys as present, and the others as zero."""
    keys, sizes = chosen
    columns = np.array(count.columns, dtype=np.intp)
    always = np.isnan(stack.values.zeros[columns])
    rank = np.argsort(np.argsort(keys, axis=1, kind="stable"), axis=1)
    inside = rank < sizes[:, None]
    found.zero[np.ix_(rows, columns)] |= ~inside & ~always
    if count.least > 0:
        found.present[np.ix_(rows, columns)] |= inside & ~always
    found.possible[rows] &= ~(always & ~inside).any(axis=1)
