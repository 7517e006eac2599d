"""Corrected expected improvement in BoTorch, and in Ax with an outcome constraint.

Needs `pip install '.[botorch]' ax-platform`. Run it with `python
examples/integrations_botorch.py`.
"""

import warnings

import torch
from ax.adapter.registry import Generators
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig
from ax.generation_strategy.generation_node import GenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.generation_strategy.generator_spec import GeneratorSpec
from ax.generation_strategy.transition_criterion import MinTrials
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from ceibo.integrations.botorch import LogCorrectedExpectedImprovement, register_with_ax

NOISE_STD, COST_STD = 0.15, 0.02
TRIALS, AX_TRIALS = 20, 14


def truth(X: torch.Tensor) -> torch.Tensor:
    """To be maximised; 0 at (0.3, 0.65)."""
    return -4 * (X - torch.tensor([0.3, 0.65], dtype=X.dtype)).square().sum(dim=-1, keepdim=True)


def measure(X: torch.Tensor) -> torch.Tensor:
    return truth(X) + NOISE_STD * torch.randn(len(X), 1, dtype=X.dtype)


def fit(X: torch.Tensor, Y: torch.Tensor) -> SingleTaskGP:
    model = SingleTaskGP(X, Y)  # the noise is inferred; give train_Yvar where it is known
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def with_botorch() -> torch.Tensor:
    """The usual loop; the acquisition function takes the observed points instead of `best_f`."""
    torch.manual_seed(0)
    bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    X = torch.rand(6, 2, dtype=torch.float64)
    Y = measure(X)
    while len(X) < TRIALS:
        acquisition = LogCorrectedExpectedImprovement(fit(X, Y), X_observed=X)
        candidates, _ = optimize_acqf(
            acquisition, bounds, q=2, num_restarts=4, raw_samples=64, sequential=True
        )
        X, Y = torch.cat([X, candidates]), torch.cat([Y, measure(candidates)])
    # The best observed point by posterior mean, 1 x d.
    return LogCorrectedExpectedImprovement(fit(X, Y), X).X_incumbent


def strategy() -> GenerationStrategy:
    """A few Sobol points, then Ax's modular BoTorch generator with our function."""
    ours = {"botorch_acqf_class": LogCorrectedExpectedImprovement}
    start = GenerationNode(
        name="Sobol",
        generator_specs=[GeneratorSpec(Generators.SOBOL, generator_kwargs={"seed": 0})],
        transition_criteria=[MinTrials(threshold=6, transition_to="CorrectedEI")],
    )
    go_on = GenerationNode(
        name="CorrectedEI",
        generator_specs=[GeneratorSpec(Generators.BOTORCH_MODULAR, generator_kwargs=ours)],
    )
    return GenerationStrategy(name="Sobol+CorrectedEI", nodes=[start, go_on])


def with_ax() -> Client:
    """An Ax experiment of 14 trials, in which the cost x + y must be at most 0.8.

    Ax knows the noise from the standard error of each value.
    """
    torch.manual_seed(1)
    register_with_ax()  # lets Ax save the experiment with the class's name
    client = Client(random_seed=0)
    box = [RangeParameterConfig(name=name, bounds=(0, 1), parameter_type="float") for name in "xy"]
    client.configure_experiment(box)
    client.configure_optimization(objective="purity", outcome_constraints=["cost <= 0.8"])
    client.set_generation_strategy(strategy())
    for _ in range(AX_TRIALS):
        for index, point in client.get_next_trials(max_trials=1).items():
            place = torch.tensor([[point["x"], point["y"]]], dtype=torch.float64)
            cost = place.sum().item() + COST_STD * torch.randn(1).item()
            raw = {"purity": (measure(place).item(), NOISE_STD), "cost": (cost, COST_STD)}
            client.complete_trial(index, raw_data=raw)
    return client


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # on small matrices more threads are slower
    best = with_botorch()
    print(
        f"BoTorch: best measured point ({best[0, 0]:.2f}, {best[0, 1]:.2f}), truly"
        f" {truth(best).item():+.2f}"
    )
    params, outcome, _, _ = with_ax().get_best_parameterization()
    place = torch.tensor([[params["x"], params["y"]]], dtype=torch.float64)
    found, cost = truth(place).item(), place.sum().item()
    mean, error = outcome["purity"]  # type: ignore[misc]  # Ax annotates it as a number alone
    print(
        f"Ax:      ({params['x']:.2f}, {params['y']:.2f}), believed {mean:+.2f} ± {error:.2f},"
        f" truly {found:+.2f}; cost {cost:.2f} of at most 0.8"
    )


if __name__ == "__main__":
    main()
