"""Ordered levels, steps of whole numbers, tuples as choices: exact, ordered, spaced as they say."""

import json
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ceibo
from ceibo.decide import Space
from ceibo.decide.dimensions import Categorical, Dimension, Float, Int, Ordinal
from ceibo.decide.dimensions.table import TYPES, dimension_from_json
from ceibo.decide.holding import hold
from ceibo.decide.suggest import initial_params
from ceibo.errors import InputError
from ceibo.gp.kernels import Matern52
from tests.helpers import wrong

HOURS = [1, 2, 4, 8, 24]
finite = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.lists(st.one_of(st.integers(-(2**70), 2**70), finite), min_size=2, max_size=9)
plain = st.one_of(st.text(max_size=3), st.integers(-9, 9), st.booleans(), st.none(), finite)
tuples = st.recursive(st.tuples(plain), lambda inner: st.tuples(inner, plain), max_leaves=3)


def made(values: list[Any], **options: Any) -> Ordinal:
    """The levels, if they can be told apart."""
    try:
        return Ordinal(values, **options)
    except InputError as error:
        assume("tell apart" not in str(error))
        raise


def round_trips(dimension: Dimension, value: Any) -> None:
    """The value comes back with its type, through the cube and through JSON."""
    space = Space({"x": dimension})
    u = space.to_unit({"x": value})
    assert 0 < u[0] < 1
    back = space.from_unit(u)["x"]
    assert (type(back), repr(back)) == (type(value), repr(value))
    again = Space.from_json(json.loads(json.dumps(space.to_json())))
    assert again == space
    assert repr(again.from_unit(u)["x"]) == repr(value)


@given(numbers, st.data())
def test_levels_round_trip_exactly(given_numbers: list[float], data: st.DataObject) -> None:
    values = sorted({each + 0 for each in given_numbers})
    assume(len(values) > 1)
    dimension = made(values)
    round_trips(dimension, data.draw(st.sampled_from(dimension.values)))


@given(numbers)
def test_levels_lie_by_their_values(given_numbers: list[float]) -> None:
    values = sorted({each + 0 for each in given_numbers})
    assume(len(values) > 1)
    at = made(values).coordinates
    assert np.all(np.diff(at) > 0)
    low, high = Fraction(values[0]), Fraction(values[-1])
    shares = [float((Fraction(each) - low) / (high - low)) for each in values]
    np.testing.assert_allclose((at - at[0]) / (at[-1] - at[0]), shares, atol=1e-14)


@given(st.lists(st.floats(5e-324, 1e308), min_size=2, max_size=9, unique=True))
def test_logarithmic_levels_lie_by_their_logarithms(given_numbers: list[float]) -> None:
    values = sorted(given_numbers)
    dimension = made(values, log=True)
    logs = np.array([math.log(each) for each in values])
    at = dimension.coordinates
    np.testing.assert_allclose(
        (at - at[0]) / (at[-1] - at[0]), (logs - logs[0]) / (logs[-1] - logs[0]), atol=1e-12
    )
    assert [dimension.from_unit(u) for u in at] == values


@pytest.mark.parametrize(
    "values", [[-1.7e308, 0, 1.7e308], [-1e300, -1e299, 1e298], [1e-300, 2e-300], [0.0, 5e-324]]
)
def test_extreme_levels_are_told_apart(values: list[float]) -> None:
    dimension = Ordinal(values)
    assert [dimension.from_unit(u) for u in dimension.coordinates] == values


def test_evenly_spaced_numbers_and_words_lie_as_integers_do() -> None:
    whole = Int(0, 4).coordinates
    assert whole is not None
    np.testing.assert_allclose(Ordinal([10, 20, 30, 40, 50]).coordinates, whole, atol=1e-15)
    np.testing.assert_allclose(Ordinal([1, 10, 1e2, 1e3, 1e4], log=True).coordinates, whole)
    np.testing.assert_allclose(Ordinal(["a", 7, None, True, "b"]).coordinates, whole)


