"""Held parameters: exact values, the same optimum as over the values left, and sentences."""

from typing import Any

import numpy as np
import pytest

from ceibo import Categorical, Float, Int, Measurement, Space
from ceibo.decide import Settings
from ceibo.decide.belief import Belief, recommend
from ceibo.decide.evidence import Evidence, Told, evidence_of
from ceibo.decide.holding import hold
from ceibo.decide.suggest import search, seed_of, suggest
from ceibo.errors import InputError

SPACE = Space(
    {
        "temp": Float(20, 90),
        "rate": Float(1e-5, 1e-1, log=True),
        "solvent": Categorical(["THF", "DMF", "water"]),
        "layers": Int(1, 8),
    }
)


def value_at(params: dict[str, Any]) -> float:
    offset = {"THF": 0.0, "DMF": 0.4, "water": 0.9}[params["solvent"]]
    warm = ((params["temp"] - 60.0) / 40.0) ** 2
    slow = 0.1 * (np.log10(params["rate"]) + 3) ** 2
    return float(offset + warm + slow + 0.05 * params["layers"])


def evidence(count: int = 24) -> Evidence:
    rng = np.random.default_rng(3)
    told = []
    for number in range(count):
        params = SPACE.from_unit(rng.random(4))
        measurement = Measurement(value_at(params), 0.02)
        told.append(Told(number, SPACE.to_unit(params), measurement))
    return evidence_of(told, len(SPACE))


@pytest.mark.parametrize("number", [0, 40])
@pytest.mark.parametrize(
    "fixed",
    [
        {"temp": 33.3},
        {"rate": 0.1 + 0.2 - 0.29, "solvent": "water"},
        {"layers": 3, "temp": 90},
        {"temp": 47.1, "rate": 3e-4, "solvent": "DMF", "layers": 8},
    ],
)
def test_held_values_come_back_as_they_were_given(number: int, fixed: dict[str, Any]) -> None:
    known = evidence() if number else evidence_of((), len(SPACE))
    found = suggest(known, SPACE, Settings(), None, 0, number, fixed=fixed)
    assert {name: found.params[name] for name in fixed} == fixed
    assert found.params == SPACE.check(found.params)
    np.testing.assert_array_equal(found.x, SPACE.to_unit(found.params))


def test_the_initial_design_keeps_its_other_columns() -> None:
    empty = evidence_of((), len(SPACE))
    free = suggest(empty, SPACE, Settings(), None, 0, 2).params
    held = suggest(empty, SPACE, Settings(), None, 0, 2, fixed={"temp": 21.0}).params
    assert held == {**free, "temp": 21.0}


def test_nothing_held_is_as_if_nothing_was_said() -> None:
    known = evidence()
    plain = suggest(known, SPACE, Settings(), None, 0, 30)
    nothing: tuple[dict[str, Any] | None, ...] = (None, {})
    for fixed in nothing:
        assert suggest(known, SPACE, Settings(), None, 0, 30, fixed=fixed).x.tobytes() == (
            plain.x.tobytes()
        )


def test_the_search_finds_the_best_of_what_is_left() -> None:
    """Against many draws over the free columns, climbed by nothing but their number."""
    known, settings = evidence(), Settings(acquisition="corrected-ei")
    belief = Belief(known, SPACE, settings, 0)
    held = hold(SPACE, {"solvent": "DMF", "temp": 40.0})
    found = search(belief.model, known, held, settings, seed_of(0, 30))
    rng = np.random.default_rng(0)
    draws = np.array([SPACE.to_unit(held.params(u)) for u in rng.random((4000, 4))])
    best = float(np.max(belief.improvement(draws)))
    assert belief.model.natural(found.value) >= best * (1 - 1e-6)


def test_a_recommendation_with_everything_held_is_what_is_believed_there() -> None:
    belief = Belief(evidence(), SPACE, Settings(), 0)
    setting = {"temp": 47.1, "rate": 3e-4, "solvent": "DMF", "layers": 8}
    found, there = recommend(belief, setting), belief.at(setting)
    assert found.params == setting
    assert (found.mean, found.std) == pytest.approx((there.mean, there.std))


def test_a_recommendation_is_no_worse_than_what_was_measured_with_these_values() -> None:
    known = evidence(40)
    belief = Belief(known, SPACE, Settings(), 0)
    for fixed in ({"solvent": "water"}, {"solvent": "THF", "layers": 2}, {"temp": 55.0}):
        found = recommend(belief, fixed)
        assert {name: found.params[name] for name in fixed} == fixed
        alike = hold(SPACE, fixed).has(known.X)
        assert alike.sum() == sum(
            all(SPACE.from_unit(x)[name] == value for name, value in fixed.items()) for x in known.X
        )
        if alike.any():
            assert found.mean <= belief.at_points(known.X[alike])[0].min() + 1e-12
    assert belief.recommended.mean <= min(recommend(belief, {"solvent": s}).mean for s in ("DMF",))


def test_in_branches_a_held_parameter_exists() -> None:
    space = Space(
        {
            "optimizer": Categorical(["sgd", "adam", "lion"]),
            "momentum": Float(0, 1, when={"optimizer": ["sgd", "lion"]}),
        }
    )
    empty = evidence_of((), len(space))
    chosen = set()
    for number in range(12):
        found = suggest(empty, space, Settings(), None, 0, number, fixed={"momentum": 0.9})
        assert found.params["momentum"] == 0.9
        chosen.add(found.params["optimizer"])
    assert chosen == {"sgd", "lion"}
    adam = suggest(empty, space, Settings(), None, 0, 3, fixed={"optimizer": "adam"})
    assert adam.params == {"optimizer": "adam"}
    with pytest.raises(InputError, match="'momentum' exists only where optimizer is 'sgd' or"):
        suggest(empty, space, Settings(), None, 0, 0, fixed={"momentum": 0.9, "optimizer": "adam"})


@pytest.mark.parametrize(
    ("fixed", "said"),
    [
        ({"tmp": 30}, "fixed: there is no parameter 'tmp'; did you mean 'temp'"),
        ({"temp": 91}, r"parameter 'temp': expected a value in \[20.0, 90.0\], got 91"),
        ({"temp": float("nan")}, "parameter 'temp'"),
        ({"temp": "50"}, "parameter 'temp': expected a number"),
        ({"solvent": "MeCN"}, "parameter 'solvent': expected one of"),
        ({"layers": 2.5}, "parameter 'layers': expected a whole number"),
        ("temp", "fixed: expected a dict of parameters and their values, got 'temp'"),
        ({3: 1}, "fixed: there is no parameter 3"),
    ],
)
def test_bad_input_is_a_sentence(fixed: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        hold(SPACE, fixed)
