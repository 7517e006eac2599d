"""scikit-optimize's `Optimizer` with its defaults: a Gaussian process with noise, gp_hedge."""

import warnings
from collections.abc import Mapping
from typing import Any, final

import skopt
from skopt.space import Categorical as Category
from skopt.space import Integer, Real

from ceibo.decide import Space
from ceibo.decide.dimensions import Categorical, Dimension, Float, Int
from ceibo_lab.methods.peers.tool import unknown


@final
class Skopt:
    """It takes no noise of single values, and infers one level.

    Begins with ten random points. Recommends `result.x`, the trial with the best measured value.
    """

    def __init__(self, space: Space, seed: int, _trials: int) -> None:
        self._names = list(space.dimensions)
        self._optimizer = skopt.Optimizer(dimensions(space), random_state=seed)
        self._asked: list[Any] = []
        self._result: Any = None

    def ask(self) -> Mapping[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._asked = self._optimizer.ask()
        return dict(zip(self._names, self._asked, strict=True))

    def tell(self, value: float, _noise: float | None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._result = self._optimizer.tell(self._asked, value)

    def best(self) -> Mapping[str, Any] | None:
        return dict(zip(self._names, self._result.x, strict=True))


def dimensions(space: Space) -> list[Any]:
    """The dimensions of a space as scikit-optimize's."""
    return [_dimension(each) for each in space.dimensions.values()]


def _dimension(dimension: Dimension) -> Any:
    if isinstance(dimension, Categorical):
        return Category([str(each) for each in dimension.choices])
    if not isinstance(dimension, Float | Int):
        raise unknown("scikit-optimize", dimension)
    prior = "log-uniform" if dimension.log else "uniform"
    kind = Integer if isinstance(dimension, Int) else Real
    return kind(dimension.low, dimension.high, prior)
