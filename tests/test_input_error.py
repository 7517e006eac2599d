"""Errors with parts: one sentence form, written by each door in its own words."""

import pickle
from typing import Any

import pytest

from ceibo.cli.toml import given_in_toml
from ceibo.decide import Categorical, Float, Int, Space
from ceibo.errors import ConflictError, Given, InputError, NotFoundError

FLOAT = {"type": "float", "low": -1, "high": 1}
CASES: list[tuple[dict[str, Any], str, str]] = [
    (
        FLOAT | {"log": True},
        "expected low > 0 with log=True, got low=-1.0; use a positive low or log=False.",
        "expected low > 0 with log = true, got low = -1; use a positive low or log = false.",
    ),
    (
        FLOAT | {"low": 2},
        "expected low < high, got low=2.0 and high=1.0; swap them.",
        "expected low < high, got low = 2 and high = 1; swap them.",
    ),
    (FLOAT | {"low": "0"}, "expected a number, got low='0'.", 'expected a number, got low = "0".'),
    (
        FLOAT | {"step": 3},
        "expected a step within [-1.0, 1.0], got step=3.0, which leaves one value; use a smaller"
        " step or leave the dimension out.",
        "expected a step within [-1.0, 1.0], got step = 3, which leaves one value; use a smaller"
        " step or leave the dimension out.",
    ),
    (
        {"type": "int", "low": 0, "high": 8, "log": 1},
        "expected log=True or log=False, got 1.",
        "expected log = true or log = false, got 1.",
    ),
    (
        {"type": "categorical", "choices": [True, "a", True]},
        "expected distinct choices, got True twice.",
        "expected distinct choices, got true twice.",
    ),
]


@pytest.mark.parametrize(("entry", "python", "toml"), CASES)
def test_each_door_has_its_own_words(entry: dict[str, Any], python: str, toml: str) -> None:
    keys = {key: value for key, value in entry.items() if key != "type"}
    make: Any = {"float": Float, "int": Int, "categorical": Categorical}[entry["type"]]
    with pytest.raises(InputError) as made:
        make(**keys)
    assert str(made.value) == f"{make.__name__}: {python}"
    with pytest.raises(InputError) as read:
        Space.from_json({"x": entry})
    assert str(read.value) == f"parameter 'x': {python}"
    assert read.value.render(given_in_toml) == f"parameter 'x': {toml}"


def test_parts_are_optional() -> None:
    assert str(InputError("", "a", "b")) == "expected a, got b."
    assert str(InputError("", "a", "b", "try c?")) == "expected a, got b; try c?"
    plain = InputError("something is wrong.")
    assert plain.render(given_in_toml) == str(plain) == "something is wrong."
    assert str(plain.about("x")) == "x: something is wrong."


def test_errors_can_be_pickled_with_their_parts() -> None:
    error = InputError("x", Given("log", True), Given(value="a"))
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, InputError)
    assert issubclass(InputError, ValueError)
    assert str(again) == str(error) == "x: expected log=True, got 'a'."
    assert again.render(given_in_toml) == 'x: expected log = true, got "a".'
    for kind in (NotFoundError, ConflictError):
        assert str(pickle.loads(pickle.dumps(kind("no such study.")))) == "no such study."
