"""Runs on problems of several outcomes: `steps` trials in all, the initial design among them.

    limits  one goal under limits; at the end the method's answers are judged by the truth
    starts  the same from a design without a truly feasible point, until the first is measured
    fronts  several goals; at the end the reported front is judged by the truth

A record keeps every trial: its point, what was measured, the true goals, and whether all limits
truly hold. Trials are counted from 0 on.
"""

from typing import Any, Final

import numpy as np

from ceibo_lab.methods.outcomes import outcome_method
from ceibo_lab.methods.outcomes.raw import raw_front
from ceibo_lab.outcomes import INITIAL, Answer, OutcomeMethod, OutcomeRun, initial_design
from ceibo_lab.problems.outcomes import outcome_problem
from ceibo_lab.problems.outcomes.problem import OutcomeProblem
from ceibo_lab.record import Cell
from ceibo_lab.run import Watch, shorten, shorten_all

_EXACT: Final = 10  # digits kept of points, so that the truth there can be found again
_LAST: Final = 10  # suggestions whose median time is recorded


def limits(cell: Cell, watch: Watch) -> dict[str, Any]:
    """The record of a run with one goal."""
    run, method = _begin(cell)
    for _ in range(len(run.points), cell.steps):
        run.step(method, watch)
    answers = method.answers(run.measured)
    judged = {name: _judge(run.problem, answer) for name, answer in answers.items()}
    return {"answers": judged, **_describe(run, cell)}


def starts(cell: Cell, watch: Watch) -> dict[str, Any]:
    """The record of a run that ends with the first truly feasible point."""
    run, method = _begin(cell, feasible=False)
    while len(run.points) < cell.steps and run.first_feasible is None:
        run.step(method, watch)
    return _describe(run, cell)


def fronts(cell: Cell, watch: Watch) -> dict[str, Any]:
    """The record of a run with several goals."""
    run, method = _begin(cell)
    for _ in range(len(run.points), cell.steps):
        run.step(method, watch)
    front = method.front(run.measured)
    volumes = {
        **_volumes(run.problem, front),
        "raw": _volumes(run.problem, raw_front(run.measured)),
        "oracle": shorten(run.problem.hypervolume(run.truth)),
    }
    judged = [_judge(run.problem, answer) for answer in front]
    return {"front": judged, "hypervolume": volumes, **_describe(run, cell)}


def _begin(cell: Cell, feasible: bool = True) -> tuple[OutcomeRun, OutcomeMethod]:
    """A run that has measured its initial design, and the method that goes on."""
    problem = outcome_problem(cell.problem)
    run = OutcomeRun.begin(problem, cell.protocol, cell.level, cell.seed)
    for u in initial_design(problem, cell.seed, min(INITIAL, cell.steps), feasible):
        run.measure(u)
    return run, outcome_method(cell.method).start(problem, cell.seed)


def _judge(problem: OutcomeProblem, answer: Answer) -> dict[str, Any]:
    """What a method says of a setting, and the truth there."""
    truth = problem.at_unit(answer.x[None, :])
    found: dict[str, Any] = {
        "x": shorten_all(answer.x, _EXACT),
        "truth": shorten_all(truth[0]),
        "holds": bool(problem.holds(truth)[0]),
        "chance": None if answer.chance is None else shorten(answer.chance, 6),
        "means": None if answer.means is None else shorten_all(answer.means),
        "stds": None if answer.stds is None else shorten_all(answer.stds),
    }
    if problem.goals == 1:
        found["regret"] = shorten(float(truth[0, 0]) - problem.optimum)
    return found


def _volumes(problem: OutcomeProblem, front: list[Answer]) -> dict[str, float | None]:
    """Of a front, as its means state it and in truth; what breaks a limit counts for nothing."""
    stated = [answer.means for answer in front if answer.means is not None]
    if not stated:
        return {"stated": 0.0, "true": 0.0}
    truth = problem.at_unit(np.array([answer.x for answer in front]))
    return {
        "stated": shorten(problem.hypervolume(np.array(stated))),
        "true": shorten(problem.hypervolume(truth)),
    }


def _describe(run: OutcomeRun, cell: Cell) -> dict[str, Any]:
    measured, truth = run.measured, run.truth
    goals, held = truth[:, : run.problem.goals], run.problem.holds(truth)
    alone = run.problem.goals == 1 and np.any(held)
    return {
        "trace": {
            "x": [shorten_all(x, _EXACT) for x in measured.X],
            "y": [shorten_all(y) for y in measured.Y],
            "goals": [shorten_all(values) for values in goals],
            "holds": [int(each) for each in held],
        },
        "first_feasible": run.first_feasible,
        "worst_feasible": shorten(float(np.max(goals[held, 0]))) if alone else None,
        "settings": {
            **outcome_method(cell.method).describe(),
            "initial": f"{min(INITIAL, cell.steps)} scrambled Sobol points",
        },
        "digest": measured.digest,
        "times": {
            "suggest": round(sum(run.seconds), 3),
            "suggest_cpu": round(run.processor, 3),
            "last": round(float(np.median(run.seconds[-_LAST:])), 5) if run.seconds else None,
            "each": [round(each, 4) for each in run.seconds],
        },
    }
