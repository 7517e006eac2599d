"""A run of the paper's benchmark: an initial design that all methods share, then `steps` points.

At each state the measured point with the best posterior mean is written down; every few steps the
minimiser of the posterior mean is searched for. The model is the method's own; for methods without
one of ceibo's it is ceibo's maximum likelihood fit to the same data.
"""

from typing import Any, Final

import numpy as np

from ceibo.decide.model import Model
from ceibo.decide.settings import Settings
from ceibo.decide.suggest import initial_point
from ceibo_lab.methods import method
from ceibo_lab.methods.ceibo import KERNEL, Ceibo
from ceibo_lab.noise import NoisyProblem
from ceibo_lab.problems import problem
from ceibo_lab.record import Cell
from ceibo_lab.run import Run, Watch, digest, incumbent, recommended, row_of, shorten, shorten_all

RECOMMEND_EVERY: Final = 10  # steps between two searches for the minimiser of the posterior mean
# Of the model that answers for methods which have none.
JUDGE: Final = Settings(kernel=KERNEL, fit="ml", outliers=False)


def initial_size(dimension: int) -> int:
    """Points of the initial design: three per dimension, as in the paper."""
    return 3 * dimension


def begin(cell: Cell) -> tuple[Run, NoisyProblem]:
    """The initial design, measured: the same points and the same noise for every method."""
    target = problem(cell.problem, cell.variant, cell.seed)
    noisy = NoisyProblem(target, cell.protocol, cell.level, cell.seed)
    run = Run(target.space, noisy)
    for number in range(initial_size(target.dimension)):
        run.measure(initial_point(target.dimension, cell.seed, number))
    return run, noisy


def optimise_run(cell: Cell, watch: Watch) -> tuple[Run, NoisyProblem, Model, dict[str, Any]]:
    """The run itself with its last model, and what was seen at each state t = 0 … steps."""
    run, noisy = begin(cell)
    target, space = noisy.problem, run.space
    judge = Ceibo(space, cell.seed, JUDGE)
    best: list[int] = []
    values: list[float | None] = []
    reach: list[float | None] = []
    answers: dict[str, list[Any]] = {"t": [], "regret": [], "distance": []}
    at_work = method(cell.method).start(space, cell.seed)
    for state in run.states(at_work, cell.steps, watch, ask_last=True):
        t, evidence, proposal = state
        model = state.model or judge.refit(evidence)
        at = incumbent(model).u
        best.append(row_of(evidence, at))
        values.append(None if state.value is None else shorten(float(state.value)))
        if t % RECOMMEND_EVERY == 0 or t == cell.steps:
            x = target.from_unit(recommended(model, evidence, space, cell.seed).u)[None, :]
            answers["t"].append(t)
            answers["regret"].append(shorten(float(target(x)[0]) - target.minimum))
            answers["distance"].append(shorten(float(target.distance(x)[0])))
        if t < cell.steps and proposal is not None:
            distance = float(np.linalg.norm(proposal.x - at) / np.sqrt(len(at)))
            reach.append(shorten(distance, 3))
    trace = {"best": best, "value": values, "reach": reach, "recommended": answers}
    return run, noisy, model, trace


def optimise(cell: Cell, watch: Watch) -> dict[str, Any]:
    """A whole optimisation."""
    run, noisy, _, trace = optimise_run(cell, watch)
    target, evidence = noisy.problem, run.evidence
    points = target.from_unit(evidence.X)
    trace["regret"] = shorten_all(np.array(noisy.f) - target.minimum)
    trace["distance"] = shorten_all(target.distance(points), 4)
    if target.active is not None:
        trace["distance_active"] = shorten_all(target.distance(points, active_only=True), 4)
    times = {"suggest": round(run.seconds["suggest"], 3)}
    return {"trace": trace, "digest": digest(evidence), "times": times}
