"""Whether some setting of a box holds all of several requirements.

Each choice of alternatives is a linear program over the values, with whole numbers for levels and
for what is zero or not. Where there are too many levels or alternatives they are left aside: what
is found impossible is impossible, and what is found possible may still fail on a grid.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from ceibo.acquisition.region.terms import (
    Among,
    Column,
    Count,
    Linear,
    Requirement,
    Scale,
    Table,
    Term,
    Zero,
)
from ceibo.gp.inputs import Array

_MOST_PROGRAMS: Final = 200  # after which nothing is known
_SECONDS: Final = 2.0  # for one program
_MOST_UNEVEN: Final = 50  # levels of unequal steps that are told apart
_EVEN: Final = 1e-9  # by which steps may differ, of the first


def is_possible(requirements: Sequence[Requirement], columns: Sequence[Column]) -> bool:
    """False if nothing can hold all requirements; True where that could not be shown.

    Each term is one that some setting holds, grids aside.
    """
    if len(requirements) == 1 and any(
        len(way) == 1 and not _is_of_levels(way[0], columns) for way in requirements[0].alternatives
    ):
        return True
    ordered = sorted(requirements, key=lambda each: len(each.alternatives))
    firsts = tuple(term for each in ordered for term in each.alternatives[0])
    return _has_solution(firsts, columns) or _Search(ordered, columns).from_(0, ())


def _is_of_levels(term: Term, columns: Sequence[Column]) -> bool:
    """Whether a term is about sums with columns that have gaps."""
    if not isinstance(term, Linear):
        return False
    return any(isinstance(columns[k], Table) for k in np.flatnonzero(term.coefficients).tolist())


@final
@dataclass
class _Search:
    """A depth-first search through the alternatives, cut off where a program has no solution."""

    requirements: Sequence[Requirement]
    columns: Sequence[Column]
    programs: int = field(default=0, init=False)

    def from_(self, place: int, chosen: tuple[Term, ...]) -> bool:
        """Whether the requirements from a place on can be held beside the terms chosen."""
        while place < len(self.requirements):
            alternatives = self.requirements[place].alternatives
            if len(alternatives) != 1:
                break
            chosen += alternatives[0]
            place += 1
        self.programs += 1
        if self.programs > _MOST_PROGRAMS:
            return True
        if not _has_solution(chosen, self.columns):
            return False
        if place == len(self.requirements):
            return True
        ways = self.requirements[place].alternatives
        return any(self.from_(place + 1, chosen + way) for way in ways)


def _has_solution(terms: Sequence[Term], columns: Sequence[Column]) -> bool:
    """Whether the terms can all hold."""
    allowed: dict[int, Array] = {}
    for term in terms:
        if isinstance(term, Among):
            before = allowed.get(term.column, term.coordinates)
            allowed[term.column] = np.intersect1d(before, term.coordinates)
            if not len(allowed[term.column]):
                return False
    program = _Program(columns, _used(terms), allowed)
    for term in terms:
        if isinstance(term, Linear):
            program.add_linear(term)
        elif isinstance(term, Zero):
            program.fix_zero(term.column)
        elif isinstance(term, Count):
            program.add_count(term)
    return program.is_solvable()


def _used(terms: Sequence[Term]) -> list[int]:
    """The columns whose values matter to terms."""
    used: set[int] = set()
    for term in terms:
        if isinstance(term, Linear):
            used.update(np.flatnonzero(term.coefficients).tolist())
        elif isinstance(term, Zero):
            used.add(term.column)
        elif isinstance(term, Count):
            used.update(term.columns)
    return sorted(used)


@final
class _Program:
    """Rows of a linear program in x, where value k = low_k + width_k·x_k, and x_k in [0, 1]."""

    def __init__(
        self, columns: Sequence[Column], used: Sequence[int], allowed: dict[int, Array]
    ) -> None:
        self.used = list(used)
        self.low = np.zeros(len(used))
        self.width = np.ones(len(used))
        self.steps = np.zeros(len(used), dtype=int)  # of equal length between levels
        self.bounds: list[tuple[float, float]] = [(0.0, 1.0)] * len(used)
        self.rows: list[tuple[dict[int, float], float, bool]] = []  # Σ c·x ≤ or = bound
        self.switches = 0
        for k, place in enumerate(used):
            column = columns[place]
            if isinstance(column, Scale):
                self.low[k], self.width[k] = column.low, column.width
            elif isinstance(column, Table):
                values = np.sort(column.values)
                gaps = np.diff(values)
                self.low[k], self.width[k] = values[0], column.width or 1.0
                if np.ptp(gaps) <= _EVEN * gaps[0]:
                    self.steps[k] = len(gaps)
                kept = column.value(allowed.get(place, column.coordinates))
                shares = (kept - values[0]) / self.width[k]
                self.bounds[k] = float(shares.min()), float(shares.max())
                if not self.steps[k] and len(shares) <= _MOST_UNEVEN:
                    self._add_levels(k, shares)

    def _add_levels(self, place: int, shares: Array) -> None:
        """A switch for each level of a column, one of them on."""
        first = len(self.low) + self.switches
        self.switches += len(shares)
        sides = {first + k: -share for k, share in enumerate(shares.tolist())}
        self.rows.append(({place: 1.0, **sides}, 0.0, True))
        self.rows.append((dict.fromkeys(sides, 1.0), 1.0, True))

    def add_linear(self, term: Linear) -> None:
        coefficients = term.coefficients[self.used]
        row = coefficients * self.width
        scale = float(np.abs(row).max())
        shifted = term.bound - float(coefficients @ self.low)
        entries = {k: each / scale for k, each in enumerate(row.tolist()) if each}
        self.rows.append((entries, shifted / scale, term.equal))

    def _zero(self, column: int) -> tuple[int, float]:
        """The place of a column, and where its value is zero."""
        k = self.used.index(column)
        return k, float(-self.low[k] / self.width[k])

    def fix_zero(self, column: int) -> None:
        k, zero = self._zero(column)
        low, high = self.bounds[k]
        # a zero that is not between the bounds leaves nothing
        self.bounds[k] = max(low, zero), min(high, zero)

    def add_count(self, term: Count) -> None:
        """A switch for each column: off, the value is zero."""
        first = len(self.low) + self.switches
        self.switches += len(term.columns)
        for switch, column in enumerate(term.columns, start=first):
            k, zero = self._zero(column)
            self.rows.append(({k: 1.0, switch: zero - 1.0}, zero, False))
            self.rows.append(({k: -1.0, switch: -zero}, -zero, False))
        switches = range(first, first + len(term.columns))
        self.rows.append((dict.fromkeys(switches, 1.0), float(term.most), False))
        self.rows.append((dict.fromkeys(switches, -1.0), -float(term.least), False))

    def is_solvable(self) -> bool:
        """False only if the program has no solution."""
        if any(low > high + 1e-12 for low, high in self.bounds):
            return False
        if not self.rows:
            return True
        from scipy.optimize import linprog  # slow to import, and for spaces with rules alone

        count = len(self.low) + self.switches
        bounds = [(low, max(low, high)) for low, high in self.bounds]
        integral = np.zeros(count)
        integral[len(self.low) :] = 1
        factors = np.ones(count)
        for k in np.flatnonzero(self.steps):
            steps = int(self.steps[k])
            integral[k], factors[k] = 1, 1 / steps
            low, high = bounds[k]
            bounds[k] = float(np.round(low * steps)), float(np.round(high * steps))
        sides: dict[bool, tuple[list[Array], list[float]]] = {True: ([], []), False: ([], [])}
        for entries, bound, equal in self.rows:
            row = np.zeros(count)
            row[list(entries)] = list(entries.values())
            sides[equal][0].append(row * factors)
            sides[equal][1].append(bound)
        given: dict[str, Any] = {
            key: np.array(each)
            for equal, keys in ((False, ("A_ub", "b_ub")), (True, ("A_eq", "b_eq")))
            for key, each in zip(keys, sides[equal], strict=True)
            if each
        }
        given |= {
            "bounds": bounds + [(0.0, 1.0)] * self.switches,
            "integrality": integral if integral.any() else None,
            "options": {"time_limit": _SECONDS},
        }
        answer = linprog(np.zeros(count), **given)
        return bool(answer.status != 2)  # 2: it has no solution
