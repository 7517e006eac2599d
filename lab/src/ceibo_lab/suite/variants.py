"""Candidates that are more than settings of a study: tried on the suite, not offered by studies.

The first line of a class's docstring is what the page says of it.
"""

from dataclasses import replace
from typing import Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.suggest import Evidence, Model, Settings
from ceibo.gp import GaussianProcess, Hyperparameters, fit_gp
from ceibo.gp.inputs import Array
from ceibo.gp.likelihood import Objective, Priors
from ceibo.gp.observations import Observations, standardize
from ceibo_lab.problems import stream
from ceibo_lab.suite.base import snapped
from ceibo_lab.suite.candidate import Candidate

_BY_TURNS: Final = ("noisy-ei", "knowledge-gradient")
_REPEAT_EVERY: Final = 5
_HYPERPARAMETER_DRAWS: Final = 5
_FENCE: Final = 1.5  # interquartile ranges above the upper quartile
_STEP: Final = 1e-3  # of the differences behind the curvature in log hyperparameters
# Mean and variance of the logarithm of a chi-square variable with one degree of freedom.
_LOG_CHI2_MEAN, _LOG_CHI2_VARIANCE = -1.2703628454614782, np.pi**2 / 2


@final
class Portfolio(Candidate):
    """noisy EI and the knowledge gradient by turns"""

    def settings_for(self, number: int) -> Settings:
        return replace(super().settings_for(number), acquisition=_BY_TURNS[number % len(_BY_TURNS)])


@final
class Repeating(Candidate):
    """every fifth measurement at the incumbent again"""

    def propose(self, evidence: Evidence, number: int) -> tuple[Array, Model | None]:
        x, model = super().propose(evidence, number)
        if model is not None and number % _REPEAT_EVERY == 0:
            return acq.find_incumbent(model.gp).x, model
        return x, model


@final
class Cautious(Candidate):
    """recommends the measured point whose mean plus one standard deviation is lowest"""

    def recommend(self, evidence: Evidence) -> Array | None:
        gp = self.model(evidence).gp
        mean, variance = gp.posterior(gp.X)
        return np.asarray(gp.X[int(np.argmin(mean + np.sqrt(variance)))])


@final
class SmoothNoise(Candidate):
    """noise that nobody told varies smoothly over the space

    Residuals of the usual model, each left out in turn, say where there is more noise than its one
    variance.
    """

    def propose(self, evidence: Evidence, number: int) -> tuple[Array, Model | None]:
        return super().propose(self._told(evidence), number)

    def model(self, evidence: Evidence) -> Model:
        return super().model(self._told(evidence))

    def _told(self, evidence: Evidence) -> Evidence:
        unknown = np.isnan(evidence.noise)
        if evidence.trials < self.settings_for(0).initial_size(len(self.space)) or not np.any(
            unknown
        ):
            return evidence
        model = super().model(evidence)
        gp, inferred = model.gp, model.fit.noise_variance
        precision = np.sum(gp.state.factor.inverse**2, axis=0)  # of each value, given all others
        squares = np.maximum(gp.state.alpha**2 / precision, 1e-12)
        excess = fit_gp(
            gp.X,
            np.log(squares) - _LOG_CHI2_MEAN,
            _LOG_CHI2_VARIANCE,
            categorical=self.space.categorical,
        ).gp.posterior(evidence.X)[0]
        std = np.ldexp(np.sqrt(inferred or 0.0), model.exponent) * np.exp(0.5 * excess)
        return replace(evidence, noise=np.where(unknown, std, evidence.noise))


@final
class Marginalised(Candidate):
    """acquisition and recommendation averaged over five draws of the hyperparameters

    Draws are from the normal approximation to the posterior of the log hyperparameters at its
    maximum.
    """

    def propose(self, evidence: Evidence, number: int) -> tuple[Array, Model | None]:
        if evidence.trials < self.settings_for(number).initial_size(len(self.space)):
            return super().propose(evidence, number)
        model = self.model(evidence)
        self.remembered(model)
        name = self.settings_for(number).acquisition
        processes = self._processes(evidence, model, f"draws {number}")
        return self._best([acq.build(name, gp, seed=number) for gp in processes]), model

    def recommend(self, evidence: Evidence) -> Array | None:
        processes = self._processes(
            evidence, self.model(evidence), f"recommendation {len(evidence)}"
        )
        return self._best([acq.posterior_mean(gp) for gp in processes])

    def _best(self, functions: list[acq.Acquisition]) -> Array:
        """Of the maximisers of all functions the one with the largest mean value."""
        found = [
            acq.maximize(function, seed=self.seed, discrete=self.space.discrete).x
            for function in functions
        ]
        points = np.array([snapped(self.space, x) for x in found])
        values = np.mean([function.value(points) for function in functions], axis=0)
        return np.asarray(points[int(np.argmax(values))])

    def _processes(self, evidence: Evidence, model: Model, purpose: str) -> list[GaussianProcess]:
        y = np.ldexp(evidence.y, -model.exponent)
        data = standardize(evidence.X, y, np.ldexp(evidence.noise, -model.exponent) ** 2)
        priors = Priors.default(data.X.shape[1], data.infers_noise)
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
        drawn = stream(self.seed, purpose).standard_normal((_HYPERPARAMETER_DRAWS, len(theta)))
        return [
            self._process(
                data, model, Hyperparameters.from_theta(theta + spread @ z, len(self.space))
            )
            for z in drawn
        ]

    def _process(self, data: Observations, model: Model, drawn: Hyperparameters) -> GaussianProcess:
        squared = data.scale**2
        kernel = replace(
            model.gp.kernel, lengthscales=drawn.lengthscales, variance=drawn.variance * squared
        )
        noise = data.noise_with(drawn.noise) * squared
        y, expected = data.centre + data.scale * data.y, model.gp.expected_noise
        return GaussianProcess(data.X, y, noise, kernel, data.centre, expected).with_estimated_mean(
            data.scale
        )


@final
class Winsorised(Candidate):
    """values above Tukey's upper fence count as the fence, so that very bad ones do not shape the
    model
    """

    def propose(self, evidence: Evidence, number: int) -> tuple[Array, Model | None]:
        return super().propose(self._clipped(evidence), number)

    def model(self, evidence: Evidence) -> Model:
        return super().model(self._clipped(evidence))

    def _clipped(self, evidence: Evidence) -> Evidence:
        if len(evidence) == 0:
            return evidence
        low, high = np.quantile(evidence.y, [0.25, 0.75])
        return replace(evidence, y=np.minimum(evidence.y, high + _FENCE * (high - low)))


VARIANTS: Final[dict[str, type[Candidate]]] = {
    "portfolio": Portfolio,
    "repeating": Repeating,
    "cautious": Cautious,
    "smooth-noise": SmoothNoise,
    "marginalised": Marginalised,
    "winsorised": Winsorised,
}
