"""BoFire's SoboStrategy with qLogNEI and its constraints, with its defaults.

BoFire takes linear rules and n-choose-k with its default optimiser of acquisitions; exclusions of
combinations of categories with numbers only with its genetic algorithm, which is used for these.
Logarithmic columns are given as their coordinates, as BoFire has none. It infers the noise.
"""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, final

import bofire.strategies.api as strategies
import pandas as pd
import torch
from bofire.data_models.acquisition_functions.api import qLogNEI, qUCB
from bofire.data_models.constraints.api import (
    CategoricalExcludeConstraint,
    LinearEqualityConstraint,
    LinearInequalityConstraint,
    NChooseKConstraint,
    SelectionCondition,
    ThresholdCondition,
)
from bofire.data_models.domain.api import Constraints, Domain, Inputs, Outputs
from bofire.data_models.features.api import CategoricalInput, ContinuousInput, ContinuousOutput
from bofire.data_models.objectives.api import MinimizeObjective
from bofire.data_models.strategies.api import SoboStrategy
from bofire.data_models.strategies.predictives.acqf_optimization import (
    BotorchOptimizer,
    GeneticAlgorithmOptimizer,
)

from ceibo.decide.dimensions import Categorical, Float
from ceibo_lab.inputs import Trials
from ceibo_lab.problem import stream
from ceibo_lab.problems.inputs.problem import InputProblem
from ceibo_lab.problems.inputs.rules import Few, Forbidden, Params, Rule, Total

_VALUE = "value"


@final
class BofireInputs:
    """One strategy a step, told everything. Answers: its own best mean, and the best measured.

    Its best mean is where the same strategy with an upper confidence bound of no width asks.
    """

    def __init__(self, problem: InputProblem, seed: int) -> None:
        self.problem, self.seed = problem, seed
        self._domain = Domain(
            inputs=Inputs(features=[self._feature(name) for name in problem.dimensions]),
            outputs=Outputs(
                features=[ContinuousOutput(key=_VALUE, objective=MinimizeObjective(w=1.0))]
            ),
            constraints=Constraints(
                constraints=[each for rule in problem.rules for each in self._constraints(rule)]
            ),
        )
        excludes = any(isinstance(rule, Forbidden) or _is_narrow(rule) for rule in problem.rules)
        self._optimizer = GeneticAlgorithmOptimizer() if excludes else BotorchOptimizer()
        torch.set_num_threads(1)

    def propose(self, trials: Trials, number: int) -> Params:
        return self._ask(trials, qLogNEI(), f"search {number}")

    def answers(self, trials: Trials) -> Mapping[str, Params]:
        found = self._ask(trials, qUCB(beta=0.0), f"recommendation {len(trials.settings)}")
        return {"space": found, "measured": trials.best}

    def _ask(self, trials: Trials, function: Any, purpose: str) -> Params:
        seed = int(stream(self.seed, purpose).integers(2**31))
        torch.manual_seed(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            strategy: Any = strategies.map(
                SoboStrategy(
                    domain=self._domain,
                    acquisition_function=function,
                    acquisition_optimizer=self._optimizer,
                    seed=seed,
                )
            )
            strategy.tell(self._table(trials))
            row = strategy.ask(candidate_count=1).iloc[0]
        return {name: self._value(name, row[name]) for name in self.problem.dimensions}

    def _table(self, trials: Trials) -> Any:
        rows = [
            {name: self._shown(name, value) for name, value in each.items()}
            for each in trials.settings
        ]
        return pd.DataFrame(rows).assign(**{_VALUE: trials.values, f"valid_{_VALUE}": 1})

    def _feature(self, name: str) -> Any:
        dimension = self.problem.dimensions[name]
        if isinstance(dimension, Categorical):
            return CategoricalInput(key=name, categories=[str(each) for each in dimension.choices])
        if not isinstance(dimension, Float):
            raise TypeError(f"{name}: BoFire has no feature for {dimension!r}")
        bounds = (0.0, 1.0) if dimension.log else (dimension.low, dimension.high)
        return ContinuousInput(key=name, bounds=bounds)

    def _shown(self, name: str, value: Any) -> Any:
        """A value as BoFire sees it."""
        dimension = self.problem.dimensions[name]
        if isinstance(dimension, Categorical):
            return str(value)
        return dimension.to_unit(value) if getattr(dimension, "log", False) else value

    def _value(self, name: str, shown: Any) -> Any:
        dimension = self.problem.dimensions[name]
        if isinstance(dimension, Categorical):
            return next(each for each in dimension.choices if str(each) == shown)
        value = float(shown)
        return dimension.from_unit(value) if getattr(dimension, "log", False) else value

    def _constraints(self, rule: Rule) -> Iterator[Any]:
        if isinstance(rule, Few):
            yield NChooseKConstraint(
                features=list(rule.names),
                min_count=rule.least,
                max_count=rule.most,
                none_also_valid=rule.least == 0,
            )
        elif isinstance(rule, Forbidden):
            yield CategoricalExcludeConstraint(
                features=list(rule.together),
                conditions=[SelectionCondition(selection=[v]) for v in rule.together.values()],
            )
        elif rule.where:
            yield self._narrow(rule)
        else:
            kind = LinearEqualityConstraint if rule.equal else LinearInequalityConstraint
            names, weights = list(rule.weights), list(rule.weights.values())
            yield kind(features=names, coefficients=weights, rhs=rule.bound)

    def _narrow(self, rule: Total) -> Any:
        """A bound on one number under one choice, as an exclusion."""
        ((category, choice),), ((name, weight),) = rule.where.items(), rule.weights.items()
        most = self._shown(name, rule.bound / weight)
        return CategoricalExcludeConstraint(
            features=[category, name],
            conditions=[
                SelectionCondition(selection=[choice]),
                ThresholdCondition(threshold=most, operator=">" if weight > 0 else "<"),
            ],
        )


def _is_narrow(rule: Rule) -> bool:
    return isinstance(rule, Total) and bool(rule.where)
