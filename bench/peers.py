"""One cold suggestion (fit and maximise) by each library, as its documentation writes it.

A peer takes data and returns the action to be timed; what comes before a suggestion, such as
storing the data, is not timed.
"""

import warnings
from collections.abc import Callable
from typing import Any, Final

import gpytorch
import optuna
import torch
from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim.optimize import optimize_acqf

from bench.data import Data
from ceibo import acquisition
from ceibo.decide import DEFAULT_ACQUISITION
from ceibo.gp import fit_gp

Action = Callable[[], object]
Peer = Callable[[Data, int], Action]

RESTARTS: Final = 4
RAW_SAMPLES: Final = 256


def ceibo_peer(name: str) -> Peer:
    """fit_gp, build, maximize."""

    def prepare(data: Data, seed: int) -> Action:
        def suggest() -> object:
            gp = fit_gp(data.X, data.y, data.noise).gp
            return acquisition.maximize(acquisition.build(name, gp, seed=seed), seed=seed)

        return suggest

    return prepare


def botorch_peer(noisy: bool) -> Peer:
    """SingleTaskGP with known noise, standardised outcomes; LogEI, or qLogNEI if `noisy`."""

    def prepare(data: Data, seed: int) -> Action:
        X = torch.tensor(data.X)
        Y = -torch.tensor(data.y)[:, None]  # BoTorch maximises
        Yvar = torch.tensor(data.noise)[:, None]

        def suggest() -> object:
            torch.manual_seed(seed)
            model = SingleTaskGP(X, Y, Yvar, outcome_transform=Standardize(m=1))
            fit_gpytorch_mll(gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model))
            if noisy:
                return maximize_with_botorch(
                    qLogNoisyExpectedImprovement(model, X_baseline=X), X.shape[1]
                )
            return maximize_with_botorch(LogExpectedImprovement(model, best_f=Y.max()), X.shape[1])

        return suggest

    return prepare


def maximize_with_botorch(acquisition_function: Any, dimension: int) -> Any:
    """optimize_acqf over the unit cube: (1, d) tensor of the best point, and the value."""
    bounds = torch.stack([torch.zeros(dimension), torch.ones(dimension)]).double()
    return optimize_acqf(
        acquisition_function, bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES
    )


def optuna_peer(data: Data, seed: int) -> Action:
    """A study with n finished trials and a fresh GPSampler, asked for one more."""
    columns = [f"x{k}" for k in range(data.X.shape[1])]
    distributions: dict[str, optuna.distributions.BaseDistribution] = {
        name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in columns
    }
    study = optuna.create_study(direction="minimize", sampler=optuna.samplers.GPSampler(seed=seed))
    study.add_trials(
        [
            optuna.trial.create_trial(
                params=dict(zip(columns, x, strict=True)), distributions=distributions, value=value
            )
            for x, value in zip(data.X.tolist(), data.y.tolist(), strict=True)
        ]
    )

    def suggest() -> object:
        trial = study.ask()
        return [trial.suggest_float(name, 0.0, 1.0) for name in columns]

    return suggest


PEERS: Final[dict[str, Peer]] = {
    "ceibo corrected-ei": ceibo_peer("corrected-ei"),
    f"ceibo {DEFAULT_ACQUISITION}": ceibo_peer(DEFAULT_ACQUISITION),
    "BoTorch LogEI": botorch_peer(noisy=False),
    "BoTorch qLogNEI": botorch_peer(noisy=True),
    "Optuna GPSampler": optuna_peer,
    "ceibo q-noisy-ei": ceibo_peer("q-noisy-ei"),
    "ceibo knowledge-gradient": ceibo_peer("knowledge-gradient"),
}


def quiet() -> None:
    """One torch thread, and no warnings of other libraries in the output."""
    torch.set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
