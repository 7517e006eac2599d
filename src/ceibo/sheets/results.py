"""Cells as what was measured."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, final

from ceibo.decide import Measurement
from ceibo.decide.block_names import Block
from ceibo.errors import InputError
from ceibo.numbers import MINUS, grouped_in
from ceibo.sheets.cells import unguard
from ceibo.sheets.grid import BLANK, Cell
from ceibo.sheets.numerals import Numbers, gap_in
from ceibo.text import shorten

FAILED: Final = "failed before the study"
"""The reason of a failure that says none, in a row of one's own."""
UNEXPLAINED: Final = "failed; why was not said"
"""That of one in a row of a trial."""
_NUMERIC: Final = re.compile(rf"[-+{MINUS}]?[.,]?\d")
_FAILED: Final = ("failed", "fail", "failure")


@final
@dataclass(frozen=True)
class ResultCells:
    """The cells of one outcome in a row, and the unit of its column."""

    value: Cell = BLANK
    noise: Cell = BLANK
    replicates: tuple[Cell, ...] = ()
    count: Cell = BLANK
    unit: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether nothing was measured, or nothing was written down."""
        return self.value.is_blank and all(each.is_blank for each in self.replicates)

    @property
    def is_failure(self) -> bool:
        """Whether the value says that the run failed."""
        return self.value.text.strip().casefold() in _FAILED


def measurement_of(cells: ResultCells, numbers: Numbers, block: Block = ()) -> Measurement | None:
    """What a row says was measured, or None; noise beside replicates is that of their mean."""
    if cells.is_blank:
        return None
    deviation = None
    if not cells.noise.is_blank:
        deviation = numbers.read(cells.noise, "noise", unit=cells.unit)
    repeats = _repeats(cells.replicates, numbers, cells.unit)
    if repeats:
        together = Measurement.of(repeats)
        mean = together.value
        if not cells.value.is_blank and together.is_finite:
            _check_mean(cells, mean, numbers)
        measurement = Measurement(mean, deviation, together.replicates, block=block)
    else:
        value = numbers.read(cells.value, "value", unit=cells.unit)
        measurement = Measurement(value, deviation, count=_count(cells, numbers), block=block)
    if not measurement.is_finite:
        what = f"the value is {measurement.value!r}"
        raise InputError(f"{what}; leave the cell empty if there is none.")
    return measurement


def _count(cells: ResultCells, numbers: Numbers) -> int | None:
    """Of how many values the noise is, if that is said."""
    if cells.count.is_blank or cells.noise.is_blank:
        return None
    number = numbers.read(cells.count, "count", "a whole number")
    if not float(number).is_integer():
        raise InputError(f"count: expected a whole number, got {cells.count.text!r}.")
    return int(number)


def _repeats(cells: Sequence[Cell], numbers: Numbers, unit: str) -> list[int | float]:
    """The replicates of a row: one in each of several cells, or several in one."""
    found: list[int | float] = []
    wanted = "numbers with spaces between"
    for cell in cells:
        if cell.is_blank:
            continue
        words = unguard(cell.text.strip()).split()
        one = cell.number is not None or cell.percent is not None or cell.fault or cell.is_date
        if one or not all(_NUMERIC.match(word) for word in words):
            found.append(numbers.read(cell, "replicates", wanted, unit))
        elif gap := grouped_in(cell.text) or gap_in(words):
            raise InputError(
                f"replicates: {gap} may be one number or two; write {''.join(gap.split())} without"
                " a gap, or each replicate into a column of its own."
            )
        else:
            found += [numbers.read(word, "replicates", wanted, unit) for word in words]
    return found


def _check_mean(cells: ResultCells, mean: float, numbers: Numbers) -> None:
    """Refuses a value that is not the mean of the replicates beside it."""
    value = numbers.read(cells.value, "value", unit=cells.unit)
    text = cells.value.text.strip().removesuffix(cells.unit).rstrip()
    if not is_rounded(text, float(Measurement(value).value), mean):
        told = f"the value is {shorten(cells.value.text.strip(), 60)}"
        raise InputError(
            f"{told}, but the mean of the replicates is {mean:.6g}; leave one of the cells empty."
        )


def is_rounded(written: str, value: float, exact: float) -> bool:
    """Whether a value is an exact one, rounded to the digits written as spreadsheets show it."""
    if not math.isfinite(value):
        return False
    text = written.replace(MINUS, "-").replace(",", ".").lower()
    mantissa, _, exponent = text.partition("e")
    digits = len(mantissa.partition(".")[2])
    # an exponent of more digits is that of zero
    place = int(exponent or 0) - digits if len(exponent) < 8 else -digits
    unit = float(Decimal(10) ** place) if abs(place) < 320 else 0.0
    return abs(value - exact) <= 0.5 * unit + 1e-12 * max(abs(value), abs(exact))
