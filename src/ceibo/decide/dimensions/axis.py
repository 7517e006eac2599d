"""An axis from low to high, linear or logarithmic: shares of its length, and round values on it."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

_SMALLEST: Final = 1e-300  # steps below it have no round numbers
# values within a decade of a logarithmic axis that has few powers of ten
_LOG_FACTORS: Final[tuple[tuple[float, ...], ...]] = (
    (1, 2, 5),
    (1, 2, 3, 5, 7),
    (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9),
)
_FEWEST: Final = 3


def share_of(value: float, low: float, high: float, log: bool = False) -> float:
    """The position of a value: 0 at low, 1 at high."""
    if log:
        return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
    # a box as wide as the numbers go, or a value as far from it
    half = 0.5 if math.isinf(high - low) or math.isinf(value - low) else 1.0
    return (value * half - low * half) / (high * half - low * half)


def round_values(low: float, high: float, count: int, log: bool = False) -> list[float]:
    """About `count` round values from low to high; powers of ten on a long logarithmic axis."""
    if log:
        decades = math.log10(high) - math.log10(low)  # of a ratio that may overflow
        if decades >= 1.5:
            lowest = math.ceil(math.log10(low) - 1e-9)
            highest = math.floor(math.log10(high) + 1e-9)
            powers = range(lowest, highest + 1, max(1, round(decades / count)))
            return [10.0**power for power in powers]
        for factors in _LOG_FACTORS:
            found = list(_between(low, high, factors))
            if len(found) >= _FEWEST:
                return found
    rough = high / max(count, 1) - low / max(count, 1)
    if rough < _SMALLEST:
        return [low, high]
    power = 10.0 ** math.floor(math.log10(rough))
    factors = (1, 2, 2.5, 5, 10)
    step = next(power * factor for factor in factors if power * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    places = ((first + index) * step for index in range(100))
    return [place for place in places if place <= high + 1e-9 * step and math.isfinite(place)]


def _between(low: float, high: float, factors: Sequence[float]) -> Iterator[float]:
    """The multiples of powers of ten from low to high."""
    for power in range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1):
        for factor in factors:
            value = factor * 10.0**power
            if low <= value <= high:
                yield value
