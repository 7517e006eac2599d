"""bask (Bayes-skopt): a fully Bayesian process, and predictive variance reduction search."""

import warnings
from collections.abc import Mapping
from typing import Any, Final, final

import bask
from skopt.utils import expected_minimum

from ceibo.decide import Space
from ceibo_lab.methods.peers.skopt import dimensions

# what its own `run` passes to `tell`
_RUN: Final = {"n_samples": 5, "gp_samples": 100, "gp_burnin": 10}


@final
class Bask:
    """Its `Optimizer` with normalised values, told the variance of each, where there is one.

    Begins with ten points of a Steinerberger sequence. Recommends its expected optimum, the
    minimiser of its mean.
    """

    def __init__(self, space: Space, seed: int, _trials: int) -> None:
        self._names, self._seed = list(space.dimensions), seed
        self._optimizer = bask.Optimizer(
            dimensions(space), random_state=seed, gp_kwargs={"normalize_y": True}
        )
        self._asked: list[Any] = []
        self._result: Any = None

    def ask(self) -> Mapping[str, Any]:
        self._asked = self._optimizer.ask()
        return dict(zip(self._names, self._asked, strict=True))

    def tell(self, value: float, noise: float | None) -> None:
        variance = 0.0 if noise is None else noise**2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._result = self._optimizer.tell(self._asked, value, noise_vector=variance, **_RUN)

    def best(self) -> Mapping[str, Any] | None:
        if self._result is None or self._optimizer.gp.pos_ is None:  # no model yet
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x, _ = expected_minimum(self._result, random_state=self._seed)
        return dict(zip(self._names, x, strict=True))
