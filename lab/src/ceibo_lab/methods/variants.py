"""Methods that are more than settings of a study: tried in experiments, not offered by studies."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, final

import numpy as np
from scipy.optimize import minimize

from ceibo import acquisition as acq
from ceibo.decide.evidence import Evidence
from ceibo.decide.model import Model
from ceibo.gp import GaussianProcess, Hyperparameters, fit_gp
from ceibo.gp.grid import spread_points
from ceibo.gp.inputs import Array
from ceibo.gp.likelihood import Objective, Priors
from ceibo.gp.observations import Observations, standardize
from ceibo_lab.method import Method, Proposal, snap
from ceibo_lab.methods.ceibo import Altered, Ceibo
from ceibo_lab.problem import stream

_SHORT_RAW, _SHORT_STARTS, _SHORT_STEPS = 512, 10, 5
_BY_TURNS: Final = ("noisy-ei", "knowledge-gradient")
_REPEAT_EVERY: Final = 5
_HYPERPARAMETER_DRAWS: Final = 5
_FENCE: Final = 1.5  # interquartile ranges above the upper quartile
_STEP: Final = 1e-3  # of the differences behind the curvature in log hyperparameters
# Mean and variance of the logarithm of a chi-square variable with one degree of freedom.
_LOG_CHI2_MEAN, _LOG_CHI2_VARIANCE = -1.2703628454614782, np.pi**2 / 2


def search_briefly(inner: Ceibo, evidence: Evidence, number: int) -> Proposal:
    """The acquisition maximised by a few L-BFGS steps on its natural scale.

    Stands for code that stops the inner search early: the best of some quasi-random points climb
    for a few iterations each.
    """
    model, dimension = inner.refit(evidence), len(inner.space)
    seed = int(stream(inner.seed, f"search {number}").integers(2**62))
    function = acq.build(inner.settings.acquisition, model.gp, seed=seed)
    points = spread_points(_SHORT_RAW, dimension, np.random.default_rng(seed))
    order = np.argsort(-function.value(points), kind="stable")[:_SHORT_STARTS]

    def loss(x: Array) -> tuple[float, Array]:
        value, gradient = function.value_and_gradient(x[None, :])
        return -float(value[0]), -gradient[0]

    climb = partial(
        minimize,
        loss,
        jac=True,
        bounds=[(0.0, 1.0)] * dimension,
        method="L-BFGS-B",
        options={"maxiter": _SHORT_STEPS},
    )
    best = min((climb(points[k]) for k in order), key=lambda end: float(end.fun))
    return Proposal(np.clip(best.x, 0.0, 1.0), model, model.natural(-float(best.fun)))


def take_turns(inner: Ceibo, evidence: Evidence, number: int) -> Proposal:
    """Two acquisitions by turns."""
    name = _BY_TURNS[number % len(_BY_TURNS)]
    return inner.propose_with(replace(inner.settings, acquisition=name), evidence, number)


def repeat_incumbent(inner: Ceibo, evidence: Evidence, number: int) -> Proposal:
    """Every fifth measurement is at the incumbent."""
    found = inner.propose(evidence, number)
    if found.model is not None and number % _REPEAT_EVERY == 0:
        return Proposal(acq.find_incumbent(found.model.gp).x, found.model)
    return found


def recommend_cautiously(inner: Ceibo, evidence: Evidence) -> Array | None:
    """The measured point with the lowest mean plus one standard deviation."""
    gp = inner.model(evidence).gp
    mean, variance = gp.posterior(gp.X)
    return np.asarray(gp.X[int(np.argmin(mean + np.sqrt(variance)))])


def with_smooth_noise(inner: Ceibo, evidence: Evidence) -> Evidence:
    """Fills in noise that nobody told, as a smooth function over the space.

    Residuals of the usual model, each left out in turn, say where there is more noise than its one
    variance.
    """
    unknown, space = np.isnan(evidence.noise), inner.space
    if evidence.trials < inner.settings.initial_size(space.breadth) or not np.any(unknown):
        return evidence
    model = inner.model(evidence)
    gp, inferred = model.gp, model.fit.noise_variance
    precision = np.sum(gp.state.factor.inverse**2, axis=0)  # of each value, given all others
    squares = np.maximum(gp.state.alpha**2 / precision, 1e-12)
    logs = np.log(squares) - _LOG_CHI2_MEAN
    fit = fit_gp(gp.X, logs, _LOG_CHI2_VARIANCE, categorical=space.categorical)
    excess = fit.gp.posterior(evidence.X)[0]
    std = np.ldexp(np.sqrt(inferred or 0.0), model.exponent) * np.exp(0.5 * excess)
    return replace(evidence, noise=np.where(unknown, std, evidence.noise))


def winsorised(_inner: Ceibo, evidence: Evidence) -> Evidence:
    """Lowers values above Tukey's upper fence to the fence."""
    if len(evidence) == 0:
        return evidence
    low, high = np.quantile(evidence.y, [0.25, 0.75])
    return replace(evidence, y=np.minimum(evidence.y, high + _FENCE * (high - low)))


