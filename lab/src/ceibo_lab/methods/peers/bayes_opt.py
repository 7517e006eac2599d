"""bayes_opt's `BayesianOptimization` with its default acquisition, an upper confidence bound.

Without logarithms: see `is_coordinate`. Whole numbers on a linear scale are its integers.
"""

import math
import warnings
from collections.abc import Mapping
from typing import Any, Final, final

import numpy as np
from bayes_opt import BayesianOptimization

from ceibo.decide import Space
from ceibo.decide.dimensions import Categorical, Dimension, Int
from ceibo_lab.methods.peers.tool import is_coordinate, read, unknown

_INITIAL: Final = 5  # `init_points` of its own `maximize`
_EXACT: Final = 1e-6  # its own `alpha`, the variance of exact values as a share of that of all
_NOISY: Final = 1e-3  # what its documentation sets for values with noise
_MOST: Final = math.inf  # integers with many levels are searched as quickly as others


@final
class BayesOpt:
    """Told noise is its process's `alpha`; without it that is what its documentation advises.

    Points may come again, as its documentation advises under noise. Begins with five random
    points. Recommends `optimizer.max`, the trial with the best measured value.
    """

    def __init__(self, space: Space, seed: int, _trials: int) -> None:
        self.space = space
        self._optimizer = BayesianOptimization(
            f=None,
            pbounds={name: _bounds(each) for name, each in space.dimensions.items()},
            random_state=np.random.RandomState(seed),
            verbose=0,
            allow_duplicate_points=True,
        )
        self._asked: dict[str, Any] = {}
        self._values: list[float] = []
        self._noise: list[float | None] = []

    def ask(self) -> Mapping[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if len(self._values) < _INITIAL:
                (self._asked,) = self._optimizer.random_sample(1)
            else:
                self._optimizer.set_gp_params(alpha=self._alpha())
                self._asked = self._optimizer.suggest()
        return read(self.space, self._asked, _MOST)

    def tell(self, value: float, noise: float | None) -> None:
        self._optimizer.register(params=self._asked, target=-value)  # it maximises
        self._values.append(value)
        self._noise.append(noise)

    def best(self) -> Mapping[str, Any] | None:
        found: Any = self._optimizer.max
        return read(self.space, found["params"], _MOST)

    def _alpha(self) -> Any:
        """Variances (n,) in units of the variance of the values, which are normalised."""
        if any(each is None for each in self._noise):
            return _NOISY
        variance = float(np.var(self._values)) or 1.0
        return np.array([_EXACT + (each or 0.0) ** 2 / variance for each in self._noise])


def _bounds(dimension: Dimension) -> Any:
    if isinstance(dimension, Categorical):
        return [str(each) for each in dimension.choices]
    if is_coordinate(dimension, _MOST):
        return (0.0, 1.0)
    if isinstance(dimension, Int):
        return (dimension.low, dimension.high, int)
    raise unknown("bayes_opt", dimension)
