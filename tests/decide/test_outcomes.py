"""Goals and limits: what they are, what is refused, and that they survive as plain data."""

from typing import Any

import pytest

from ceibo.decide import AtLeast, AtMost, Maximize, Measurement, Minimize, Outcomes, Watch
from ceibo.errors import InputError

OUTCOMES = {
    "yield": Maximize(unit="%", low=0, high=100),
    "impurity": AtMost(2.0, unit="%"),
    "purity": AtLeast(0.9),
    "cost": Minimize(unit="EUR"),
    "colour": Watch(),
}


def test_goals_limits_and_what_a_trial_must_have() -> None:
    outcomes = Outcomes(OUTCOMES)
    assert outcomes.names == tuple(OUTCOMES)
    assert outcomes.goals == ("yield", "cost")
    assert outcomes.limits == ("impurity", "purity")
    assert outcomes.needed == ("yield", "impurity", "purity", "cost")


def test_a_limit_holds_on_its_own_side() -> None:
    assert [AtMost(2).holds(value) for value in (1.0, 2.0, 2.1)] == [True, True, False]
    assert [AtLeast(2).holds(value) for value in (1.9, 2.0, 3.0)] == [False, True, True]
    assert Minimize().holds(1e300)
    assert Watch().holds(-1e300)


def test_outcomes_survive_as_plain_data() -> None:
    outcomes = Outcomes(OUTCOMES)
    data = outcomes.to_json()
    assert data["yield"] == {"goal": "maximize", "unit": "%", "low": 0.0, "high": 100.0}
    assert data["purity"] == {"at_least": 0.9}
    assert Outcomes.from_json(data) == outcomes
    reordered = Outcomes(dict(reversed(OUTCOMES.items())))
    assert reordered != outcomes


def test_what_was_told_becomes_measurements() -> None:
    outcomes = Outcomes(OUTCOMES)
    told = outcomes.check({"impurity": Measurement(1.7, noise=0.1), "yield": 81})
    assert told == {"impurity": Measurement(1.7, noise=0.1), "yield": Measurement(81.0)}
    assert Outcomes({"loss": Minimize()}).check(0.5) == {"loss": Measurement(0.5)}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"yeild": 80.0}, "did you mean 'yield'"),
        ({}, "expected a value of yield"),
        (3.0, "expected a value for each outcome"),
        ({"yield": {"value": 80.0}}, "outcome 'yield': expected value to be a number"),
        ({"yield": "80"}, "outcome 'yield'"),
        ({1: 80.0}, "outcome must be one of"),
    ],
)
def test_what_cannot_be_told_is_refused(values: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Outcomes(OUTCOMES).check(values)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: AtMost(float("nan")), "limit must be a finite number"),
        (lambda: AtMost(float("inf")), "limit must be a finite number"),
        (lambda: AtMost("2"), "limit must be a finite number"),  # type: ignore[arg-type]
        (lambda: AtMost(-1, low=0), "can never be held with low=0"),
        (lambda: AtLeast(101, high=100), "can never be held with high=100"),
        (lambda: Maximize(low=1, high=1), "low must be below high"),
        (lambda: Maximize(low=float("nan")), "low must be a finite number"),
        (lambda: Maximize(unit=3), "unit must be a text"),  # type: ignore[arg-type]
        (lambda: Minimize(unit="a\nb"), "unit must be printable"),
        (lambda: Outcomes({}), "expected outcomes as in"),
        (lambda: Outcomes({"a": AtMost(1)}), "expected one to 3 goals"),
        (lambda: Outcomes({str(k): Minimize() for k in range(4)}), "got 4"),
        (lambda: Outcomes({"a": 1.0}), "outcome 'a': expected Minimize"),  # type: ignore[dict-item]
        (lambda: Outcomes({"a=b": Minimize()}), "without"),
        (lambda: Outcomes({" a": Minimize()}), "expected an outcome's name"),
        (lambda: Outcomes({"": Minimize()}), "expected an outcome's name"),
    ],
)
def test_outcomes_that_make_no_sense_are_refused(make: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"a": {"goal": "maximise"}}, "did you mean 'maximize'"),
        ({"a": {"at_most": 1, "at_least": 0}}, "got at_most and at_least"),
        ({"a": {"unit": "%"}}, "got none"),
        ({"a": {"goal": "minimize", "lo": 1}}, "unknown key 'lo'; did you mean 'low'"),
        ({"a": {"watch": False}}, "watch must be true"),
        ({"a": {"at_most": "two"}}, "outcome 'a': limit must be"),
        ({"a": "minimize"}, "outcome 'a': expected"),
        (["a"], "expected outcomes by name"),
    ],
)
def test_plain_data_that_makes_no_sense_is_refused(data: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Outcomes.from_json(data)


def test_other_outcomes_than_the_studys_are_refused() -> None:
    with pytest.raises(InputError, match="the study's outcomes are"):
        Outcomes(OUTCOMES).check_same(Outcomes({"yield": Maximize()}))
