"""What the page's sentences say in figures, from records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo_lab.claims import final_of
from ceibo_lab.compare import Row, paired
from ceibo_lab.library import Library, Setting
from ceibo_lab.measures import final_value
from ceibo_lab.plans.benchmark import FOUR, POOLED, TWO
from ceibo_lab.pooled import Pooled, pooled
from ceibo_lab.problems import NAMES
from ceibo_lab.record import Record
from ceibo_lab.repeat import Agreement, repetition

NEAR: Final = 1e-3  # of the unit cube's diagonal: beside the incumbent
FEWEST: Final = 6  # pairs: with fewer there is no interval
VARIANTS: Final = ("plain", "shifted")


def settings() -> list[Setting]:
    """The cells of the pooled test."""
    return [Setting(name, "", variant, level=level) for name, variant, level in POOLED]


def whole(library: Library) -> Pooled | None:
    """Corrected EI − EI over all cells of the plan."""
    return pooled(library, settings(), TWO, final_of("best"))


def cells(library: Library) -> list[Row]:
    """Corrected EI against EI in each of these cells with records."""
    found = []
    for cell in settings():
        shifted = ", shifted" if cell.variant == "shifted" else ""
        label = f"{NAMES[cell.problem]}, {100 * cell.level:.0f} %{shifted}"
        both = (cell.by(TWO[0]), cell.by(TWO[1]))
        row = paired(library, label, both, final_of("best"))
        if row is not None:
            found.append(row)
    return found


def over_four(
    library: Library,
    protocol: str = "heteroscedastic",
    end: str = "",
    variants: Sequence[str] = VARIANTS,
) -> Row | None:
    """Corrected EI against EI at 10 % over the four functions; `end` of the methods' names."""
    alike = [Setting(name, "", variant, protocol) for variant in variants for name in FOUR]
    found = pooled(library, alike, (f"{TWO[0]}{end}", f"{TWO[1]}{end}"), final_of("best"))
    return None if found is None else found.over_seeds("")


def near_share(library: Library, method: str) -> float | None:
    """The share of points that a method measures beside the incumbent of their time (10 %)."""
    runs = [run for name in FOUR for run in library.runs(Setting(name, method)).values()]
    if not runs:
        return None
    return float(np.mean(np.concatenate([run["trace"]["reach"] for run in runs]) < NEAR))


@final
@dataclass(frozen=True)
class Elsewhere:
    """Cells run on another machine or with other versions of libraries.

    Args:
        versions: what was otherwise, in words.
        cells: how many cells were compared.
        same: how many are the same bit for bit.
        parted: of the runs that are not, the measurement at which they part, in a record's digits.
        moved: the differences of log10 regret of `best` at their ends, where there are any.
        rows: corrected EI against EI here and there, where both have FEWEST seeds or more.
    """

    versions: tuple[str, ...]
    cells: int
    same: int
    parted: tuple[int, ...]
    moved: tuple[float, ...]
    rows: tuple[tuple[Row, Row], ...]


def elsewhere(records: Sequence[Record], repeated: Sequence[Record]) -> Elsewhere | None:
    """Compares records with repetitions by the same arithmetic; None if there are none."""
    before = {record["key"]: record for record in records}
    both = [(before[each["key"]], each) for each in repeated if each["key"] in before]
    both = [(a, b) for a, b in both if a.get("algorithm") == b.get("algorithm")]
    both = [(a, b) for a, b in both if a["versions"] != b["versions"]]
    if not both:
        return None
    found = [repetition(a, b) for a, b in both]
    changed = [
        (a, b)
        for (a, b), each in zip(both, found, strict=True)
        if each.agreement is not Agreement.SAME and a["cell"]["kind"] == "optimise"
    ]
    ends = [abs(final_value(a, "best") - final_value(b, "best")) for a, b in changed]
    versions = {
        f"{name}: {a['versions'].get(name)} and {b['versions'].get(name)}"
        for a, b in both
        for name in a["versions"]
        if a["versions"][name] != b["versions"].get(name)
    }
    same = sum(each.agreement is Agreement.SAME for each in found)
    parted = sorted(row for a, b in changed if (row := _parting(a, b)) is not None)
    moved = tuple(end for end in ends if end > 0)
    rows = _both_rows([a for a, _ in both], [b for _, b in both])
    return Elsewhere(tuple(sorted(versions)), len(both), same, tuple(parted), moved, rows)


def _parting(one: Record, two: Record) -> int | None:
    """The first measurement that is not the same, counted from one."""
    regrets = zip(one["trace"]["regret"], two["trace"]["regret"], strict=True)
    return next((row for row, (a, b) in enumerate(regrets, start=1) if a != b), None)


def _both_rows(here: Sequence[Record], there: Sequence[Record]) -> tuple[tuple[Row, Row], ...]:
    """Corrected EI against EI in each setting that both have, from both."""
    one, two = Library(here), Library(there)
    rows = []
    for case in one.cases:
        for end in ("", "/map"):
            pair = (case.by(f"{TWO[0]}{end}"), case.by(f"{TWO[1]}{end}"))
            label = f"{NAMES.get(case.problem, case.problem)}{', MAP' if end else ''}"
            first = paired(one, label, pair, final_of("best"))
            second = paired(two, label, pair, final_of("best"))
            if first is not None and second is not None and first.comparison.n >= FEWEST:
                rows.append((first, second))
    return tuple(rows)
