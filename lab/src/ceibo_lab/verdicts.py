"""Tables of paired comparisons, corrected together, and the verdicts that follow by a fixed rule.

A row holds if its Holm-corrected p value is below 0.05 and the difference goes the way the claim
says, does not hold if it is below 0.05 and goes the other way, is equal if no pair differs, and is
undecided otherwise. A claim about every row holds if all rows hold, does not hold if one of them
does not, and is undecided otherwise.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import final

from ceibo_lab.library import Library, Setting
from ceibo_lab.records import Record
from ceibo_lab.statistics import SIGNIFICANT, Comparison, compare, holm


class Verdict(Enum):
    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    EQUAL = "equal"  # in every pair
    NOT_RUN = "not run"


@final
@dataclass(frozen=True)
class Row:
    """One comparison of a table; `lower_favours` where the claim says that the first of each pair
    is lower.
    """

    label: str
    comparison: Comparison
    lower_favours: bool
    corrected_p: float = 1.0

    @property
    def favour(self) -> float:
        """Effect size, positive in the direction of the claim."""
        return -self.comparison.effect if self.lower_favours else self.comparison.effect

    @property
    def wins(self) -> int:
        """Pairs that went the way the claim says."""
        return self.comparison.below if self.lower_favours else self.comparison.above

    @property
    def verdict(self) -> Verdict:
        if self.comparison.below + self.comparison.above == 0:
            return Verdict.EQUAL
        if self.corrected_p >= SIGNIFICANT:
            return Verdict.UNDECIDED
        return Verdict.HOLDS if self.favour > 0 else Verdict.FAILS


@final
@dataclass(frozen=True)
class Table:
    """Comparisons corrected together."""

    title: str
    rows: list[Row]

    @property
    def verdict(self) -> Verdict:
        found = [row.verdict for row in self.rows]
        if not found:
            return Verdict.NOT_RUN
        if Verdict.FAILS in found:
            return Verdict.FAILS
        return Verdict.HOLDS if set(found) == {Verdict.HOLDS} else Verdict.UNDECIDED

    @property
    def counts(self) -> str:
        found = [row.verdict for row in self.rows]
        each = [(verdict, found.count(verdict)) for verdict in Verdict]
        return (
            ", ".join(f"{verdict.value} in {count}" for verdict, count in each if count)
            + f" of {len(found)}"
        )


@final
@dataclass(frozen=True)
class Claim:
    """A statement of the paper, the honest protocol's table, and tables beside it that do not
    decide.
    """

    statement: str
    table: Table
    beside: list[Table] = field(default_factory=list)
    remark: str = ""

    @property
    def verdict(self) -> Verdict:
        return self.table.verdict


def table(title: str, rows: Iterable[Row | None]) -> Table:
    """A table of the rows there are, with Holm's correction over them."""
    found = [row for row in rows if row is not None]
    corrected = holm([row.comparison.p for row in found])
    return Table(
        title,
        [
            Row(r.label, r.comparison, r.lower_favours, p)
            for r, p in zip(found, corrected, strict=True)
        ],
    )


def paired(
    library: Library,
    label: str,
    settings: tuple[Setting, Setting],
    value: Callable[[Record], float],
    lower: bool = True,
) -> Row | None:
    """The row comparing a value of two settings seed by seed; None if there are no pairs."""
    pairs = library.pairs(*settings)
    if not pairs:
        return None
    first, second = [value(one) for one, _ in pairs], [value(two) for _, two in pairs]
    return Row(label, compare(first, second), lower)
