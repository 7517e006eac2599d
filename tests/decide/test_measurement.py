"""Measurements: exact means, no silent NaN, JSON that keeps every bit."""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceibo.decide.measurement import Measurement
from ceibo.errors import InputError
from tests.helpers import wrong

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=20))
def test_mean_of_replicates_is_exact_to_rounding(values: list[float]) -> None:
    measurement = Measurement.of(values)
    exact = sum(map(Fraction, values), Fraction(0)) / len(values)
    assert min(values) <= measurement.value <= max(values)
    # Two roundings of the mean, and what a sum of subnormals divided by n can lose.
    assert abs(Fraction(measurement.value) - exact) <= Fraction(2.0**-52) * abs(exact) + Fraction(
        5e-324
    )
    assert measurement.noise is None
    assert measurement.replicates == tuple(values)


def test_mean_of_huge_values_does_not_overflow() -> None:
    assert Measurement.of([1e308, 1.7e308, 1.7e308]).value == pytest.approx(1.4666666e308)
    assert Measurement.of([1.7976931348623157e308] * 5).value == 1.7976931348623157e308
    assert Measurement.of([-1e308, 1e308]).value == 0.0


@given(finite, st.none() | st.floats(0, 1e308), st.lists(finite, max_size=4))
def test_json_round_trip(value: float, noise: float | None, replicates: list[float]) -> None:
    for measurement in [Measurement(value, noise)] + (
        [Measurement.of(replicates)] if replicates else []
    ):
        assert Measurement.from_json(json.loads(json.dumps(measurement.to_json()))) == measurement


def test_non_finite_values_can_be_held_but_are_marked() -> None:
    for value in (math.nan, math.inf, -math.inf):
        assert not Measurement(value).is_finite
        assert not Measurement.of([1.0, value]).is_finite
        with pytest.raises(InputError, match="finite"):
            Measurement(value).to_json()
    assert not Measurement.of([math.inf, -math.inf]).is_finite
    assert Measurement(0.3, noise=0.04).is_finite


def test_scalars_of_other_libraries_and_negative_zero() -> None:
    assert Measurement(np.float32(0.5), noise=np.int64(0)) == Measurement(0.5, 0.0)
    assert Measurement(np.array(0.5)).value == 0.5
    assert type(Measurement(np.float64(1)).value) is float
    assert math.copysign(1, Measurement(-0.0).value) == 1
    assert not Measurement(10**400).is_finite
    assert Measurement.of(np.array([1.0, 3.0])).value == 2


def test_a_count_out_of_a_table_of_floats_is_a_whole_number() -> None:
    given: tuple[Any, ...] = (4.0, np.float32(4))
    for count in given:
        made = Measurement(0.1, noise=0.1, count=count)
        assert made.count == 4
        assert type(made.count) is int


def test_a_value_as_precise_as_its_noise() -> None:
    assert Measurement(0.178824, noise=0.0681121, count=4).rounded == "0.179 ± 0.068 (of 4)"
    assert Measurement(0.178824).rounded == "0.178824"
    assert Measurement(0.178824, noise=0.0).rounded == "0.178824 ± 0"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Measurement(wrong("0.3")), "value to be a number, got '0.3'"),
        (lambda: Measurement(wrong(None)), "value to be a number"),
        (lambda: Measurement(wrong([0.1, 0.2])), "value to be a number"),
        (lambda: Measurement(np.array([0.1])), r"Measurement.of\(\[…\]\)"),
        (lambda: Measurement(0.1, noise=-1), "standard deviation >= 0, got -1"),
        (lambda: Measurement(0.1, noise=math.nan), "leave it out if it is unknown"),
        (lambda: Measurement(0.1, noise=math.inf), "finite standard deviation"),
        (lambda: Measurement(0.1, replicates=(1.0, 2.0)), "mean of the replicates"),
        (
            lambda: Measurement(0.1, noise=0.1, count=wrong(4.5)),
            r"a whole number from 2 to \d+, got 4\.5\.$",
        ),
        (lambda: Measurement(0.1, noise=0.1, count=1), "a single value has no standard error"),
        (lambda: Measurement(0.1, noise=0.1, count=wrong(np.array([2, 3]))), "a whole number from"),
        (lambda: Measurement.of([]), "at least one replicate"),
        (lambda: Measurement.of(wrong("123")), "list of replicates"),
        (lambda: Measurement.of(wrong(3.0)), "list of replicates"),
        (lambda: Measurement.from_json({"values": 1}), "value, noise, replicates, count"),
        (lambda: Measurement.from_json([1]), "value, noise, replicates, count"),
    ],
)
def test_bad_measurements(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
