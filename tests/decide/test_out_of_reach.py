"""Data that cannot be had any more inform the model; nothing is compared with them, or takes them.

Rules and ranges may come later than the data, and a parameter may not exist where a rule names it.
"""

from typing import Any

import numpy as np
import pytest

import ceibo
from ceibo import AtMost, Categorical, Float, Int, Maximize, Minimize, Space, Study
from ceibo import acquisition as acq
from ceibo.errors import InputError
from ceibo.gp import fit_gp

TREE = {
    "a": Float(0, 1),
    "opt": Categorical(["sgd", "adam"]),
    "m": Float(0, 1, when={"opt": "sgd"}),
}


def ruled() -> Study:
    """Twelve values of x + y, of which a later rule forbids the best."""
    study = Study.create({"x": Float(0, 1), "y": Float(0, 1)}, seed=0)
    for x, y in np.random.default_rng(0).random((12, 2)):
        study.add({"x": x, "y": y}, x + y, noise=0.02)
    study.change(Space({"x": Float(0, 1), "y": Float(0, 1)}, constraints=["x + y >= 1.2"]))
    return study


def test_what_a_later_rule_forbids_is_nothing_to_beat() -> None:
    """Nothing seemed to be gained any more, and the answer to be the best there is."""
    study = ruled()
    assert not study.should_stop(0.001)
    assert study.closeness(0.01).probability < 0.5
    assert sum(study.best.params.values()) >= 1.2
    assert (study.best.probability or 0.0) > 0.1
    assert sum(study.ask().params.values()) == pytest.approx(1.2, abs=0.02)


@pytest.mark.parametrize("name", ["noisy-ei", "corrected-ei", "knowledge-gradient", "ucb"])
def test_without_what_is_forbidden_the_surface_is_that_of_the_same_model(name: str) -> None:
    """With a process whose only reachable points are the worse ones."""
    X = np.linspace(0.05, 0.95, 7)[:, None]
    whole = fit_gp(X, X[:, 0] ** 2, 1e-4).gp
    known = ceibo.gp.GaussianProcess(
        whole.X, whole.y, whole.noise_variance, whole.kernel, whole.mean, reachable=X[:, 0] > 0.5
    )
    function = acq.build(name, known, seed=0)
    assert function.incumbent.x[0] > 0.5
    grown = known.append([0.3], 0.0, 1e-4)
    assert grown.reachable is not None
    assert grown.reachable.tolist() == [*(X[:, 0] > 0.5), True]
    pending = acq.build(name, known, seed=0, pending=[[0.6]])
    assert np.all(np.isfinite(pending.value(X)))


def test_points_beyond_a_range_are_no_rivals_of_what_holds_its_limits() -> None:
    X = np.array([[0.1], [0.4], [0.7], [0.9], [-0.5]])
    goal = fit_gp(X, np.array([1.0, 0.6, 0.8, 1.1, -3.0]), 0.01).gp
    always = acq.Limit(fit_gp(X, np.zeros(5), 1e-6).gp, 100.0)
    points = np.linspace(0, 1, 6)[:, None]
    alone = acq.build("knowledge-gradient", goal).value(points)
    limited = acq.build_joint("knowledge-gradient", [goal], [always]).value(points)
    np.testing.assert_allclose(limited, alone, rtol=1e-6)
    assert alone.max() > 1e-3


def test_a_front_that_cannot_be_had_is_no_reference() -> None:
    outcomes = {"f": Minimize(), "g": Minimize()}
    study = Study.create(
        {"x": Float(-1, 1), "y": Float(0, 1)}, outcomes=outcomes, seed=0, n_initial=2
    )
    rng = np.random.default_rng(0)
    for x, y in zip(rng.uniform(-1, 1, 16), rng.random(16), strict=True):
        told = (-3 + x, -3 - x) if x < 0 else ((x - 0.3) ** 2 + y, (x - 0.7) ** 2 + y)
        study.add({"x": x, "y": y}, dict(zip(outcomes, map(float, told), strict=True)))
    study.change({"x": Float(0, 1), "y": Float(0, 1)})
    asked = [trial.params for trial in study.ask(4)]
    assert max(each["y"] for each in asked) < 0.3  # y is bad for both


