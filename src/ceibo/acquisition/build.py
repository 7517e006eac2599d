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
from ceibo.acquisition.incumbent import Incumbent, find_incumbent
from ceibo.acquisition.knowledge import CorrectedKnowledgeGradient, KnowledgeGradient
from ceibo.acquisition.monte_carlo import (
    NoisyExpectedImprovement,
    ParallelNoisyExpectedImprovement,
    draw,
)
from ceibo.checks import check_not_negative, check_whole
from ceibo.errors import InputError
from ceibo.gp import GaussianProcess
from ceibo.gp.linalg import limited_blas

DEFAULT_DRAWS: Final = {"noisy-ei": 20, "q-noisy-ei": 256}


@final
@dataclass(frozen=True, eq=False)
class _Recipe:
    """What the factories below work from."""

    gp: GaussianProcess
    incumbent: Incumbent
    next_noise: float  # inside units
    beta: float
    draws: int | None
    seed: int


def _corrected_ei(r: _Recipe) -> Acquisition:
    return ExpectedImprovement(
        r.gp, r.incumbent, r.gp.predictor(anchor=r.incumbent.index), corrected=True
    )


def _ei(r: _Recipe) -> Acquisition:
    return ExpectedImprovement(r.gp, r.incumbent, r.gp.predictor(), corrected=False)


def _corrected_pi(r: _Recipe) -> Acquisition:
    return ProbabilityOfImprovement(
        r.gp, r.incumbent, r.gp.predictor(anchor=r.incumbent.index), corrected=True
    )


def _pi(r: _Recipe) -> Acquisition:
    return ProbabilityOfImprovement(r.gp, r.incumbent, r.gp.predictor(), corrected=False)


def _ucb(r: _Recipe) -> Acquisition:
    return UpperConfidenceBound(r.gp, r.incumbent, r.gp.predictor(), beta=r.beta)


def _noisy_ei(r: _Recipe) -> Acquisition:
    drawn = draw(r.gp, r.draws or DEFAULT_DRAWS["noisy-ei"], r.seed)
    return NoisyExpectedImprovement(r.gp, r.incumbent, drawn.predictor, best=drawn.best)


def _q_noisy_ei(r: _Recipe) -> Acquisition:
    drawn = draw(r.gp, r.draws or DEFAULT_DRAWS["q-noisy-ei"], r.seed)
    return ParallelNoisyExpectedImprovement(
        r.gp, r.incumbent, drawn.predictor, best=drawn.best, base=drawn.base
    )


def _corrected_kg(r: _Recipe) -> Acquisition:
    predictor = r.gp.predictor(anchor=r.incumbent.index)
    return CorrectedKnowledgeGradient(r.gp, r.incumbent, predictor, next_noise=r.next_noise)


def _knowledge_gradient(r: _Recipe) -> Acquisition:
    state, n = r.gp.state, len(r.gp.X)
    # σ(x, x_j) = k_x·c_j with c_j = e_j − A k_j = υ_j² A e_j: no cancellation, and zero where the
    # noise is.
    inverse = state.factor.inverse
    covariances = (inverse.T @ inverse[:, :n]) * state.noise[:n]
    predictor = r.gp.predictor(np.column_stack([state.alpha, covariances]))
    means = r.gp.unit_kernel(r.gp.X, state.points) @ state.alpha
    return KnowledgeGradient(
        r.gp, r.incumbent, predictor, observed_means=means, next_noise=r.next_noise
    )


ACQUISITIONS: Final[dict[str, Callable[[_Recipe], Acquisition]]] = {
    "corrected-ei": _corrected_ei,
    "ei": _ei,
    "corrected-pi": _corrected_pi,
    "pi": _pi,
    "ucb": _ucb,
    "noisy-ei": _noisy_ei,
    "q-noisy-ei": _q_noisy_ei,
    "corrected-kg": _corrected_kg,
    "knowledge-gradient": _knowledge_gradient,
}


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
    """The acquisition function called `name` on a Gaussian process; larger values are better, f is
    minimised.

    Args:
        name: one of ACQUISITIONS.
        gp: the model of f.
        seed: of the draws of "noisy-ei" and "q-noisy-ei"; the others use none.
        next_noise_variance: noise variance expected of the next measurement, for the knowledge
            gradients and for pending points; `gp.expected_noise` by default, the mean of the known
            variances or the inferred one.
        pending: (p, d) points being measured now: their variance shrinks, the mean stays.
        beta: of "ucb".
        draws: of "noisy-ei" (20 by default) and "q-noisy-ei" (256).
    """
    if name not in ACQUISITIONS:
        raise InputError(f"acquisition must be one of {', '.join(ACQUISITIONS)}, got {name!r}.")
    beta, seed = check_not_negative(beta, "beta"), check_whole(seed, "seed", 0)
    draws = None if draws is None else check_whole(draws, "draws")
    expected = gp.expected_noise if next_noise_variance is None else next_noise_variance
    noise = check_not_negative(expected, "next_noise_variance")
    with limited_blas(len(gp.state.points)):
        if pending is not None and np.size(pending):
            gp = gp.condition(pending, noise)
        inside = noise / gp.unit / gp.unit
        return ACQUISITIONS[name](_Recipe(gp, find_incumbent(gp), inside, beta, draws, seed))


def posterior_mean(gp: GaussianProcess) -> Acquisition:
    """Minus the posterior mean, as an acquisition: its maximiser is the recommendation."""
    with limited_blas(len(gp.state.points)):
        return UpperConfidenceBound(gp, find_incumbent(gp), gp.predictor(), beta=0.0)
