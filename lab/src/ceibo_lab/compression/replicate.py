"""One replication of a compression experiment: a cell of the paper's runner -> what goes into its
record.

A cell's problem is a task, its variant how weights are counted, its protocol what is told of the
noise, its level γ; its steps come after the random design. The best so far is kept three ways: the
lowest noisy value (as the paper), the measured setting with the best posterior mean, and the
minimiser of the posterior mean; the latter two are measured again on the whole evaluation set,
every few steps and at the end, which the search never sees.
"""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, final

import numpy as np
import torch

from ceibo.acquisition import find_incumbent
from ceibo.decide.estimate import incumbent, recommendation
from ceibo.decide.suggest import Evidence, Model
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo_lab import methods
from ceibo_lab.cells import Cell
from ceibo_lab.compression.objective import Objective, Sample, told_noise
from ceibo_lab.compression.tasks import Task, blueprint, find_files, load_task, random_design
from ceibo_lab.runs import Watch, digest

INITIAL: Final = 30  # random evaluations at first
EVALUATIONS: Final = 300  # in all
CHECK_EVERY: Final = {"fc3": 15}  # steps between two measurements on the whole set
CHECK_OTHERS: Final = 30  # likewise where that is slow
FOLDERS: Final = "CEIBO_COMPRESSION_DATA"  # environment: folders with data and weights
DEVICE: Final = "CEIBO_COMPRESSION_DEVICE"  # environment: "cpu", "cuda"; a GPU if there is one


def cell_of(
    task: str, method: str, seed: int, evaluations: int = EVALUATIONS, noise: str = "pooled"
) -> Cell:
    """The cell of a replication with γ = 1 and weights counted as stored."""
    if evaluations <= INITIAL:
        raise InputError(
            f"evaluations must be more than the {INITIAL} of the random design, got"
            f" {evaluations!r}."
        )
    return Cell("compression", task, "stored", noise, 1.0, method, seed, evaluations - INITIAL)


def compression(cell: Cell, watch: Watch) -> dict[str, Any]:
    """A kind of replication for ceibo_lab.kinds: the task's data come from the folders in the
    environment.
    """
    return replicate(_task(cell.problem, *_sources(cell.problem)), cell, watch)


def require(names: Iterable[str]) -> None:
    """An error that says what is missing, if it is, of the data and weights of these tasks."""
    for name in names:
        folders, _ = _sources(name)
        find_files(name, _places(folders))


def _sources(name: str) -> tuple[str, str]:
    device = os.environ.get(DEVICE) or ("cuda" if torch.cuda.is_available() else "cpu")
    needs = blueprint(name).needs
    if needs and not os.environ.get(FOLDERS):
        raise InputError(
            f"the compression experiments need data and weights, {name}:"
            f" {', '.join(need.what for need in needs)}; name the folders that hold them with"
            f" --data, or in {FOLDERS}, separated by {os.pathsep!r}."
        )
    return os.environ.get(FOLDERS, ""), device


def _places(folders: str) -> list[Path]:
    return [Path(place) for place in folders.split(os.pathsep) if place]


@cache
def _task(name: str, folders: str, device: str) -> Task:
    torch.set_num_threads(1)
    if device != "cpu":  # rounding like a CPU's, and the same each time
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.deterministic = True
    return load_task(name, _places(folders), device)


