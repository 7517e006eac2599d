"""BoFire's SoboStrategy with qLogNEI and its constraints, with its defaults.

BoFire's default optimiser of acquisitions takes linear rules and n-choose-k. It takes no exclusions
of categories with numbers, for which there is a genetic algorithm that needs minutes a suggestion;
so, where rules depend on categories, the default optimiser is run for every choice of them, with
the bounds that hold there, on the one model of all trials, and the best of these is taken.
Logarithmic columns are given as their coordinates, as BoFire has none. It infers the noise.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, final

import bofire.strategies.api as strategies
import numpy as np
import pandas as pd
import torch
from bofire.data_models.acquisition_functions.api import qLogNEI, qUCB
from bofire.data_models.constraints.api import (
    LinearEqualityConstraint,
    LinearInequalityConstraint,
    NChooseKConstraint,
)
from bofire.data_models.domain.api import Constraints, Domain, Inputs, Outputs
from bofire.data_models.features.api import CategoricalInput, ContinuousInput, ContinuousOutput
from bofire.data_models.objectives.api import MinimizeObjective
from bofire.data_models.strategies.api import SoboStrategy

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
        self._domain = self._domain_of({}, {})
        self._parts = [
            self._domain_of(choice.fixed, self._most(choice.totals))
            for choice in problem.choices
            if any(_depends(rule) for rule in problem.rules)
        ]
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
                SoboStrategy(domain=self._domain, acquisition_function=function, seed=seed)
            )
            strategy.tell(self._table(trials))
            row = self._best(strategy).iloc[0]
        return {name: self._value(name, row[name]) for name in self.problem.dimensions}

    def _best(self, strategy: Any) -> Any:
        """The one candidate; if rules depend on categories, the best of all choices of them."""
        if not self._parts:
            return strategy.ask(candidate_count=1)
        acqfs = strategy._get_acqfs(1)  # noqa: SLF001 - what `ask` optimises has no other name
        optimize, told = strategy.acqf_optimizer.optimize, strategy.experiments
        found = pd.concat([optimize(1, acqfs, domain, told) for domain in self._parts])
        return found.iloc[[int(np.argmax(strategy.calc_acquisition(found)))]]

    def _table(self, trials: Trials) -> Any:
        rows = [
            {name: self._shown(name, value) for name, value in each.items()}
            for each in trials.settings
        ]
        return pd.DataFrame(rows).assign(**{_VALUE: trials.values, f"valid_{_VALUE}": 1})

    def _domain_of(self, fixed: Params, most: Mapping[str, float]) -> Any:
        """The problem as BoFire sees it, within a choice of categories and its bounds."""
        rules = [rule for rule in self.problem.rules if not _depends(rule)]
        features = [self._feature(name, fixed, most) for name in self.problem.dimensions]
        value = ContinuousOutput(key=_VALUE, objective=MinimizeObjective(w=1.0))
        return Domain(
            inputs=Inputs(features=features),
            outputs=Outputs(features=[value]),
            constraints=Constraints(constraints=[_constraint(rule) for rule in rules]),
        )

    def _most(self, totals: Sequence[Total]) -> dict[str, float]:
        """The bounds of a choice: rules about one number."""
        alone = [each for each in totals if len(each.weights) == 1]
        return {
            name: each.bound / weight for each in alone for name, weight in each.weights.items()
        }

    def _feature(self, name: str, fixed: Params, most: Mapping[str, float]) -> Any:
        dimension = self.problem.dimensions[name]
        if isinstance(dimension, Categorical):
            options = [str(each) for each in dimension.choices]
            allowed = [name not in fixed or each == str(fixed[name]) for each in options]
            return CategoricalInput(key=name, categories=options, allowed=allowed)
        if not isinstance(dimension, Float):
            raise TypeError(f"{name}: BoFire has no feature for {dimension!r}")
        high = min(dimension.high, most.get(name, dimension.high))
        low, high = self._shown(name, dimension.low), self._shown(name, high)
        return ContinuousInput(key=name, bounds=(low, high))

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


def _depends(rule: Rule) -> bool:
    """Whether a rule is about categories."""
    return isinstance(rule, Forbidden) or (isinstance(rule, Total) and bool(rule.where))


def _constraint(rule: Rule) -> Any:
    if isinstance(rule, Few):
        return NChooseKConstraint(
            features=list(rule.names),
            min_count=rule.least,
            max_count=rule.most,
            none_also_valid=rule.least == 0,
        )
    if not isinstance(rule, Total):
        raise TypeError(f"BoFire has no constraint for {rule!r}")
    kind = LinearEqualityConstraint if rule.equal else LinearInequalityConstraint
    names, weights = list(rule.weights), list(rule.weights.values())
    return kind(features=names, coefficients=weights, rhs=rule.bound)
