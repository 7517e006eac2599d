"""SMAC3's `BlackBoxFacade` with its defaults, asked and told."""

import logging
import zlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

import ConfigSpace
from smac import BlackBoxFacade, Scenario
from smac.runhistory.dataclasses import TrialInfo, TrialValue

from ceibo.decide import Space
from ceibo.decide.dimensions import Categorical, Dimension, Float, Int
from ceibo_lab.methods.peers.tool import unknown


@final
class Smac3:
    """The scenario is not deterministic: promising settings are measured up to three times.

    It takes no noise, and wants to know how many trials there will be: a quarter of them at most
    are its design, of Sobol points. Recommends its incumbent.
    """

    def __init__(self, space: Space, seed: int, trials: int) -> None:
        logging.getLogger("smac").setLevel(logging.ERROR)
        searched = ConfigSpace.ConfigurationSpace(seed=seed)
        searched.add([_parameter(name, each) for name, each in space.dimensions.items()])
        self._folder = TemporaryDirectory(prefix="smac3-")
        scenario = Scenario(
            searched,
            n_trials=trials,
            seed=seed,
            deterministic=False,
            output_directory=Path(self._folder.name),
        )
        self._facade = BlackBoxFacade(scenario, _never, logging_level=False, overwrite=True)
        self._asked: TrialInfo | None = None

    def ask(self) -> Mapping[str, Any]:
        self._asked = self._facade.ask()
        return dict(self._asked.config)

    def tell(self, value: float, _noise: float | None) -> None:
        self._facade.tell(self._asked, TrialValue(cost=value), save=False)

    def best(self) -> Mapping[str, Any] | None:
        found = self._facade.intensifier.get_incumbent()
        return None if found is None else dict(found)


def _hash(config: ConfigSpace.Configuration) -> int:
    """The same in every process, unlike that of text: SMAC goes through sets of configurations."""
    return zlib.crc32(repr(config).encode())


ConfigSpace.Configuration.__hash__ = _hash


def _never(_config: Any, seed: int = 0) -> float:
    """What SMAC would call if it ran the trials."""
    raise NotImplementedError(seed)


def _parameter(name: str, dimension: Dimension) -> Any:
    if isinstance(dimension, Categorical):
        return ConfigSpace.Categorical(name, [str(each) for each in dimension.choices])
    if not isinstance(dimension, Float | Int):
        raise unknown("SMAC3", dimension)
    kind = ConfigSpace.Integer if isinstance(dimension, Int) else ConfigSpace.Float
    return kind(name, (dimension.low, dimension.high), log=dimension.log)
