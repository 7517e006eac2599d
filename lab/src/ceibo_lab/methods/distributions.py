"""Optuna's distributions for the dimensions of a space."""

from typing import Any

import optuna

from ceibo.decide.dimensions import Categorical, Dimension, Float, Int


def distribution(dimension: Dimension) -> Any:
    if isinstance(dimension, Categorical):
        choices: list[Any] = list(dimension.choices)
        return optuna.distributions.CategoricalDistribution(choices)
    if isinstance(dimension, Float):
        return optuna.distributions.FloatDistribution(
            dimension.low, dimension.high, log=dimension.log, step=dimension.step
        )
    if isinstance(dimension, Int):
        return optuna.distributions.IntDistribution(
            dimension.low, dimension.high, log=dimension.log, step=dimension.step
        )
    raise TypeError(f"Optuna has no distribution for {dimension!r}")
