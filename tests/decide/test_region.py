"""Suggestions and answers under rules: exact sums, grids, branches, held values, finite lists."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ceibo import AtMost, Categorical, Float, InputError, Int, Minimize, Ordinal, Space, Study
from ceibo.decide.holding import hold
from ceibo.decide.region import region_in, region_of, settle

FORMULATION = Space(
    {
        "a": Float(0, 0.6),
        "b": Float(0, 1),
        "c": Float(0, 1),
        "temp": Float(20, 120, step=5),
        "hours": Ordinal([1, 2, 4, 8, 24]),
        "solvent": Categorical(["THF", "DMF"]),
        "optimizer": Categorical(["sgd", "adam"]),
        "momentum": Float(0, 1, when={"optimizer": "sgd"}),
    },
    constraints=[
        "a + b + c == 1",
        "a <= 0.5 * b",
        "temp <= 66 if solvent == 'THF'",
        "not (solvent == 'DMF' and hours >= 8)",
        "momentum <= b",
        "at most 2 of a, b, c",
    ],
)


def cost(params: Mapping[str, Any]) -> float:
    """Lowest where several rules bind."""
    shares = (params["a"] - 0.5) ** 2 + (params["b"] - 0.5) ** 2 + params.get("momentum", 0.3)
    return float(shares + ((params["temp"] - 80) / 100) ** 2 + 0.1 * (params["solvent"] == "DMF"))


def check(space: Space, params: Mapping[str, Any]) -> None:
    space.check(params)
    space.check_rules(params)


def test_every_suggestion_and_answer_obeys_the_rules() -> None:
    study = Study.create(FORMULATION, seed=1)
    for _ in range(26):
        trial = study.ask()
        check(FORMULATION, trial.params)
        assert abs(math.fsum(trial.params[name] for name in "abc") - 1.0) <= 4e-16
        study.tell(trial, cost(trial.params), noise=0.01)
    check(FORMULATION, study.recommended.params)
    found = study.recommended.params
    assert found["a"] == pytest.approx(1 / 3, abs=0.02)
    assert found["temp"] in (65.0, 80.0)
    held = study.ask(fixed={"solvent": "THF", "a": 0.2}).params
    assert (held["solvent"], held["a"]) == ("THF", 0.2)
    check(FORMULATION, held)
    assert study.verify().ok


def test_an_initial_design_is_inside_and_the_same_for_a_seed() -> None:
    one, other = (Study.create(FORMULATION, seed=3).ask(8) for _ in range(2))
    assert [trial.params for trial in one] == [trial.params for trial in other]
    different = Study.create(FORMULATION, seed=4).ask().params
    assert different != one[0].params


def test_several_outcomes_obey_the_rules_too() -> None:
    space = Space({name: Float(0, 1) for name in "xyz"}, constraints=["x + y + z == 1", "x >= y"])
    study = Study.create(space, outcomes={"price": Minimize(), "haze": AtMost(0.5)}, seed=0)
    for _ in range(16):
        trial = study.ask()
        check(space, trial.params)
        values = {"price": trial.params["x"], "haze": trial.params["z"]}
        study.tell(trial, values)
    check(space, study.recommended.params)
    assert study.recommended.params["x"] == pytest.approx(0.25, abs=0.05)


def test_what_was_measured_outside_is_not_recommended() -> None:
    """The best measured setting breaks a rule: an imported fact, but no answer."""
    space = Space({"x": Float(0, 1), "y": Float(0, 1)}, constraints=["x + y <= 1"])
    study = Study.create(space, seed=0)
    rng = np.random.default_rng(0)
    for x, y in rng.random((12, 2)):
        with np.errstate(all="ignore"):
            study.add({"x": x, "y": y}, (x - 0.9) ** 2 + (y - 0.9) ** 2, noise=0.01)
    check(space, study.recommended.params)
    assert study.recommended.params["x"] == pytest.approx(0.5, abs=0.03)


def test_grids_too_long_to_list_are_settled_one_after_another() -> None:
    """A mixture in steps of 1e-5, of which rounding alone breaks the sum."""
    space = Space(
        {name: Float(0, 1, step=1e-5) for name in "abc"} | {"n": Int(0, 10**6)},
        constraints=["a + b + c == 1", "n <= 500000 * a"],
    )
    held = hold(space)
    region = region_in(held)
    assert region is not None
    for x in region.sample(20, np.random.default_rng(0)):
        params = settle(held, x)
        check(space, params)
        assert np.abs(space.to_unit(params) - x).max() < 1e-4


def test_wide_scales_hold_their_sums() -> None:
    """Values far from zero, and a logarithmic column whose share in the sum is all but nothing."""
    space = Space(
        {"p": Float(1e6, 1e6 + 10), "q": Float(1e6, 1e6 + 10), "r": Float(1e-6, 1, log=True)},
        constraints=["p - q + r == 1"],
    )
    held = hold(space)
    region = region_in(held)
    assert region is not None
    for x in region.sample(50, np.random.default_rng(1)):
        check(space, settle(held, x))


def test_a_finite_space_is_exhausted_before_a_point_is_repeated() -> None:
    space = Space(
        {"n": Int(1, 3), "m": Int(1, 3), "s": Categorical(["p", "q"])},
        constraints=["n + m <= 4", "m <= 2 if s == 'p'"],
    )
    region = region_of(space)
    assert region is not None
    assert region.points is not None
    allowed = [(n, m, s) for n in (1, 2, 3) for m in (1, 2, 3) for s in "pq"]
    allowed = [(n, m, s) for n, m, s in allowed if n + m <= 4 and (s == "q" or m <= 2)]
    assert len(region.points) == len(allowed)
    study = Study.create(space, seed=0)
    for n, m, s in allowed[:-1]:
        study.enqueue({"n": n, "m": m, "s": s})
        study.fail(study.ask(), "broke")
    study.add({"n": 1, "m": 1, "s": "p"}, 1.0)
    last = study.ask().params
    assert (last["n"], last["m"], last["s"]) == allowed[-1]


def test_held_values_that_exclude_every_setting_name_the_rules() -> None:
    with pytest.raises(InputError, match="temp <= 66") as caught:
        Study.create(FORMULATION).ask(fixed={"solvent": "THF", "temp": 100})
    assert "a + b + c" not in str(caught.value)


def test_a_space_without_rules_has_no_region() -> None:
    assert region_of(Space({"x": Float(0, 1)})) is None
    assert region_of(Space({"x": Float(0, 1)}), {"x": 0.5}) is None
