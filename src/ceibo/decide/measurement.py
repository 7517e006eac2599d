"""What one evaluation gave: a value with its noise, or replicates."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, SupportsFloat, final

import numpy as np

from ceibo.checks import check_whole, to_float
from ceibo.decide.block_names import AnyBlock, Block, block_line, block_of
from ceibo.errors import InputError, show_value
from ceibo.numbers import with_uncertainty

_MOST_VALUES: Final = 10**9  # behind one standard error


@final
@dataclass(frozen=True)
class Measurement:
    """A measured value; `noise` is its standard deviation, None if unknown and to be inferred.

    With replicates the value is their mean, and a noise given beside them is that of the mean;
    otherwise the model infers the noise from their spread. A `count` says that the noise is a
    standard error computed from so many values, and so no better known than they make it.

    `block` names what the measurement shares with others beside its setting, such as a day: a
    name, or names by kind. It is kept as pairs of a kind and a name, sorted.

    NaN and ±inf may be given as a value, because that is what broken evaluations return:
    `is_finite` is then False, and a study records the trial as failed. A noise that is NaN,
    infinite or negative is a mistake in the caller's program and refused. -0.0 becomes 0.0, as
    SQLite cannot store the difference.
    """

    value: float
    noise: float | None = None
    replicates: tuple[float, ...] = ()
    count: int | None = None
    block: Block = ()

    def __init__(
        self,
        value: SupportsFloat,
        noise: SupportsFloat | None = None,
        replicates: Iterable[SupportsFloat] = (),
        *,
        count: int | None = None,
        block: AnyBlock = None,
    ) -> None:
        values = tuple(_number(each, "replicate") for each in replicates)
        number = _number(value, "value")
        std = None if noise is None else _number(noise, "noise")
        if std is not None and not 0 <= std < math.inf:
            raise InputError(
                "expected noise as a finite standard deviation >= 0, got"
                f" {show_value(noise)}; leave it out if it is unknown."
            )
        if values and not _same(number, _mean(values)):
            raise InputError(
                f"expected value to be the mean of the replicates, got {number!r}; use"
                " Measurement.of(…)."
            )
        object.__setattr__(self, "value", number)
        object.__setattr__(self, "noise", std)
        object.__setattr__(self, "replicates", values)
        object.__setattr__(self, "count", None if count is None else _count(count, std, values))
        object.__setattr__(self, "block", block_of(block))

    @classmethod
    def of(cls, replicates: Iterable[SupportsFloat], *, block: AnyBlock = None) -> Self:
        """Repeated measurements of one thing: the value is their mean, the noise is inferred."""
        if isinstance(replicates, str | bytes | Mapping) or not isinstance(replicates, Iterable):
            raise InputError(
                f"expected a list of replicates, as in [0.31, 0.29, 0.36], got"
                f" {show_value(replicates)}."
            )
        values = tuple(_number(value, "replicate") for value in replicates)
        if not values:
            raise InputError(
                "expected at least one replicate, got none; report a failed trial as failed."
            )
        return cls(_mean(values), None, values, block=block)

    def __repr__(self) -> str:
        """As the constructor is called; count and block where there are any."""
        count = "" if self.count is None else f", count={self.count}"
        block = f", block={dict(self.block)!r}" if self.block else ""
        told = f"value={self.value!r}, noise={self.noise!r}, replicates={self.replicates!r}"
        return f"{type(self).__name__}({told}{count}{block})"

    def __str__(self) -> str:
        """For people: the value and, where it is known, its noise."""
        noise = "" if self.noise is None else f" ± {self.noise:.6g}"
        return self._counted(f"{self.value:.6g}{noise}")

    @property
    def rounded(self) -> str:
        """The same with two digits of the noise and no more of the value than it leaves."""
        if self.noise is None or not self.is_finite:
            return str(self)
        return self._counted(with_uncertainty(self.value, self.noise))

    def _counted(self, told: str) -> str:
        count = "" if self.count is None else f" (of {self.count})"
        block = f" [{block_line(self.block)}]" if self.block else ""
        return f"{told}{count}{block}"

    @property
    def is_finite(self) -> bool:
        """Whether value and replicates are free of NaN and infinities, and can enter a model."""
        return math.isfinite(self.value) and all(map(math.isfinite, self.replicates))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data; non-finite values have no place in JSON and are refused."""
        if not self.is_finite:
            raise InputError(
                f"expected a finite measurement, got {self!r}; a non-finite one is a failure."
            )
        noise = {} if self.noise is None else {"noise": self.noise}
        replicates = {"replicates": list(self.replicates)} if self.replicates else {}
        count = {} if self.count is None else {"count": self.count}
        block = {"block": dict(self.block)} if self.block else {}
        return {"value": self.value, **noise, **replicates, **count, **block}

    @classmethod
    def from_json(cls, data: object) -> Self:
        """The measurement that `to_json` wrote down."""
        known = {"value", "noise", "replicates", "count", "block"}
        if not isinstance(data, Mapping) or not {"value"} <= set(data) <= known:
            raise InputError(
                "expected a measurement with value, noise, replicates, count or block, got"
                f" {show_value(data)}."
            )
        replicates = tuple(data.get("replicates", ()))
        further = {name: data[name] for name in ("count", "block") if name in data}
        return cls(data["value"], data.get("noise"), replicates, **further)


def _count(count: object, noise: float | None, replicates: tuple[float, ...]) -> int:
    """How many values a standard error is of."""
    if isinstance(count, float | np.floating) and float(count).is_integer():  # as of a table
        count = int(count)
    single = isinstance(count, int | np.integer) and count == 1
    advice = "a single value has no standard error" if single else ""
    number = check_whole(count, "count", 2, _MOST_VALUES, advice)
    if replicates:
        raise InputError(
            f"count: expected none beside replicates, which are counted, got {number}; leave it"
            " out."
        )
    if noise is None:
        raise InputError(
            f"count: expected the standard error of {number} values beside it, as in noise=0.02,"
            " got none; tell the values themselves with Measurement.of([…])."
        )
    return number


def _mean(values: tuple[float, ...]) -> float:
    """The mean, correctly rounded but for one division, without overflow."""
    if not all(map(math.isfinite, values)):
        return sum(values)  # NaN or an infinity, whichever the replicates imply
    largest = max(map(abs, values))
    # room for 2^64 replicates; a value lost by it is below half an ulp
    shift = 64 if largest > 1e280 else 0
    total = math.fsum(math.ldexp(value, -shift) for value in values) / len(values)
    return min(max(math.ldexp(total, shift), min(values)), max(values)) + 0.0


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _number(value: object, what: str) -> float:
    if type(value) is float:  # the usual case, 10^5 times when a large study is read
        return value + 0.0
    number = to_float(value)
    if number is None:
        got = f"{show_value(value)} ({type(value).__name__})"
        raise InputError(
            f"expected {what} to be a number, got {got}; a value with its noise is"
            " Measurement(value, noise=…), replicates are Measurement.of([…])."
        )
    return number + 0.0
