"""HEBO: warped inputs and outputs, and several acquisitions at once."""

import random
import warnings
from collections.abc import Mapping
from typing import Any, final

import numpy as np
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

from ceibo.decide import Space
from ceibo.decide.dimensions import Categorical, Dimension, Float, Int
from ceibo_lab.methods.peers.tool import unknown


@final
class Hebo:
    """It takes no noise, and infers it.

    Begins with one scrambled Sobol point more than there are parameters. Recommends `best_x`, the
    trial with the best measured value.
    """

    def __init__(self, space: Space, seed: int, _trials: int) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        random.seed(seed)  # it draws from these
        np.random.seed(seed)  # noqa: NPY002
        described = [_described(name, each) for name, each in space.dimensions.items()]
        self._hebo = HEBO(DesignSpace().parse(described), scramble_seed=seed)
        self._asked: Any = None

    def ask(self) -> Mapping[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._asked = self._hebo.suggest(n_suggestions=1)
        found: dict[str, Any] = self._asked.iloc[0].to_dict()
        return found

    def tell(self, value: float, _noise: float | None) -> None:
        self._hebo.observe(self._asked, np.array([[value]]))

    def best(self) -> Mapping[str, Any] | None:
        found: dict[str, Any] = self._hebo.best_x.iloc[0].to_dict()
        return found


def _described(name: str, dimension: Dimension) -> dict[str, Any]:
    if isinstance(dimension, Categorical):
        categories = [str(each) for each in dimension.choices]
        return {"name": name, "type": "cat", "categories": categories}
    if not isinstance(dimension, Float | Int):
        raise unknown("HEBO", dimension)
    kind = ("pow_int" if dimension.log else "int") if isinstance(dimension, Int) else "num"
    if isinstance(dimension, Float) and dimension.log:
        kind = "pow"
    return {"name": name, "type": kind, "lb": dimension.low, "ub": dimension.high}
