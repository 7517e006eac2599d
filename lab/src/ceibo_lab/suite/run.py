"""One replication on a task of the suite: `steps` trials in all, the initial design among them.

At every tenth trial and at the end the state is judged by the truth: the regret

    recommended  of the minimiser of the posterior mean over the space
    best         of the measured point with the best posterior mean
    raw          of the point with the best measured value, which is what a tool without a model
                 reports
    own          of what an outside method itself recommends, where it does
    oracle       of the truly best point measured, which nobody can know

The model is the method's own if it is one of ceibo's; all others are judged by ceibo's.
"""

import time
from typing import Any, Final

import numpy as np

from ceibo.acquisition import find_incumbent
from ceibo.decide.estimate import recommendation
from ceibo.decide.suggest import Evidence, Model, Settings, fit_model
from ceibo.gp.inputs import Array
from ceibo_lab.cells import Cell
from ceibo_lab.runs import Watch, digest, nothing_yet, rounded, with_row
from ceibo_lab.suite.methods import start
from ceibo_lab.suite.noise import NoisyTask
from ceibo_lab.suite.tasks import Task, task

EVERY: Final = 10
JUDGE: Final = Settings(kernel="matern52", fit="map")


def suite(cell: Cell, watch: Watch) -> dict[str, Any]:
    """The record of a whole run."""
    target = task(cell.problem, cell.seed)
    noisy = NoisyTask(target, cell.protocol, cell.level, cell.seed)
    method = start(cell.method, target.space, cell.seed)
    evidence = nothing_yet(len(target.space))
    trace: dict[str, list[Any]] = {"n": []}
    seconds: list[float] = []
    for n in range(cell.steps):
        watch.check()
        since = time.perf_counter()
        x, model = method.propose(evidence, n)
        seconds.append(time.perf_counter() - since)
        if n and n % EVERY == 0:
            _judge(trace, target, evidence, model, method.recommend(evidence), cell.seed)
        evidence = with_row(evidence, x, *_told(noisy, x))
    _judge(trace, target, evidence, method.model(evidence), method.recommend(evidence), cell.seed)
    repeated = 1.0 - len(np.unique(evidence.X, axis=0)) / len(evidence)
    return {
        "trace": trace,
        "repeated": round(repeated, 4),
        "settings": method.settings,
        "digest": digest(evidence),
        "times": {
            "suggest": round(sum(seconds), 3),
            "last": round(float(np.median(seconds[-EVERY:])), 5),
        },
    }


def _told(noisy: NoisyTask, x: Array) -> tuple[float, float]:
    observed = noisy.measure(x)
    return observed.y, observed.told


def _judge(
    trace: dict[str, list[Any]],
    target: Task,
    evidence: Evidence,
    model: Model | None,
    own: Array | None,
    seed: int,
) -> None:
    if model is None:
        model = fit_model(evidence, target.space, JUDGE)
    recommended = target.space.to_unit(
        recommendation(model, evidence, target.space, 1.0, seed).params
    )
    places = {
        "recommended": recommended,
        "best": find_incumbent(model.gp).x,
        "raw": evidence.X[int(np.argmin(evidence.y))],
        "oracle": evidence.X[int(np.argmin(target.truth(evidence.X)))],
    }
    if own is not None:
        places["own"] = own
    trace["n"].append(len(evidence))
    for name, place in places.items():
        trace.setdefault(name, []).append(rounded(target.regret(place)))
