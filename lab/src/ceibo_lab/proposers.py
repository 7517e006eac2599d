"""Methods at work: asked with all they may know, they answer with a point of the unit cube.

ceibo's own go through `ceibo.decide.suggest`, the same code that every study uses.
"""

from dataclasses import dataclass
from typing import Final, Protocol, final

import numpy as np
from scipy.optimize import minimize

from ceibo import acquisition as acq
from ceibo.acquisition.sampling import spread_points
from ceibo.decide.space import Float, Space
from ceibo.decide.suggest import Evidence, Model, Settings, fit_model, suggest
from ceibo.gp.inputs import Array
from ceibo_lab.problems import stream

KERNEL: Final = "matern52"


@final
@dataclass(frozen=True, eq=False)
class Proposal:
    """A point of the unit cube (d,), the model it was chosen with (None: none), the acquisition's
    value there.
    """

    x: Array
    model: Model | None
    value: float | None


class Proposer(Protocol):
    """A method at work in one replication; asked once per step, in order."""

    def __call__(self, evidence: Evidence, number: int) -> Proposal:
        """The point for trial `number`."""


@final
class CeiboProposer:
    """ceibo's own suggestion, each fit also started from the one before, as a study does."""

    def __init__(self, dimension: int, seed: int, settings: Settings) -> None:
        self.space, self.settings, self.seed = unit_space(dimension), settings, seed
        self.previous: Model | None = None

    def __call__(self, evidence: Evidence, number: int) -> Proposal:
        start = None if self.previous is None else self.previous.fit.hyperparameters
        found = suggest(evidence, self.space, self.settings, start, self.seed, number)
        self.previous = found.model
        return Proposal(found.x, found.model, found.value)


@final
class ShortSearchProposer:
    """The same model and acquisition, maximised by a few L-BFGS steps on its natural scale.

    Stands for code that stops the inner search early: `starts` of the best of `raw` quasi-random
    points climb for `steps` iterations each.
    """

    raw, starts, steps = 512, 10, 5

    def __init__(self, dimension: int, seed: int, settings: Settings) -> None:
        self.space, self.settings, self.seed = unit_space(dimension), settings, seed
        self.previous: Model | None = None

    def __call__(self, evidence: Evidence, number: int) -> Proposal:
        start = None if self.previous is None else self.previous.fit.hyperparameters
        model = self.previous = fit_model(evidence, self.space, self.settings, start)
        seed = int(stream(self.seed, f"search {number}").integers(2**62))
        function = acq.build(self.settings.acquisition, model.gp, seed=seed)
        points = spread_points(self.raw, len(self.space), np.random.default_rng(seed))
        order = np.argsort(-function.value(points), kind="stable")[: self.starts]

        def loss(x: Array) -> tuple[float, Array]:
            value, gradient = function.value_and_gradient(x[None, :])
            return -float(value[0]), -gradient[0]

        bounds = [(0.0, 1.0)] * len(self.space)
        ends = [
            minimize(
                loss,
                points[k],
                jac=True,
                bounds=bounds,
                method="L-BFGS-B",
                options={"maxiter": self.steps},
            )
            for k in order
        ]
        best = min(ends, key=lambda end: float(end.fun))
        return Proposal(np.clip(best.x, 0.0, 1.0), model, model.natural(-float(best.fun)))


@final
class RandomProposer:
    """Uniform random points."""

    def __init__(self, dimension: int, seed: int) -> None:
        self.dimension, self.rng = dimension, stream(seed, "random search")

    def __call__(self, evidence: Evidence, number: int) -> Proposal:
        return Proposal(self.rng.random(self.dimension), None, None)


def unit_space(dimension: int) -> Space:
    """The unit cube as a space: problems are scaled to it before a method sees them."""
    return Space({f"x{k}": Float(0.0, 1.0) for k in range(dimension)})


def judge_settings() -> Settings:
    """Of the model that answers for methods which have none."""
    return Settings(kernel=KERNEL, fit="ml")


def judge(evidence: Evidence, previous: Model | None) -> Model:
    """ceibo's maximum likelihood model of the data, for methods without one."""
    start = None if previous is None else previous.fit.hyperparameters
    return fit_model(evidence, unit_space(evidence.X.shape[1]), judge_settings(), start)
