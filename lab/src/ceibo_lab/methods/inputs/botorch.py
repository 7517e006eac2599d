"""BoTorch's qLogNEI with its constrained optimiser, used as a careful user of it would.

Categories and the parts that are there are enumerated: each choice leaves numbers with linear
rules, for which `optimize_acqf` takes equality and inequality constraints and finds its initial
points in the polytope. Of many choices (n-choose-k) only the most promising by random settings are
optimised.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import gpytorch
import numpy as np
import torch
from botorch.acquisition.analytic import PosteriorMean
from botorch.acquisition.fixed_feature import FixedFeatureAcquisitionFunction
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.gp_regression_mixed import MixedSingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim.optimize import optimize_acqf

from ceibo.decide.dimensions import Float
from ceibo_lab.inputs import Trials
from ceibo_lab.method import RAW_SAMPLES, RESTARTS
from ceibo_lab.problem import stream
from ceibo_lab.problems.inputs.choices import Choice
from ceibo_lab.problems.inputs.problem import InputProblem
from ceibo_lab.problems.inputs.rules import Params, Total

OPTIMISED: Final = 8  # choices for which the acquisition is optimised
_TRIED: Final = 16  # random settings of each choice by which these are found
_Linear = tuple[torch.Tensor, torch.Tensor, float]  # BoTorch's: indices, coefficients, right side


@final
@dataclass(frozen=True, eq=False)
class Polytope:
    """What `optimize_acqf` is given for one choice, in coordinates of the free columns."""

    bounds: torch.Tensor  # (2, k)
    equalities: list[_Linear]
    inequalities: list[_Linear]


@final
class BotorchInputs:
    """SingleTaskGP with its default priors, standardised outcomes, noise where it is told; qLogNEI.

    Spaces with categories get a MixedSingleTaskGP. Answers: the minimiser of its posterior mean,
    found by the same optimiser ("space"), and the measured setting with the best posterior mean.
    """

    def __init__(self, problem: InputProblem, seed: int) -> None:
        self.problem, self.seed = problem, seed
        self._names = list(problem.dimensions)
        self._categorical = list(problem.box.categorical)
        torch.set_num_threads(1)

    def propose(self, trials: Trials, number: int) -> Params:
        self._seed(f"search {number}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, X = self._fit(trials)
            return self._maximise(qLogNoisyExpectedImprovement(model, X_baseline=X), number)

    def answers(self, trials: Trials) -> Mapping[str, Params]:
        self._seed(f"recommendation {len(trials.settings)}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, X = self._fit(trials)
            found = self._maximise(PosteriorMean(model), len(trials.settings))
            with torch.no_grad():
                means = model.posterior(X).mean[:, 0]
        return {"space": found, "measured": trials.settings[int(torch.argmax(means))]}

    def _seed(self, purpose: str) -> None:
        torch.manual_seed(int(stream(self.seed, purpose).integers(2**31)))

    def _fit(self, trials: Trials) -> tuple[Any, torch.Tensor]:
        X = self._coordinates(trials.settings)
        Y = -torch.tensor(trials.values)[:, None]  # BoTorch maximises
        told = not np.any(np.isnan(trials.noise))
        Yvar = torch.tensor(trials.noise**2).clamp_min(1e-12)[:, None] if told else None
        transform = Standardize(m=1)
        if self._categorical:
            cats = self._categorical
            model: Any = MixedSingleTaskGP(X, Y, cats, Yvar, outcome_transform=transform)
        else:
            model = SingleTaskGP(X, Y, Yvar, outcome_transform=transform)
        fit_gpytorch_mll(gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model))
        return model, X

    def _coordinates(self, settings: Sequence[Params]) -> torch.Tensor:
        return torch.tensor(np.array([self.problem.to_box(each) for each in settings]))

    def _maximise(self, function: Any, number: int) -> Params:
        found = [self._in_choice(function, each) for each in self._promising(function, number)]
        return max(found, key=lambda pair: pair[0])[1]

    def _promising(self, function: Any, number: int) -> Sequence[Choice]:
        """The choices to be optimised."""
        choices = self.problem.choices
        if len(choices) <= OPTIMISED:
            return choices
        rng = stream(self.seed, f"choices {number}")
        settings = [self.problem.sample_in(each, rng) for each in choices for _ in range(_TRIED)]
        with torch.no_grad():
            values = function(self._coordinates(settings)[:, None, :])
        best = values.reshape(len(choices), _TRIED).max(dim=1).values
        return [choices[int(k)] for k in torch.argsort(best, descending=True)[:OPTIMISED]]

    def _in_choice(self, function: Any, choice: Choice) -> tuple[float, Params]:
        """The largest value of a choice, and where."""
        fixed = [k for k, name in enumerate(self._names) if name not in choice.free]
        u = self.problem.to_box(choice.fixed)
        values = [float(u[k]) for k in fixed]
        d = len(self._names)
        reduced = FixedFeatureAcquisitionFunction(function, d, fixed, values) if fixed else function
        where = polytope(self.problem, choice)
        found: Any = optimize_acqf(
            reduced,
            where.bounds,
            q=1,
            num_restarts=RESTARTS,
            raw_samples=RAW_SAMPLES,
            equality_constraints=where.equalities or None,
            inequality_constraints=where.inequalities or None,
        )
        x, value = found
        units = np.clip(x.detach().numpy()[0], 0.0, 1.0).tolist()
        free = {
            name: self.problem.dimensions[name].from_unit(each)
            for name, each in zip(choice.free, units, strict=True)
        }
        return float(value), self.problem.existing({**choice.fixed, **free})


def polytope(problem: InputProblem, choice: Choice) -> Polytope:
    """The rules of a choice; a rule about one number is a bound."""
    bounds = torch.tensor([[0.0] * len(choice.free), [1.0] * len(choice.free)], dtype=torch.double)
    equalities: list[_Linear] = []
    inequalities: list[_Linear] = []
    for total in choice.totals:
        if len(total.weights) == 1 and not total.equal:
            _bound(problem, choice, total, bounds)
            continue
        places = [choice.free.index(name) for name in total.weights]
        floats = [(_linear(problem, name), weight) for name, weight in total.weights.items()]
        slopes = torch.tensor(
            [weight * (each.high - each.low) for each, weight in floats], dtype=torch.double
        )
        rest = total.bound - sum(weight * each.low for each, weight in floats)
        if total.equal:
            equalities.append((torch.tensor(places), slopes, rest))
        else:  # BoTorch wants sums that are at least something
            inequalities.append((torch.tensor(places), -slopes, -rest))
    return Polytope(bounds, equalities, inequalities)


def _bound(problem: InputProblem, choice: Choice, total: Total, bounds: torch.Tensor) -> None:
    ((name, weight),) = total.weights.items()
    column = choice.free.index(name)
    at = float(np.clip(problem.dimensions[name].to_unit(total.bound / weight), 0.0, 1.0))
    side, keep = (1, min) if weight > 0 else (0, max)
    bounds[side, column] = keep(float(bounds[side, column]), at)


def _linear(problem: InputProblem, name: str) -> Float:
    found = problem.dimensions[name]
    if not isinstance(found, Float) or found.log:
        raise TypeError(f"{name}: BoTorch takes linear rules in the units of the model only")
    return found
