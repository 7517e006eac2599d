"""Settings of earlier spaces in a later one: coordinates by the same scale, choices apart."""

from typing import Any

import numpy as np
import pytest

from ceibo import Categorical, Float, Int, Ordinal, Space
from ceibo.decide.frame import Frame
from ceibo.errors import InputError
from ceibo.gp import Matern52

FIRST = {"temp": Float(20, 90), "solvent": Categorical(["THF", "DMF", 1])}
FRAME = Frame(Space(FIRST))


@pytest.mark.parametrize(
    ("dimension", "value", "expected"),
    [
        (Float(20, 90), 125.0, 1.5),
        (Float(20, 90), -15.0, -0.5),
        (Float(1e-4, 1e-2, log=True), 1e-1, 1.5),
        (Float(1e-4, 1e-2, log=True), 1e-6, -1.0),
        (Float(1e-4, 1e-2, log=True), 0.0, -1.0),  # no logarithm: one width below
        (Float(0, 9, step=1.0), 4.25, 0.475),  # between the levels at 0.45 and 0.55
        (Float(0, 9, step=1.0), 10.0, 1.05),
        (Int(0, 9), 19, 1.95),
        (Int(0, 9), -1, -0.05),
        (Float(0, 1), 1e300, 1e6),
        (Float(-1.7e308, 1.7e308), 0.0, 0.5),
    ],
)
def test_numbers_outside_have_the_coordinates_of_the_scale(
    dimension: Any, value: float, expected: float
) -> None:
    frame = Frame(Space({"x": dimension, "other": Float(0, 1)}))
    assert frame.place({"x": value, "other": 0.5}) == pytest.approx([expected, 0.5], abs=1e-12)


@pytest.mark.parametrize(
    "dimension",
    [
        Float(20, 90),
        Float(1e-3, 2, log=True),
        Float(1, 7, step=0.5),
        Int(1, 9),
        Int(2, 64, log=True),
    ],
)
def test_inside_and_outside_are_one_line(dimension: Any) -> None:
    """The coordinate is affine in the value, or its logarithm, across the ends of the range."""
    frame = Frame(Space({"x": dimension, "y": Float(0, 1)}))
    low, high = dimension.from_unit(0.0), dimension.from_unit(1.0)
    if dimension.log:
        values = [low / 8, low / 2, low, high, high * 2, high * 8]
        at = np.log(values)
    else:
        values = [low - 6, low - 1, low, high, high + 1, high + 6]
        at = np.array(values, dtype=float)
    if isinstance(dimension, Int):
        whole = [k for k, value in enumerate(values) if float(value).is_integer()]
        values, at = [int(values[k]) for k in whole], at[whole]
    units = np.array([frame.place({"x": value, "y": 0.0})[0] for value in values])
    line = np.polyfit(at, units, 1)
    np.testing.assert_allclose(np.polyval(line, at), units, atol=1e-9)


def test_levels_that_are_gone_keep_their_place_among_the_others() -> None:
    frame = Frame(Space({"hours": Ordinal([1, 2, 4, 8, 24], log=True), "y": Float(0, 1)}))
    after = frame.after({"hours": Ordinal([2, 4, 24], log=True), "y": Float(0, 1)})
    places = [after.place({"hours": hours, "y": 0.5})[0] for hours in (1, 2, 3, 4, 8, 24, 48)]
    assert places == sorted(places)
    assert places[0] < 0.0 < places[1]
    np.testing.assert_allclose(
        np.diff(np.log([2, 4, 24])) / np.diff([places[k] for k in (1, 3, 5)]),
        np.log(12) / (places[5] - places[1]),
    )


def test_retired_choices_are_apart_from_all_and_equal_among_themselves() -> None:
    after = FRAME.after({"temp": Float(20, 90), "solvent": Categorical(["MeCN", "DMF"])})
    assert after.retired == {"solvent": ("THF", 1)}
    rows = [{"temp": 50.0, "solvent": solvent} for solvent in ("THF", 1, "MeCN", "DMF", "THF")]
    X = after.places(rows)
    assert len(set(X[:, 1])) == 4
    assert X[0, 1] == X[4, 1]
    assert X[:2, 1].max() < 0.0 < X[2:4, 1].min()
    kernel = Matern52([0.5, 0.5], categorical=(1,))
    K = kernel(X, X)
    assert len({round(float(K[i, j]), 12) for i in range(4) for j in range(i)}) == 1
    assert K[0, 4] == K[0, 0]
    again = after.after({"temp": Float(20, 90), "solvent": Categorical(["THF", "DMF"])})
    assert again.retired == {"solvent": (1, "MeCN")}
    with pytest.raises(InputError, match="'solvent'"):
        again.check({"temp": 50.0, "solvent": "water"})  # that was never offered


