"""`Int`: a whole number in a box, on a linear or logarithmic scale, or every so many.

Values are levels (levels.py); with `log` the coordinate is the logarithmic position in a box
widened by half a step, [low - 1/2, high + 1/2], so that the cell of a value is what rounds to it.
Round trips value -> unit -> value are exact.
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, final

import numpy as np

from ceibo.decide.dimensions import ranges
from ceibo.decide.dimensions.axis import round_values, share_of
from ceibo.decide.dimensions.base import Dimension
from ceibo.decide.dimensions.levels import MAX_LEVELS, MAX_LISTED_LEVELS, level_at, level_centres
from ceibo.errors import Given, InputError, show_value
from ceibo.gp.inputs import Array
from ceibo.numbers import distinct

# beyond it a double cannot tell a whole number from one a half away
_LARGEST_EXACT: Final = 2**51


@final
@dataclass(frozen=True)
class Int(Dimension):
    """A whole number from low to high, both included; `log` where ratios matter (batch sizes).

    With `step` the values are low, low + step, …, as far as they do not exceed high.
    """

    type_name: ClassVar[str] = "int"
    extends: ClassVar[bool] = True
    wanted: ClassVar[str] = "a whole number"
    spelling: ClassVar[str] = "n=1:8:int, n=8:512:int:step=8"

    low: int
    high: int
    log: bool = field(default=False, kw_only=True)
    step: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        low, high = ranges.whole(self.low, "Int", "low"), ranges.whole(self.high, "Int", "high")
        step = ranges.whole(self.step, "Int", "step")
        log = ranges.flag(self.log, "Int", "log")
        ranges.set_fields(self, low=low, high=high, step=step, log=log)
        ranges.check_order(low, high, "Int")
        if self.log and low < 1:
            advice = ("use ", Given("low", 1), " or ", Given("log", False))
            raise InputError(
                "Int", ("low >= 1 with ", Given("log", True)), Given("low", low), advice
            )
        self._check_step()
        if (high if self.log else (high - low) // step) >= MAX_LEVELS:
            wanted = "at most 2**40 values, which a double in [0, 1] can tell apart"
            got = (Given("low", low), " and ", Given("high", high))
            use = "use a float, or optimise the exponent as an int"
            raise InputError("Int", wanted, got, use)

    def _check_step(self) -> None:
        given = Given("step", self.step)
        if self.step < 1:
            raise InputError("Int", "step >= 1", given)
        if self.step > 1 and self.log:
            wanted, both = ("step or ", Given("log", True)), "both, which exclude each other"
            raise InputError("Int", wanted, both, "drop one")
        if self.step > self.high - self.low:
            got = (given, ", which leaves one value")
            smaller = "use a smaller step or leave the dimension out"
            raise InputError("Int", f"a step within [{self.low}, {self.high}]", got, smaller)

    @property
    def levels(self) -> int:
        return (self.high - self.low) // self.step + 1

    @property
    def coordinates(self) -> Array | None:
        if self.log and self.levels <= MAX_LISTED_LEVELS:
            return np.array([self.to_unit(value) for value in range(self.low, self.high + 1)])
        return level_centres(self.levels)

    def check(self, value: object, name: str) -> int:
        """The value as an int inside the box; 3.0 counts as 3."""
        number = ranges.number_in(value, name, self.wanted)
        if isinstance(number, float):
            if not number.is_integer():
                raise InputError(f"parameter {name!r}", self.wanted, repr(value), "round it first")
            number = int(number)
        if not self.low <= number <= self.high:
            box = f"{self.wanted} in [{self.low}, {self.high}]"
            raise InputError(f"parameter {name!r}", box, show_value(value))
        if (number - self.low) % self.step:
            wanted = f"{self.low} plus a multiple of {self.step}"
            index = round((number - self.low) / self.step)
            level = self.low + self.step * min(index, self.levels - 1)
            nearest = f"the nearest is {level}"
            raise InputError(f"parameter {name!r}", wanted, show_value(value), nearest)
        return number

    def to_unit(self, value: int) -> float:
        if not self.log:
            return ((value - self.low) // self.step + 0.5) / self.levels
        low, high = math.log(self.low - 0.5), math.log(self.high + 0.5)
        return (math.log(value) - low) / (high - low)

    def from_unit(self, u: float) -> int:
        if not self.log:
            return self.low + self.step * level_at(u, self.levels)
        low, high = math.log(self.low - 0.5), math.log(self.high + 0.5)
        value = round(math.exp(low + min(max(u, 0.0), 1.0) * (high - low)))
        return min(max(value, self.low), self.high)

    def describe(self) -> str:
        step = f", in steps of {self.step}" if self.step > 1 else ""
        return f"int from {self.low} to {self.high}{', logarithmic' if self.log else ''}{step}"

    def ticks(self, count: int) -> list[tuple[float, str]]:
        """Round values that are whole numbers of the box; huge ones by their distance from low."""
        if max(abs(self.low), abs(self.high)) > _LARGEST_EXACT:
            rough = round_values(-0.5, self.levels - 0.5, count)
            steps = sorted({round(each) for each in rough if 0 <= round(each) < self.levels})
            unit = " steps" if self.step > 1 else ""
            places = [self.to_unit(self.low + self.step * step) for step in steps]
            labels = [f"low + {step:.4g}{unit}" for step in steps]
            return list(zip(places, labels, strict=True))
        if self.step > 1:
            # the axis of a grid reaches half a step beyond its ends
            first, last = self.low - self.step / 2, self.low + (self.levels - 0.5) * self.step
            round_ones = {round(each) for each in round_values(first, last, count)}
            inside = sorted(each for each in round_ones if first <= each <= last)
            shares = [share_of(each, first, last) for each in inside]
            return list(zip(shares, distinct([float(each) for each in inside]), strict=True))
        rough = round_values(self.low - 0.5, self.high + 0.5, count, self.log)
        values = sorted({round(each) for each in rough if self.low <= round(each) <= self.high})
        texts = distinct([float(value) for value in values])
        return [(self.to_unit(value), text) for value, text in zip(values, texts, strict=True)]

    @classmethod
    def parse(cls, text: str) -> dict[str, Any] | None:
        """Reads LOW:HIGH:int, LOW:HIGH:int:log and LOW:HIGH:int:step=S."""
        words = text.split(":")
        keys = ranges.parse_range([word for word in words if word != "int"])
        return {"type": cls.type_name, **keys} if keys and "int" in words[2:] else None
