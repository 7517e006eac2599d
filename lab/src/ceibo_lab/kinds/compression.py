"""A search for the ranks of a network.

A cell's problem is a task, its variant how weights are counted, its protocol what is told of the
noise, its level γ; its steps come after the random design. The best so far is kept three ways: the
lowest noisy value (as the paper), the measured setting with the best posterior mean, and the
minimiser of the posterior mean; the latter two are measured again on the whole evaluation set,
every few steps and at the end, which the search never sees.
"""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from ceibo.errors import InputError
from ceibo_lab.kinds.benchmark import JUDGE
from ceibo_lab.methods import method
from ceibo_lab.methods.ceibo import Ceibo
from ceibo_lab.plans.compression import INITIAL
from ceibo_lab.problems.networks import tasks
from ceibo_lab.problems.networks.objective import NoisyNetwork, Objective
from ceibo_lab.problems.networks.tasks import Task
from ceibo_lab.record import Cell
from ceibo_lab.run import Place, Run, Watch, digest, incumbent, lowest, recommended, row_of

CHECK_EVERY: Final = {"fc3": 15}  # steps between two measurements on the whole set
CHECK_OTHERS: Final = 30  # likewise where that is slow
FOLDERS: Final = "CEIBO_COMPRESSION_DATA"  # environment: folders with data and weights
DEVICE: Final = "CEIBO_COMPRESSION_DEVICE"  # environment: "cpu", "cuda"; a GPU if there is one


def compression(cell: Cell, watch: Watch) -> dict[str, Any]:
    """A search on the task's data and weights, from the folders in the environment."""
    return search(_task(cell.problem, *_sources(cell.problem)), cell, watch)


def require_files(names: Iterable[str]) -> None:
    """Raises an error that says what is missing of the data and weights of these tasks."""
    for name in names:
        folders, _ = _sources(name)
        tasks.find_files(name, _places(folders))


def _sources(name: str) -> tuple[str, str]:
    device = os.environ.get(DEVICE) or ("cuda" if torch.cuda.is_available() else "cpu")
    needs = tasks.blueprint(name).needs
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
    if device != "cpu":  # the same each time; the evaluator says what is computed in TF32
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.deterministic = True
    return tasks.load_task(name, _places(folders), device)


def search(task: Task, cell: Cell, watch: Watch) -> dict[str, Any]:
    """A whole search on a task: what a record says of it."""
    objective = Objective(task, cell.seed, cell.level, cell.variant)
    noisy, truth = NoisyNetwork(objective, cell.protocol, INITIAL), objective.as_problem()
    run = Run(truth.space, noisy)
    for u in tasks.random_design(task, cell.seed, INITIAL):
        run.measure(u)
    entry, judge = method(cell.method), Ceibo(run.space, cell.seed, JUDGE)
    at_work = entry.start(run.space, cell.seed)
    checks: dict[str, list[Any]] = {"evaluations": [], "best": [], "recommended": []}
    best: list[int | None] = []
    every = CHECK_EVERY.get(task.name, CHECK_OTHERS)
    for state in run.states(at_work, cell.steps, watch, ask_last=True):
        evidence, model = state.evidence, state.model
        checked = state.t % every == 0 or state.t == cell.steps
        if model is None and checked:
            model = judge.refit(evidence)
        best.append(None if model is None else row_of(evidence, incumbent(model).u))
        if model is None or not checked:
            continue
        answers = {
            "recommended": recommended(model, evidence, run.space, cell.seed),
            "best": incumbent(model),
        }
        checks["evaluations"].append(len(evidence))
        for name, place in answers.items():
            checks[name].append(round(float(truth.at_unit(place.u[None, :])[0]), 6))
    answers["best_observed"] = lowest(evidence)
    return {
        "trace": _trace(run, noisy, best) | {"checks": checks},
        "final": {name: _describe(task, cell, place) for name, place in answers.items()},
        "uncompressed": _uncompressed(task, cell.level),
        "task": task.about,
        "settings": {
            **entry.describe(),
            "torch": torch.__version__,
            "initial": f"{INITIAL} uniform random points",
            "check_every": every,
            "device": task.evaluator.inputs.device.type,
        },
        "digest": digest(evidence),
        "times": {name: round(seconds, 3) for name, seconds in run.seconds.items()},
    }


def _trace(run: Run, noisy: NoisyNetwork, best: list[int | None]) -> dict[str, Any]:
    y = noisy.values
    return {
        "u": [[round(float(v), 5) for v in u] for u in run.points],
        "n": [sample.n for sample in noisy.samples],
        "wrong": [sample.wrong for sample in noisy.samples],
        "ratio": [round(sample.ratio, 6) for sample in noisy.samples],
        "y": [round(float(value), 6) for value in y],
        "best_observed": [round(float(value), 6) for value in np.minimum.accumulate(y)],
        "best": best,
    }


def _describe(task: Task, cell: Cell, place: Place) -> dict[str, Any]:
    """A setting measured again on the whole evaluation set, by the thin layers themselves."""
    ranks = task.ranks(place.u)
    error = task.evaluator.whole_factored(ranks)
    size = task.compressible.size_ratio(ranks, cell.variant)
    return {
        "theta": [round(float(v), 6) for v in task.theta(place.u)],
        "ranks": list(ranks.values()),
        "error": error,
        "size_ratio": size,
        "reference_ratio": task.compressible.size_ratio(ranks, "reference"),
        "network_ratio": task.compressible.network_ratio(ranks),
        "objective": cell.level * error + size,
        "believed": place.mean,
        "believed_std": place.std,
    }


def _uncompressed(task: Task, gamma: float) -> dict[str, Any]:
    error = task.evaluator.uncompressed
    parameters = sum(p.numel() for p in task.compressible.network.parameters())
    return {
        "error": error,
        "objective": gamma * error + 1.0,
        "layer_weights": task.compressible.layer_weights,
        "parameters": parameters,
    }
