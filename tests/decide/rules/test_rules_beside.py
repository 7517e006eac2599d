"""Rules beside branches, levels, tuples and held values."""

import pytest

import ceibo
from ceibo.decide.dimensions import Dimension
from ceibo.decide.region import region_of
from ceibo.decide.rules import parse_rules
from ceibo.errors import InputError

BRANCHES: dict[str, Dimension] = {
    "optimizer": ceibo.Categorical(["sgd", "adam"]),
    "momentum": ceibo.Float(0, 1, when={"optimizer": "sgd"}),
    "nesterov": ceibo.Categorical([True, False], when={"optimizer": "sgd"}),
    "damping": ceibo.Float(0, 1, when={"nesterov": False}),
    "rate": ceibo.Float(0, 1),
}
LEVELS: dict[str, Dimension] = {
    "hours": ceibo.Ordinal([1, 2, 4, 8, 24]),
    "dose": ceibo.Ordinal(["low", "medium", "high"]),
    "cycles": ceibo.Int(0, 12, step=4),
    "pair": ceibo.Categorical([("Pd", 1), ("Pd", 2), ("Ni", 1)]),
}


def test_rules_that_only_contradict_in_a_branch_leave_the_others() -> None:
    space = ceibo.Space(BRANCHES, ["momentum + rate <= 0.2", "rate >= 0.5"])
    params = space.check({"optimizer": "adam", "rate": 0.9})
    space.check_rules(params)
    study = ceibo.Study.create(space, n_initial=4)
    assert {trial.params["optimizer"] for trial in study.ask(6)} == {"adam"}
    with pytest.raises(InputError, match="cannot hold together"):
        ceibo.Space(BRANCHES, ["momentum + rate <= 0.2", "rate >= 0.5", "optimizer == 'sgd'"])


def test_a_rule_about_a_branch_of_a_branch() -> None:
    rules = ["damping + rate <= 0.2", "rate >= 0.5", "optimizer == 'sgd'"]
    study = ceibo.Study.create(ceibo.Space(BRANCHES, rules), n_initial=4)
    assert all(trial.params["nesterov"] for trial in study.ask(6))
    with pytest.raises(InputError, match="cannot hold together"):
        ceibo.Space(BRANCHES, [*rules, "nesterov == False"])


def test_a_rule_that_cannot_hold_where_it_applies_is_refused() -> None:
    with pytest.raises(InputError, match="cannot hold for any setting"):
        ceibo.Space(BRANCHES, ["momentum >= 2"])


def test_levels_are_numbers_or_words() -> None:
    setting = {"hours": 8, "dose": "low", "cycles": 4, "pair": ("Pd", 1)}
    for text, holds in {
        "hours <= 8": True,
        "hours < 8": False,
        "hours + cycles <= 11": False,
        "hours in (1, 8)": True,
        "dose == 'low'": True,
        "dose in ('medium', 'high')": False,
        "cycles / 4 == 1": True,
        "pair == ('Pd', 1)": True,
        "pair in (('Pd', 2), ('Ni', 1))": False,
        "hours >= 4 if pair == ('Pd', 1)": True,
    }.items():
        (rule,) = parse_rules([text], LEVELS)
        assert rule.holds(setting) == holds, text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dose <= 'medium'", "'dose' has no order: compare it by =="),
        ("dose == 'lo'", "did you mean 'low'?"),
        ("dose + 1 <= 2", "expected a parameter with numbers"),
        ("at most 1 of cycles, hours", "expected a parameter that can be zero, got 'hours'"),
        ("hours == 3", "cannot hold"),
        ("cycles == 6", "cannot hold"),
        ("hours + cycles == 3", "cannot hold"),
        ("pair == ('Pd', 3)", "expected a choice of 'pair'"),
        ("pair == 'Pd'", "expected a choice of 'pair'"),
    ],
)
def test_bad_rules_about_levels(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_rules([text], LEVELS)
    assert said in str(caught.value)


def test_suggestions_hold_rules_about_levels() -> None:
    rules = ["hours + cycles <= 12", "pair != ('Ni', 1) if hours > 4", "dose == 'low' or hours < 8"]
    space = ceibo.Space(LEVELS, rules)
    assert region_of(space) is not None
    study = ceibo.Study.create(space, n_initial=5)
    for trial in study.ask(5):
        space.check_rules(trial.params)
        study.tell(trial, float(trial.params["hours"]))
    for trial in study.ask(3):
        space.check_rules(trial.params)
