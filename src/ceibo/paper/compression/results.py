"""Records of the compression experiments as numbers: by task, method and answer, paired by seed."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from ceibo.paper.compression.tasks import TASKS
from ceibo.paper.library import Library, Setting
from ceibo.paper.methods import PAPER_SEVEN
from ceibo.paper.records import Record
from ceibo.paper.statistics import Comparison, compare

ORDER: Final = (*PAPER_SEVEN, "random", "corrected-kg", "knowledge-gradient")
TITLES: Final = {name: plan.title for name, plan in TASKS.items()}
ANSWERS: Final = {
    "recommended": "minimiser of the posterior mean",
    "best": "measured setting, best posterior mean",
    "best_observed": "lowest noisy value",
}


def setting(task: str, method: str, noise: str = "pooled") -> Setting:
    """The setting of the paper's runner that a method on a task is found under."""
    return Setting(task, method, "stored", noise, 1.0, "compression")


def runs_of(library: Library, task: str, noise: str = "pooled") -> dict[str, dict[int, Record]]:
    """Method -> seed -> record, methods in the paper's order; only those with runs."""
    found = {method: library.runs(setting(task, method, noise)) for method in ORDER}
    return {method: runs for method, runs in found.items() if runs}


def finals(library: Library, task: str, method: str, answer: str, noise: str = "pooled") -> dict[int, float]:
    """Seed -> objective of an answer, measured again on the whole evaluation set."""
    runs = library.runs(setting(task, method, noise))
    return {seed: float(run["final"][answer]["objective"]) for seed, run in runs.items()}


def paired(first: Mapping[int, float], second: Mapping[int, float]) -> Comparison:
    """Of the seeds that both have: below means that the first is better."""
    seeds = sorted(first.keys() & second.keys())
    return compare([first[seed] for seed in seeds], [second[seed] for seed in seeds])


def mean_of(runs: Mapping[int, Record], answer: str, name: str) -> float:
    return float(np.mean([run["final"][answer][name] for run in runs.values()]))


def optimism(runs: Mapping[int, Record]) -> float:
    """How much lower the lowest noisy value is, on average, than what the same network has on the whole set."""
    gaps = [run["final"]["best_observed"]["objective"] - min(run["trace"]["y"]) for run in runs.values()]
    return float(np.mean(gaps))
