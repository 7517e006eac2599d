"""Two methods over many cells at once: one test, over seeds or over cells.

Notation: d_cs the difference of the two methods in cell c at seed s.

    over seeds  Wilcoxon's signed-rank test of d_s, the mean of d_cs over the cells: about these
                cells. A seed has the same initial design and the same noise in several cells, so
                that cells are not independent and seeds are.
    over cells  the same test of d_c, the mean of d_cs over the seeds: about cells like these.

Cells have equal weights. Where some have more seeds than others, the seeds that all of them have
are used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ceibo.gp.inputs import Array
from ceibo_lab.arithmetic import is_older
from ceibo_lab.compare import Row, compare
from ceibo_lab.library import Library, Setting
from ceibo_lab.record import Record


@final
@dataclass(frozen=True, eq=False)
class Pooled:
    """Differences (cells, seeds); `planned` says of how many cells, `older` counts old records.

    `seeds` are those of the columns.
    """

    differences: Array
    seeds: tuple[int, ...]
    planned: int
    older: int

    @property
    def cells(self) -> str:
        """How many cells: "18 cells", or "3 of 18 cells" where records are missing."""
        found = len(self.differences)
        return f"{found} cells" if found == self.planned else f"{found} of {self.planned} cells"

    def from_seed(self, first: int) -> "Pooled | None":
        """The same of the seeds from `first` on; None if there are none."""
        kept = [column for column, seed in enumerate(self.seeds) if seed >= first]
        if not kept:
            return None
        seeds = tuple(self.seeds[column] for column in kept)
        return replace(self, differences=self.differences[:, kept], seeds=seeds)

    def over_seeds(self, label: str, lower: bool = True, margin: float | None = None) -> Row:
        means = self.differences.mean(axis=0)
        test = compare(means, np.zeros(len(means)))
        words = f"{label}: mean over {self.cells}, by seed"
        return Row(words, test, lower, margin=margin, older=self.older)

    def over_cells(self, label: str, lower: bool = True) -> Row:
        means = self.differences.mean(axis=1)
        test = compare(means, np.zeros(len(means)))
        words = f"{label}: mean over {self.differences.shape[1]} seeds, by cell"
        return Row(words, test, lower, older=self.older)


def pooled(
    library: Library,
    cells: Sequence[Setting],
    methods: tuple[str, str],
    value: Callable[[Record], float],
) -> Pooled | None:
    """The differences, first − second, over the cells with records; None if there are none."""
    found = [library.pairs(cell.by(methods[0]), cell.by(methods[1])) for cell in cells]
    by_seed = [{one["cell"]["seed"]: (one, two) for one, two in pairs} for pairs in found if pairs]
    seeds = sorted(set.intersection(*map(set, by_seed))) if by_seed else []
    if not seeds:
        return None
    pairs = [[each[seed] for seed in seeds] for each in by_seed]
    differences = np.array([[value(one) - value(two) for one, two in row] for row in pairs])
    older = sum(is_older(record) for row in pairs for both in row for record in both)
    return Pooled(differences, tuple(seeds), len(cells), older)
