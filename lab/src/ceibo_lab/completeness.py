"""How complete a set of records is: of each block of the plan, how many cells there are."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from ceibo_lab.arithmetic import is_older
from ceibo_lab.plans import EXPERIMENTS
from ceibo_lab.record import Record


@final
@dataclass(frozen=True)
class Completeness:
    """Of a block: cells planned, finished, and of those from an older arithmetic."""

    experiment: str
    block: str
    planned: int
    finished: int
    older: int

    @property
    def cells(self) -> list[str]:
        """As a row of a table: experiment, block, "k of n", older ones."""
        count = f"{self.finished} of {self.planned}"
        return [self.experiment, self.block, count, str(self.older) if self.older else "–"]


def completeness(records: Iterable[Record]) -> list[Completeness]:
    """Of every block of the experiments in `all`, and of others with any record.

    Blocks may share cells; each counts its own. A block that only the quick size has is left out.
    """
    ages = {record["key"]: is_older(record) for record in records}
    rows = []
    for experiment in EXPERIMENTS.values():
        found = []
        for block in [block for block in experiment.blocks if block.in_full]:
            keys = [cell.key for cell in block.cells()]
            there = [ages[key] for key in keys if key in ages]
            found.append(Completeness(experiment.id, block.name, len(keys), len(there), sum(there)))
        if experiment.in_all or any(each.finished for each in found):
            rows += found
    return rows


def unplanned(records: Iterable[Record]) -> int:
    """How many records belong to no cell of a plan, in full or quick size."""
    planned = {
        cell.key
        for each in EXPERIMENTS.values()
        for quick in (False, True)
        for cell in each.cells(quick=quick)
    }
    return sum(record["key"] not in planned for record in records)
