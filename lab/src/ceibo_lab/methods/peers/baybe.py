"""BayBE's `Campaign` with its default recommender.

Without logarithms: see `is_coordinate`. Whole numbers with few levels are discrete, as are
categories, and the recommender goes through all their combinations.
"""

import warnings
from collections.abc import Mapping
from typing import Any, final

import torch
from baybe import Campaign
from baybe.acquisition import PosteriorMean
from baybe.parameters import (
    CategoricalParameter,
    NumericalContinuousParameter,
    NumericalDiscreteParameter,
)
from baybe.recommenders import BotorchRecommender
from baybe.searchspace import SearchSpace
from baybe.settings import active_settings
from baybe.targets import NumericalTarget

from ceibo.decide import Space
from ceibo.decide.dimensions import Categorical, Dimension, Int
from ceibo_lab.methods.peers.tool import VALUE, is_coordinate, read, unknown


@final
class Baybe:
    """It takes no noise, and infers it.

    Begins with one random point. It has no answer of its own but its model: recommends where its
    recommender asks with the posterior mean in place of the acquisition.
    """

    def __init__(self, space: Space, seed: int, _trials: int) -> None:
        active_settings.random_seed = seed
        torch.set_num_threads(1)
        self.space = space
        searched = [_parameter(name, each) for name, each in space.dimensions.items()]
        target = NumericalTarget(VALUE, minimize=True)
        self._campaign = Campaign(SearchSpace.from_product(searched), target.to_objective())
        self._asked: Any = None

    def ask(self) -> Mapping[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._asked = self._campaign.recommend(batch_size=1)
        return read(self.space, self._asked.iloc[0].to_dict())

    def tell(self, value: float, _noise: float | None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._campaign.add_measurements(self._asked.assign(**{VALUE: value}))

    def best(self) -> Mapping[str, Any] | None:
        campaign = self._campaign
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = BotorchRecommender(acquisition_function=PosteriorMean()).recommend(
                1, campaign.searchspace, campaign.objective, campaign.measurements
            )
        return read(self.space, found.iloc[0].to_dict())


def _parameter(name: str, dimension: Dimension) -> Any:
    if isinstance(dimension, Categorical):
        return CategoricalParameter(name, [str(each) for each in dimension.choices])
    if is_coordinate(dimension):
        return NumericalContinuousParameter(name, (0.0, 1.0))
    if isinstance(dimension, Int):
        return NumericalDiscreteParameter(
            name, list(range(dimension.low, dimension.high + 1, dimension.step))
        )
    raise unknown("BayBE", dimension)
