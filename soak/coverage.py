"""Whether the truth lies where the answers say: coverage of the intervals around them.

    python -m soak.coverage                             8 seeds, some minutes
    python -m soak.coverage --folder runs --seeds 200   resumed where it was stopped

Each replication is ceibo's default on a problem of soak/coverage_cells.py. What it measured is kept
in the folder, so that statements can be compared on the same measurements: those of one fitted
model that believes every value and has one level of noise, as ceibo's were at first (`before`), and
those of today (`stated`); of the laboratory's surfaces also with the range from 0 to 100 told
(`+range`), of the same runs, as a range does not change the search. Of `best` and `recommended` it
prints how often the central 50, 80 and 95 % intervals hold the truth, and mean and standard
deviation of z = (stated − true)/std, above 0 where the answer is too good to be true; with a range
z is that of the normal variable that the range clips. An exclamation mark is at a share that is
significantly more than 10 points off (binomial test, Holm's correction over the table).

The check passes if the means over the cells of what is stated are within 5 points of the nominal
shares, those of z within 0.3 of 0, no share has a mark, and every cell has the seeds asked for.
Seeds below 100 were looked at when the statements were made.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, final

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom
from threadpoolctl import threadpool_limits

from ceibo.decide import (
    Belief,
    Estimate,
    JointBelief,
    Maximize,
    Measurement,
    Outcomes,
    Settings,
    Told,
    joint_evidence_of,
)
from ceibo.decide.model import fit_model
from ceibo.decide.statement import Statement
from ceibo.gp.inputs import Array
from ceibo_lab.compare import SIGNIFICANT, holm
from ceibo_lab.problem import Problem
from soak.coverage_cells import CELLS, SURFACES, Cell, evidence_in, gather, read

LEVELS: Final = (0.5, 0.8, 0.95)
BEFORE: Final = Settings(outliers=False, varying_noise=False)
ANSWERS: Final = ("best", "recommended")
_TOLERATED, _TOLERATED_Z, _FAR = 0.05, 0.3, 0.10
Key = tuple[str, int]  # a cell, and how many measurements


@final
@dataclass
class Tally:
    """What became of one answer in the replications of a cell."""

    z: list[float] = field(default_factory=list)
    held: list[tuple[bool, ...]] = field(default_factory=list)  # at each level

    def add(self, z: float, held: tuple[bool, ...]) -> None:
        self.z.append(z)
        self.held.append(held)

    @property
    def shares(self) -> Array:
        """(3,) of the replications whose interval held the truth."""
        return np.asarray(np.mean(self.held, axis=0))

    @property
    def p_values(self) -> list[float]:
        """That a share is within 10 points of its level, for each level."""
        n, found = len(self.held), []
        for count, level in zip(np.sum(self.held, axis=0), LEVELS, strict=True):
            below = binom.cdf(count, n, level - _FAR)
            above = binom.sf(count - 1, n, min(level + _FAR, 1.0)) if level + _FAR < 1 else 1.0
            found.append(float(min(below, above)))
        return found


Table = dict[Key, dict[str, Tally]]


def _answers(
    record: dict[str, Any], cell: Cell, met: Problem, n: int
) -> Iterator[tuple[str, str, str, float, tuple[bool, ...]]]:
    """(statement, cell, answer, z, held) of one replication after n measurements."""
    evidence = evidence_in(record, n)
    stated = Belief(evidence, met.space, Settings(), record["seed"])
    places = {name: met.space.to_unit(getattr(stated, name).params) for name in ANSWERS}
    truth = {name: float(met.at_unit(x[None, :])[0]) for name, x in places.items()}
    before = fit_model(evidence, met.space, BEFORE)
    plain = Statement(before.gp)
    for name, x in places.items():
        mean, std = (before.natural(float(part[0])) for part in plain.at(x[None, :]))
        yield ("before", cell.name, name, *_judged(mean, std, truth[name]))
        answer: Estimate = getattr(stated, name)
        yield ("stated", cell.name, name, *_judged(answer.mean, answer.std, truth[name]))
    if cell.problem not in SURFACES:
        return
    told = [
        Told(number, x, Measurement(-y, None if np.isnan(noise) else noise))
        for number, (x, y, noise) in enumerate(
            zip(evidence.X, evidence.y.tolist(), evidence.noise.tolist(), strict=True)
        )
    ]
    outcomes = Outcomes({"yield": Maximize(low=0, high=100)})
    known = joint_evidence_of(outcomes, len(met.space), {"yield": told})
    bounded = JointBelief(known, met.space, Settings(), record["seed"])
    for name in ANSWERS:
        answer = getattr(bounded, name)
        x = met.space.to_unit(answer.params)[None, :]
        true = -float(met.at_unit(x)[0])
        ends = [bounded.predictions.interval(x, "yield", level) for level in LEVELS]
        held = tuple(bool(low[0] <= true <= high[0]) for low, high in ends)
        behind = stated.at(answer.params)
        z, _ = _judged(behind.mean, behind.std, -true)
        yield "stated", f"{cell.name}+range", name, z, held


def _judged(mean: float, std: float, truth: float) -> tuple[float, tuple[bool, ...]]:
    """z, and at which levels the interval holds the truth; minimised."""
    z = (truth - mean) / std
    return z, tuple(bool(abs(z) <= ndtri(0.5 + 0.5 * level)) for level in LEVELS)


def judge(folder: Path, cells: tuple[Cell, ...], seeds: range) -> dict[str, Table]:
    """Statement -> the tallies of its cells."""
    known = {cell.name: cell for cell in cells}
    tables: dict[str, Table] = {"before": {}, "stated": {}}
    for record in read(folder):
        cell = known.get(record["cell"])
        if cell is None or record["seed"] not in seeds:
            continue
        met = cell.instance(record["seed"])
        for n in cell.looks:
            for statement, name, answer, z, held in _answers(record, cell, met, n):
                row = tables[statement].setdefault((name, n), {each: Tally() for each in ANSWERS})
                row[answer].add(z, held)
    return tables


def show(statement: str, table: Mapping[Key, Mapping[str, Tally]], seeds: int) -> bool:
    """Prints a table; whether its means and its cells are as they should be."""
    rows = sorted(table.items())
    flat = [p for _, row in rows for name in ANSWERS for p in row[name].p_values]
    marks = [p < SIGNIFICANT for p in holm(flat)]
    far = iter(marks)
    print(f"\n{statement}: coverage of 50, 80, 95 % intervals in %, mean and sd of z")
    print(f"{'cell':26}{'n':>4}{'runs':>5}" + "".join(f"   {name:30}" for name in ANSWERS))
    for (cell, n), row in rows:
        parts = []
        for name in ANSWERS:
            tally = row[name]
            shares = [f"{100 * share:4.0f}{'!' if next(far) else ' '}" for share in tally.shares]
            parts.append(f"{''.join(shares)} {np.mean(tally.z):+6.2f} {np.std(tally.z):5.2f}")
        print(f"{cell:26}{n:>4}{len(row['best'].z):>5}   " + "      ".join(parts))
    passed = not any(marks)
    if lacking := [f"{cell} {n}" for (cell, n), row in rows if len(row["best"].z) < seeds]:
        print(f"fewer than {seeds} runs: {', '.join(lacking)}")
        passed = False
    for name in ANSWERS:
        shares = np.mean([row[name].shares for row in table.values()], axis=0)
        z = float(np.mean([np.mean(row[name].z) for row in table.values()]))
        spread = float(np.mean([np.std(row[name].z) for row in table.values()]))
        print(
            f"mean over cells, {name:12}"
            + "".join(f"{100 * share:6.1f}" for share in shares)
            + f"   z {z:+.2f}, sd {spread:.2f}"
        )
        passed &= bool(np.all(np.abs(shares - LEVELS) <= _TOLERATED)) and abs(z) <= _TOLERATED_Z
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="of the records; else a temporary one")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=(), help="problems")
    parser.add_argument("--no-runs", action="store_true", help="judge what is there")
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    cells = tuple(each for each in CELLS if not options.only or each.problem in options.only)
    with TemporaryDirectory() as temporary, threadpool_limits(1):
        folder = options.folder or Path(temporary)
        if not options.no_runs:
            gather(folder, cells, seeds)
        tables = judge(folder, cells, seeds)
    show("before", tables["before"], options.seeds)
    return 0 if show("stated", tables["stated"], options.seeds) else 1


if __name__ == "__main__":
    sys.exit(main())