def test_the_model_sees_the_distances() -> None:
    at = Ordinal(HOURS).coordinates[:, None]
    K = Matern52([0.3])(at, at)
    assert np.argsort(-K[0]).tolist() == [0, 1, 2, 3, 4]
    # as a kernel over the hours themselves, with a length scale in hours
    unit = (at[-1, 0] - at[0, 0]) / (HOURS[-1] - HOURS[0])
    hours = np.array(HOURS, dtype=float)[:, None]
    np.testing.assert_allclose(K, Matern52([0.3 / unit])(hours, hours), atol=1e-14)


def test_an_initial_design_has_every_level_equally_often() -> None:
    space = Space({"hours": Ordinal(HOURS), "x": Float(0, 1)})
    found = [initial_params(hold(space), 0, number) for number in range(160)]
    counts = [sum(params["hours"] == hours for params in found) for hours in HOURS]
    assert max(counts) - min(counts) <= 2
    # the other column is where it would be without levels
    other = Space({"hours": Int(0, 4), "x": Float(0, 1)})
    assert [each["x"] for each in found] == [
        initial_params(hold(other), 0, number)["x"] for number in range(160)
    ]


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_a_point_decodes_to_the_nearest_level(u: list[float]) -> None:
    dimensions = [Ordinal(HOURS), Ordinal(HOURS, log=True), Ordinal(["a", "b", "c"])]
    for dimension, share in zip(dimensions, u, strict=True):
        value = dimension.from_unit(share)
        best = np.min(np.abs(dimension.coordinates - share))
        assert abs(dimension.to_unit(value) - share) == best


def test_values_are_those_of_the_list() -> None:
    hours = Ordinal(HOURS)
    for value in (4, 4.0, np.float64(4), np.int64(4)):
        assert hours.check(value, "hours") == 4
        assert type(hours.check(value, "hours")) is int
    assert Ordinal([0.1, 0.3]).check(0.1 + 0.2, "x") == 0.3
    mixed = Ordinal([1, True, "1", None])
    assert [mixed.check(each, "x") for each in (1.0, True, "1", None)] == [1, True, "1", None]
    assert type(mixed.check(True, "x")) is bool
    assert Ordinal([1, "a"]) != Ordinal([True, "a"])
    assert Ordinal([1, 2]) == Ordinal([1.0, 2.0])
    assert Ordinal([1, 2]) != Ordinal([1, 2], log=True)
    assert pickle.loads(pickle.dumps(hours)) == hours
    assert len({hours, Ordinal(HOURS)}) == 1


BAD_VALUES: list[tuple[Ordinal, Any, str]] = [
    (Ordinal(HOURS), 5, r"'h': expected one of \[1, 2, 4, 8, 24\], got 5; the nearest is 4\.$"),
    (Ordinal(HOURS), 1e300, r"got 1e\+300; the nearest is 24\.$"),
    (Ordinal(HOURS), -math.inf, r"got -inf\.$"),
    (Ordinal(HOURS), math.nan, r"got nan\.$"),
    (Ordinal(HOURS), "4", r"got '4' \(str\); the type counts too\.$"),
    (Ordinal(HOURS), True, r"got True \(bool\); the type counts too\.$"),
    (Ordinal([0.1, 0.3]), 0.2999, r"got 0.2999; the nearest is 0.3\.$"),
    (Ordinal(["low", "medium"]), "medum", r"got 'medum' \(str\); did you mean 'medium'\?$"),
    (Ordinal(["low", "medium"]), 3, r"got 3\.$"),
    (Ordinal(["low", 5, 9]), 8, r"got 8; the nearest is 9\.$"),
    (Ordinal(HOURS), [4], r"got \[4\] \(list\); the type counts too\.$"),
]


