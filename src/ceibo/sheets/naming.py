"""The blocks in the rows of a sheet, where a column may name no kind of block."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, final

from ceibo.dates import to_date
from ceibo.decide.block_names import DEFAULT_KIND, Block, block_of
from ceibo.study.attributes import PLANNED
from ceibo.study.blocks import Naming
from ceibo.study.store import StoredTrial

SHEET: Final = "sheet"
"""The attribute of a trial that was added from a row without a number: the name of the file."""


@final
@dataclass(frozen=True)
class SheetNaming:
    """How the blocks of a study are named, and what the names in rows were before.

    Args:
        naming: of the study.
        before: the number of a trial, None for rows without one, and a name -> the kind that the
            name is of on record. A sheet that is read again means what it meant.
    """

    naming: Naming = field(default_factory=Naming)
    before: Mapping[tuple[int | None, str], str] = field(default_factory=dict)

    @staticmethod
    def of(naming: Naming, trials: Iterable[StoredTrial], file: str) -> "SheetNaming":
        """That of the rows of a file."""
        before: dict[tuple[int | None, str], str] = {}
        for trial in trials:
            planned = trial.attributes.get(PLANNED)
            number = planned if isinstance(planned, int) else trial.number
            row = None if trial.attributes.get(SHEET) == file else number
            told = (*(each.told for each in trial.voided), *trial.measurements)
            for each in told:
                for measurement in (*each.replaced[:1], each.measurement):
                    before |= {(row, name): kind for kind, name in measurement.block}
        return SheetNaming(naming, before)

    def block(self, cells: Mapping[str, str], row: int | None) -> Block:
        """The block that a row names.

        Args:
            cells: kind -> name, "" for the column that names no kind; a name may be empty.
            row: the number of its trial, if it has one.
        """
        block = block_of(
            {kind or DEFAULT_KIND: name for kind, name in cells.items() if name} or None
        )
        bare = cells.get("", "")
        if block != ((DEFAULT_KIND, bare),) or DEFAULT_KIND in cells:
            return self.naming.typed(block, bare=False)
        names = (name for name in (bare, to_date(bare)) if (row, name) in self.before)
        kind = next((self.before[row, name] for name in names), None)
        if kind is not None and kind not in cells:
            return self.naming.typed(((kind, bare),), bare=False)
        return self.naming.typed(block, bare=self.naming.kind not in cells)
