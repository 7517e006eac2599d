"""A run on a problem of the suite: `steps` trials in all, the initial design among them.

At every tenth trial and at the end the state is judged by the truth: the regret

    recommended  of the minimiser of the posterior mean over the space
    best         of the measured point with the best posterior mean
    raw          of the point with the best measured value, which is what a tool without a model
                 reports
    own          of what a method itself recommends, if that is something else
    oracle       of the truly best point measured, which nobody can know

The model is the method's own if it is one of ceibo's; all others are judged by ceibo's.
"""

from typing import Any, Final

import numpy as np

from ceibo.decide import Evidence, Settings
from ceibo.decide.model import Model
from ceibo.gp.inputs import Array
from ceibo_lab.method import Expecting
from ceibo_lab.methods import SUITE, method
from ceibo_lab.methods.ceibo import Ceibo
from ceibo_lab.noise import NoisyProblem
from ceibo_lab.plans.suite import suite_problem
from ceibo_lab.problem import Problem
from ceibo_lab.record import Cell
from ceibo_lab.run import Run, Watch, digest, incumbent, lowest, recommended, shorten

EVERY: Final = 10
JUDGE: Final = Settings(kernel="matern52", fit="map")


def suite(cell: Cell, watch: Watch) -> dict[str, Any]:
    """The record of a whole run."""
    target = suite_problem(cell.problem, cell.seed)
    run = Run(target.space, NoisyProblem(target, cell.protocol, cell.level, cell.seed))
    entry = method(cell.method, SUITE)
    at_work = entry.start(run.space, cell.seed)
    if isinstance(at_work, Expecting):
        at_work.expect(cell.steps)
    trace: dict[str, list[Any]] = {"n": []}
    for state in run.states(at_work, cell.steps, watch):
        evidence, model, ended = state.evidence, state.model, state.t == cell.steps
        if not ended and (state.t == 0 or state.t % EVERY):
            continue
        model = at_work.model(evidence) if ended else model
        if model is None:
            model = Ceibo(run.space, cell.seed, JUDGE).model(evidence)
        places = _places(target, evidence, model, cell.seed)
        if (own := at_work.recommend(evidence)) is not None:
            places["own"] = own
        trace["n"].append(len(evidence))
        for name, place in places.items():
            trace.setdefault(name, []).append(shorten(target.regret(place)))
    evidence = run.evidence
    repeated = 1.0 - len(np.unique(evidence.X, axis=0)) / len(evidence)
    return {
        "trace": trace,
        "repeated": round(repeated, 4),
        "settings": entry.describe(),
        "digest": digest(evidence),
        "times": {
            "suggest": round(run.seconds["suggest"], 3),
            "last": round(float(np.median(run.suggesting[-EVERY:])), 5),
        },
    }


def _places(target: Problem, evidence: Evidence, model: Model, seed: int) -> dict[str, Array]:
    """Points (d,) of the unit cube that are judged, by name."""
    return {
        "recommended": recommended(model, evidence, target.space, seed).u,
        "best": incumbent(model).u,
        "raw": lowest(evidence).u,
        "oracle": evidence.X[int(np.argmin(target.at_unit(evidence.X)))],
    }
