"""Acquisitions of several outcomes by name: goals to be minimised, and limits that must hold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from ceibo.acquisition.base import Acquisition, Surface
from ceibo.acquisition.build import ACQUISITIONS, build
from ceibo.acquisition.closed_form import ExpectedImprovement, ProbabilityOfImprovement
from ceibo.acquisition.constrained import ConstrainedCorrectedExpectedImprovement
from ceibo.acquisition.constrained_draws import (
    ConstrainedNoisyExpectedImprovement,
    ConstrainedParallelNoisyExpectedImprovement,
    best_of_draws,
)
from ceibo.acquisition.incumbent import Incumbent
from ceibo.acquisition.joint import JointAcquisition, JointPredictor
from ceibo.acquisition.knowledge import CorrectedKnowledgeGradient, KnowledgeGradient
from ceibo.acquisition.limits import (
    FeasibleIncumbent,
    Limit,
    chances,
    find_feasible_incumbent,
    merits,
    worst_mean,
)
from ceibo.acquisition.monte_carlo import draw_each
from ceibo.acquisition.weighted import Weighted
from ceibo.checks import check_not_negative, check_whole, to_float
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array
from ceibo.gp.linalg import limited_blas

_MOST_GOALS: Final = 3
# x⁺ is what a weighted acquisition improves on if it holds its limits more likely than not
_LIKELY: Final = 0.5


def build_joint(  # noqa: PLR0913 - public, keyword-only
    name: str,
    goals: Sequence[GaussianProcess],
    limits: Sequence[Limit] = (),
    *,
    confidence: float = 0.95,
    seed: int = 0,
    draws: int | None = None,
    next_noise_variance: float | None = None,
) -> Surface[Any]:
    """The acquisition function called `name` of one to three goals under limits.

    With one goal and no limits it is what `build` gives.

    Args:
        name: one of ACQUISITIONS; of two or three goals "noisy-ei".
        goals: processes of the outcomes to be minimised, conditioned on pending points.
        limits: on further outcomes.
        confidence: the chance of holding all limits with which x⁺ is chosen.
        seed: of the draws.
        draws: of "noisy-ei" and "q-noisy-ei", as in `build`.
        next_noise_variance: of the goal, for the knowledge gradients, as in `build`.

    Returns:
        The acquisition; larger values are better.
    """
    if not 1 <= len(goals) <= _MOST_GOALS:
        raise InputError(f"one to {_MOST_GOALS} goals are possible, got {len(goals)}.")
    definition = ACQUISITIONS.find(name)
    if len(goals) > 1:
        return _build_hypervolume(name, goals, limits, seed, draws)
    goal = goals[0]
    if not limits:
        return build(name, goal, seed=seed, draws=draws, next_noise_variance=next_noise_variance)
    factory = _FACTORIES.get(name)
    if factory is None:
        raise InputError(
            f"{name!r} has no meaning under limits: "
            + (
                "a confidence bound may be negative, so that no chance can weigh it."
                if name == "ucb"
                else "it is known for one goal without limits alone."
            )
            + f" Use one of {', '.join(_FACTORIES)}."
        )
    expected = goal.expected_noise if next_noise_variance is None else next_noise_variance
    noise = check_not_negative(expected, "next_noise_variance")
    count = (definition.draws or 0) if draws is None else check_whole(draws, "draws")
    with limited_blas(len(goal.state.points)):
        confidence = _check_confidence(confidence)
        return factory(
            _Case(
                goal,
                tuple(limits),
                find_feasible_incumbent(goal, limits, confidence),
                confidence,
                noise / goal.unit / goal.unit,
                _Sample(count, check_whole(seed, "seed", 0)),
            )
        )


def _check_confidence(value: object) -> float:
    confidence = to_float(value)
    if confidence is None or not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must be a number between 0 and 1, got {value!r}.")
    return confidence


def _build_hypervolume(
    name: str,
    goals: Sequence[GaussianProcess],
    limits: Sequence[Limit],
    seed: int,
    draws: int | None,
) -> Surface[Any]:
    from ceibo.acquisition.hypervolume import build_hypervolume

    if name != "noisy-ei":
        raise InputError(
            f"{name!r} has no meaning for {len(goals)} goals. Use 'noisy-ei', which is then the"
            " noisy expected hypervolume improvement."
        )
    return build_hypervolume(goals, limits, seed=seed, draws=draws)


@final
@dataclass(frozen=True)
class _Sample:
    """How many draws, of which seed."""

    draws: int
    seed: int


@final
@dataclass(frozen=True, eq=False)
class _Case:
    """What an acquisition of one goal under limits is built from."""

    goal: GaussianProcess
    limits: tuple[Limit, ...]
    incumbent: FeasibleIncumbent | None
    confidence: float
    next_noise: float  # variance, in inside units of the goal
    sample: _Sample

    @property
    def processes(self) -> tuple[GaussianProcess, ...]:
        return (self.goal, *(limit.gp for limit in self.limits))

    @property
    def levels(self) -> Array:
        return np.array([limit.level for limit in self.limits])

    @property
    def merits(self) -> Array:
        return merits(self.goal, self.limits)

    @property
    def known(self) -> Incumbent | None:
        """x⁺ where it holds the limits more likely than not, for what improves on it."""
        found = self.incumbent
        if found is None or found.chance < _LIKELY:
            return None
        return Incumbent(found.index, found.x, found.mean, found.std)

    @property
    def worst(self) -> Incumbent:
        """The point of M, taken for an incumbent where none is known."""
        goal = self.goal
        means = goal.unit_kernel(goal.X, goal.state.points) @ goal.state.alpha
        index = int(np.argmax(means))
        mean, variance = goal.posterior(goal.X[[index]])
        return Incumbent(index, goal.X[index], float(mean[0]), float(np.sqrt(variance[0])))


def _corrected_ei(case: _Case) -> JointAcquisition:
    if case.incumbent is None:
        return _FACTORIES["ei"](case)
    return ConstrainedCorrectedExpectedImprovement.of(
        case.goal, case.limits, case.incumbent, case.merits
    )


def _noisy_ei(case: _Case) -> JointAcquisition:
    drawn = draw_each(case.processes, case.sample.draws, case.sample.seed)
    return ConstrainedNoisyExpectedImprovement(
        case.processes,
        JointPredictor(tuple(each.predictor for each in drawn)),
        case.merits,
        case.incumbent,
        best_of_draws(case.processes, drawn, case.limits, worst_mean(case.goal)),
        case.levels,
    )


def _q_noisy_ei(case: _Case) -> JointAcquisition:
    drawn = draw_each(case.processes, case.sample.draws, case.sample.seed)
    return ConstrainedParallelNoisyExpectedImprovement(
        case.processes,
        JointPredictor(tuple(each.predictor for each in drawn)),
        case.merits,
        case.incumbent,
        best_of_draws(case.processes, drawn, case.limits, worst_mean(case.goal)),
        case.levels,
        base=drawn[0].base,
    )


def _weighted(of_goal: Callable[[_Case], Acquisition]) -> Callable[[_Case], JointAcquisition]:
    """A factory of the goal's acquisition, times the chance that the limits hold."""

    def factory(case: _Case) -> JointAcquisition:
        goal = of_goal(case)
        predictors = (goal.predictor, *(limit.predictor for limit in case.limits))
        return Weighted(
            case.processes,
            JointPredictor(predictors),
            case.merits,
            case.incumbent,
            goal=goal,
            levels=case.levels,
        )

    return factory


