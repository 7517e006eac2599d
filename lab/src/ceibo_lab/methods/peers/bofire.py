"""BoFire's `SoboStrategy` with its defaults: SingleTaskGP and qLogNEI.

Without logarithms: see `is_coordinate`. Whole numbers with few levels are discrete.
"""

import warnings
from collections.abc import Mapping
from typing import Any, Final, final

import bofire.strategies.api as strategies
import pandas as pd
import torch
from bofire.data_models.acquisition_functions.api import qUCB
from bofire.data_models.domain.api import Domain, Inputs, Outputs
from bofire.data_models.features.api import (
    CategoricalInput,
    ContinuousInput,
    ContinuousOutput,
    DiscreteInput,
)
from bofire.data_models.objectives.api import MinimizeObjective
from bofire.data_models.strategies.api import SoboStrategy

from ceibo.decide import Space
from ceibo.decide.dimensions import Categorical, Dimension, Int
from ceibo_lab.method import REFERENCE_INITIAL
from ceibo_lab.methods.peers.tool import VALUE, is_coordinate, read, unknown

_SEEDS: Final = 2**31


@final
class Bofire:
    """One strategy a step, told everything; it takes no noise, and infers it.

    Begins with ten samples of its domain. It has no answer of its own but its model: recommends
    where the same strategy asks with an upper confidence bound of no width.
    """

    def __init__(self, space: Space, seed: int, _trials: int) -> None:
        torch.set_num_threads(1)
        self.space, self._seed = space, seed
        features = [_feature(name, each) for name, each in space.dimensions.items()]
        value = ContinuousOutput(key=VALUE, objective=MinimizeObjective(w=1.0))
        self._domain = Domain(inputs=Inputs(features=features), outputs=Outputs(features=[value]))
        self._design = self._domain.inputs.sample(REFERENCE_INITIAL, seed=seed)
        self._rows: list[dict[str, Any]] = []
        self._values: list[float] = []

    def ask(self) -> Mapping[str, Any]:
        number = len(self._rows)
        if number < len(self._design):
            row = self._design.iloc[number].to_dict()
        else:
            row = self._ask(SoboStrategy(domain=self._domain, seed=self._seed_of(number)))
        self._rows.append(row)
        return read(self.space, row)

    def tell(self, value: float, _noise: float | None) -> None:
        self._values.append(value)

    def best(self) -> Mapping[str, Any] | None:
        seed, flat = self._seed_of(len(self._values)), qUCB(beta=0.0)
        strategy = SoboStrategy(domain=self._domain, acquisition_function=flat, seed=seed)
        return read(self.space, self._ask(strategy))

    def _ask(self, described: SoboStrategy) -> dict[str, Any]:
        torch.manual_seed(described.seed)
        told = pd.DataFrame(self._rows[: len(self._values)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            strategy: Any = strategies.map(described)
            strategy.tell(told.assign(**{VALUE: self._values, f"valid_{VALUE}": 1}))
            found: dict[str, Any] = strategy.ask(candidate_count=1).iloc[0].to_dict()
        return found

    def _seed_of(self, number: int) -> int:
        return (self._seed + number) % _SEEDS


def _feature(name: str, dimension: Dimension) -> Any:
    if isinstance(dimension, Categorical):
        return CategoricalInput(key=name, categories=[str(each) for each in dimension.choices])
    if is_coordinate(dimension):
        return ContinuousInput(key=name, bounds=(0.0, 1.0))
    if isinstance(dimension, Int):
        levels = range(dimension.low, dimension.high + 1, dimension.step)
        return DiscreteInput(key=name, values=[float(each) for each in levels])
    raise unknown("BoFire", dimension)
