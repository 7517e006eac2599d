"""Acquisition functions by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from ceibo.acquisition.base import Acquisition
from ceibo.acquisition.closed_form import (
    ExpectedImprovement,
    ProbabilityOfImprovement,
    UpperConfidenceBound,
)
from ceibo.acquisition.cube import reachable
from ceibo.acquisition.incumbent import Incumbent, find_incumbent
from ceibo.acquisition.knowledge import CorrectedKnowledgeGradient, KnowledgeGradient
from ceibo.acquisition.monte_carlo import (
    NoisyExpectedImprovement,
    ParallelNoisyExpectedImprovement,
    draw_jointly,
)
from ceibo.checks import check_not_negative, check_whole
from ceibo.gp import GaussianProcess
from ceibo.gp.linalg import limited_blas
from ceibo.registry import Registry


@final
@dataclass(frozen=True, eq=False)
class Context:
    """What an acquisition is built from."""

    gp: GaussianProcess
    incumbent: Incumbent
    next_noise: float  # variance, in inside units
    beta: float
    draws: int  # 0 for an acquisition that uses none
    seed: int


Factory = Callable[[Context], Acquisition]


@final
@dataclass(frozen=True)
class Definition:
    """How an acquisition that goes by a name is built, and what is to be known about it."""

    factory: Factory
    label: str  # by which it is shown
    in_objective_units: bool  # whether its values are in the units of the objective
    draws: int | None  # how many it uses by default; None: it uses none


ACQUISITIONS: Final = Registry[Definition]("acquisition", "ceibo.acquisitions")


def register(
    name: str, *, label: str, in_objective_units: bool = True, draws: int | None = None
) -> Callable[[Factory], Factory]:
    """Makes the acquisition that a factory builds known by `name` to build, studies, study files.

    A decorator of the factory, which is a function of a Context.

    Args:
        name: by which it is asked for.
        label: by which it is shown.
        in_objective_units: whether its values grow with the units of the objective, unlike those of
            a probability.
        draws: of the model, how many it uses by default; None if it uses none.
    """

    def decorate(factory: Factory) -> Factory:
        ACQUISITIONS.add(name, Definition(factory, label, in_objective_units, draws))
        return factory

    return decorate


@register("corrected-ei", label="corrected EI")
def _corrected_ei(context: Context) -> Acquisition:
    predictor = context.gp.predictor(anchor=context.incumbent.index)
    return ExpectedImprovement(context.gp, context.incumbent, predictor, corrected=True)


@register("ei", label="EI")
def _ei(context: Context) -> Acquisition:
    predictor = context.gp.predictor()
    return ExpectedImprovement(context.gp, context.incumbent, predictor, corrected=False)


@register("corrected-pi", label="corrected PI", in_objective_units=False)
def _corrected_pi(context: Context) -> Acquisition:
    predictor = context.gp.predictor(anchor=context.incumbent.index)
    return ProbabilityOfImprovement(context.gp, context.incumbent, predictor, corrected=True)


@register("pi", label="PI", in_objective_units=False)
def _pi(context: Context) -> Acquisition:
    predictor = context.gp.predictor()
    return ProbabilityOfImprovement(context.gp, context.incumbent, predictor, corrected=False)


@register("ucb", label="UCB")
def _ucb(context: Context) -> Acquisition:
    predictor = context.gp.predictor()
    return UpperConfidenceBound(context.gp, context.incumbent, predictor, beta=context.beta)


@register("noisy-ei", label="noisy EI", draws=20)
def _noisy_ei(context: Context) -> Acquisition:
    drawn = draw_jointly(context.gp, context.draws, context.seed)
    return NoisyExpectedImprovement(context.gp, context.incumbent, drawn.predictor, best=drawn.best)


@register("q-noisy-ei", label="parallel noisy EI", draws=256)
def _q_noisy_ei(context: Context) -> Acquisition:
    drawn = draw_jointly(context.gp, context.draws, context.seed)
    return ParallelNoisyExpectedImprovement(
        context.gp, context.incumbent, drawn.predictor, best=drawn.best, base=drawn.base
    )


@register("corrected-kg", label="corrected KG")
def _corrected_kg(context: Context) -> Acquisition:
    predictor = context.gp.predictor(anchor=context.incumbent.index)
    return CorrectedKnowledgeGradient(
        context.gp, context.incumbent, predictor, next_noise=context.next_noise
    )


@register("knowledge-gradient", label="knowledge gradient")
def _knowledge_gradient(context: Context) -> Acquisition:
    gp, state = context.gp, context.gp.state
    inside = reachable(gp)
    # a slice where all are, which is no copy
    seen = slice(0, len(gp.X)) if inside.all() else np.flatnonzero(inside)
    predictor = gp.predictor(np.column_stack([state.alpha, state.covariance_weights(seen)]))
    means = (gp.unit_kernel(gp.X, state.points) @ state.alpha)[seen]
    return KnowledgeGradient(
        gp, context.incumbent, predictor, observed_means=means, next_noise=context.next_noise
    )


def build(  # noqa: PLR0913 - public, keyword-only
    name: str,
    gp: GaussianProcess,
    *,
    seed: int = 0,
    next_noise_variance: float | None = None,
    pending: ArrayLike | None = None,
    beta: float = 1.0,
    draws: int | None = None,
) -> Acquisition:
    """The acquisition function called `name` on a Gaussian process of an f to be minimised.

    Args:
        name: one of ACQUISITIONS.
        gp: the model of f.
        seed: of the draws of "noisy-ei" and "q-noisy-ei"; the others use none.
        next_noise_variance: noise variance expected of the next measurement, for the knowledge
            gradients and for pending points; `gp.expected_noise` by default, the mean of the known
            variances or the inferred one. Where there are blocks, that of a new block is added.
        pending: (p, d) points being measured now: their variance shrinks, the mean stays.
        beta: of "ucb".
        draws: of "noisy-ei" (20 by default) and "q-noisy-ei" (256).

    Returns:
        The acquisition; larger values are better.
    """
    definition = ACQUISITIONS.find(name)
    beta, seed = check_not_negative(beta, "beta"), check_whole(seed, "seed", 0)
    count = (definition.draws or 0) if draws is None else check_whole(draws, "draws")
    noise = expected_noise(gp, next_noise_variance)
    with limited_blas(len(gp.state.points)):
        if pending is not None and np.size(pending):
            gp = gp.condition(pending, noise)
        inside = inside_noise(gp, noise)
        return definition.factory(Context(gp, find_incumbent(gp), inside, beta, count, seed))


def expected_noise(gp: GaussianProcess, given: float | None) -> float:
    """The noise variance of the next measurement, as given or as the process expects it."""
    return check_not_negative(gp.expected_noise if given is None else given, "next_noise_variance")


def inside_noise(gp: GaussianProcess, noise: float) -> float:
    """The noise variance of a measurement in a new block, in inside units."""
    return (noise + gp.block_variance) / gp.unit / gp.unit


def posterior_mean(gp: GaussianProcess) -> Acquisition:
    """Minus the posterior mean, as an acquisition: its maximiser is the recommendation."""
    with limited_blas(len(gp.state.points)):
        return UpperConfidenceBound(gp, find_incumbent(gp), gp.predictor(), beta=0.0)