def _ei(case: _Case) -> Acquisition:
    incumbent = case.known or case.worst
    return ExpectedImprovement(case.goal, incumbent, case.goal.predictor(), corrected=False)


def _pi(case: _Case) -> Acquisition:
    incumbent = case.known or case.worst
    return ProbabilityOfImprovement(case.goal, incumbent, case.goal.predictor(), corrected=False)


def _corrected_pi(case: _Case) -> Acquisition:
    incumbent = case.known
    if incumbent is None:
        return _pi(case)
    predictor = case.goal.predictor(anchor=incumbent.index)
    return ProbabilityOfImprovement(case.goal, incumbent, predictor, corrected=True)


def _corrected_kg(case: _Case) -> Acquisition:
    incumbent = case.known
    if incumbent is None:
        return _ei(case)
    predictor = case.goal.predictor(anchor=incumbent.index)
    return CorrectedKnowledgeGradient(case.goal, incumbent, predictor, next_noise=case.next_noise)


def _knowledge_gradient(case: _Case) -> Acquisition:
    """Over the observed points that hold the limits with the confidence, or over x⁺ alone."""
    incumbent, goal, state = case.known, case.goal, case.goal.state
    if incumbent is None:
        return _ei(case)
    rows = np.flatnonzero(chances(case.limits, goal.X) >= case.confidence)
    rows = np.union1d(rows, [incumbent.index])
    inverse = state.factor.inverse
    covariances = (inverse.T @ inverse[:, rows]) * state.noise[rows]
    predictor = goal.predictor(np.column_stack([state.alpha, covariances]))
    means = goal.unit_kernel(goal.X[rows], state.points) @ state.alpha
    return KnowledgeGradient(
        goal, incumbent, predictor, observed_means=means, next_noise=case.next_noise
    )


_FACTORIES: Final[dict[str, Callable[[_Case], JointAcquisition]]] = {
    "noisy-ei": _noisy_ei,
    "q-noisy-ei": _q_noisy_ei,
    "corrected-ei": _corrected_ei,
    "ei": _weighted(_ei),
    "pi": _weighted(_pi),
    "corrected-pi": _weighted(_corrected_pi),
    "corrected-kg": _weighted(_corrected_kg),
    "knowledge-gradient": _weighted(_knowledge_gradient),
}
