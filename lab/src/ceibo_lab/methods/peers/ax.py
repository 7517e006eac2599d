"""Ax's `Client` with the generation strategy that it chooses by itself."""

import logging
import warnings
from collections.abc import Mapping
from typing import Any, final

import torch
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.utils.common.logger import set_ax_logger_levels

from ceibo.decide import Space
from ceibo.decide.dimensions import Categorical, Dimension, Float, Int
from ceibo_lab.methods.peers.tool import VALUE, unknown


@final
class Ax:
    """Told the standard error of each value, where there is one, and otherwise infers the noise.

    Begins with the centre and Sobol points. Recommends its best parameterization, which is the
    tried one with the best prediction.
    """

    def __init__(self, space: Space, seed: int, _trials: int) -> None:
        set_ax_logger_levels(logging.CRITICAL)
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self._client = Client(random_seed=seed)
        parameters = [_config(name, each) for name, each in space.dimensions.items()]
        self._client.configure_experiment(parameters=parameters)
        self._client.configure_optimization(objective=f"-{VALUE}")
        self._index = -1

    def ask(self) -> Mapping[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Mapping[int, Mapping[str, Any]] = self._client.get_next_trials(max_trials=1)
        ((self._index, params),) = found.items()
        return params

    def tell(self, value: float, noise: float | None) -> None:
        told = value if noise is None else (value, noise)
        self._client.complete_trial(trial_index=self._index, raw_data={VALUE: told})

    def best(self) -> Mapping[str, Any] | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Mapping[str, Any] = self._client.get_best_parameterization()[0]
        return found


def _config(name: str, dimension: Dimension) -> Any:
    if isinstance(dimension, Categorical):
        values = [str(each) for each in dimension.choices]
        return ChoiceParameterConfig(
            name=name, values=values, parameter_type="str", is_ordered=False
        )
    if not isinstance(dimension, Float | Int):
        raise unknown("Ax", dimension)
    return RangeParameterConfig(
        name=name,
        bounds=(dimension.low, dimension.high),
        parameter_type="int" if isinstance(dimension, Int) else "float",
        scaling="log" if dimension.log else "linear",
    )
