"""Problems with rules and branches: figures a referee knows, settings that obey, rules as texts."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from ceibo.errors import InputError
from ceibo_lab.problems.inputs import BRANCHED, INPUT_PROBLEMS, RULED, input_problem
from ceibo_lab.problems.inputs import reference as figures
from ceibo_lab.problems.inputs.branches import jenatton
from ceibo_lab.problems.inputs.mixtures import scheffe
from ceibo_lab.problems.inputs.rules import Few, Forbidden, Total


@pytest.mark.parametrize("name", INPUT_PROBLEMS)
def test_no_random_setting_is_better_than_the_optimum(name: str) -> None:
    problem, rng = input_problem(name), np.random.default_rng(7)
    values = [problem.truth(problem.sample(rng)) for _ in range(400)]
    assert min(values) >= problem.optimum - 1e-9 * problem.range
    # the range was taken from a larger sample of the same kind
    assert max(values) <= problem.worst + 0.15 * problem.range
    assert max(values) >= problem.worst - 0.35 * problem.range


@pytest.mark.parametrize("name", [name for name in INPUT_PROBLEMS if name != "blend-8"])
def test_optima_are_found_again(name: str) -> None:
    problem = input_problem(name)
    value, params = figures.optimum(problem, starts=3)
    assert value == pytest.approx(problem.optimum, abs=1e-6 * problem.range)
    assert problem.excess(params) < 1e-9


def test_the_optimum_of_the_blend_is_that_of_its_parts() -> None:
    """Of one support, where a grid can be searched: no point of it is better."""
    problem = input_problem("blend-8")
    (choice,) = (each for each in problem.choices if set(each.free) == set("acdg"))
    value, params = figures.least(problem, choice, 3, np.random.default_rng(0))
    assert value == pytest.approx(problem.optimum, rel=1e-9)
    assert problem.obeys(params)
    steps = np.arange(0.0, 0.71, 0.05)
    grid = [
        dict(zip("acdg", (a, c, d, 1.0 - a - c - d), strict=True))
        for a in steps
        for c in steps
        for d in steps
        if 0.0 <= 1.0 - a - c - d <= 0.7
    ]
    truths = [problem.truth({**choice.fixed, **each}) for each in grid]
    assert problem.optimum <= min(truths) <= problem.optimum + 0.01 * problem.range


def test_known_values() -> None:
    assert scheffe({"a": 1.0, "b": 0.0, "c": 0.0}) == pytest.approx(-11.7)
    assert scheffe({"a": 0.5, "b": 0.5, "c": 0.0}) == pytest.approx(-(10.55 + 4.75))
    assert jenatton({"x1": 0, "x2": 0, "x4": 0.5, "r8": 0.25}) == pytest.approx(0.6)
    assert jenatton({"x1": 1, "x3": 1, "x7": 0.0, "r9": 0.0}) == pytest.approx(0.4)


@pytest.mark.parametrize("name", INPUT_PROBLEMS)
def test_settings_obey_and_have_what_exists(name: str) -> None:
    problem, rng = input_problem(name), np.random.default_rng(3)
    for _ in range(50):
        params = problem.sample(rng)
        assert problem.excess(params) <= 1e-14
        assert problem.existing({**dict.fromkeys(problem.dimensions), **params}) == params
        back = problem.existing(problem.box.from_unit(problem.to_box(params)))
        assert back.keys() == params.keys()
        assert problem.truth(back) == pytest.approx(problem.truth(params), rel=1e-9)


def test_mixtures_are_drawn_uniformly() -> None:
    """A part of a uniform point of the simplex of three has the distribution 1 − (1 − x)²."""
    problem, rng = input_problem("scheffe-3"), np.random.default_rng(5)
    drawn = [problem.sample(rng) for _ in range(2000)]
    for name in "abc":
        values = [params[name] for params in drawn]
        assert kstest(values, lambda x: 1.0 - (1.0 - x) ** 2).pvalue > 1e-3


def test_choices_are_counted_by_hand() -> None:
    counts = {name: len(input_problem(name).choices) for name in INPUT_PROBLEMS}
    assert counts == {
        "scheffe-3": 1,
        "coating-5": 1,
        "blend-8": 70,  # 8 over 4
        "reflux": 5,
        "coupling": 14,  # 16 without two
        "jenatton": 4,
        "training": 4,
    }
    jenattons = {each.free for each in input_problem("jenatton").choices}
    assert jenattons == {("x4", "r8"), ("x5", "r8"), ("x6", "r9"), ("x7", "r9")}


@pytest.mark.parametrize(
    ("rule", "text", "params", "excess"),
    [
        (Total({"a": 1.0, "b": -0.5}, 0.25), "a - 0.5 * b <= 0.25", {"a": 1.0, "b": 1.0}, 0.25),
        (Total({"a": 1.0}, 1.0, equal=True), "a == 1.0", {"a": 0.75}, 0.25),
        (
            Total({"t": 1.0}, 66.0, where={"s": "THF"}),
            "t <= 66.0 if s == 'THF'",
            {"t": 70.0, "s": "THF"},
            4.0,
        ),
        (
            Total({"t": 1.0}, 66.0, where={"s": ("THF", "DMF")}),
            "t <= 66.0 if s in ('THF', 'DMF')",
            {"t": 70.0, "s": "water"},
            0.0,
        ),
        (Total({"t": 1.0}, 66.0), "t <= 66.0", {"s": "t does not exist here"}, 0.0),
        (Forbidden({"s": "x", "b": 2}), "not (s == 'x' and b == 2)", {"s": "x", "b": 2}, 1.0),
        (Few(("a", "my part"), 1), "at most 1 of a, `my part`", {"a": 1.0, "my part": 1e-9}, 1.0),
        (Few(("a", "b"), 2, 1), "between 1 and 2 of a, b", {"a": 0.0, "b": 0.0}, 1.0),
    ],
)
def test_rules_are_said_and_judged(
    rule: Any, text: str, params: dict[str, Any], excess: float
) -> None:
    assert rule.text == text
    assert rule.excess(params) == excess


@pytest.mark.parametrize("name", RULED)
def test_ceibo_reads_the_rules_as_the_referee_does(name: str) -> None:
    problem, rng = input_problem(name), np.random.default_rng(11)
    space = problem.space
    for _ in range(40):
        inside, outside = problem.sample(rng), problem.box.from_unit(rng.random(len(problem.box)))
        assert all(rule.holds(inside) for rule in space.rules)
        broken = any(
            rule.excess(outside) / rule.scale(problem.widths) > 1e-9 for rule in problem.rules
        )
        assert all(rule.holds(outside) for rule in space.rules) != broken


def test_traces_of_parts_are_none() -> None:
    problem = input_problem("blend-8")
    params = dict(zip("abcdefgh", (0.25, 0.25, 0.25, 0.25, 1e-8, 0, 0, -1e-9), strict=True))
    assert not problem.obeys(params)
    assert problem.obeys(problem.cleaned(params))
    assert problem.regret(params) == problem.range


def test_an_unknown_problem_is_refused() -> None:
    assert set(RULED) | set(BRANCHED) == set(INPUT_PROBLEMS)
    with pytest.raises(InputError, match=r"problem must be one of scheffe-3.*got 'x'"):
        input_problem("x")
