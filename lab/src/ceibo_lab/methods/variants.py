"""Methods that are more than settings of a study: tried on the suite, not offered by studies."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.suggest import Evidence, Model
from ceibo.gp import GaussianProcess, Hyperparameters, fit_gp
from ceibo.gp.inputs import Array
from ceibo.gp.likelihood import Objective, Priors
from ceibo.gp.observations import Observations, standardize
from ceibo_lab.method import Method, Proposal, snap
from ceibo_lab.methods.ceibo import Ceibo
from ceibo_lab.problem import stream

_BY_TURNS: Final = ("noisy-ei", "knowledge-gradient")
_REPEAT_EVERY: Final = 5
_HYPERPARAMETER_DRAWS: Final = 5
_FENCE: Final = 1.5  # interquartile ranges above the upper quartile
_STEP: Final = 1e-3  # of the differences behind the curvature in log hyperparameters
# Mean and variance of the logarithm of a chi-square variable with one degree of freedom.
_LOG_CHI2_MEAN, _LOG_CHI2_VARIANCE = -1.2703628454614782, np.pi**2 / 2


@final
@dataclass(frozen=True, eq=False)
class Portfolio:
    """Two acquisitions by turns."""

    inner: Ceibo

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        name = _BY_TURNS[number % len(_BY_TURNS)]
        settings = replace(self.inner.settings, acquisition=name)
        return self.inner.propose_with(settings, evidence, number)

    def model(self, evidence: Evidence) -> Model:
        return self.inner.model(evidence)

    def recommend(self, _evidence: Evidence) -> Array | None:
        return None


@final
@dataclass(frozen=True, eq=False)
class Repeating:
    """Every fifth measurement is at the incumbent."""

    inner: Ceibo

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        found = self.inner.propose(evidence, number)
        if found.model is not None and number % _REPEAT_EVERY == 0:
            return Proposal(acq.find_incumbent(found.model.gp).x, found.model)
        return found

    def model(self, evidence: Evidence) -> Model:
        return self.inner.model(evidence)

    def recommend(self, _evidence: Evidence) -> Array | None:
        return None


@final
@dataclass(frozen=True, eq=False)
class Cautious:
    """The measured point with the lowest mean plus one standard deviation is recommended."""

    inner: Ceibo

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        return self.inner.propose(evidence, number)

    def model(self, evidence: Evidence) -> Model:
        return self.inner.model(evidence)

    def recommend(self, evidence: Evidence) -> Array | None:
        gp = self.model(evidence).gp
        mean, variance = gp.posterior(gp.X)
        return np.asarray(gp.X[int(np.argmin(mean + np.sqrt(variance)))])


@final
@dataclass(frozen=True, eq=False)
class Reinterpreted:
    """The evidence is changed before the model sees it."""

    inner: Ceibo
    change: Callable[[Evidence, Ceibo], Evidence]

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        return self.inner.propose(self.change(evidence, self.inner), number)

    def model(self, evidence: Evidence) -> Model:
        return self.inner.model(self.change(evidence, self.inner))

    def recommend(self, _evidence: Evidence) -> Array | None:
        return None


def with_smooth_noise(evidence: Evidence, method: Ceibo) -> Evidence:
    """Fills in noise that nobody told, as a smooth function over the space.

    Residuals of the usual model, each left out in turn, say where there is more noise than its one
    variance.
    """
    unknown, space = np.isnan(evidence.noise), method.space
    if evidence.trials < method.settings.initial_size(len(space)) or not np.any(unknown):
        return evidence
    model = method.model(evidence)
    gp, inferred = model.gp, model.fit.noise_variance
    precision = np.sum(gp.state.factor.inverse**2, axis=0)  # of each value, given all others
    squares = np.maximum(gp.state.alpha**2 / precision, 1e-12)
    logs = np.log(squares) - _LOG_CHI2_MEAN
    fit = fit_gp(gp.X, logs, _LOG_CHI2_VARIANCE, categorical=space.categorical)
    excess = fit.gp.posterior(evidence.X)[0]
    std = np.ldexp(np.sqrt(inferred or 0.0), model.exponent) * np.exp(0.5 * excess)
    return replace(evidence, noise=np.where(unknown, std, evidence.noise))


def winsorised(evidence: Evidence, _method: Ceibo) -> Evidence:
    """Lowers values above Tukey's upper fence to the fence."""
    if len(evidence) == 0:
        return evidence
    low, high = np.quantile(evidence.y, [0.25, 0.75])
    return replace(evidence, y=np.minimum(evidence.y, high + _FENCE * (high - low)))


