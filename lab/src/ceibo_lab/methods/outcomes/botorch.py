"""BoTorch's qLogNEI with constraints and qLogNEHVI, as its documentation recommends.

A SingleTaskGP of all outcomes, which are independent in it, with its default priors, standardised
outcomes, and the noise where it is told. It says what a ModelListGP of one model per outcome says,
several times as fast where there are many. Goals are negated, since BoTorch maximises. Constraints
are given in standard deviations of the measured values, because BoTorch smooths them over a fixed
width (`eta`).

The reference point of qLogNEHVI is the one that `infer_reference_point` gives for the posterior
means at the measured points, of those that hold the limits by their means (of all, if none does).

Answers with one goal:

    box       the least posterior mean of the goal over the box where the means of all limits hold:
              SLSQP from the four best of 4096 Sobol points and the measured ones
    measured  the same over the measured points alone

Where no such point is found, the most likely one to hold them all. `chance` is what the model says;
the recipe does not look at it. The front are the measured points whose means hold the limits and
are not dominated by the means of others.
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, final

import gpytorch
import numpy as np
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
from botorch.acquisition.objective import LinearMCObjective
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim.optimize import optimize_acqf
from botorch.utils.multi_objective.hypervolume import infer_reference_point
from scipy.optimize import NonlinearConstraint, minimize
from scipy.stats import norm, qmc

from ceibo.acquisition.fronts import nondominated
from ceibo.gp.inputs import Array
from ceibo_lab.method import RAW_SAMPLES, RESTARTS
from ceibo_lab.methods.outcomes.raw import spread
from ceibo_lab.outcomes import Answer, Measured
from ceibo_lab.problem import stream
from ceibo_lab.problems.outcomes.problem import OutcomeProblem

# of the way that SLSQP went, tried in this order, until the means of all limits hold
_SHARES: Final = (1.0, *(1.0 - 10.0**-k for k in range(8, 0, -1)), 0.5)
CANDIDATES: Final = 4096  # Sobol points among which the search for an answer begins


class Fitted(NamedTuple):
    """A model of all outcomes, goals negated, and the points it was fitted to."""

    model: Any
    X: torch.Tensor


@final
class BotorchOutcomes:
    """One goal under limits by qLogNEI, two or three goals by qLogNEHVI."""

    def __init__(self, problem: OutcomeProblem, seed: int) -> None:
        self.goals, self.seed = problem.goals, seed
        self._bounds = torch.stack(
            [torch.zeros(problem.dimension), torch.ones(problem.dimension)]
        ).double()
        torch.set_num_threads(1)

    def propose(self, measured: Measured, number: int) -> Array:
        self._seed(f"search {number}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = self._fit(measured)
            function = (
                self._improvement(fitted, measured)
                if self.goals == 1
                else self._hypervolume(fitted, measured)
            )
            x, _ = optimize_acqf(
                function, self._bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES
            )
        return np.asarray(np.clip(x.detach().numpy()[0], 0.0, 1.0))

    def answers(self, measured: Measured) -> Mapping[str, Answer]:
        self._seed(f"recommendation {len(measured.X)}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = self._fit(measured)
            start = int(stream(self.seed, "candidates").integers(2**31))
            cloud = qmc.Sobol(measured.X.shape[1], scramble=True, rng=start).random(CANDIDATES)
            return {
                "box": self._best(fitted, np.concatenate([cloud, measured.X]), polish=True),
                "measured": self._best(fitted, measured.X, polish=False),
            }

    def front(self, measured: Measured) -> list[Answer]:
        self._seed(f"recommendation {len(measured.X)}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = self._fit(measured)
        found = self._state(fitted, measured.X)
        held = [each for each in found if self._holds(each)]
        if not held:
            return []
        kept = nondominated(np.array([_means(each)[: self.goals] for each in held]))
        return [each for each, keep in zip(held, kept, strict=True) if keep]

    # -- the model

    def _seed(self, purpose: str) -> None:
        torch.manual_seed(int(stream(self.seed, purpose).integers(2**31)))

    def _fit(self, measured: Measured) -> Fitted:
        X, Y = torch.tensor(measured.X), torch.tensor(measured.Y)
        Y[:, : self.goals] *= -1.0
        told = not np.any(np.isnan(measured.noise))
        Yvar = torch.tensor(measured.noise**2).clamp_min(1e-12) if told else None
        model = SingleTaskGP(X, Y, Yvar, outcome_transform=Standardize(m=Y.shape[1]))
        fit_gpytorch_mll(gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model))
        return Fitted(model, X)

    def _constraints(
        self, measured: Measured
    ) -> list[Callable[[torch.Tensor], torch.Tensor]] | None:
        scales = spread(measured.Y).tolist()

        def excess(column: int) -> Callable[[torch.Tensor], torch.Tensor]:
            return lambda samples: samples[..., column] / scales[column]

        return [excess(k) for k in range(self.goals, len(scales))] or None

    # -- what to measure next

    def _improvement(self, fitted: Fitted, measured: Measured) -> Any:
        goal = LinearMCObjective(torch.eye(measured.Y.shape[1]).double()[0])
        return qLogNoisyExpectedImprovement(
            fitted.model, fitted.X, objective=goal, constraints=self._constraints(measured)
        )

    def _hypervolume(self, fitted: Fitted, measured: Measured) -> Any:
        state = self._state(fitted, measured.X)
        held = [each for each in state if self._holds(each)] or state
        goals = np.array([_means(each)[: self.goals] for each in held])
        front = goals[nondominated(goals)]
        return qLogNoisyExpectedHypervolumeImprovement(
            fitted.model,
            ref_point=infer_reference_point(-torch.tensor(front)),
            X_baseline=fitted.X,
            objective=IdentityMCMultiOutputObjective(outcomes=list(range(self.goals))),
            constraints=self._constraints(measured),
            prune_baseline=True,
        )

    # -- what to answer

    def _state(self, fitted: Fitted, X: Array) -> list[Answer]:
        """What the model says of each point, in the problem's own signs."""
        with torch.no_grad():
            posterior = fitted.model.posterior(torch.tensor(X)[:, None, :])
            means = posterior.mean[:, 0].numpy().copy()
            stds = posterior.variance[:, 0].clamp_min(0.0).sqrt().numpy()
        means[:, : self.goals] *= -1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            margins = -means[:, self.goals :] / stds[:, self.goals :]
        chances = np.prod(norm.cdf(np.nan_to_num(margins)), axis=1)
        return [Answer(*row) for row in zip(X, means, stds, chances.tolist(), strict=True)]

    def _holds(self, answer: Answer) -> bool:
        return bool(np.all(_means(answer)[self.goals :] <= 0.0))

    def _best(self, fitted: Fitted, X: Array, *, polish: bool) -> Answer:
        state = self._state(fitted, X)
        held = sorted(
            (each for each in state if self._holds(each)), key=lambda each: float(_means(each)[0])
        )
        if not held:
            return max(state, key=lambda each: each.chance or 0.0)
        if not polish:
            return held[0]
        climbed = np.array([self._climb(fitted, each.x) for each in held[:RESTARTS]])
        found = [each for each in self._state(fitted, climbed) if self._holds(each)]
        return min([held[0], *found], key=lambda each: float(_means(each)[0]))

    def _climb(self, fitted: Fitted, start: Array) -> Array:
        """Where SLSQP ends, within the limits by their means; the start is within them.

        `optimize_acqf` gives up where SLSQP ends a little outside; here the last point within,
        on the way from the start, is taken.
        """
        scales = fitted.model.outcome_transform.stdvs[0]

        def means(x: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = -fitted.model.posterior(x[None, :]).mean[0] / scales
            return found

        def values(u: Array) -> Array:
            with torch.no_grad():
                return np.asarray(means(torch.tensor(u)).numpy())

        def slopes(u: Array) -> Array:
            found: Any = torch.autograd.functional.jacobian(means, torch.tensor(u))
            return np.asarray(found.numpy())

        def goal(u: Array) -> tuple[float, Array]:
            return float(values(u)[0]), slopes(u)[0]

        limits = NonlinearConstraint(
            lambda u: values(u)[1:], 0.0, np.inf, jac=lambda u: slopes(u)[1:]
        )
        square = [(0.0, 1.0)] * len(start)
        # the model's goal is the negated one, so that its negative here is minimised
        ended = minimize(goal, start, jac=True, bounds=square, constraints=limits, method="SLSQP")
        end = np.clip(ended.x, 0.0, 1.0)
        tried = (start + share * (end - start) for share in _SHARES)
        return next((u for u in tried if np.all(values(u)[1:] >= 0.0)), start)


def _means(answer: Answer) -> Array:
    if answer.means is None:
        raise ValueError("an answer of a model has means")
    return answer.means
