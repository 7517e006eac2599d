"""Optuna's TPE with its defaults."""

from collections.abc import Mapping
from typing import Any, final

import optuna

from ceibo.decide import Space
from ceibo_lab.methods.distributions import distribution


@final
class OptunaTpe:
    """It takes no noise.

    Begins with ten random points. Recommends its best trial, as `study.best_params` does.
    """

    def __init__(self, space: Space, seed: int, _trials: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._distributions = {name: distribution(d) for name, d in space.dimensions.items()}
        sampler = optuna.samplers.TPESampler(seed=seed)
        self._study = optuna.create_study(direction="minimize", sampler=sampler)
        self._asked: Any = None

    def ask(self) -> Mapping[str, Any]:
        self._asked = self._study.ask(self._distributions)
        params: dict[str, Any] = self._asked.params
        return params

    def tell(self, value: float, _noise: float | None) -> None:
        self._study.tell(self._asked, value)

    def best(self) -> Mapping[str, Any] | None:
        params: dict[str, Any] = self._study.best_params
        return params
