"""A last look: what the end of a budget is worth in the answer rather than in the search.

Sixty trials with noise that nobody told on four problems of the suite, of which none, the last
fifth or the last 30 % are chosen by the knowledge gradient (`confirm`). What is compared, seed by
seed, is the logarithm (base 10) of the regret of `best` and of `recommended`: below zero, the last
look was worth it. Runs of one seed share their beginning and their noise, whose standard deviation
is a share (`--level`) of the problem's range; the suite's own shares are large, 25, 10, 25 and 2 %.

    python -m soak.last_look FOLDER --seeds 20 --minutes 25
    python -m soak.last_look FOLDER --seeds 0       the figures of what is recorded there

Records go into FOLDER as they are made, and what is recorded is not run again. Seeds from 60 on
belong to the locked half and are refused.
"""

import argparse
import copy
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from ceibo.decide import Settings
from ceibo.decide.model import Model, fit_model
from ceibo.decide.suggest import suggest
from ceibo.gp import Hyperparameters
from ceibo_lab.compare import compare, holm
from ceibo_lab.noise import NoisyProblem
from ceibo_lab.plans.suite import noises, suite_problem
from ceibo_lab.problems import NAMES
from ceibo_lab.run import Run, incumbent, recommended

PROBLEMS: Final = ("hartmann-6", "ackley", "levy", "rosenbrock")
PROTOCOL: Final = "homoscedastic-untold"
TRIALS: Final = 60
SHARES: Final = (0.3, 0.2, 0.0)
LOCKED_FROM: Final = 60
ANSWERS: Final = ("best", "recommended")
LEAST: Final = 1e-9  # regret below which nothing is told apart
Key = tuple[str, int, float]


@final
@dataclass(eq=False)
class Search:
    """One run, which can be copied on its way."""

    run: Run
    seed: int
    settings: Settings = field(default_factory=Settings)
    previous: Model | None = None

    def go_on(self, until: int, confirm: bool) -> None:
        """Measures until there are so many trials."""
        while len(self.run.points) < until:
            number, space = len(self.run.points), self.run.space
            about = self.run.evidence, space, self.settings, self.start, self.seed, number
            found = suggest(*about, confirm=confirm)
            self.previous = found.model or self.previous
            self.run.measure(found.x)

    @property
    def start(self) -> Hyperparameters | None:
        """From which the next fit starts too."""
        return None if self.previous is None else self.previous.fit.hyperparameters

    def regrets(self) -> dict[str, float]:
        """The regrets of the two answers, as log10."""
        problem, evidence = self.run.measuring.problem, self.run.evidence  # type: ignore[attr-defined]  # a NoisyProblem
        model = fit_model(evidence, self.run.space, self.settings, self.start)
        places = incumbent(model), recommended(model, evidence, self.run.space, self.seed)
        values = (max(problem.regret(place.u), LEAST) for place in places)
        return {name: float(np.log10(value)) for name, value in zip(ANSWERS, values, strict=True)}


def replicate(name: str, seed: int, level: float) -> list[dict[str, Any]]:
    """The records of one seed of a problem, one for each share."""
    target = suite_problem(name, seed)
    search = Search(Run(target.space, NoisyProblem(target, PROTOCOL, level, seed)), seed)
    records = []
    for share in SHARES:  # the largest first: they share what comes before
        search.go_on(TRIALS - round(share * TRIALS), confirm=False)
        ending = copy.deepcopy(search)
        ending.go_on(TRIALS, confirm=True)
        where = {"problem": name, "seed": seed, "share": share, "level": level}
        records.append({**where, **ending.regrets()})
    return records


def read(file: Path) -> dict[Key, dict[str, Any]]:
    """What is recorded; a line that an interruption cut off does not count."""
    found: dict[Key, dict[str, Any]] = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        found[record["problem"], record["seed"], record["share"]] = record
    return found


def differences(records: dict[Key, dict[str, Any]], share: float, answer: str) -> dict[Key, float]:
    """(problem, seed) -> log10 regret with a last look less that without."""
    found = {}
    for (name, seed, each), record in records.items():
        plain = records.get((name, seed, 0.0))
        if each == share and plain is not None:
            found[name, seed, share] = record[answer] - plain[answer]
    return found


def show(records: dict[Key, dict[str, Any]]) -> None:
    """Prints the table; p values are Wilcoxon's, Holm's correction is over all of its rows."""
    rows = []
    for share in SHARES[:-1]:
        for answer in ANSWERS:
            every = differences(records, share, answer)
            for name in ("all", *PROBLEMS):
                gaps = np.array([gap for key, gap in every.items() if name in ("all", key[0])])
                if len(gaps) > 1:
                    rows.append((share, answer, name, gaps, compare(gaps, np.zeros_like(gaps))))
    corrected = holm([found.p for *_, found in rows])
    print(f"{'last':>5} {'answer':<12}{'problem':<14}{'runs':>5}{'log10 regret':>18}", end="")
    print(f"{'median':>9}{'better':>8}{'worse':>7}{'p':>8}{'Holm':>8}")
    for (share, answer, name, gaps, found), p in zip(rows, corrected, strict=True):
        error = float(np.std(gaps, ddof=1) / np.sqrt(len(gaps)))
        mean = f"{np.mean(gaps):+.3f} ± {error:.3f}"
        print(f"{share:>5.0%} {answer:<12}{NAMES.get(name, name):<14}{len(gaps):>5}", end="")
        print(f"{mean:>18}{found.median:>+9.3f}{found.below:>8}{found.above:>7}", end="")
        print(f"{found.p:>8.3f}{p:>8.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no run after so many")
    parser.add_argument("--level", type=float, help="of the noise; by default the suite's own")
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    if seeds.stop > LOCKED_FROM or seeds.start < 0:
        parser.error(f"seeds from {LOCKED_FROM} on belong to the locked half")
    options.folder.mkdir(parents=True, exist_ok=True)
    usual = "" if options.level is None else f"_{options.level:g}"
    file = options.folder / f"last_look{usual}.jsonl"
    deadline = time.monotonic() + 60 * options.minutes
    records = read(file)
    for seed in seeds:
        for name in PROBLEMS:
            known = all((name, seed, share) in records for share in SHARES)
            if known or time.monotonic() > deadline:
                continue
            level = noises(name)[0][1] if options.level is None else options.level
            made = replicate(name, seed, level)
            with file.open("a") as stream:
                stream.writelines(f"{json.dumps(record)}\n" for record in made)
            records |= {(name, seed, record["share"]): record for record in made}
    show(records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
