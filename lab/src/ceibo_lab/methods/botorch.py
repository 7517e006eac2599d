"""BoTorch's qLogNEI, used as its documentation recommends, on any space of ceibo's."""

import warnings
from typing import Any, final

import gpytorch
import numpy as np
import torch
from botorch.acquisition.analytic import PosteriorMean
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.gp_regression_mixed import MixedSingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim.optimize import optimize_acqf
from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating

from ceibo.decide import Evidence, Space
from ceibo.decide.model import Model
from ceibo.gp.inputs import Array
from ceibo_lab.method import RAW_SAMPLES, RESTARTS, Proposal, design_point, snap
from ceibo_lab.problem import stream


@final
class Botorch:
    """SingleTaskGP with its default priors, standardised outcomes, noise where it is told; qLogNEI.

    Spaces with categories get a MixedSingleTaskGP, discrete ones the alternating mixed optimiser.
    Recommends the minimiser of its own posterior mean.

    Args:
        space: of the problem.
        seed: of the replication.
        initial: points of an initial design of its own.
    """

    def __init__(self, space: Space, seed: int, initial: int) -> None:
        self.space, self.seed, self.initial = space, seed, initial
        self._bounds = torch.stack([torch.zeros(len(space)), torch.ones(len(space))]).double()
        # BoTorch wants the values of discrete parameters to begin and end at the bounds.
        self._first, self._span = np.zeros(len(space)), np.ones(len(space))
        for column, values in space.discrete.items():
            self._first[column], self._span[column] = values[0], np.ptp(values) or 1.0
        torch.set_num_threads(1)

    def propose(self, evidence: Evidence, number: int) -> Proposal:
        if number < self.initial:
            return Proposal(design_point(self.space, self.seed, number))
        torch.manual_seed(int(stream(self.seed, f"search {number}").integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, X = self._fit(evidence)
            return Proposal(self._maximise(qLogNoisyExpectedImprovement(model, X_baseline=X)))

    def model(self, _evidence: Evidence) -> Model | None:
        return None

    def recommend(self, evidence: Evidence) -> Array | None:
        torch.manual_seed(int(stream(self.seed, f"recommendation {len(evidence)}").integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, _ = self._fit(evidence)
            return self._maximise(PosteriorMean(model))

    def _fit(self, evidence: Evidence) -> tuple[Any, torch.Tensor]:
        X = torch.tensor((evidence.X - self._first) / self._span)
        Y = -torch.tensor(evidence.y)[:, None]  # BoTorch maximises
        told = not np.any(np.isnan(evidence.noise))
        Yvar = torch.tensor(evidence.noise**2).clamp_min(1e-12)[:, None] if told else None
        transform = Standardize(m=1)
        categorical = list(self.space.categorical)
        if categorical:
            model: Any = MixedSingleTaskGP(X, Y, categorical, Yvar, outcome_transform=transform)
        else:
            model = SingleTaskGP(X, Y, Yvar, outcome_transform=transform)
        fit_gpytorch_mll(gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model))
        return model, X

    def _maximise(self, function: Any) -> Array:
        effort: dict[str, Any] = {"num_restarts": RESTARTS, "raw_samples": RAW_SAMPLES}
        if self.space.discrete:
            lists = {
                k: ((v - self._first[k]) / self._span[k]).tolist()
                for k, v in self.space.discrete.items()
            }
            x, _ = optimize_acqf_mixed_alternating(
                function,
                self._bounds,
                discrete_dims={k: v for k, v in lists.items() if k not in self.space.categorical},
                cat_dims={k: v for k, v in lists.items() if k in self.space.categorical},
                **effort,
            )
        else:
            x, _ = optimize_acqf(function, self._bounds, q=1, **effort)
        found = np.clip(x.detach().numpy()[0], 0.0, 1.0)
        return snap(self.space, self._first + self._span * found)
