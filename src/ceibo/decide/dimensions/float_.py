"""`Float`: a real number in a box, on a linear or logarithmic scale, or on a decimal grid.

A continuous value has its linear or logarithmic position in the box as coordinate; a value of a
grid lies at the centre of its cell (levels.py).

Round trips value -> unit -> value are exact on a grid. A continuous value comes back exactly at the
ends, always inside [low, high], and otherwise within 4 eps·max(|low|, |high|) (linear) or within
the relative error 4 eps·(1 + max(|ln low|, |ln high|)) (log), where eps = 2^-52; subnormals add the
smallest subnormal.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import cached_property
from typing import Any, ClassVar, Final, final

import numpy as np

from ceibo.decide.dimensions import ranges
from ceibo.decide.dimensions.axis import round_values, share_of
from ceibo.decide.dimensions.base import Dimension
from ceibo.decide.dimensions.levels import MAX_LEVELS, level_at
from ceibo.errors import Given, InputError, show_value
from ceibo.gp.inputs import Array
from ceibo.numbers import distinct

_EXACT: Final = Context(prec=60)


@final
@dataclass(frozen=True)
class Float(Dimension):
    """A real number in [low, high]; `log` for scales of decades, `step` for low, low + step, ….

    Grid values are decimal: `Float(0, 1, step=0.1)` holds 0.3, not 0.1 + 0.1 + 0.1.
    """

    type_name: ClassVar[str] = "float"
    extends: ClassVar[bool] = True
    spelling: ClassVar[str] = "x=0:1, x=1e-5:1e-1:log, T=20:120:step=5"

    low: float
    high: float
    log: bool = field(default=False, kw_only=True)
    step: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        low = ranges.finite(self.low, "Float", "low")
        high = ranges.finite(self.high, "Float", "high")
        ranges.set_fields(self, low=low, high=high, log=ranges.flag(self.log, "Float", "log"))
        ranges.check_order(low, high, "Float")
        if self.log and low <= 0:
            advice = ("use a positive low or ", Given("log", False))
            raise InputError(
                "Float", ("low > 0 with ", Given("log", True)), Given("low", low), advice
            )
        if self.log and not math.log(low) < math.log(high):
            wanted = "low and high with different logarithms"
            got = (Given("low", low), " and ", Given("high", high))
            raise InputError("Float", wanted, got, ("use ", Given("log", False)))
        if self.step is not None:
            step = ranges.finite(self.step, "Float", "step")
            ranges.set_fields(self, step=step)
            self._check_step(step)

    def _check_step(self, step: float) -> None:
        given, box = Given("step", step), f"[{self.low!r}, {self.high!r}]"
        if self.log:
            log = Given("log", True)
            advice = ("drop one, or use an int with ", log)
            raise InputError("Float", ("step or ", log), "both, which exclude each other", advice)
        if step <= 0:
            raise InputError("Float", "step > 0", given)
        count = (self.high / 2 - self.low / 2) / step
        if count > MAX_LEVELS / 2 or step < 4 * math.ulp(self._magnitude):
            wanted = f"a step that a double can resolve in {box}"
            raise InputError("Float", wanted, (given, ", which is too fine"), "leave step out")
        if self.levels == 1:
            got = (given, ", which leaves one value")
            smaller = "use a smaller step or leave the dimension out"
            raise InputError("Float", f"a step within {box}", got, smaller)

    @property
    def _magnitude(self) -> float:
        return max(abs(self.low), abs(self.high))

    @cached_property
    def levels(self) -> int | None:
        if self.step is None:
            return None
        width = _EXACT.subtract(_decimal(self.high), _decimal(self.low))
        return int(_EXACT.divide_int(width, _decimal(self.step))) + 1

    def check(self, value: object, name: str) -> float:
        """The value as a float inside the box, and on the grid if there is one."""
        number = ranges.number_in(value, name, self.wanted)
        if isinstance(number, int):
            try:
                number = float(number)
            except OverflowError:
                number = math.inf if number > 0 else -math.inf
        # 0.1 + 0.2 means 0.3
        slack = 0.0 if self.step is None else 4 * math.ulp(self._magnitude)
        if not self.low - slack <= number <= self.high + slack:
            wanted = f"a value in [{self.low!r}, {self.high!r}]"
            raise InputError(f"parameter {name!r}", wanted, show_value(value))
        return number if self.step is None else self._snap(number, name)

    def _snap(self, number: float, name: str) -> float:
        snapped = self._level(self._index(number))
        if abs(snapped - number) > 4 * math.ulp(self._magnitude):
            wanted = f"{self.low!r} plus a multiple of {self.step!r}"
            nearest = f"the nearest is {snapped!r}"
            raise InputError(f"parameter {name!r}", wanted, repr(number), nearest)
        return snapped

    def _index(self, number: float) -> int:
        levels = self.levels
        if self.step is None or levels is None:
            raise TypeError("a continuous Float has no levels")
        offset = _EXACT.subtract(_decimal(number), _decimal(self.low))
        index = round(_EXACT.divide(offset, _decimal(self.step)))
        return min(max(index, 0), levels - 1)

    def _level(self, index: int) -> float:
        if self.step is None:
            raise TypeError("a continuous Float has no levels")
        return float(_EXACT.fma(index, _decimal(self.step), _decimal(self.low)))

    def to_unit(self, value: float) -> float:
        levels = self.levels
        if levels is not None:
            return (self._index(value) + 0.5) / levels
        if value in (self.low, self.high):
            return 0.0 if value == self.low else 1.0
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            u = (math.log(value) - low) / (high - low)
        else:
            low, high, exponent = self._scaled_box()
            u = (math.ldexp(value, -exponent) - low) / (high - low)
        return min(max(u, 0.0), 1.0)

    def to_units(self, values: Sequence[object], name: str) -> Array:
        """The coordinates (n,) of many values at once, the same to the last bit as one by one."""
        if self.levels is not None or not all(type(value) is float for value in values):
            return super().to_units(values, name)
        numbers = np.array(values, dtype=float)
        if not np.all((self.low <= numbers) & (numbers <= self.high)):
            return super().to_units(values, name)
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            # numpy's logarithm may differ from math's in the last bit
            positions = np.fromiter(map(math.log, numbers), dtype=float, count=len(numbers))
        else:
            low, high, exponent = self._scaled_box()
            positions = np.ldexp(numbers, -exponent)
        units = np.clip((positions - low) / (high - low), 0.0, 1.0)
        units[numbers == self.high] = 1.0
        units[numbers == self.low] = 0.0
        return units

    def from_unit(self, u: float) -> float:
        levels = self.levels
        if levels is not None:
            return self._level(level_at(u, levels))
        if u <= 0 or u >= 1:
            return self.low if u <= 0 else self.high
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            position = low + u * (high - low)
            value = self.high if position >= high else math.exp(position)
        else:
            low, high, exponent = self._scaled_box()
            position = low + u * (high - low) if u <= 0.5 else high - (1 - u) * (high - low)
            value = math.ldexp(min(max(position, low), high), exponent)
        return min(max(value, self.low), self.high)

    def _scaled_box(self) -> tuple[float, float, int]:
        """(low, high) over 2^exponent, so that high - low cannot overflow, and the exponent."""
        exponent = math.frexp(self._magnitude)[1]
        return math.ldexp(self.low, -exponent), math.ldexp(self.high, -exponent), exponent

    def describe(self) -> str:
        log = ", logarithmic" if self.log else ""
        step = f", in steps of {_short(self.step)}" if self.step else ""
        return f"float from {_short(self.low)} to {_short(self.high)}{log}{step}"

    def ticks(self, count: int) -> list[tuple[float, str]]:
        """Round values; the axis of a grid reaches half a step beyond its ends."""
        low, high = self.low, self.high
        if self.step is not None:
            half = self.step / 2
            low, high = low - half, low + ((self.levels or 1) - 1) * self.step + half
        values = round_values(low, high, count, self.log)
        shares = [share_of(value, low, high, self.log) for value in values]
        return list(zip(shares, distinct(values), strict=True))

    @classmethod
    def parse(cls, text: str) -> dict[str, Any] | None:
        """Reads LOW:HIGH, LOW:HIGH:log and LOW:HIGH:step=S."""
        keys = ranges.parse_range(text.split(":"))
        return None if keys is None else {"type": cls.type_name, **keys}


def _short(number: float) -> str:
    """All digits of a number, and no decimal place of a whole one."""
    return repr(number).removesuffix(".0")


def _decimal(number: float) -> Decimal:
    return Decimal(repr(number))