@pytest.mark.parametrize(("dimension", "value", "message"), BAD_VALUES)
def test_other_values_are_refused(dimension: Ordinal, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dimension.check(value, "h")


BAD_LEVELS: list[tuple[Any, str]] = [
    (lambda: Ordinal([8, 4]), r"ascending order, got values=\[8, 4\]; use values=\[4, 8\]\.$"),
    (lambda: Ordinal([4]), r"2 to 10000 values, got 1; a dimension with one value"),
    (lambda: Ordinal(range(10_001)), "2 to 10000 values, got 10001"),
    (lambda: Ordinal([4, 4.0]), r"expected distinct values, got 4(\.0)? twice"),
    (lambda: Ordinal(["a", "b", "a"]), "'a' twice"),
    (lambda: Ordinal(wrong("abc")), "a list of values, as in"),
    (lambda: Ordinal([1, math.inf]), "finite numbers, got inf; write it as a string"),
    (lambda: Ordinal([1, 10**400]), "finite number"),
    (lambda: Ordinal([1, wrong({})]), "values of type str, int, float, bool or None, or tuples"),
    (lambda: Ordinal([0, 1], log=True), r"numbers above 0 with log=True, got 0; use log=False"),
    (lambda: Ordinal(["a", "b"], log=True), r"numbers with log=True, got values=\['a', 'b'\]"),
    (lambda: Ordinal([1, 2], log=wrong(1)), "log=True or log=False, got 1"),
    (lambda: Ordinal([0, 1, 1e300]), r"tell apart .* got \[0, 1\]; use log=True or write words"),
    (lambda: Ordinal([1, 1 + 2**-52, 2], log=True), "tell apart"),
    (lambda: Int(0, 8, step=0), "step >= 1, got step=0"),
    (lambda: Int(0, 8, step=wrong(2.5)), "a whole number, got step=2.5"),
    (lambda: Int(0, 8, step=9), r"a step within \[0, 8\], got step=9, which leaves one value"),
    (lambda: Int(1, 8, step=2, log=True), "step or log=True, got both, which exclude each other"),
    (lambda: Categorical([((((((1,),),),),),), 2]), "tuples nested at most 4 deep"),
    (lambda: Categorical([(1, 2), wrong([1, 2])]), r"\(1, 2\) twice"),
    (lambda: Categorical([(1, math.nan), 3]), "finite numbers"),
    (lambda: Categorical([(1, wrong({})), 3]), "str, int, float, bool or None, or tuples of them"),
]


@pytest.mark.parametrize(("make", "message"), BAD_LEVELS)
def test_bad_levels(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


# whole numbers with a step


@given(st.integers(-(10**20), 10**20), st.integers(1, 10**9), st.integers(1, 2**39), st.data())
def test_stepped_integers_round_trip(low: int, step: int, count: int, data: st.DataObject) -> None:
    beyond = data.draw(st.integers(0, step - 1))
    dimension = Int(low, low + count * step + beyond, step=step)
    assert dimension.levels == count + 1
    round_trips(dimension, low + step * data.draw(st.integers(0, count)))
    assert dimension.from_unit(1.0) == low + count * step


def test_a_step_of_one_is_not_written_down() -> None:
    assert (
        Int(1, 8, step=1).to_json() == Int(1, 8).to_json() == {"type": "int", "low": 1, "high": 8}
    )
    assert Int(8, 512, step=8).to_json() == {"type": "int", "low": 8, "high": 512, "step": 8}


def test_stepped_integers_lie_where_stepped_floats_do() -> None:
    whole, real = Int(8, 515, step=8), Float(8, 515, step=8)
    assert whole.levels == real.levels == 64
    for value in range(8, 513, 8):
        assert whole.to_unit(value) == real.to_unit(value)
    with pytest.raises(
        InputError, match=r"expected 8 plus a multiple of 8, got 13; the nearest is 16"
    ):
        whole.check(13, "n")
    with pytest.raises(InputError, match=r"got 515; the nearest is 512"):
        whole.check(515, "n")
    assert whole.check(16.0, "n") == 16


# tuples as choices


@settings(max_examples=60)
@given(st.lists(st.one_of(plain, tuples), min_size=2, max_size=6, unique_by=repr), st.data())
def test_tuples_round_trip_with_their_types(choices: list[Any], data: st.DataObject) -> None:
    round_trips(Categorical(choices), data.draw(st.sampled_from(choices)))


def test_a_list_is_accepted_where_it_equals_a_tuple() -> None:
    layers = Categorical([(64, 64), (128,), (), (256, (1.0, "relu"))])
    assert layers.check([64, 64], "layers") == (64, 64)
    assert layers.check([np.int64(128)], "layers") == (128,)
    assert layers.check([256, [1.0, "relu"]], "layers") == (256, (1.0, "relu"))
    others: list[Any] = [[64.0, 64], (64, True), [64], "(64, 64)", ({},)]
    for other in others:
        with pytest.raises(InputError, match="the type counts too"):
            layers.check(other, "layers")
    assert layers == Categorical(wrong([[64, 64], [128], [], [256, [1.0, "relu"]]]))
    assert Categorical([(1,), 2]) != Categorical([(True,), 2])


# as people write and read them


def parsed(text: str) -> Dimension:
    """What `--param x=text` stands for."""
    entries = [each.parse(text) for each in TYPES.values()]
    return dimension_from_json(next(each for each in entries if each is not None), "x")


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("1<2<4<8<24", Ordinal(HOURS)),
        (" 1 < 2.5 < 4", Ordinal([1, 2.5, 4])),
        ("1<10<100:log", Ordinal([1, 10, 100], log=True)),
        ("low<medium<high", Ordinal(["low", "medium", "high"])),
        ('"a<b"<"c"', Ordinal(["a<b", "c"])),
        ('a<"b c"', Ordinal(["a", "b c"])),
        ("a<b,c", Categorical(["a<b", "c"])),
        ("8:512:int:step=8", Int(8, 512, step=8)),
        ("8:512:step=8", Float(8, 512, step=8)),
    ],
)
def test_spellings_of_a_shell(text: str, dimension: Dimension) -> None:
    assert parsed(text) == dimension


