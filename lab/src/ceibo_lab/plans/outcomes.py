"""Several outcomes."""
from dataclasses import replace
from typing import Final

from ceibo_lab.plans.plan import Block, Experiment
from ceibo_lab.problems.outcomes import LIMITED

SEEDS, TRIALS = 20, 40
TOLD, UNTOLD = ("homoscedastic", 0.02), ("homoscedastic-untold", 0.10)
COMPARED: Final = ("botorch", "optuna-gp", "random")
FRONTS: Final = ("branin-currin", "c2-dtlz2", "dtlz2")


def _blocks(kind: str, problems: tuple[str, ...], noises: tuple[tuple[str, float], ...]) -> tuple[Block, ...]:
    """A block per problem."""
    block = Block("", (), COMPARED, kind=kind, seeds=SEEDS, steps=TRIALS, quick_seeds=1)
    return tuple(replace(block, name=name, problems=(name,), noises=noises) for name in problems)

_THREE = replace(_blocks("fronts", ("vehicle-safety",), (UNTOLD,))[0], in_full=False, in_quick=False)
OUTCOMES: Final = (
    Experiment("outcomes-limits", "One goal under limits: answers that hold, and their regret", _blocks("limits", LIMITED, (TOLD, UNTOLD)), in_all=False),
    Experiment("outcomes-starts", "One goal under limits, from a design without a feasible point: how soon the first is found", _blocks("starts", LIMITED, (TOLD, UNTOLD)), in_all=False),
    Experiment("outcomes-fronts", "Two goals: the hypervolume of reported fronts", (*_blocks("fronts", FRONTS, (UNTOLD,)), _THREE), in_all=False),
)
