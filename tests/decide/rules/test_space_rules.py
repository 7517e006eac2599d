"""Rules as a part of a space: kept, compared, checked."""

import pytest

import ceibo
from ceibo.decide.dimensions import Dimension
from ceibo.errors import InputError

PARTS: dict[str, Dimension] = {"a": ceibo.Float(0, 1), "b": ceibo.Float(0, 1)}
RULES = ["a + b <= 1", "a <= 0.5 * b"]


def test_a_space_without_rules_is_as_before() -> None:
    space = ceibo.Space(PARTS)
    assert (space.rules, space.constraints) == ((), ())
    assert repr(space) == f"Space({PARTS!r})"
    assert space == ceibo.Space(PARTS, [])
    space.check_rules({"a": 1.0, "b": 1.0})


def test_rules_belong_to_the_space() -> None:
    space = ceibo.Space(PARTS, constraints=[" a + b <= 1 ", "a <= 0.5 * b"])
    assert space.constraints == tuple(RULES)
    assert [rule.text for rule in space.rules] == RULES
    assert repr(space) == f"Space({PARTS!r}, constraints={RULES!r})"
    assert space == ceibo.Space(PARTS, tuple(RULES))
    assert space != ceibo.Space(PARTS)
    assert space != ceibo.Space(PARTS, RULES[:1])
    assert ceibo.Space(space) == space
    assert ceibo.Space(space, RULES[1:]).constraints == tuple(RULES[1:])
    assert space.to_json() == ceibo.Space(PARTS).to_json()
    assert ceibo.Space.from_json(space.to_json(), space.constraints) == space


def test_a_setting_that_breaks_a_rule_is_named_with_its_values() -> None:
    space = ceibo.Space({**PARTS, "c": ceibo.Int(0, 3)}, RULES)
    space.check_rules({"a": 0.25, "b": 0.5, "c": 1})
    with pytest.raises(InputError, match=r"breaks the rule 'a \+ b <= 1', with a=0.75  b=0.5;"):
        space.check_rules({"a": 0.75, "b": 0.5, "c": 1})
    with pytest.raises(InputError, match=r"breaks the rule 'a <= 0.5 \* b', with a=0.5  b=0.5;"):
        space.check_rules({"a": 0.5, "b": 0.5, "c": 1})
    assert space.check({"a": 0.5, "b": 0.5, "c": 1}) == {"a": 0.5, "b": 0.5, "c": 1}


def test_the_rule_that_changed_is_named() -> None:
    space = ceibo.Space(PARTS, RULES)
    space.check_same(ceibo.Space(PARTS, RULES[::-1]))
    with pytest.raises(InputError, match=r"rule 'a <= 0.5 \* b' is stored but not given now"):
        space.check_same(ceibo.Space(PARTS, RULES[:1]))
    with pytest.raises(InputError, match=r"rule 'a >= 0.1' is not in the stored space"):
        space.check_same(ceibo.Space(PARTS, [*RULES, "a >= 0.1"]))
    with pytest.raises(InputError, match="is stored but not given now"):
        space.check_same(ceibo.Space(PARTS))
