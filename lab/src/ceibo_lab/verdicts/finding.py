"""What a verdict is made of: findings, methods compared cell by cell, and their tables."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy.special import stdtrit

from ceibo.gp.inputs import Array
from ceibo_lab.compare import SIGNIFICANT, Comparison, compare, holm
from ceibo_lab.library import Library, Setting
from ceibo_lab.plans.plan import Experiment
from ceibo_lab.record import Cell, Record

Pairwise = Callable[[Record, Record], float]


@final
@dataclass(frozen=True)
class Finding:
    """A question of the plan: whether it is met (None: runs are missing), and its figures."""

    question: str
    met: bool | None
    lines: tuple[str, ...]

    def __str__(self) -> str:
        word = {True: "met", False: "not met", None: "no verdict, runs are missing"}[self.met]
        return "\n".join([f"{self.question}: {word}", *(f"  {line}" for line in self.lines)])


def planned(plan: Experiment, methods: Sequence[str]) -> list[Cell]:
    """The cells of a question, for each of the methods; at least one of them is in the plan."""
    cells = plan.cells()
    known = {cell.method for cell in cells}
    anchor = next(name for name in methods if name in known)
    alike = [cell for cell in cells if cell.method == anchor]
    return [replace(cell, method=name) for cell in alike for name in methods]


def lacking(library: Library, cells: Sequence[Cell]) -> tuple[str, ...]:
    """How many of the planned runs there are, by problem and method; empty if all are there."""
    wanted = Counter((cell.problem, cell.method) for cell in cells)
    there = Counter((cell.problem, cell.method) for cell in cells if library.record(cell))
    if there == wanted:
        return ()
    return tuple(
        f"{problem}, {method}: {there[problem, method]} of {count} runs"
        for (problem, method), count in wanted.items()
    )


def if_whole(found: Finding, library: Library, cells: Sequence[Cell]) -> Finding:
    """The finding, without its verdict where planned runs are missing."""
    missing = lacking(library, cells)
    return replace(found, met=None, lines=(*found.lines, *missing)) if missing else found


@final
@dataclass(frozen=True)
class Versus:
    """Differences of two methods in one cell, the first − the second, seed by seed."""

    case: Setting
    comparison: Comparison
    mean: float


def own(record: Record) -> Record:
    """The answer that a method itself gives: its first."""
    found: Record = next(iter(record["answers"].values()))
    return found


def versus(
    library: Library, cases: Iterable[Setting], methods: tuple[str, str], value: Pairwise
) -> list[Versus]:
    """Each cell, the first method against the second; `value` of a record beside another's."""
    found = []
    for case in cases:
        pairs = library.pairs(case.by(methods[0]), case.by(methods[1]))
        if pairs:
            one = [value(first, second) for first, second in pairs]
            two = [value(second, first) for first, second in pairs]
            mean = float(np.mean(np.subtract(one, two)))
            found.append(Versus(case, compare(one, two), mean))
    return found


def lost(rows: Sequence[Versus], larger_is_worse: bool = True) -> list[Versus]:
    """The cells that are significantly worse, corrected over all of them."""
    sign = 1.0 if larger_is_worse else -1.0
    corrected = holm([row.comparison.p for row in rows])
    return [
        row
        for row, p in zip(rows, corrected, strict=True)
        if p < SIGNIFICANT and sign * row.comparison.effect > 0
    ]


def interval(means: Array) -> tuple[float, float]:
    """The 95 % t interval of the mean over cells, infinite for one cell.

    For a bootstrap there are too few cells: with six it covers the mean 87 times of 100.
    """
    count = len(means)
    if count < 2:
        return float("-inf"), float("inf")
    reach = float(stdtrit(count - 1, 0.975) * np.std(means, ddof=1) / np.sqrt(count))
    return float(np.mean(means)) - reach, float(np.mean(means)) + reach


def table(rows: Sequence[Versus]) -> list[str]:
    corrected = holm([row.comparison.p for row in rows])
    return [
        f"{row.case.problem:<18}{row.case.level:<6g}{row.mean:+9.3f}  {row.comparison.below} below,"
        f" {row.comparison.above} above of {row.comparison.n}, p = {p:.3g}"
        for row, p in zip(rows, corrected, strict=True)
    ]


def judged(
    library: Library,
    question: str,
    cells: Sequence[Cell],
    methods: tuple[str, str],
    value: Pairwise,
) -> tuple[Finding, list[Versus]]:
    """The figures of a question, of these cells alone, without its verdict.

    There are no rows where planned runs are missing.
    """
    if missing := lacking(library, cells):
        return Finding(question, None, missing), []
    found = (library.record(cell) for cell in cells)
    alone = Library(record for record in found if record is not None)
    rows = versus(alone, alone.cases, methods, value)
    means = np.array([row.mean for row in rows])
    low, high = interval(means)
    said = f"mean {np.mean(means):+.3f} [{low:+.3f}, {high:+.3f}], {len(lost(rows))} cells lost"
    return Finding(question, None, (said, *table(rows))), rows
