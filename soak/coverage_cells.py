"""What the coverage of stated answers is measured on: problems, noise told and not told, records.

The three surfaces of a laboratory are in t (temperature), e (equivalents) and h (time), each from 0
to 1, and are yields in per cent, turned over because a problem is minimised:

    saturating   98 (1 − exp(−4t)) (1 − exp(−5e)) (1 − exp(−3h)), noise 2
    cliff        the same, times 0.3 where t > 0.8
    bound        100 / (1 + exp(−(6t + 4e + 2h − 5))), noise 1.5

A record is what one replication of a cell measured where. The answers after any number of its
measurements, by any model, follow from it without another search.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from ceibo.decide import Evidence, Settings
from ceibo.gp.inputs import Array
from ceibo_lab.methods.ceibo import Ceibo
from ceibo_lab.noise import NoisyProblem
from ceibo_lab.plans.suite import FIXED, PROBLEMS
from ceibo_lab.problem import Problem, box
from ceibo_lab.problems import problem
from ceibo_lab.problems.tables import TABLES
from ceibo_lab.run import Run, Watch, evidence_of
from soak.lines import add_line, read_lines

LEVEL: Final = 0.05  # noise of test functions, as a share of their range


def _saturating(X: Array) -> Array:
    t, e, h = X.T
    rise = (1.0 - np.exp(-4.0 * t)) * (1.0 - np.exp(-5.0 * e)) * (1.0 - np.exp(-3.0 * h))
    return np.asarray(-98.0 * rise)


def _cliff(X: Array) -> Array:
    return np.where(X[:, 0] > 0.8, 0.3, 1.0) * _saturating(X)


def _bound(X: Array) -> Array:
    return np.asarray(-100.0 / (1.0 + np.exp(5.0 - X @ np.array([6.0, 4.0, 2.0]))))


def _surface(name: str) -> Problem:
    # noise levels of these are in per cent yield, hence a range of 1
    function, top = {
        "saturating": (_saturating, (1.0, 1.0, 1.0)),
        "cliff": (_cliff, (0.8, 1.0, 1.0)),
        "bound": (_bound, (1.0, 1.0, 1.0)),
    }[name]
    best = np.array([top])
    return Problem(name, *box(0, 1, 3), function, best, float(function(best)[0]), 1.0)


SURFACES: Final = {"saturating": 2.0, "cliff": 2.0, "bound": 1.5}  # name -> noise


@final
@dataclass(frozen=True, order=True)
class Cell:
    """A problem, whether its noise is told, and after how many measurements one looks."""

    problem: str
    told: bool
    looks: tuple[int, ...] = (24, 60)

    @property
    def name(self) -> str:
        return f"{self.problem}-{'told' if self.told else 'untold'}"

    def instance(self, seed: int) -> Problem:
        """The problem as replication `seed` meets it."""
        if self.problem in SURFACES:
            return _surface(self.problem)
        return problem(self.problem, "plain" if self.problem in FIXED else "shifted", seed)

    def measure(self, seed: int) -> dict[str, Any]:
        """The record of one replication: ceibo's default, from the first measurement on."""
        met = self.instance(seed)
        if self.problem in TABLES:
            protocol = "measured" if self.told else "measured-untold"
        else:
            protocol = "homoscedastic" if self.told else "homoscedastic-untold"
        level = 1.0 if protocol.startswith("measured") else SURFACES.get(self.problem, LEVEL)
        if self.problem.startswith("draw"):
            level = 2.0 * LEVEL  # of six standard deviations
        run = Run(met.space, NoisyProblem(met, protocol, level, seed, self.name))
        method = Ceibo(met.space, seed, Settings())
        *_, last = run.states(method, self.looks[-1], Watch())
        known = last.evidence
        arrays = {"X": known.X, "y": known.y, "noise": known.noise}
        return {"cell": self.name, "seed": seed} | {k: v.tolist() for k, v in arrays.items()}


# looked at once more, after 100 measurements
LONGER: Final = ("hartmann-6", "saturating", "rosenbrock")
CELLS: Final = tuple(
    Cell(name, told, (24, 60, 100) if name in LONGER else (24, 60))
    for name in (*SURFACES, *PROBLEMS)
    for told in (True, False)
)


def evidence_in(record: dict[str, Any], measurements: int) -> Evidence:
    """What a record's first so many measurements say."""
    parts = (np.array(record[name], dtype=float)[:measurements] for name in ("X", "y", "noise"))
    return evidence_of(*parts)


def gather(folder: Path, cells: tuple[Cell, ...], seeds: range) -> None:
    """Measures what is not there yet, seed by seed; a line per replication, each written whole."""
    folder.mkdir(parents=True, exist_ok=True)
    long_enough = {cell.name: cell.looks[-1] for cell in cells}
    there = {
        (record["cell"], record["seed"])
        for record in read(folder)
        if len(record["y"]) >= long_enough.get(record["cell"], 0)
    }
    for seed in seeds:
        for cell in cells:
            if (cell.name, seed) not in there:
                add_line(folder / f"{cell.name}.jsonl", cell.measure(seed))


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """The records of a folder, of each cell and seed the longest."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for record in read_lines(path):
            key = record["cell"], record["seed"]
            if key not in found or len(record["y"]) > len(found[key]["y"]):
                found[key] = record
    yield from found.values()