def test_an_empty_level_is_named() -> None:
    with pytest.raises(InputError, match="there is an empty level in 'low<<high'; drop a <"):
        Ordinal.parse("low<<high")


def test_descriptions_and_labels() -> None:
    assert Ordinal(HOURS).describe() == "one of 1 < 2 < 4 < 8 < 24"
    assert Ordinal([1, 10], log=True).describe() == "one of 1 < 10, logarithmic"
    assert Int(8, 512, step=8).describe() == "int from 8 to 512, in steps of 8"
    assert Categorical([(64, 64), (128,)]).describe() == "one of (64, 64), (128,)"
    even = Ordinal(HOURS, log=True)
    assert even.ticks(5) == list(zip(even.coordinates.tolist(), map(str, HOURS), strict=True))
    # labels that would cover each other are left out, never the ends
    crowded = Ordinal(HOURS).ticks(5)
    assert [label for _, label in crowded][-3:] == ["4", "8", "24"]
    assert crowded[0][1] == "1"
    many = Ordinal([f"level {k}" for k in range(200)]).ticks(5)
    assert 3 <= len(many) <= 20
    for place, label in Int(8, 512, step=8).ticks(5):
        assert place == pytest.approx((float(label) - 4) / (516 - 4))
    assert Int(10**30, 10**30 + 10**400, step=10**399).ticks(3)


def test_a_study_uses_levels_and_tuples_stores_them_and_verifies(tmp_path: Any) -> None:
    space = {
        "hours": Ordinal(HOURS),
        "dose": Ordinal(["low", "medium", "high"]),
        "n": Int(8, 64, step=8),
        "layers": Categorical([(64, 64), (128,)]),
    }
    url = f"sqlite:///{tmp_path}/study.db"
    study = ceibo.Study.create(space, storage=url, name="s", seed=1, n_initial=4)

    def measure(params: Any) -> float:
        wide: float = sum(params["layers"]) / 128
        return math.log(params["hours"]) + float(abs(params["n"] - 40)) / 20 + wide

    for _ in range(12):
        trial = study.ask()
        study.tell(trial, measure(trial.params), noise=0.05)
    again = ceibo.Study.open(url, "s", space=space)
    assert [each.params for each in again.trials] == [each.params for each in study.trials]
    assert {type(each.params["layers"]) for each in again.trials} == {tuple}
    assert again.best.params["n"] % 8 == 0
    found = again.verify()
    assert found.checked == found.identical > 0
    again.add({"hours": 4.0, "dose": "low", "n": 16, "layers": [128]}, 1.0)
    assert again.trials[-1].params == {"hours": 4, "dose": "low", "n": 16, "layers": (128,)}