# -- averages over the hyperparameters -------------------------------------------------


def propose_on_average(inner: Ceibo, evidence: Evidence, number: int) -> Proposal:
    """Where the acquisition, averaged over draws of the hyperparameters, is largest."""
    if evidence.trials < inner.settings.initial_size(inner.space.breadth):
        return inner.propose(evidence, number)
    model = inner.refit(evidence)
    drawn = draw_processes(inner, evidence, model, f"draws {number}")
    functions = [acq.build(inner.settings.acquisition, gp, seed=number) for gp in drawn]
    return Proposal(_best(inner, functions), model)


def recommend_on_average(inner: Ceibo, evidence: Evidence) -> Array | None:
    """Where the posterior mean, averaged over draws of the hyperparameters, is least."""
    purpose = f"recommendation {len(evidence)}"
    drawn = draw_processes(inner, evidence, inner.model(evidence), purpose)
    return _best(inner, [acq.posterior_mean(gp) for gp in drawn])


def _best(inner: Ceibo, functions: list[acq.Acquisition]) -> Array:
    """Of the maximisers of all functions the one with the largest mean value."""
    discrete = inner.space.discrete
    found = [acq.maximize(each, seed=inner.seed, discrete=discrete).x for each in functions]
    points = np.array([snap(inner.space, x) for x in found])
    values = np.mean([function.value(points) for function in functions], axis=0)
    return np.asarray(points[int(np.argmax(values))])


def draw_processes(
    inner: Ceibo, evidence: Evidence, model: Model, purpose: str
) -> list[GaussianProcess]:
    """The model's process under draws of the hyperparameters.

    Draws are from the normal approximation to the posterior of the log hyperparameters at its
    maximum.
    """
    y = np.ldexp(evidence.y, -model.exponent)
    data = standardize(evidence.X, y, np.ldexp(evidence.noise, -model.exponent) ** 2)
    dimension = data.X.shape[1]
    priors = Priors.default(dimension, data.infers_noise)
    objective = Objective(data, type(model.gp.kernel), model.gp.kernel.categorical, priors)
    theta = model.fit.hyperparameters.to_theta(data.infers_noise)
    steps = _STEP * np.eye(len(theta))
    slopes = [objective(theta - step)[1] - objective(theta + step)[1] for step in steps]
    curvature = np.array(slopes) / (2 * _STEP)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    # At least the prior's curvature along each direction: the approximation must not be wider than
    # the prior.
    spread = vectors / np.sqrt(np.maximum(values, 1 / 3))
    drawn = stream(inner.seed, purpose).standard_normal((_HYPERPARAMETER_DRAWS, len(theta)))
    found = [Hyperparameters.from_theta(theta + spread @ z, dimension) for z in drawn]
    return [_process(data, model, each) for each in found]


def _process(data: Observations, model: Model, drawn: Hyperparameters) -> GaussianProcess:
    squared = data.scale**2
    kernel = replace(
        model.gp.kernel, lengthscales=drawn.lengthscales, variance=drawn.variance * squared
    )
    noise = data.noise_with(drawn.noise) * squared
    y, expected = data.centre + data.scale * data.y, model.gp.expected_noise
    gp = GaussianProcess(data.X, y, noise, kernel, data.centre, expected)
    return gp.with_estimated_mean(data.scale)


@final
@dataclass(frozen=True)
class Variant:
    """What a page says of a variant, and how it is made of ceibo's own suggestions."""

    words: str
    around: Callable[[Ceibo], Method]


short_search: Final = partial(Altered, proposing=search_briefly)
VARIANTS: Final[dict[str, Variant]] = {
    "portfolio": Variant(
        "noisy EI and the knowledge gradient by turns", partial(Altered, proposing=take_turns)
    ),
    "repeating": Variant(
        "every fifth measurement at the incumbent again",
        partial(Altered, proposing=repeat_incumbent),
    ),
    "cautious": Variant(
        "recommends the measured point whose mean plus one standard deviation is lowest",
        partial(Altered, recommending=recommend_cautiously),
    ),
    "smooth-noise": Variant(
        "noise that nobody told varies smoothly over the space",
        partial(Altered, read=with_smooth_noise),
    ),
    "marginalised": Variant(
        "acquisition and recommendation averaged over five draws of the hyperparameters",
        partial(Altered, proposing=propose_on_average, recommending=recommend_on_average),
    ),
    "winsorised": Variant(
        "values above Tukey's upper fence count as the fence, so that very bad ones do not shape"
        " the model",
        partial(Altered, read=winsorised),
    ),
}
