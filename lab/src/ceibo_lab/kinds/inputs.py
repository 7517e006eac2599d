"""Runs on problems with rules or branches: `steps` trials in all, the initial design among them.

    rules      settings that break a rule cost a trial and have no value
    branches   settings have the parameters of their branch

At the end the method's answers are judged by the truth: an answer that breaks a rule has the
problem's range as its regret. A record keeps every trial: its setting, what was measured (none if
it was impossible) and its true regret. Trials are counted from 0 on.
"""

from typing import Any, Final

import numpy as np

from ceibo_lab.inputs import INITIAL, InputRun, initial_design
from ceibo_lab.methods.inputs import input_method
from ceibo_lab.problems.inputs import input_problem
from ceibo_lab.problems.inputs.problem import InputProblem
from ceibo_lab.problems.inputs.rules import Params
from ceibo_lab.record import Cell
from ceibo_lab.run import Watch, shorten

_EXACT: Final = 12  # digits kept of settings, so that the truth there can be found again
_LAST: Final = 10  # suggestions whose median time is recorded


def inputs(cell: Cell, watch: Watch) -> dict[str, Any]:
    """The record of a run."""
    problem = input_problem(cell.problem)
    run = InputRun.begin(problem, cell.protocol, cell.level, cell.seed)
    for params in initial_design(problem, cell.seed, min(INITIAL, cell.steps)):
        run.measure(params)
    method = input_method(cell.method).start(problem, cell.seed)
    for _ in range(len(run.settings), cell.steps):
        run.step(method, watch)
    answers = method.answers(run.trials)
    judged = {name: _judge(problem, problem.cleaned(params)) for name, params in answers.items()}
    return {"answers": judged, **_describe(run, cell)}


def _judge(problem: InputProblem, params: Params) -> dict[str, Any]:
    """An answer, by how much it breaks the rules, and its regret."""
    return {
        "params": _shortened(params),
        "obeys": problem.obeys(params),
        "excess": shorten(problem.excess(params)),
        "regret": shorten(problem.regret(params)),
    }


def _describe(run: InputRun, cell: Cell) -> dict[str, Any]:
    values = run.measuring.values.tolist()
    rows = range(len(run.settings))
    regrets = [run.problem.regret(each) for each in run.settings]
    return {
        "trace": {
            "params": [_shortened(each) for each in run.settings],
            "y": [None if row in run.impossible else shorten(values[row]) for row in rows],
            "regret": [shorten(each) for each in regrets],
        },
        "oracle": shorten(min(regrets)),
        "impossible": len(run.impossible),
        "largest_excess": shorten(max(run.problem.excess(each) for each in run.settings)),
        "settings": {
            **input_method(cell.method).describe(),
            "initial": f"{min(INITIAL, cell.steps)} random settings that obey the rules",
        },
        "digest": run.trials.digest,
        "times": {
            "suggest": round(sum(run.seconds), 3),
            "suggest_cpu": round(run.processor, 3),
            "last": round(float(np.median(run.seconds[-_LAST:])), 5) if run.seconds else None,
            "each": [round(each, 4) for each in run.seconds],
        },
    }


def _shortened(params: Params) -> dict[str, Any]:
    return {
        name: shorten(value, _EXACT) if isinstance(value, float) else value
        for name, value in params.items()
    }