def test_a_new_parameter_had_its_value_before() -> None:
    after = FRAME.after(FIRST | {"humidity": Float(20, 80)}, {"humidity": 50})
    old = {"temp": 55.0, "solvent": "DMF"}
    assert after.place(old) == pytest.approx([0.5, 0.5, 0.5])
    assert after.check(old) == old  # nothing is invented
    assert after.outside(old) is None
    assert after.outside({"temp": 95.0, "solvent": "DMF"}) is not None
    assert not after.fits(old)  # as a suggestion it lacks a value
    assert after.fits(old | {"humidity": 50.0})
    narrow = after.after(FIRST | {"humidity": Float(20, 40)})
    assert narrow.place(old)[2] == pytest.approx(1.5)


def test_in_branches_only_what_exists_has_a_value_before() -> None:
    space = {"optimizer": Categorical(["sgd", "adam"])}
    more = space | {"momentum": Float(0, 1, when={"optimizer": "sgd"}), "lr": Float(0, 1)}
    after = Frame(Space(space | {"lr": Float(0, 1)})).after(more, {"momentum": 0.25})
    there = after.place({"optimizer": "sgd", "lr": 2.0})
    not_there = after.place({"optimizer": "adam", "lr": 2.0})
    assert there.tolist() == [0.25, 0.25, 2.0]
    assert not_there.tolist() == [0.75, 0.5, 2.0]


def test_rules_decide_what_fits() -> None:
    space = {"a": Float(0, 1), "b": Float(0, 1)}
    after = Frame(Space(space)).after(Space(space, constraints=["a + b <= 1"]))
    assert after.fits({"a": 0.5, "b": 0.5})
    assert not after.fits({"a": 0.5, "b": 0.6})
    assert after.outside({"a": 0.5, "b": 0.6}) is None


def test_a_choice_with_a_branch_is_retired_by_the_rule_that_the_refusal_names() -> None:
    tree = {"opt": Categorical(["sgd", "adam"]), "m": Float(0, 1, when={"opt": "sgd"})}
    with pytest.raises(InputError, match=r"constraints=\[\"opt != 'sgd'\"\]"):
        Frame(Space(tree)).after({"opt": Categorical(["adam", "lion"])})
    after = Frame(Space(tree)).after(Space(tree, constraints=["opt != 'sgd'"]))
    assert not after.fits({"opt": "sgd", "m": 0.5})
    assert after.fits({"opt": "adam"})


def test_every_choice_with_the_branch_is_in_the_advice() -> None:
    several = {
        "opt": Categorical(["sgd", "adam", "lion"]),
        "m": Float(0, 1, when={"opt": ["sgd", "adam"]}),
    }
    with pytest.raises(InputError, match=r"constraints=\[\"opt != 'sgd'\", \"opt != 'adam'\"\]"):
        Frame(Space(several)).after({"opt": Categorical(["lion", "sgd"])})


@pytest.mark.parametrize(
    ("space", "before", "said"),
    [
        ({"temp": Float(20, 90)}, None, "'solvent' is not in the new space"),
        (FIRST | {"temp": Int(20, 90)}, None, "'temp': expected a Float as before, got Int"),
        (FIRST | {"h": Float(0, 1)}, None, "'h' is new; say which value the trials so far had"),
        (FIRST | {"h": Float(0, 1)}, {"h": 2.0}, r"before: parameter 'h': expected a value in"),
        (FIRST | {"h": Float(0, 1)}, {"h": "x"}, "before: parameter 'h': expected a number"),
        (FIRST | {"h": Float(0, 1)}, {"h": 0, "temp": 30}, "before: parameter 'temp' is not new"),
        (FIRST | {"h": Float(0, 1)}, {"hh": 0}, "no new parameter 'hh'; did you mean 'h'"),
        (FIRST | {"h": Float(0, 1)}, [1], "before: expected a dict of values, got"),
        ({}, None, "expected a space with at least one parameter"),
    ],
)
def test_changes_without_a_meaning_are_refused(space: Any, before: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        FRAME.after(space, before)


@pytest.mark.parametrize(
    "params",
    [
        {"temp": float("nan"), "solvent": "DMF"},
        {"temp": float("inf"), "solvent": "DMF"},
        {"temp": 10**400, "solvent": "DMF"},
        {"temp": -(10**400), "solvent": "DMF"},
        {"temp": True, "solvent": "DMF"},
        {"temp": "50", "solvent": "DMF"},
        {"temp": 50.0, "solvent": "dmf"},
        {"temp": 50.0, "solvent": 1.0},
        {"temp": 50.0},
        {"temp": 50.0, "solvent": "DMF", "x": 1},
    ],
)
def test_what_cannot_be_placed_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        FRAME.check(params)


def test_old_values_of_a_child_before_its_parent_are_where_they_were() -> None:
    frame = Frame(Space({"x": Float(0, 1)}))
    after = frame.after(
        Space(
            {
                "x": Float(0, 1),
                "m": Float(0, 1, when={"opt": "sgd"}),
                "opt": Categorical(["sgd", "adam"]),
            }
        ),
        {"m": 0.9, "opt": "sgd"},
    )
    assert after.complete({"x": 0.2}) == {"x": 0.2, "opt": "sgd", "m": 0.9}
    assert after.outside({"x": 0.2}) is None
