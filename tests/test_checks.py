"""The checks of what users give: what passes, as what it comes back, and the words of a refusal."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ceibo import checks
from ceibo.decide.direction import Direction
from ceibo.errors import InputError


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_whole_numbers_come_back_as_python_integers(value: object) -> None:
    assert checks.check_whole(value, "n") == 3
    assert type(checks.check_whole(value, "n")) is int


@pytest.mark.parametrize("value", [True, np.True_, 3.0, np.float64(3), "3", None, 2])
def test_what_is_no_whole_number_is_refused(value: object) -> None:
    with pytest.raises(InputError) as refused:
        checks.check_whole(value, "n", 3)
    assert str(refused.value) == f"n must be a whole number, at least 3, got {value!r}."


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"low": 0}, "a whole number, zero or above"),
        ({}, "a whole number above zero"),
        ({"low": 2, "high": 9}, "a whole number from 2 to 9"),
    ],
)
def test_the_range_of_a_whole_number_is_said(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=f"^stop.trials must be {words}, got -1.$"):
        checks.check_whole(-1, "stop.trials", **options)


def test_advice_ends_the_sentence() -> None:
    with pytest.raises(InputError, match=r"got 0; leave it out.$"):
        checks.check_whole(0, "n", advice="leave it out")


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int8(2), Fraction(2), np.array(2.0)])
def test_numbers_come_back_as_floats(value: object) -> None:
    for check in (checks.check_positive, checks.check_not_negative, checks.check_cost):
        assert check(value, "x") == 2.0
        assert type(check(value, "x")) is float


@pytest.mark.parametrize(
    "value", [-1.0, math.inf, math.nan, True, np.True_, "2", 2j, np.complex64(2), 10**400, None]
)
def test_what_is_no_finite_number_is_refused(value: object) -> None:
    with pytest.raises(InputError, match=r"^x must be a finite number above zero, got "):
        checks.check_positive(value, "x")
    with pytest.raises(InputError, match=r"^x must be a finite number, zero or above, got "):
        checks.check_not_negative(value, "x")
    with pytest.raises(InputError, match=r"^cost must be .*, in the objective's units, got "):
        checks.check_cost(value)


def test_zero_is_not_negative_but_not_positive() -> None:
    assert checks.check_not_negative(0, "x") == 0.0
    with pytest.raises(InputError, match=r"above zero, got 0.$"):
        checks.check_positive(0, "x")


def test_seeds_are_what_every_database_stores() -> None:
    assert checks.check_seed(np.int64(7)) == 7
    assert checks.check_seed(2**63 - 1) == 2**63 - 1
    for value in (-1, 2**63, 1.5, True, None):
        with pytest.raises(InputError) as refused:
            checks.check_seed(value)
        assert "seed must be a whole number from 0 to 2^63 − 1, got " in str(refused.value)


def test_a_misspelt_name_gets_a_suggestion() -> None:
    assert checks.check_choice("ml", "fit", ("map", "ml")) == "ml"
    cases = {"Mpa": "got 'Mpa'; did you mean 'map'?", "zzz": "got 'zzz'.", 3: "got 3."}
    for value, end in cases.items():
        with pytest.raises(InputError) as refused:
            checks.check_choice(value, "fit", ("map", "ml"))
        assert str(refused.value) == f"fit must be one of map, ml, {end}"


def test_a_suggested_word_of_an_enumeration_is_the_word_itself() -> None:
    with pytest.raises(InputError, match=r"got 'minimise'; did you mean 'minimize'\?$"):
        checks.check_choice("minimise", "direction", Direction)
