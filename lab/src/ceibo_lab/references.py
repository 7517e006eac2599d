"""Outside references: BoTorch's qLogNEI and Optuna's GPSampler, each used as its documentation
would have it.

Both see the same initial design, the same noise and the same told standard deviations (Optuna's
sampler takes none and infers the noise). They only propose points: `best` and `recommended` are
read off ceibo's model for every method that has none of ceibo's own.
"""

import warnings
from collections.abc import Callable
from typing import Any, Final, final

import gpytorch
import numpy as np
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim.optimize import optimize_acqf

from ceibo.decide.suggest import Evidence
from ceibo_lab.problems import stream
from ceibo_lab.proposers import Proposal, Proposer

RESTARTS: Final = 4
RAW_SAMPLES: Final = 256


@final
class BotorchProposer:
    """SingleTaskGP with its default priors, known noise, standardised outcomes; qLogNEI by
    optimize_acqf.
    """

    def __init__(self, dimension: int, seed: int) -> None:
        self.dimension, self.seed = dimension, seed
        torch.set_num_threads(1)

    def __call__(self, evidence: Evidence, number: int) -> Proposal:
        torch.manual_seed(int(stream(self.seed, f"search {number}").integers(2**31)))
        X = torch.tensor(evidence.X)
        Y = -torch.tensor(evidence.y)[:, None]  # BoTorch maximises
        known = not np.any(np.isnan(evidence.noise))
        Yvar = torch.tensor(evidence.noise**2)[:, None] if known else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SingleTaskGP(X, Y, Yvar, outcome_transform=Standardize(m=1))
            fit_gpytorch_mll(gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model))
            function = qLogNoisyExpectedImprovement(model, X_baseline=X)
            bounds = torch.stack([torch.zeros(self.dimension), torch.ones(self.dimension)]).double()
            x, _ = optimize_acqf(
                function, bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES
            )
        return Proposal(np.clip(x.detach().numpy()[0], 0.0, 1.0), None, None)


@final
class OptunaProposer:
    """One study with a GPSampler, told every measurement; it starts modelling where the initial
    design ends.
    """

    def __init__(self, dimension: int, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        torch.set_num_threads(1)
        self.optuna: Any = optuna
        self.names = [f"x{k}" for k in range(dimension)]
        self.seed = int(stream(seed, "optuna").integers(2**31))
        self.study: Any = None
        self.asked: Any = None
        self.told = 0

    def __call__(self, evidence: Evidence, number: int) -> Proposal:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.study is None:
                sampler = self.optuna.samplers.GPSampler(
                    seed=self.seed, n_startup_trials=len(evidence)
                )
                self.study = self.optuna.create_study(direction="minimize", sampler=sampler)
            if self.asked is not None:
                self.study.tell(self.asked, float(evidence.y[self.told]))
                self.told += 1
            for x, y in zip(evidence.X[self.told :], evidence.y[self.told :], strict=True):
                self._add(x.tolist(), float(y))
            self.told = len(evidence)
            self.asked = self.study.ask()
            point = [self.asked.suggest_float(name, 0.0, 1.0) for name in self.names]
        return Proposal(np.array(point), None, None)

    def _add(self, x: list[float], y: float) -> None:
        between = self.optuna.distributions.FloatDistribution(0.0, 1.0)
        params, distributions = (
            dict(zip(self.names, x, strict=True)),
            dict.fromkeys(self.names, between),
        )
        self.study.add_trial(
            self.optuna.trial.create_trial(params=params, distributions=distributions, value=y)
        )


START: Final[dict[str, Callable[[int, int], Proposer]]] = {
    "botorch-qlognei": BotorchProposer,
    "optuna-gp": OptunaProposer,
}
