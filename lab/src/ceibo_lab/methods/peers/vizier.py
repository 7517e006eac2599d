"""Google Vizier's client and service in one process, with its default algorithm, GP-UCB-PE."""

import logging
import random
from collections.abc import Mapping
from typing import Any, final
from uuid import uuid4

from vizier.service import clients
from vizier.service import pyvizier as vz

from ceibo.decide import Space
from ceibo.decide.dimensions import Categorical, Dimension, Float, Int
from ceibo_lab.methods.peers.tool import VALUE, unknown


@final
class Vizier:
    """Its noise is said to be high, and not how high.

    Begins with the centre. Recommends its optimal trial, that with the best measured value.
    """

    def __init__(self, space: Space, seed: int, _trials: int) -> None:
        logging.getLogger("absl").setLevel(logging.ERROR)
        random.seed(seed)  # its designers draw their seeds from it
        clients.environment_variables.servicer_use_sql_ram()
        config = vz.StudyConfig(algorithm="DEFAULT")
        config.observation_noise = vz.ObservationNoise.HIGH
        goal = vz.ObjectiveMetricGoal.MINIMIZE
        config.metric_information.append(vz.MetricInformation(VALUE, goal=goal))
        for name, each in space.dimensions.items():
            _add(config.search_space.root, name, each)
        self._study = clients.Study.from_study_config(config, owner="ceibo", study_id=uuid4().hex)
        self._asked: Any = None

    def ask(self) -> Mapping[str, Any]:
        (self._asked,) = self._study.suggest(count=1)
        params: dict[str, Any] = self._asked.parameters
        return params

    def tell(self, value: float, _noise: float | None) -> None:
        self._asked.complete(vz.Measurement({VALUE: value}))

    def best(self) -> Mapping[str, Any] | None:
        found = next(iter(self._study.optimal_trials()), None)
        return None if found is None else dict(found.parameters)


def _add(root: Any, name: str, dimension: Dimension) -> None:
    if isinstance(dimension, Categorical):
        root.add_categorical_param(name, [str(each) for each in dimension.choices])
        return
    if not isinstance(dimension, Float | Int):
        raise unknown("Vizier", dimension)
    add = root.add_int_param if isinstance(dimension, Int) else root.add_float_param
    scale = vz.ScaleType.LOG if dimension.log else vz.ScaleType.LINEAR
    add(name, dimension.low, dimension.high, scale_type=scale)
