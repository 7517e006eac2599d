"""ceibo's own suggestions: `ceibo.decide.suggest`, the same code that every study uses."""

from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
from scipy.optimize import minimize

from ceibo import acquisition as acq
from ceibo.acquisition.sampling import spread_points
from ceibo.decide.space import Space
from ceibo.decide.suggest import Evidence, Model, Settings, fit_model, suggest
from ceibo.gp import Hyperparameters
from ceibo.gp.inputs import Array
from ceibo_lab.method import Proposal
from ceibo_lab.problem import stream

KERNEL: Final = "matern52"  # of the paper's experiments


@final
@dataclass(eq=False)
class Ceibo:
    """Suggestions under some settings, each fit also started from the one before, as in a study."""

    space: Space
    seed: int
    settings: Settings
    previous: Model | None = field(default=None, init=False)

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        return self.propose_with(self.settings, evidence, number)

    def propose_with(self, settings: Settings, evidence: Evidence, number: int) -> Proposal:
        """The point for trial `number` under other settings than its own."""
        found = suggest(evidence, self.space, settings, self._start, self.seed, number)
        self.previous = found.model or self.previous
        return Proposal(found.x, found.model, found.value)

    def model(self, evidence: Evidence) -> Model:
        return fit_model(evidence, self.space, self.settings, self._start)

    def refit(self, evidence: Evidence) -> Model:
        """The model of all evidence, from which the next fit starts."""
        self.previous = self.model(evidence)
        return self.previous

    def recommend(self, _evidence: Evidence) -> Array | None:
        return None

    @property
    def _start(self) -> Hyperparameters | None:
        return None if self.previous is None else self.previous.fit.hyperparameters


@final
@dataclass(frozen=True, eq=False)
class ShortSearch:
    """The same model and acquisition, maximised by a few L-BFGS steps on its natural scale.

    Stands for code that stops the inner search early: `starts` of the best of `raw` quasi-random
    points climb for `steps` iterations each.
    """

    inner: Ceibo
    raw: int = 512
    starts: int = 10
    steps: int = 5

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        model, dimension = self.inner.refit(evidence), len(self.inner.space)
        seed = int(stream(self.inner.seed, f"search {number}").integers(2**62))
        function = acq.build(self.inner.settings.acquisition, model.gp, seed=seed)
        points = spread_points(self.raw, dimension, np.random.default_rng(seed))
        order = np.argsort(-function.value(points), kind="stable")[: self.starts]

        def loss(x: Array) -> tuple[float, Array]:
            value, gradient = function.value_and_gradient(x[None, :])
            return -float(value[0]), -gradient[0]

        bounds = [(0.0, 1.0)] * dimension
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

    def model(self, evidence: Evidence) -> Model:
        return self.inner.model(evidence)

    def recommend(self, evidence: Evidence) -> Array | None:
        return self.inner.recommend(evidence)
