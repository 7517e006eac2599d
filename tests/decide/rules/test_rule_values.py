"""Tolerances, exactness, types of choices, and how far a rule is broken."""

import pytest

from ceibo.decide import Categorical, Float, Int, Space
from ceibo.decide.dimensions import Dimension
from ceibo.decide.rules import Rule, parse_rules

MIXTURE: dict[str, Dimension] = {name: Float(0, 1) for name in "abc"}


def rule_of(text: str, dimensions: dict[str, Dimension]) -> Rule:
    (rule,) = parse_rules([text], dimensions)
    return rule


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 1e6, 1e90])
def test_a_rule_holds_to_1e_9_of_its_scale(scale: float) -> None:
    dimensions: dict[str, Dimension] = {name: Float(0, scale) for name in "abc"}
    rule = rule_of(f"a + b + c == {scale!r}", dimensions)  # the scale is 4 * scale
    third = scale / 3
    for off, holds in ((0.0, True), (3.9e-9, True), (-3.9e-9, True), (4.1e-9, False)):
        params = {"a": third, "b": third, "c": scale - 2 * third + off * scale}
        assert rule.holds(params) == holds
        if not holds:
            assert rule.violation(params) == pytest.approx(abs(off) / 4, rel=1e-6)


def test_how_far_a_rule_is_broken() -> None:
    rule = rule_of("a + b <= 0.5", MIXTURE)  # scale 2.5
    assert rule.violation({"a": 0.5, "b": 0.5, "c": 0}) == pytest.approx(0.5 / 2.5)
    either = rule_of("a + b <= 0.5 or a == 0", MIXTURE)
    assert either.violation({"a": 0.25, "b": 0.75, "c": 0}) == pytest.approx(0.2)
    both = rule_of("a <= 0.5 and b <= 0.25", MIXTURE)
    assert both.violation({"a": 0.75, "b": 1.0, "c": 0}) == pytest.approx(0.75 / 1.25)
    assert rule_of("at most 1 of a, b, c", MIXTURE).violation({"a": 1, "b": 1, "c": 1}) == 2


def test_strict_means_strict() -> None:
    assert not rule_of("a < 0.5", MIXTURE).holds({"a": 0.5, "b": 0, "c": 0})
    rule = rule_of("b >= 0.1 if a > 0", MIXTURE)
    assert rule.holds({"a": 0.0, "b": 0.0, "c": 0})
    assert not rule.holds({"a": 0.01, "b": 0.0, "c": 0})
    assert not rule_of("b == 0 if a >= 0.5", MIXTURE).holds({"a": 0.5, "b": 1.0, "c": 0})


def test_levels_are_exact() -> None:
    grid: dict[str, Dimension] = {name: Float(0, 1, step=0.1) for name in "abc"}
    rule = rule_of("a + b < 0.3", grid)
    assert 0.1 + 0.2 != 0.3
    assert not rule.holds({"a": 0.1, "b": 0.2, "c": 0.0})
    assert rule_of("a + b == 0.3", grid).holds({"a": 0.1, "b": 0.2, "c": 0.0})
    assert rule_of("3 * a <= 0.3", grid).holds({"a": 0.1, "b": 0.0, "c": 0.0})
    large: dict[str, Dimension] = {"n": Int(0, 2**40 - 1), "m": Int(10**18, 10**18 + 9)}
    assert not rule_of("n <= 5", large).holds({"n": 6, "m": 10**18})
    assert rule_of(f"m <= {10**18 + 3}", large).holds({"n": 0, "m": 10**18 + 3})
    assert not rule_of(f"m <= {10**18 + 3}", large).holds({"n": 0, "m": 10**18 + 4})


def test_choices_are_told_apart_by_type_and_value() -> None:
    choices: dict[str, Dimension] = {
        "k": Categorical([1, 1.0, True, "1", None, -2.5, "it's", 'a "b"']),
        "x": Float(0, 1),
    }
    texts = ["1", "1.0", "True", "'1'", "None", "-2.5", '"it\'s"', "'a \"b\"'"]
    values = choices["k"].listed or ()
    for text, value in zip(texts, values, strict=True):
        rule = rule_of(f"k == {text}", choices)
        other = rule_of(f"k != {text}", choices)
        for each in values:
            same = type(each) is type(value) and each == value
            assert rule.holds({"k": each, "x": 0.0}) == same
            assert other.holds({"k": each, "x": 0.0}) != same
    listed = rule_of("k in (1, True)", choices)
    kept = [each for each in values if listed.holds({"k": each, "x": 0.0})]
    assert [type(each) for each in kept] == [int, bool]


def test_names_in_backquotes_signs_of_other_alphabets_and_words_of_counts_as_names() -> None:
    dimensions: dict[str, Dimension] = {
        "flow rate": Float(0, 1),
        "T-1": Float(0, 1),
        "a`b": Float(0, 1),
        "Größe": Float(0, 1),
        "at": Float(0, 1),
        "of": Float(0, 1),
        "if": Float(0, 1),
    }
    texts = ["`flow rate` − `T-1` ≤ 0.5", "`a``b` ≥ Größe", "at + of <= 1", "`if` × 2 != 0.5"]
    texts.append("at most 1 of at, of")
    names = [rule.names for rule in parse_rules(texts, dimensions)]
    assert names == [("flow rate", "T-1"), ("a`b", "Größe"), ("at", "of"), ("if",), ("at", "of")]


def test_a_rule_about_what_does_not_exist_in_a_setting_does_not_apply() -> None:
    rule = rule_of("a + b <= 0.5", MIXTURE)
    assert rule.holds({"a": 1.0, "c": 1.0})
    assert rule.violation({"a": 1.0}) == 0


def test_the_box_of_a_rule_is_that_of_its_space() -> None:
    space = Space(MIXTURE, ["a + b + c == 1"])
    assert space.rules[0].text == "a + b + c == 1"
    assert space.rules[0].names == ("a", "b", "c")
