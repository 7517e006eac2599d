"""Spaces: exact round trips, honest errors, JSON that keeps types."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ceibo.decide.space import Categorical, Float, Int, Space
from ceibo.errors import InputError
from tests.helpers import wrong

EPS = 2.0**-52
TINY = 5e-324
finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=TINY, allow_nan=False, allow_infinity=False)
extreme = [
    (1e-300, 1e300),
    (-1.7e308, 1.7e308),
    (TINY, 4 * TINY),
    (-3 * TINY, 2 * TINY),
    (-1e300, -1e-300),
    (0, TINY),
]


def round_trip(dimension: Float | Int | Categorical, value: Any) -> Any:
    space = Space({"x": dimension})
    u = space.to_unit({"x": value})
    assert u.shape == (1,)
    assert 0 <= u[0] <= 1
    return space.from_unit(u)["x"]


@given(finite, finite, st.data())
def test_linear_float_round_trip_within_its_bound(a: float, b: float, data: st.DataObject) -> None:
    assume(a != b)
    low, high = min(a, b), max(a, b)
    value = data.draw(st.floats(low, high, allow_nan=False))
    back = round_trip(Float(low, high), value)
    assert low <= back <= high
    # /4: the difference may overflow
    assert abs(back / 4 - value / 4) <= EPS * max(abs(low), abs(high)) + TINY


@given(positive, positive, st.data())
def test_log_float_round_trip_within_its_bound(a: float, b: float, data: st.DataObject) -> None:
    low, high = min(a, b), max(a, b)
    assume(math.log(low) < math.log(high))
    value = data.draw(st.floats(low, high, allow_nan=False))
    back = round_trip(Float(low, high, log=True), value)
    assert low <= back <= high
    bound = 4 * EPS * (1 + max(abs(math.log(low)), abs(math.log(high))))
    assert abs(back - value) <= bound * value + TINY


@given(finite, finite, st.booleans())
def test_ends_are_exact(a: float, b: float, log: bool) -> None:
    low, high = min(a, b), max(a, b)
    assume(low < high)
    assume(not log or (low > 0 and math.log(low) < math.log(high)))
    dimension = Float(low, high, log=log)
    assert round_trip(dimension, low) == low
    assert round_trip(dimension, high) == high
    assert dimension.from_unit(0.0) == low
    assert dimension.from_unit(1.0) == high


@pytest.mark.parametrize(("low", "high"), extreme)
def test_extreme_boxes_are_monotone_and_inside(low: float, high: float) -> None:
    for dimension in [Float(low, high)] + ([Float(low, high, log=True)] if low > 0 else []):
        values = [dimension.from_unit(u) for u in np.linspace(0, 1, 1001)]
        assert values == sorted(values)
        assert values[0] == dimension.low
        assert values[-1] == dimension.high


@given(st.integers(-(2**70), 2**70), st.integers(1, 2**40 - 1), st.data())
def test_int_round_trip_is_exact(low: int, width: int, data: st.DataObject) -> None:
    value = data.draw(st.integers(low, low + width))
    back = round_trip(Int(low, low + width), value)
    assert type(back) is int
    assert back == value


@given(st.integers(1, 2**40 - 2), st.data())
def test_log_int_round_trip_is_exact(low: int, data: st.DataObject) -> None:
    high = data.draw(st.integers(low + 1, 2**40 - 1))
    value = data.draw(st.integers(low, high))
    assert round_trip(Int(low, high, log=True), value) == value


def test_every_value_of_small_ints_round_trips() -> None:
    for log in (False, True):
        for high in (2, 3, 10, 1000):
            dimension = Int(1, high, log=log)
            assert [round_trip(dimension, v) for v in range(1, high + 1)] == list(
                range(1, high + 1)
            )


@given(
    st.integers(-(10**6), 10**6),
    st.integers(1, 10**4),
    st.integers(1, 2000),
    st.integers(0, 9),
    st.data(),
)
def test_stepped_float_values_are_decimal_and_exact(
    low: int, step: int, levels: int, digits: int, data: st.DataObject
) -> None:
    scale = 10**digits
    dimension = Float(low / scale, (low + step * levels) / scale, step=step / scale)
    assert dimension.levels == levels + 1
    k = data.draw(st.integers(0, levels))
    value = (low + k * step) / scale
    assert round_trip(dimension, value) == value
    # rounding of a sum is snapped
    assert dimension.check(low / scale + k * (step / scale), "x") == value


def test_step_grid_reads_as_typed() -> None:
    dimension = Float(0, 1, step=0.1)
    assert [dimension.from_unit((k + 0.5) / 11) for k in range(11)] == [k / 10 for k in range(11)]
    assert Float(0, 1, step=0.3).levels == 4  # 0, 0.3, 0.6, 0.9
    with pytest.raises(InputError, match=r"'x': expected 0.0 plus a multiple of 0.1, got 0.25"):
        dimension.check(0.25, "x")


scalars = st.one_of(st.none(), st.booleans(), st.integers(), finite, st.text(max_size=5))


@given(
    st.lists(scalars, min_size=2, max_size=12, unique_by=lambda c: (type(c), repr(c))), st.data()
)
def test_categorical_round_trip_keeps_types(choices: list[Any], data: st.DataObject) -> None:
    dimension = Categorical(choices)
    value = data.draw(st.sampled_from(choices))
    back = round_trip(dimension, value)
    assert type(back) is type(value)
    assert repr(back) == repr(value)
    again = Space.from_json(json.loads(json.dumps(Space({"c": dimension}).to_json())))
    assert again == Space({"c": dimension})


def test_one_true_and_text_are_different_choices() -> None:
    dimension = Categorical([1, True, "1", 1.0, None])
    assert [round_trip(dimension, c) for c in dimension.choices] == [1, True, "1", 1.0, None]
    assert dimension.check(np.int64(1), "c") is dimension.choices[0]
    assert dimension.check(np.bool_(True), "c") is True
    assert Categorical([1, "a"]) != Categorical([True, "a"])
    with pytest.raises(InputError, match=r"'c': expected one of .* got False \(bool\)"):
        dimension.check(False, "c")


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_any_point_decodes_to_a_fixed_point(u: list[float]) -> None:
    space = Space(
        {
            "a": Float(20, 90),
            "b": Float(1e-5, 1e-1, log=True),
            "c": Float(0, 2, step=0.25),
            "d": Int(1, 8),
            "e": Int(1, 4096, log=True),
            "f": Categorical(["x", "y", "z"]),
        }
    )
    params = space.from_unit(u)
    coordinates = space.to_unit(params)
    again = space.from_unit(coordinates)
    for name in "cdef":
        assert again[name] == params[name]
    for column, allowed in space.discrete.items():
        assert coordinates[column] in allowed
    np.testing.assert_allclose(coordinates[:2], u[:2], atol=1e-13)


def test_columns() -> None:
    space = Space(
        {
            "a": Categorical(["x", "y"]),
            "b": Int(0, 3),
            "c": Float(0, 1),
            "d": Int(0, 10**9),
            "e": Int(1, 4, log=True),
        }
    )
    assert space.categorical == (0,)
    assert sorted(space.discrete) == [0, 1, 4]
    np.testing.assert_array_equal(space.discrete[1], [0.125, 0.375, 0.625, 0.875])
    assert len(space.discrete[4]) == 4
    assert np.all(np.diff(space.discrete[4]) > 0)
    assert space.to_unit_rows([]).shape == (0, 5)


def test_an_even_design_gives_each_level_its_share() -> None:
    u = (np.arange(1000) + 0.5) / 1000
    counts = np.bincount([Int(0, 4).from_unit(x) for x in u])
    np.testing.assert_array_equal(counts, [200] * 5)


@given(finite, finite, st.booleans())
def test_json_round_trip_of_numbers_is_exact(a: float, b: float, log: bool) -> None:
    assume(a < b)
    assume(not log or (a > 0 and math.log(a) < math.log(b)))
    space = Space({"x": Float(a, b, log=log), "n": Int(1, 7, log=log)})
    assert Space.from_json(json.loads(json.dumps(space.to_json()))) == space


def test_json_form_is_that_of_a_study_file() -> None:
    space = Space(
        {
            "temp": Float(20, 90),
            "rate": Float(1e-5, 1e-1, log=True),
            "n": Int(1, 8),
            "s": Categorical(["w", "e"]),
        }
    )
    assert space.to_json() == {
        "temp": {"type": "float", "low": 20, "high": 90},
        "rate": {"type": "float", "low": 1e-5, "high": 1e-1, "log": True},
        "n": {"type": "int", "low": 1, "high": 8},
        "s": {"type": "categorical", "choices": ["w", "e"]},
    }


BAD_DIMENSIONS = [
    (lambda: Float(1, 1), "expected low < high"),
    (lambda: Float(2, 1), "swap them"),
    (lambda: Float(0, 1, log=True), "low > 0 with log=True"),
    (lambda: Float(float("nan"), 1), "finite"),
    (lambda: Float(0, float("inf")), "finite"),
    (lambda: Float(wrong("0"), 1), "expected a number, got low='0'"),
    (lambda: Float(True, 2), "expected a number"),
    (lambda: Float(0, 1, step=0), "step > 0"),
    (lambda: Float(0, 1, step=2), "one value"),
    (lambda: Float(0, 1, step=1e-16), "too fine"),
    (lambda: Float(1e300, 1.1e300, step=1.0), "too fine"),
    (lambda: Float(1, 2, step=0.1, log=True), "exclude each other"),
    (lambda: Float(1e300, math.nextafter(1e300, math.inf), log=True), "different logarithms"),
    (lambda: Float(0, 10**400), "finite"),
    (lambda: Int(1, 1), "expected low < high"),
    (lambda: Int(0, 8, log=True), "low >= 1"),
    (lambda: Int(wrong(0.5), 8), "whole number, got low=0.5"),
    (lambda: Int(0, 2**41), "2\\*\\*40"),
    (lambda: Int(0, 8, log=wrong("yes")), "log=True or log=False"),
    (lambda: Categorical("abc"), "list of choices"),
    (lambda: Categorical(["a"]), "2 to 10000 choices, got 1"),
    (lambda: Categorical(["a", "a"]), "'a' twice"),
    (lambda: Categorical([float("nan"), 1]), "finite"),
    (lambda: Categorical([wrong({1, 2}), 3]), "str, int, float, bool or None"),
]


@pytest.mark.parametrize(("make", "message"), BAD_DIMENSIONS)
def test_bad_dimensions(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


SPACE = Space({"t": Float(20, 90), "n": Int(1, 8), "s": Categorical(["w", "e"])})
GOOD = {"t": 50, "n": 3, "s": "w"}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({**GOOD, "x": 1}, "unknown parameter 'x'; the space has t, n, s"),
        ({"t": 50, "n": 3}, "parameter 's' is missing"),
        ({**GOOD, "t": 91}, r"'t': expected a value in \[20.0, 90.0\], got 91"),
        ({**GOOD, "t": float("nan")}, "'t': expected a value in"),
        ({**GOOD, "t": 10**400}, "'t': expected a value in"),
        ({**GOOD, "t": "50"}, r"'t': expected a number, got '50' \(str\)"),
        ({**GOOD, "t": True}, "'t': expected a number"),
        ({**GOOD, "n": 9}, r"'n': expected a whole number in \[1, 8\], got 9"),
        ({**GOOD, "n": 2.5}, "'n': expected a whole number, got 2.5"),
        ({**GOOD, "n": float("inf")}, "'n': expected a whole number"),
        ({**GOOD, "s": "x"}, "'s': expected one of"),
        ([1, 2, 3], "as a dict"),
    ],
)
def test_bad_parameters(params: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SPACE.to_unit(params)


def test_values_become_plain_python() -> None:
    params = SPACE.check({"s": np.str_("e"), "n": np.int32(3), "t": np.float32(50)})
    assert params == {"t": 50.0, "n": 3, "s": "e"}
    assert list(params) == ["t", "n", "s"]
    assert [type(v) for v in params.values()] == [float, int, str]
    assert SPACE.check({**GOOD, "n": 3.0})["n"] == 3


def test_bad_coordinates() -> None:
    with pytest.raises(InputError, match="expected 3 coordinates"):
        SPACE.from_unit([0.5])
    with pytest.raises(InputError, match="finite coordinates"):
        SPACE.from_unit([0.5, float("nan"), 0.5])
    assert SPACE.from_unit([-1e-12, 2, 1.0]) == {"t": 20.0, "n": 8, "s": "e"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"x": {"type": "real", "low": 0, "high": 1}}, "'x': expected a table with type"),
        ({"x": {"type": "flaot", "low": 0, "high": 1}}, "did you mean 'float'\\?$"),
        ({"x": {"type": "float", "low": 0}}, "'x': expected high in a table of type 'float'"),
        (
            {"x": {"type": "int", "low": 0, "high": 3, "steps": 1}},
            "'x': expected a table of type 'int' with the keys low, high, log, step, got 'steps'",
        ),
        ({"x": {"type": "float", "low": 1, "high": 0}}, "'x': expected low < high"),
        ({"x": 3}, "'x': expected a table"),
        ([], "expected a table of parameters"),
        ({}, "at least one parameter"),
        ({"": {"type": "int", "low": 0, "high": 3}}, "printable characters"),
    ],
)
def test_bad_json(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Space.from_json(data)


def test_a_changed_space_is_named() -> None:
    SPACE.check_same(Space(dict(reversed(list(SPACE.dimensions.items())))))
    changed: list[tuple[dict[str, Any], str]] = [
        (
            {"t": Float(20, 95), "n": Int(1, 8), "s": Categorical(["w", "e"])},
            "'t' is stored as Float.*given now as Float",
        ),
        ({"t": Float(20, 90), "n": Int(1, 8)}, "'s' is stored but not given"),
        ({**SPACE.dimensions, "z": Int(0, 1)}, "'z' is not in the stored space"),
    ]
    for other, message in changed:
        with pytest.raises(InputError, match=message):
            SPACE.check_same(Space(other))