@final
@dataclass(eq=False)
class Search:
    """A search under way: points and what was seen there, whole-set values already known, times."""

    task: Task
    cell: Cell
    objective: Objective
    points: list[Array] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    known: dict[bytes, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)  # by what they were spent on

    def measure(self, u: Array) -> None:
        with self.timed("evaluate"):
            self.samples.append(self.objective.sample(u, len(self.samples)))
        self.points.append(u)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Adds the seconds inside, and those of the processor, which a busy machine does not
        stretch.
        """
        clocks = {what: time.perf_counter, f"{what}_cpu": time.process_time}
        since = {name: clock() for name, clock in clocks.items()}
        yield
        for name, clock in clocks.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + clock() - since[name]

    @property
    def evidence(self) -> Evidence:
        """What the model may know: noise is told once the random design is complete."""
        n = len(self.samples)
        none = np.empty((0, self.task.dimension))
        y = np.array([sample.value(self.cell.level) for sample in self.samples])
        noise = told_noise(self.samples, self.cell.protocol, self.cell.level, INITIAL)
        return Evidence(np.array(self.points), y, noise, np.arange(n), none, none, n)

    def whole(self, u: Array) -> float:
        """The objective on the whole evaluation set; each setting of ranks is measured once."""
        key = repr(sorted(self.task.ranks(u).items())).encode()
        if key not in self.known:
            self.known[key] = self.objective.whole(u)
        return self.known[key]


def replicate(task: Task, cell: Cell, watch: Watch | None = None) -> dict[str, Any]:
    """A whole search on a task: what a record says of it."""
    watch = watch or Watch()
    objective = Objective(task, cell.seed, cell.level, cell.variant)
    search = Search(task, cell, objective)
    for u in random_design(task, cell.seed, INITIAL):
        search.measure(u)
    method = methods.method(cell.method)
    propose = method.start(task.dimension, cell.seed)
    checks: dict[str, list[Any]] = {"evaluations": [], "best": [], "recommended": []}
    best: list[int | None] = []
    every = CHECK_EVERY.get(task.name, CHECK_OTHERS)
    judged: Model | None = None
    for t in range(cell.steps + 1):
        watch.check()
        with search.timed("suggest"):
            evidence = search.evidence
            proposal = (
                propose(evidence, len(evidence)) if t < cell.steps or judged is None else None
            )
        checked = t % every == 0 or t == cell.steps
        model = None if proposal is None else proposal.model
        if model is None and checked:
            model = judged = methods.judge(evidence, judged)
        best.append(None if model is None else _row(model, evidence))
        if model is not None and checked:
            places = answers(model, evidence, cell.seed)
            checks["evaluations"].append(len(evidence))
            for name in ("best", "recommended"):
                checks[name].append(round(search.whole(places[name][0]), 6))
        if t < cell.steps and proposal is not None:
            search.measure(proposal.x)
    return {
        "trace": _trace(search, best, checks),
        "final": {name: _described(search, *place) for name, place in places.items()},
        "uncompressed": _uncompressed(task, cell.level),
        "task": task.about,
        "settings": {
            **method.settings,
            "initial": f"{INITIAL} uniform random points",
            "check_every": every,
            "device": task.evaluator.inputs.device.type,
        },
        "digest": digest(search.evidence),
        "times": {name: round(seconds, 3) for name, seconds in search.seconds.items()},
    }


# point of the unit cube, posterior mean and standard deviation there
Place = tuple[Array, float | None, float | None]


def answers(model: Model, evidence: Evidence, seed: int) -> dict[str, Place]:
    """What a search would answer now: minimiser of the posterior mean, best measured setting,
    lowest noisy value.
    """
    space = methods.unit_space(evidence.X.shape[1])
    found = {
        "recommended": recommendation(model, evidence, space, 1.0, seed),
        "best": incumbent(model, space, 1.0)[1],
    }
    places: dict[str, Place] = {
        name: (space.to_unit(e.params), e.mean, e.std) for name, e in found.items()
    }
    return places | {"best_observed": (evidence.X[int(np.argmin(evidence.y))], None, None)}


def _row(model: Model, evidence: Evidence) -> int:
    """Of the measured setting with the best posterior mean; the first of repeats."""
    x = find_incumbent(model.gp).x
    return int(np.argmin(np.sum((evidence.X - x) ** 2, axis=1)))


def _trace(search: Search, best: list[int | None], checks: dict[str, list[Any]]) -> dict[str, Any]:
    y = search.evidence.y
    return {
        "u": [[round(float(v), 5) for v in u] for u in search.points],
        "n": [sample.n for sample in search.samples],
        "wrong": [sample.wrong for sample in search.samples],
        "ratio": [round(sample.ratio, 6) for sample in search.samples],
        "y": [round(float(value), 6) for value in y],
        "best_observed": [round(float(value), 6) for value in np.minimum.accumulate(y)],
        "best": best,
        "checks": checks,
    }


def _described(search: Search, u: Array, mean: float | None, std: float | None) -> dict[str, Any]:
    """A setting measured again on the whole evaluation set, by the thin layers themselves."""
    task, gamma = search.task, search.cell.level
    ranks = task.ranks(u)
    error = task.evaluator.whole_factored(ranks)
    size = task.compressible.size_ratio(ranks, search.cell.variant)
    return {
        "theta": [round(float(v), 6) for v in task.theta(u)],
        "ranks": list(ranks.values()),
        "error": error,
        "size_ratio": size,
        "reference_ratio": task.compressible.size_ratio(ranks, "reference"),
        "network_ratio": task.compressible.network_ratio(ranks),
        "objective": gamma * error + size,
        "believed": mean,
        "believed_std": std,
    }


def _uncompressed(task: Task, gamma: float) -> dict[str, Any]:
    error = task.evaluator.uncompressed
    weights = task.compressible.layer_weights
    parameters = sum(p.numel() for p in task.compressible.network.parameters())
    return {
        "error": error,
        "objective": gamma * error + 1.0,
        "layer_weights": weights,
        "parameters": parameters,
    }
