"""Settings rounded to what a person can dial: near, in the box, and with the rules held."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceibo import Categorical, Float, Int, Space
from ceibo.decide.dialling import dial_setting
from ceibo.decide.dimensions.dial import to_dial
from ceibo.decide.rules import first_broken

PARTS = {"a": Float(0, 0.6), "b": Float(0, 1), "c": Float(0, 1)}
MIXTURE = Space(PARTS, constraints=["a + b + c == 1"])
FREE = Space(
    {
        "x": Float(-3, 7),
        "rate": Float(1e-6, 1, log=True),
        "grid": Float(0, 1, step=0.05),
        "n": Int(1, 9),
        "c": Categorical(["u", 0.123456789]),
    }
)


@given(st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_without_rules_each_number_is_as_it_is_shown(u: list[float]) -> None:
    exact = FREE.from_unit(u)
    dialled = dial_setting(FREE, exact)
    assert FREE.check(dialled) == dialled
    for name, value in exact.items():
        if name in ("x", "rate"):
            assert repr(dialled[name]) == repr(float(to_dial(FREE.dimensions[name], value)))
        else:
            assert dialled[name] == value
    assert np.max(np.abs(FREE.to_unit(dialled) - FREE.to_unit(exact))) <= 1e-3
    assert dial_setting(FREE, dialled) == dialled  # once is enough


@given(st.floats(0, 0.6), st.floats(0, 1))
def test_the_parts_of_a_mixture_still_sum_to_one(a: float, share: float) -> None:
    b = (1 - a) * share
    exact = {"a": a, "b": b, "c": 1 - a - b}
    dialled = dial_setting(MIXTURE, exact)
    assert first_broken(MIXTURE.rules, dialled) is None
    assert all(abs(dialled[name] - exact[name]) <= 1.1e-3 for name in exact)
    assert all(round(value, 3) == value for value in dialled.values())


def test_what_is_kept_keeps_its_digits() -> None:
    exact = {"a": 0.123456, "b": 0.3333333, "c": 1 - 0.123456 - 0.3333333}
    dialled = dial_setting(MIXTURE, exact, keep=["a"])
    assert dialled["a"] == exact["a"]
    assert first_broken(MIXTURE.rules, dialled) is None


def test_a_rule_that_no_round_setting_holds() -> None:
    space = Space(PARTS, constraints=["a + b + c == 0.98765432101"])
    exact = {"a": 0.3, "b": 0.4, "c": 0.28765432101}
    assert dial_setting(space, exact) == pytest.approx(exact, abs=1e-12)


def test_a_limit_is_not_overstepped() -> None:
    space = Space(PARTS, constraints=["a + b <= 0.7"])
    dialled = dial_setting(space, {"a": 0.30049, "b": 0.39951, "c": 0.55555})
    assert dialled["a"] + dialled["b"] <= 0.7 + 1e-12
    assert dialled["c"] == 0.556
