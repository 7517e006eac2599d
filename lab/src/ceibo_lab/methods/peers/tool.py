"""What an outside tool is here, and how it takes part in a run of the suite."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, final

import numpy as np

from ceibo.decide import Evidence, Space
from ceibo.decide.dimensions import Categorical, Dimension, Float, Int
from ceibo.decide.model import Model
from ceibo.gp.inputs import Array
from ceibo_lab.method import Proposal, snap
from ceibo_lab.problem import stream

FEW: Final = 10  # whole numbers as such up to here, where a tool searches levels one by one
VALUE: Final = "value"  # the name of what is minimised
Params = dict[str, Any]


class Tool(Protocol):
    """A tool at work, asked and told by turns."""

    def ask(self) -> Mapping[str, Any]:
        """The next setting."""

    def tell(self, value: float, noise: float | None, /) -> None:
        """The value of the setting last asked for, and its noise if that is told."""

    def best(self) -> Mapping[str, Any] | None:
        """The setting it recommends; None: that with the lowest value told."""


Start = Callable[[Space, int, int], Tool]
"""Space, seed, and how many trials there will be, which some tools want to know."""


@final
class Peer:
    """A tool as a method: it hears of every measurement once, in order."""

    def __init__(self, space: Space, seed: int, start: Start) -> None:
        self.space, self._seed, self._start = space, seed, start
        self._trials = self._heard = 0
        self._tool: Tool | None = None

    def expect(self, trials: int) -> None:
        self._trials = trials

    def propose(self, evidence: Evidence, _number: int) -> Proposal:
        return Proposal(self._place(self._listening(evidence).ask()))

    def model(self, _evidence: Evidence) -> Model | None:
        return None

    def recommend(self, evidence: Evidence) -> Array | None:
        found = self._listening(evidence).best()
        lowest = evidence.X[int(np.argmin(evidence.y))]
        return np.asarray(lowest) if found is None else self._place(found)

    def _listening(self, evidence: Evidence) -> Tool:
        """The tool, told of all measurements."""
        if self._tool is None:
            seed = int(stream(self._seed, "outside tool").integers(2**31 - 1))
            self._tool = self._start(self.space, seed, self._trials)
        for row in range(self._heard, len(evidence)):
            noise = float(evidence.noise[row])
            self._tool.tell(float(evidence.y[row]), None if math.isnan(noise) else noise)
        self._heard = len(evidence)
        return self._tool

    def _place(self, params: Mapping[str, Any]) -> Array:
        """The nearest point of the cube (d,) that stands for a setting."""
        cleaned = {
            name: _cleaned(dimension, params[name])
            for name, dimension in self.space.dimensions.items()
        }
        return snap(self.space, self.space.to_unit(cleaned))


def _cleaned(dimension: Dimension, value: Any) -> Any:
    """A value as a dimension takes it: no type of NumPy's, nothing outside by rounding."""
    if isinstance(dimension, Categorical):
        return next(each for each in dimension.choices if str(each) == str(value))
    if isinstance(dimension, Int):
        return min(max(round(float(value)), dimension.low), dimension.high)
    if isinstance(dimension, Float):
        return min(max(float(value), dimension.low), dimension.high)
    return value


def is_coordinate(dimension: Dimension, most: float = FEW) -> bool:
    """Whether a tool without logarithms is given a coordinate in [0, 1] for this dimension.

    Numbers are, but for whole ones with few levels on a linear scale.
    """
    if isinstance(dimension, Int):
        return dimension.log or dimension.levels > most
    return isinstance(dimension, Float)


def read(space: Space, shown: Mapping[str, Any], most: float = FEW) -> Params:
    """The setting that a tool without logarithms means."""
    return {
        name: each.from_unit(min(max(float(shown[name]), 0.0), 1.0))
        if is_coordinate(each, most)
        else shown[name]
        for name, each in space.dimensions.items()
    }


def unknown(tool: str, dimension: Dimension) -> TypeError:
    return TypeError(f"{tool} is not told what {dimension!r} is")
