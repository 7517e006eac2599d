"""Whether some setting of a box holds all of several requirements.

Each choice of alternatives is a linear program over the values (levels of equal steps are whole
numbers in it, other levels their whole range), so that what is found impossible is impossible, and
what is found possible may still fail on a grid.
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


def is_possible(requirements: Sequence[Requirement], columns: Sequence[Column]) -> bool:
    """False if nothing can hold all requirements; True where that could not be shown."""
    ordered = sorted(requirements, key=lambda each: len(each.alternatives))
    return _Search(ordered, columns).from_(0, ())


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
    """Whether the terms can all hold, levels of unequal steps aside."""
    allowed: dict[int, Array] = {}
    for term in terms:
        if isinstance(term, Among):
            before = allowed.get(term.column, term.coordinates)
            allowed[term.column] = np.intersect1d(before, term.coordinates)
            if not len(allowed[term.column]):
                return False
    program = _Program(columns, allowed)
    for term in terms:
        if isinstance(term, Linear):
            program.add_linear(term)
        elif isinstance(term, Zero):
            program.fix_zero(term.column)
        elif isinstance(term, Count):
            program.add_count(term)
    return program.is_solvable()


@final
class _Program:
    """Rows of a linear program in x, where value k = low_k + width_k·x_k, and x_k in [0, 1]."""

    def __init__(self, columns: Sequence[Column], allowed: dict[int, Array]) -> None:
        self.low = np.zeros(len(columns))
        self.width = np.zeros(len(columns))
        self.steps = np.zeros(len(columns), dtype=int)  # of equal length between levels
        self.bounds: list[tuple[float, float]] = [(0.0, 1.0)] * len(columns)
        self.rows: list[tuple[dict[int, float], float, bool]] = []  # Σ c·x ≤ or = bound
        self.switches = 0
        for k, column in enumerate(columns):
            if isinstance(column, Scale):
                self.low[k], self.width[k] = column.low, column.width
            elif isinstance(column, Table):
                values = np.sort(column.values)
                self.low[k], self.width[k] = values[0], column.width
                gaps = np.diff(values)
                if len(gaps) and np.ptp(gaps) <= 1e-9 * gaps[0]:
                    self.steps[k] = len(gaps)
                if k in allowed:
                    kept = (column.value(allowed[k]) - values[0]) / column.width
                    self.bounds[k] = float(kept.min()), float(kept.max())

    def add_linear(self, term: Linear) -> None:
        shifted = term.bound - float(term.coefficients @ self.low)
        row = term.coefficients * self.width
        scale = float(np.abs(row).max()) or 1.0
        places = np.flatnonzero(row)
        entries = {int(k): float(row[k] / scale) for k in places}
        self.rows.append((entries, shifted / scale, term.equal))

    def _zero(self, column: int) -> float:
        """Where the value of a column is zero."""
        return float(-self.low[column] / self.width[column])

    def fix_zero(self, column: int) -> None:
        zero = self._zero(column)
        low, high = self.bounds[column]
        # a zero that is not between the bounds leaves nothing
        self.bounds[column] = max(low, zero), min(high, zero)

    def add_count(self, term: Count) -> None:
        """A switch for each column: off, the value is zero."""
        first = len(self.low) + self.switches
        self.switches += len(term.columns)
        for switch, column in enumerate(term.columns, start=first):
            zero = self._zero(column)
            self.rows.append(({column: 1.0, switch: zero - 1.0}, zero, False))
            self.rows.append(({column: -1.0, switch: -zero}, -zero, False))
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
