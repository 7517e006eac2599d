"""Records of the compression experiments as numbers: by task, method and answer, paired by seed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo_lab.library import Library, Setting
from ceibo_lab.methods import METHODS, PAPER_SEVEN
from ceibo_lab.plans import EXPERIMENTS
from ceibo_lab.record import Record

ORDER: Final = (*PAPER_SEVEN, "random", "corrected-kg", "knowledge-gradient")


@final
@dataclass(frozen=True)
class Plan:
    """Replications meant to be run: these methods, seeds 0 … seeds − 1."""

    methods: tuple[str, ...]
    seeds: int


_COMPRESSION: Final = tuple(
    each for each in EXPERIMENTS.values() if each.blocks[0].kind == "compression"
)
PLANNED: dict[str, Plan] = {
    block.name: Plan(block.methods, block.seeds) for each in _COMPRESSION for block in each.blocks
}
PLANNED |= {
    "resnet50-separable": PLANNED["resnet50"],
    "fc3-log": Plan(PLANNED["resnet50"].methods, 10),
}
MUST: Final = ("fc3", "vgg16", "resnet50")  # tasks of the paper; the others stand beside
FEWEST_FOR_TESTS: Final = 6  # pairs: with fewer, no two-sided p can be below .05
ANSWERS: Final = {
    "recommended": "minimiser of the posterior mean",
    "best": "measured setting, best posterior mean",
    "best_observed": "lowest noisy value",
}


def setting(task: str, method: str, noise: str = "pooled") -> Setting:
    """The setting of the paper's runner that a method on a task is found under."""
    return Setting(task, method, "stored", noise, 1.0, "compression")


def runs_of(library: Library, task: str, noise: str = "pooled") -> dict[str, dict[int, Record]]:
    """Method -> seed -> record, methods in the paper's order; only those with runs.

    Of a sweep that was stopped early only the seeds that every planned method has are shown: whole
    comparisons.
    """
    found = {method: library.runs(setting(task, method, noise)) for method in ORDER}
    found = {method: runs for method, runs in found.items() if runs}
    planned = [runs.keys() for method, runs in found.items() if method in PLANNED[task].methods]
    whole = set.intersection(*map(set, planned)) if planned else set[int]()
    kept = {
        method: {seed: run for seed, run in runs.items() if seed in whole}
        for method, runs in found.items()
    }
    return {method: runs for method, runs in kept.items() if runs}


def finals(
    library: Library, task: str, method: str, answer: str, noise: str = "pooled"
) -> dict[int, float]:
    """Seed -> objective of an answer, measured again on the whole evaluation set."""
    runs = runs_of(library, task, noise).get(method, {})
    return {seed: float(run["final"][answer]["objective"]) for seed, run in runs.items()}


def missing(library: Library, task: str) -> dict[str, list[int]]:
    """Method -> seeds planned that have no record; only methods that lack any."""
    plan = PLANNED[task]
    found = {method: library.runs(setting(task, method)) for method in plan.methods}
    lacks = {
        method: [seed for seed in range(plan.seeds) if seed not in found[method]]
        for method in plan.methods
    }
    return {method: seeds for method, seeds in lacks.items() if seeds}


def lacking(library: Library, task: str) -> str:
    """What a task's records lack of what is planned, in words; empty if nothing."""
    lacks = missing(library, task)
    if not lacks:
        return ""
    plan, count = PLANNED[task], sum(map(len, lacks.values()))
    whole = plan.seeds - len(set().union(*lacks.values()))
    said = (
        f"**Incomplete: {count} of {len(plan.methods) * plan.seeds} replications have not been run;"
        f" {whole} of {plan.seeds} are there for every method.**"
    )
    few = (
        " One replication is an example: it says nothing about which method is better."
        if whole == 1
        else ""
    )
    left = "; ".join(f"{METHODS[method].label} {_ranges(seeds)}" for method, seeds in lacks.items())
    return " ".join([f"{said}{few} Seeds missing: {left}.", *finishing(task)])


def finishing(task: str) -> list[str]:
    """The command that runs what is missing, as a sentence; none for tasks beside the paper's."""
    if f"compression-{task}" not in EXPERIMENTS:
        return []
    where = "" if task.startswith("fc3") else ", on a machine with a GPU"
    return [
        f"`ceibo paper run compression-{task} --data DATA-FOLDER --data weights` runs them{where}."
    ]


def _ranges(seeds: list[int]) -> str:
    """0, 1, 2, 5 as 0–2, 5."""
    parts: list[list[int]] = []
    for seed in seeds:
        if parts and seed == parts[-1][-1] + 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    return ", ".join(f"{part[0]}–{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def mean_of(runs: Mapping[int, Record], answer: str, name: str) -> float:
    return float(np.mean([run["final"][answer][name] for run in runs.values()]))


def optimism(runs: Mapping[int, Record]) -> float:
    """How much too low the lowest noisy value is, on average.

    The same network is measured again on the whole set.
    """
    gaps = [
        run["final"]["best_observed"]["objective"] - min(run["trace"]["y"]) for run in runs.values()
    ]
    return float(np.mean(gaps))