@final
@dataclass(frozen=True, eq=False)
class Marginalised:
    """Acquisition and recommendation are averaged over draws of the hyperparameters.

    Draws are from the normal approximation to the posterior of the log hyperparameters at its
    maximum.
    """

    inner: Ceibo

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        settings = self.inner.settings
        if evidence.trials < settings.initial_size(len(self.inner.space)):
            return self.inner.propose(evidence, number)
        model = self.inner.refit(evidence)
        processes = self.processes(evidence, model, f"draws {number}")
        functions = [acq.build(settings.acquisition, gp, seed=number) for gp in processes]
        return Proposal(self._best(functions), model)

    def model(self, evidence: Evidence) -> Model:
        return self.inner.model(evidence)

    def recommend(self, evidence: Evidence) -> Array | None:
        purpose = f"recommendation {len(evidence)}"
        processes = self.processes(evidence, self.model(evidence), purpose)
        return self._best([acq.posterior_mean(gp) for gp in processes])

    def _best(self, functions: list[acq.Acquisition]) -> Array:
        """Of the maximisers of all functions the one with the largest mean value."""
        space, seed = self.inner.space, self.inner.seed
        found = [acq.maximize(each, seed=seed, discrete=space.discrete).x for each in functions]
        points = np.array([snap(space, x) for x in found])
        values = np.mean([function.value(points) for function in functions], axis=0)
        return np.asarray(points[int(np.argmax(values))])

    def processes(self, evidence: Evidence, model: Model, purpose: str) -> list[GaussianProcess]:
        """The process of the model under each draw of the hyperparameters."""
        y = np.ldexp(evidence.y, -model.exponent)
        data = standardize(evidence.X, y, np.ldexp(evidence.noise, -model.exponent) ** 2)
        dimension = data.X.shape[1]
        priors = Priors.default(dimension, data.infers_noise)
        objective = Objective(data, type(model.gp.kernel), model.gp.kernel.categorical, priors)
        theta = model.fit.hyperparameters.to_theta(data.infers_noise)
        steps = _STEP * np.eye(len(theta))
        curvature = np.array(
            [objective(theta - step)[1] - objective(theta + step)[1] for step in steps]
        ) / (2 * _STEP)
        values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
        # At least the prior's curvature along each direction: the approximation must not be wider
        # than the prior.
        spread = vectors / np.sqrt(np.maximum(values, 1 / 3))
        rng = stream(self.inner.seed, purpose)
        drawn = rng.standard_normal((_HYPERPARAMETER_DRAWS, len(theta)))
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


VARIANTS: Final[dict[str, Variant]] = {
    "portfolio": Variant("noisy EI and the knowledge gradient by turns", Portfolio),
    "repeating": Variant("every fifth measurement at the incumbent again", Repeating),
    "cautious": Variant(
        "recommends the measured point whose mean plus one standard deviation is lowest", Cautious
    ),
    "smooth-noise": Variant(
        "noise that nobody told varies smoothly over the space",
        lambda inner: Reinterpreted(inner, with_smooth_noise),
    ),
    "marginalised": Variant(
        "acquisition and recommendation averaged over five draws of the hyperparameters",
        Marginalised,
    ),
    "winsorised": Variant(
        "values above Tukey's upper fence count as the fence, so that very bad ones do not shape"
        " the model",
        lambda inner: Reinterpreted(inner, winsorised),
    ),
}