def test_the_front_and_answers_obey_a_later_rule() -> None:
    outcomes = {"f": Minimize(), "g": Maximize(), "h": AtMost(10)}
    space = {"x": Float(0, 1)}
    study = Study.create(space, outcomes=outcomes, seed=0)
    for x in np.linspace(0, 1, 8):
        study.add({"x": x}, {"f": x, "g": -x, "h": 1.0 + x})
    study.change(Space(space, constraints=["x >= 0.5"]))
    assert all(each.params["x"] >= 0.5 for each in study.front)


def test_a_rule_does_not_apply_where_one_of_its_parameters_is_absent() -> None:
    """The other part of it did, and half of the range was never searched."""
    study = Study.create(Space(TREE, constraints=["a <= 0.3 and m <= 0.5"]), seed=0)
    found = [trial.params["a"] for trial in study.ask(20, fixed={"opt": "adam"})]
    assert max(found) > 0.7
    assert all(
        trial.params["a"] <= 0.3 and trial.params["m"] <= 0.5
        for trial in study.ask(5, fixed={"opt": "sgd"})
    )
    other = Study.create(Space(TREE, constraints=["opt == 'sgd' and m <= 0.5"]), seed=0)
    assert other.ask(fixed={"opt": "adam"}).params["opt"] == "adam"


def test_nothing_failed_is_tried_again_where_absent_parameters_are_all_that_is_left() -> None:
    space = {
        "opt": Categorical(["sgd", "adam"]),
        "m": Float(0, 1, when={"opt": "sgd"}),
        "c": Categorical(["p", "q", "r"]),
    }
    study = Study.create(space, seed=0, n_initial=1)
    study.add({"opt": "sgd", "m": 0.5, "c": "p"}, 1.0)
    study.add({"opt": "adam", "c": "r"}, 0.0)
    for choice in "pq":
        study.enqueue({"opt": "adam", "c": choice})
        study.fail(study.ask(), "boom")
    asked = [study.ask(fixed={"opt": "adam"}).params["c"] for _ in range(6)]
    assert asked == ["r"] * 6


def test_of_equal_means_the_measured_setting_is_recommended() -> None:
    study = Study.create({"x": Float(0, 1)}, seed=0)
    for _ in range(4):
        study.add({"x": 0.5}, 1.0)
    assert study.recommended.params == {"x": 0.5}


@pytest.mark.parametrize(
    ("space", "rules"),
    [
        ({"n": Int(10**400, 10**400 + 5), "a": Float(0, 1)}, ["a <= 0.5"]),
        ({"z": Float(-1e308, 1e308), "a": Float(0, 1), "b": Float(0, 1)}, ["a + b <= 1"]),
        ({"a": Int(0, 10**6), "b": Int(0, 10**6)}, ["a < b", "b <= a + 1"]),
        ({"a": Int(0, 10**7, step=10), "b": Int(5, 10**7 - 5, step=10)}, ["a < b", "b < a + 10"]),
    ],
)
def test_wide_ranges_beside_rules(space: dict[str, Any], rules: list[str]) -> None:
    study = Study.create(Space(space, constraints=rules), seed=0)
    for trial in study.ask(3):
        assert all(rule.holds(trial.params) for rule in study.space.rules)


def test_a_rule_of_numbers_beyond_doubles_is_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match="rule 'n <= 5'"):
        Space({"n": Int(10**400, 10**400 + 5)}, constraints=["n <= 5"])


def test_a_fine_grid_has_its_zero() -> None:
    space = {"a": Float(-5, 5.1, step=1e-4), "b": Float(0, 1), "c": Float(0, 1)}
    held = Study.create(Space(space, constraints=["a == 0"]), seed=0)
    assert held.ask(fixed={"a": 0}).params["a"] == 0.0
    few = Study.create(Space(space, constraints=["at most 1 of a, b, c"]), seed=0)
    assert any(trial.params["b"] or trial.params["c"] for trial in few.ask(6, fixed={"a": 0}))


def test_a_backtest_names_settings_as_they_were() -> None:
    study = Study.create({"x": Float(0, 1), "c": Categorical(["a", "b", "z"])}, seed=0)
    for k in range(12):
        study.add({"x": k / 11, "c": "z" if k % 2 == 0 else "a"}, k / 11)
    study.change({"x": Float(0.2, 1), "c": Categorical(["a", "b"])})
    assert ceibo.backtest(study, seeds=1).raw.params == {"x": 0.0, "c": "z"}
