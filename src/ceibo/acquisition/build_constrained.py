"""Acquisitions of one goal under limits by name.

Noisy EI, qNEI and corrected EI have limits inside (constrained_draws.py, constrained.py). The
others are weighted by the chance that the limits hold (weighted.py), with x⁺ the best point that
holds them. While no point is more likely to hold them than not, the worst measured point takes the
place of x⁺, so that what is sought is any point that holds them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from ceibo.acquisition.base import Acquisition
from ceibo.acquisition.build import ACQUISITIONS, Context, expected_noise, inside_noise
from ceibo.acquisition.common import CommonDraws, draw_in_common
from ceibo.acquisition.constrained import ConstrainedCorrectedExpectedImprovement
from ceibo.acquisition.constrained_draws import (
    ConstrainedNoisyExpectedImprovement,
    ConstrainedParallelNoisyExpectedImprovement,
    best_of_draws,
)
from ceibo.acquisition.cube import reachable
from ceibo.acquisition.incumbent import Incumbent
from ceibo.acquisition.joint import JointAcquisition, JointPredictor
from ceibo.acquisition.knowledge import KnowledgeGradient
from ceibo.acquisition.limits import (
    FeasibleIncumbent,
    Limit,
    chances,
    find_feasible_incumbent,
    merits,
    observed_means,
)
from ceibo.acquisition.weighted import Weighted
from ceibo.checks import check_whole
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array
from ceibo.gp.linalg import limited_blas

_LIKELY: Final = 0.5


@final
@dataclass(frozen=True)
class Options:
    """What `build_joint` was told, besides the processes."""

    confidence: float
    seed: int
    draws: int | None
    next_noise_variance: float | None


def build_constrained(
    name: str, goal: GaussianProcess, limits: Sequence[Limit], options: Options
) -> JointAcquisition:
    """The acquisition function called `name` of one goal under one limit or several."""
    if name == "ucb":
        raise InputError(
            "'ucb' has no meaning under limits: a confidence bound may be negative, and then a"
            " chance cannot weigh it. Use noisy-ei or corrected-ei, which have limits inside."
        )
    given = options.draws
    draws = (ACQUISITIONS[name].draws or 0) if given is None else check_whole(given, "draws")
    noise = inside_noise(goal, expected_noise(goal, options.next_noise_variance))
    factory = _FACTORIES.get(name, _weighted)
    with limited_blas(len(goal.state.points)):
        found = find_feasible_incumbent(goal, limits, options.confidence)
        context = Context(goal, _base(goal, found), noise, 1.0, draws, options.seed)
        return factory(_Case(name, context, tuple(limits), found, options.confidence))


def _base(goal: GaussianProcess, found: FeasibleIncumbent | None) -> Incumbent:
    """What a weighted acquisition improves on: x⁺, or else the worst measured point."""
    if found is not None and found.chance >= _LIKELY:
        return Incumbent(found.index, found.x, found.mean, found.std)
    index = int(np.argmax(observed_means(goal)))
    prediction = goal.predictor()(goal.X[[index]])
    mean = goal.mean + goal.unit * prediction.linear[0, 0]
    std = goal.unit * np.sqrt(prediction.variance[0])
    return Incumbent(index, goal.X[index], float(mean), float(std))


@final
@dataclass(frozen=True, eq=False)
class _Case:
    """What an acquisition of one goal under limits is built from."""

    name: str
    context: Context  # of the goal
    limits: tuple[Limit, ...]
    incumbent: FeasibleIncumbent | None
    confidence: float

    @property
    def goal(self) -> GaussianProcess:
        return self.context.gp

    @property
    def processes(self) -> tuple[GaussianProcess, ...]:
        return (self.goal, *(limit.gp for limit in self.limits))

    @property
    def merits(self) -> Array:
        return merits(self.goal, self.limits)

    @property
    def drawn(self) -> CommonDraws:
        return draw_in_common([self.goal], self.limits, self.context.draws, self.context.seed)

    def over(self, drawn: CommonDraws) -> dict[str, Any]:
        """What an average over draws is made of."""
        return {
            "processes": self.processes,
            "predictor": drawn.predictor,
            "merits": self.merits,
            "incumbent": self.incumbent,
            "best": best_of_draws(drawn, float(observed_means(self.goal).max())),
            "levels": drawn.bounds,
        }


def _noisy_ei(case: _Case) -> JointAcquisition:
    return ConstrainedNoisyExpectedImprovement(**case.over(case.drawn))


def _q_noisy_ei(case: _Case) -> JointAcquisition:
    drawn = case.drawn
    return ConstrainedParallelNoisyExpectedImprovement(**case.over(drawn), base=drawn.base)


def _corrected_ei(case: _Case) -> JointAcquisition:
    if case.incumbent is None:  # P(limits hold)·E[max(0, M − f)]
        return _times_chance(case, ACQUISITIONS["ei"].factory(case.context))
    return ConstrainedCorrectedExpectedImprovement.of(
        case.goal, case.limits, case.incumbent, case.merits
    )


def _knowledge_gradient(case: _Case) -> JointAcquisition:
    """Over the observed points that hold the limits with the confidence, and x⁺."""
    goal, context, state = case.goal, case.context, case.goal.state
    sure = np.flatnonzero(reachable(goal) & (chances(case.limits, goal.X) >= case.confidence))
    rows = np.union1d(sure, [context.incumbent.index])
    predictor = goal.predictor(np.column_stack([state.alpha, state.covariance_weights(rows)]))
    gradient = KnowledgeGradient(
        goal,
        context.incumbent,
        predictor,
        observed_means=observed_means(goal)[rows],
        next_noise=context.next_noise,
    )
    return _times_chance(case, gradient)


def _weighted(case: _Case) -> JointAcquisition:
    return _times_chance(case, ACQUISITIONS[case.name].factory(case.context))


def _times_chance(case: _Case, goal: Acquisition) -> JointAcquisition:
    """An acquisition of the goal times the chance that the limits hold."""
    return Weighted(
        case.processes,
        JointPredictor((goal.predictor, *(limit.predictor for limit in case.limits))),
        case.merits,
        case.incumbent,
        goal=goal,
        levels=np.array([limit.level for limit in case.limits]),
    )


_FACTORIES: Final[dict[str, Callable[[_Case], JointAcquisition]]] = {
    "noisy-ei": _noisy_ei,
    "q-noisy-ei": _q_noisy_ei,
    "corrected-ei": _corrected_ei,
    "knowledge-gradient": _knowledge_gradient,
}
