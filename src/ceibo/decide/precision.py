"""Precision that has a price: how often a setting is to be measured, by what is learnt per cost.

A trial costs a set-up and so much for every value. The mean of m values has the noise variance
υ²/m, and what it is worth is its knowledge gradient, so that

    m = argmax KG(x; υ²/m) / (setup + m·repeat),

the smallest of equals. υ² is the noise of one value: told, or inferred by the model. Where there
are blocks, all values of a trial are in one, and the variance of its offset stays beside υ²/m.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, final

import numpy as np

from ceibo.checks import check_not_negative, check_whole
from ceibo.errors import InputError, show_value
from ceibo.gp.inputs import Array
from ceibo.numbers import rounded

MOST: Final = 1000


@final
@dataclass(frozen=True)
class Precision:
    """What a trial costs: `setup` once, and `repeat` for each of at most `most` values.

    Both are in one unit of your own, such as hours; only their ratio matters.

    Example:
        >>> import ceibo
        >>> space = {"x": ceibo.Float(0, 1)}
        >>> study = ceibo.Study.create(space, precision=ceibo.Precision(setup=2.0, repeat=0.5))
        >>> study.ask().repeats
        1
    """

    setup: float
    repeat: float
    most: int = 16

    def __post_init__(self) -> None:
        for name in ("setup", "repeat"):
            checked = check_not_negative(getattr(self, name), f"precision: {name}")
            object.__setattr__(self, name, checked)
        object.__setattr__(self, "most", check_whole(self.most, "precision: most", 1, MOST))
        if self.setup == self.repeat == 0:
            raise InputError(
                "precision: setup and repeat are both 0, and what costs nothing needs no choice;"
                " give the cost of a trial's set-up, of each value, or of both."
            )

    def __str__(self) -> str:
        setup, repeat = rounded(self.setup), rounded(self.repeat)
        return f"{setup} for a trial and {repeat} for each of at most {self.most} values"

    def repeats(self, log_gains: Array) -> int:
        """How many values to take, from the logarithms of what 1, 2, … of them would teach."""
        if self.setup == 0:
            return 1  # another trial costs no more, and its setting can be chosen with this value
        counts = np.arange(1, len(log_gains) + 1)
        rates = log_gains - np.log(self.setup + counts * self.repeat)
        return int(np.argmax(rates)) + 1

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return asdict(self)

    @staticmethod
    def from_json(data: object) -> "Precision":
        """The precision that `to_json` or a study file wrote down."""
        known = {"setup", "repeat", "most"}
        if not isinstance(data, Mapping) or not {"setup", "repeat"} <= set(data) <= known:
            raise InputError(
                "precision: expected setup, repeat and, if you like, most, as in"
                f" {{setup = 1.0, repeat = 0.2, most = 16}}, got {show_value(data)}."
            )
        return Precision(**data)


def check_precision(value: object) -> Precision | None:
    """A Precision, or None."""
    if value is None or isinstance(value, Precision):
        return value
    raise InputError(
        f"precision must be a ceibo.Precision(setup=…, repeat=…), got {show_value(value)}."
    )
