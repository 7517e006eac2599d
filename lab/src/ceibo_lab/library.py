"""Records, found by what they are about; pairs of them, matched by seed."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import final

from ceibo_lab.record import Cell, Record


@final
@dataclass(frozen=True, order=True)
class Setting:
    """What replications have in common: a cell without its seed and number of steps."""

    problem: str
    method: str
    variant: str = "plain"
    protocol: str = "heteroscedastic"
    level: float = 0.10
    kind: str = "optimise"

    def by(self, method: str) -> "Setting":
        """The same setting with another method."""
        return replace(self, method=method)


def setting_of(record: Record) -> Setting:
    """The setting of a record."""
    cell = Cell.from_json(record["cell"])
    level = _level(cell.level)
    return Setting(cell.problem, cell.method, cell.variant, cell.protocol, level, cell.kind)


@final
class Library:
    """Finished records. Where a setting has runs of several lengths, the longest stand."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._runs: dict[Setting, dict[int, dict[int, Record]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        for record in records:
            cell = record["cell"]
            self._runs[setting_of(record)][cell["steps"]][cell["seed"]] = record

    @property
    def cases(self) -> list[Setting]:
        """The settings there are runs of, whatever the method."""
        return list(dict.fromkeys(setting.by("") for setting in self._runs))

    def runs(self, setting: Setting) -> dict[int, Record]:
        """Seed -> record, of the longest runs of a setting; empty if there are none."""
        lengths = self._runs.get(replace(setting, level=_level(setting.level)), {})
        return dict(sorted(lengths[max(lengths)].items())) if lengths else {}

    def record(self, cell: Cell) -> Record | None:
        """The record of one cell; None if there is none."""
        setting = Setting(
            cell.problem, cell.method, cell.variant, cell.protocol, _level(cell.level), cell.kind
        )
        return self._runs.get(setting, {}).get(cell.steps, {}).get(cell.seed)

    def pairs(self, first: Setting, second: Setting) -> list[tuple[Record, Record]]:
        """Records of two settings with the same seed and number of steps, in order of seeds."""
        one = self._runs.get(replace(first, level=_level(first.level)), {})
        two = self._runs.get(replace(second, level=_level(second.level)), {})
        for steps in sorted(set(one) & set(two), reverse=True):
            if seeds := sorted(set(one[steps]) & set(two[steps])):
                return [(one[steps][seed], two[steps][seed]) for seed in seeds]
        return []

    def alike(self, setting: Setting, methods: Collection[str]) -> dict[str, dict[int, Record]]:
        """Method -> its runs in the setting, of the seeds that all of `methods` with runs have."""
        found = {name: self.runs(setting.by(name)) for name in self.methods(setting)}
        compared = [set(runs) for name, runs in found.items() if name in methods]
        if not compared:
            return found
        seeds = set.intersection(*compared)
        kept = {
            name: {seed: run for seed, run in runs.items() if seed in seeds}
            for name, runs in found.items()
        }
        return {name: runs for name, runs in kept.items() if runs}

    def methods(self, setting: Setting) -> list[str]:
        """Methods with runs in the setting, whatever its own method is."""
        return sorted({found.method for found in self._runs if found.by(setting.method) == setting})

    def describe(self, setting: Setting) -> str:
        """How many replications of which length there are: "n = 15, T = 150"."""
        runs = self.runs(setting)
        steps = {record["cell"]["steps"] for record in runs.values()}
        return f"n = {len(runs)}, T = {max(steps)}" if runs else "no runs"


def _level(level: float) -> float:
    return round(level, 6)
