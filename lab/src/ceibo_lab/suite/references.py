"""Outside references on any space of ceibo's: BoTorch's qLogNEI and Optuna's GPSampler, used as
they recommend.
"""

import warnings
from collections.abc import Callable
from typing import Any, Final, final

import gpytorch
import numpy as np
import optuna
import torch
from botorch.acquisition.analytic import PosteriorMean
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.gp_regression_mixed import MixedSingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim.optimize import optimize_acqf
from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating

from ceibo.decide.space import Categorical, Dimension, Float, Int, Space
from ceibo.decide.suggest import Evidence, Model
from ceibo.gp.inputs import Array
from ceibo_lab.problems import stream
from ceibo_lab.suite.base import REFERENCE_INITIAL, SuiteMethod, initial, snapped

RESTARTS: Final = 4
RAW_SAMPLES: Final = 256


@final
class BotorchNoisyEI:
    """SingleTaskGP with its default priors, standardised outcomes, known noise where it is told;
    qLogNEI.

    Spaces with categories get a MixedSingleTaskGP, discrete ones the alternating mixed optimiser.
    Recommends the minimiser of its own posterior mean.
    """

    def __init__(self, space: Space, seed: int) -> None:
        self.space, self.seed = space, seed
        self.settings: dict[str, Any] = {"restarts": RESTARTS, "raw_samples": RAW_SAMPLES}
        self._bounds = torch.stack([torch.zeros(len(space)), torch.ones(len(space))]).double()
        # BoTorch wants the values of discrete parameters to begin and end at the bounds.
        self._first, self._span = np.zeros(len(space)), np.ones(len(space))
        for column, values in space.discrete.items():
            self._first[column], self._span[column] = values[0], np.ptp(values) or 1.0
        torch.set_num_threads(1)

    def propose(self, evidence: Evidence, number: int) -> tuple[Array, Model | None]:
        if number < REFERENCE_INITIAL:
            return initial(self.space, self.seed, number), None
        torch.manual_seed(int(stream(self.seed, f"search {number}").integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, X = self._fitted(evidence)
            return self._optimised(qLogNoisyExpectedImprovement(model, X_baseline=X)), None

    def model(self, evidence: Evidence) -> Model | None:
        return None

    def recommend(self, evidence: Evidence) -> Array | None:
        torch.manual_seed(int(stream(self.seed, f"recommendation {len(evidence)}").integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, _ = self._fitted(evidence)
            return self._optimised(PosteriorMean(model))

    def _fitted(self, evidence: Evidence) -> tuple[Any, torch.Tensor]:
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

    def _optimised(self, function: Any) -> Array:
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
                num_restarts=RESTARTS,
                raw_samples=RAW_SAMPLES,
            )
        else:
            x, _ = optimize_acqf(
                function, self._bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES
            )
        return snapped(
            self.space, self._first + self._span * np.clip(x.detach().numpy()[0], 0.0, 1.0)
        )


@final
class OptunaGP:
    """One study with a GPSampler, told every measurement. Recommends its best trial, as
    `study.best_params` does.
    """

    def __init__(self, space: Space, seed: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        torch.set_num_threads(1)
        self.space, self.seed = space, seed
        self.settings: dict[str, Any] = {"n_startup_trials": REFERENCE_INITIAL}
        self._distributions = {name: _distribution(d) for name, d in space.dimensions.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = optuna.samplers.GPSampler(
                seed=int(stream(seed, "optuna").integers(2**31)), n_startup_trials=REFERENCE_INITIAL
            )
        self._study = optuna.create_study(direction="minimize", sampler=sampler)
        self._asked: Any = None

    def propose(self, evidence: Evidence, number: int) -> tuple[Array, Model | None]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self._asked is not None:
                self._study.tell(self._asked, float(evidence.y[-1]))
            if number < REFERENCE_INITIAL:
                u = initial(self.space, self.seed, number)
                self._study.enqueue_trial(self.space.from_unit(u))
            self._asked = self._study.ask(self._distributions)
        return self.space.to_unit(self._asked.params), None

    def model(self, evidence: Evidence) -> Model | None:
        return None

    def recommend(self, evidence: Evidence) -> Array | None:
        return np.asarray(evidence.X[int(np.argmin(evidence.y))])


def _distribution(dimension: Dimension) -> Any:
    if isinstance(dimension, Categorical):
        return optuna.distributions.CategoricalDistribution(list(dimension.choices))
    if isinstance(dimension, Float):
        return optuna.distributions.FloatDistribution(
            dimension.low, dimension.high, log=dimension.log, step=dimension.step
        )
    if isinstance(dimension, Int):
        low, high = dimension.low, dimension.high
        return optuna.distributions.IntDistribution(low, high, log=dimension.log)
    raise TypeError(f"Optuna has no distribution for {dimension!r}")


START: Final[dict[str, Callable[[Space, int], SuiteMethod]]] = {
    "botorch-qlognei": BotorchNoisyEI,
    "optuna-gp": OptunaGP,
}
