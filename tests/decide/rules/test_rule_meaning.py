"""What a rule says, beside Python's own reading of the same text, and beside its terms."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ceibo.acquisition.region.terms import Among, Count, Linear, Requirement, Table, Term, Zero
from ceibo.decide import Float, Space
from ceibo.decide.rules import columns_of, parse_rules, requirements_of
from tests.decide.rules import rule_texts

D = rule_texts.DIMENSIONS
SPACE = Space(D)
COLUMNS = columns_of(D)
REASONS = ("cannot hold for any", "depends on a parameter")


def python_says(text: str, params: Mapping[str, Any]) -> bool:
    return bool(eval(text, {"sum": sum}, dict(params)))  # the oracle, on our own texts


def terms_say(requirements: tuple[Requirement, ...], params: Mapping[str, Any]) -> bool:
    """The naive reading of requirements: some alternative of each has all its terms."""
    x = SPACE.to_unit(params)
    v = np.array(
        [0.0 if c is None else c.value(np.array([u]))[0] for c, u in zip(COLUMNS, x, strict=True)]
    )
    widths = np.array([0.0 if c is None else c.width for c in COLUMNS])

    def holds(term: Term) -> bool:
        if isinstance(term, Linear):
            scale = np.abs(term.coefficients) @ widths + abs(term.bound)
            excess = term.coefficients @ v - term.bound
            return bool((abs(excess) if term.equal else excess) <= 1e-9 * scale)
        if isinstance(term, Among):
            return bool(np.any(np.isclose(term.coordinates, x[term.column], rtol=0, atol=1e-12)))
        if isinstance(term, Zero):
            return bool(v[term.column] == 0)
        assert isinstance(term, Count)
        return bool(term.least <= np.count_nonzero(v[list(term.columns)]) <= term.most)

    return all(any(all(map(holds, way)) for way in each.alternatives) for each in requirements)


@settings(max_examples=150)
@given(st.randoms(use_true_random=False))
def test_rules_mean_what_python_says_and_so_do_their_terms(rng: random.Random) -> None:
    text, oracle = rule_texts.rule(rng)
    samples = [rule_texts.setting(rng) for _ in range(25)]
    said = [python_says(oracle, params) for params in samples]
    rule = rule_texts.rule_or_refusal(text, D)
    if isinstance(rule, str):
        assert any(reason in rule for reason in REASONS), rule
        assert REASONS[0] not in rule or not any(said), text
        return
    requirements = requirements_of([rule], D)
    for params, expected in zip(samples, said, strict=True):
        assert rule.holds(params) == expected, (text, params)
        assert (rule.violation(params) <= 1e-9) == expected
        assert terms_say(requirements, params) == expected, (text, params, requirements)


@settings(max_examples=30)
@given(st.randoms(use_true_random=False))
def test_rules_that_one_setting_holds_are_never_found_impossible(rng: random.Random) -> None:
    params = rule_texts.setting(rng)
    texts: list[str] = []
    for _ in range(40):
        text, oracle = rule_texts.rule(rng)
        if len(texts) < 8 and python_says(oracle, params):
            rule = rule_texts.rule_or_refusal(text, D)
            if isinstance(rule, str):
                assert REASONS[1] in rule, (text, params, rule)
            else:
                texts.append(text)
    rules = parse_rules(texts, D)
    assert all(rule.holds(params) for rule in rules)
    assert terms_say(requirements_of(rules, D), params)


def test_the_place_of_a_rule_is_kept_with_its_requirements() -> None:
    rules = parse_rules(["a + c <= 1", "0 <= a - b <= 1", "at most 1 of a, c"], D)
    assert [each.rule for each in requirements_of(rules, D)] == [0, 1, 1, 2]


def test_what_every_setting_holds_asks_for_nothing() -> None:
    for text in ("a <= 1", "a + b <= 2", "n < 5", "solvent in ('THF', 'DMF', 'water')", "b != 3"):
        (rule,) = parse_rules([text], D)
        assert requirements_of([rule], D) == ()


def test_levels_of_one_parameter_become_a_list_of_coordinates() -> None:
    (rule,) = parse_rules(["3 * n > 5 if solvent == 'THF'"], D)
    (requirement,) = requirements_of([rule], D)
    (levels,), (others,) = requirement.alternatives
    assert isinstance(levels, Among)
    assert isinstance(others, Among)
    column = COLUMNS[levels.column]
    assert isinstance(column, Table)
    assert column.value(levels.coordinates).tolist() == [2, 3, 4]
    assert [D["solvent"].from_unit(u) for u in others.coordinates] == ["DMF", "water"]


def test_a_strict_comparison_keeps_a_margin_that_is_never_the_whole_range() -> None:
    for text, bound in (("a < 0.5", 0.5 - 1.5e-6), ("not (a >= 0.5)", 0.5 - 1.5e-6)):
        (requirement,) = requirements_of(parse_rules([text], D), D)
        (((term,),)) = requirement.alternatives
        assert isinstance(term, Linear)
        assert np.isclose(term.bound, bound, rtol=0, atol=1e-15)
    narrow = {"a": Float(1e-8, 1, log=True)}
    (requirement,) = requirements_of(parse_rules(["a < 1e-7"], narrow), narrow)
    (((term,),)) = requirement.alternatives
    assert isinstance(term, Linear)
    assert 1e-8 < term.bound < 1e-7


def test_all_that_is_left_is_zero() -> None:
    for text in ("a == 0", "not (a > 0)", "2 * a <= 0"):
        (requirement,) = requirements_of(parse_rules([text], D), D)
        assert requirement.alternatives == ((Zero(0),),)
