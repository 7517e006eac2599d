"""Parameters that exist only sometimes: their conditions, coordinates, model and suggestions."""

import json
import pickle
from typing import Any

import numpy as np
import pytest

import ceibo
from ceibo import Categorical, Float, Int
from ceibo.acquisition import build, maximize
from ceibo.acquisition.region.branching import Branching
from ceibo.decide import Space
from ceibo.decide.surface.existence import describe
from ceibo.errors import InputError
from ceibo.gp import KERNELS, GaussianProcess, Matern52
from ceibo.gp.inputs import Array

OPTIMIZER = Categorical(["sgd", "adam", "none"])


def training() -> Space:
    """Declared with children before their parents, and nested twice."""
    return Space(
        {
            "momentum": Float(0, 1, when={"optimizer": "sgd"}),
            "nesterov": Categorical([True, False], when={"optimizer": "sgd"}),
            "optimizer": OPTIMIZER,
            "steps": Int(1, 4, when={"optimizer": ["adam", "sgd"]}),
            "decay": Float(1e-3, 1, log=True, when={"steps": [3, 4], "nesterov": True}),
            "rate": Float(0, 1),
        }
    )


def active_names(params: dict[str, Any]) -> set[str]:
    """The names that exist, by the rules of `training` written out."""
    names = {"optimizer", "rate"}
    if params["optimizer"] == "sgd":
        names |= {"momentum", "nesterov"}
    if params["optimizer"] != "none":
        names |= {"steps"}
    if params.get("nesterov") is True and params.get("steps", 0) >= 3:
        names |= {"decay"}
    return names


def random_settings(space: Space, count: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [space.from_unit(rng.random(len(space))) for _ in range(count)]


def test_settings_have_the_names_that_exist_in_the_order_of_the_columns() -> None:
    space = training()
    settings = random_settings(space, 300)
    seen = set()
    for params in settings:
        assert params.keys() == active_names(params)
        assert list(params) == [name for name in space.names if name in params]
        assert space.check(params) == params
        seen.add(frozenset(params))
    assert len(seen) == 4


def test_coordinates_are_those_of_the_dimensions_or_of_absence() -> None:
    space = training()
    settings = random_settings(space, 200)
    expected = np.array([[0.5, 0.0, 0.0, 0.5, 0.5, 0.5]] * len(settings))
    for row, params in zip(expected, settings, strict=True):
        for name, value in params.items():
            row[space.names.index(name)] = space.dimensions[name].to_unit(value)
    np.testing.assert_array_equal(space.to_unit_rows(settings), expected)
    np.testing.assert_array_equal([space.to_unit(each) for each in settings], expected)
    # a log scale comes back to rounding, all else exactly
    again = [space.from_unit(row) for row in expected]
    assert [each.keys() for each in again] == [each.keys() for each in settings]
    np.testing.assert_allclose(space.to_unit_rows(again), expected, atol=1e-14)


def test_an_average_setting_counts_for_the_size_of_the_design() -> None:
    # 2 always; momentum 1/3, nesterov 1/3, steps 2/3, decay 1/3 · 1/2 · 1/2
    assert training().breadth == int(np.ceil(2 + 4 / 3 + 1 / 12))
    assert Space({"x": Float(0, 1), "y": Float(0, 1)}).breadth == 2
    study = ceibo.Study.create(training())
    assert study.settings.n_initial == 8


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"optimizer": "adam", "steps": 1, "rate": 0.5, "momentum": 0.1},
            "'momentum' exists only where optimizer is 'sgd', and it is 'adam' here; leave it out",
        ),
        ({"optimizer": "adam", "rate": 0.5}, "'steps' is missing; it exists where optimizer is"),
        ({"rate": 0.5}, "parameter 'optimizer' is missing."),
        (
            {"optimizer": "none", "rate": 0.5, "decay": 0.1},
            "'decay' exists only where steps is 3 or 4, and steps does not exist here; leave it",
        ),
        ({"optimizer": "none", "rate": 0.5, "other": 1}, "unknown parameter 'other'"),
        ({"optimizer": "none", "rate": 2.0}, "'rate': expected a value in"),
    ],
)
def test_settings_with_other_names_are_refused_with_the_reason(
    params: dict[str, Any], message: str
) -> None:
    for refuse in (training().check, training().to_unit, lambda p: training().to_unit_rows([p])):
        with pytest.raises(InputError) as error:
            refuse(params)
        assert message in str(error.value)


def test_a_parent_in_a_space_of_one_parameter_is_refused() -> None:
    with pytest.raises(InputError, match=r"'boost', but the space has no other parameter\.$"):
        Space({"x": Float(0, 1, when={"boost": "a"})})


@pytest.mark.parametrize(
    ("when", "message"),
    [
        (3, "expected parents and their values such as when={'optimizer': 'sgd'}, got when=3"),
        ({}, "got when={}; leave it out if it always exists"),
        ({1: "sgd"}, "expected parents and their values"),
        ({"optimiser": "sgd"}, "'optimiser', but the space has optimizer, rate, n; did you mean"),
        ({"optimizer": "sdg"}, "'x', when optimizer: expected one of ['sgd', 'adam', 'none'], got"),
        (
            {"optimizer": []},
            "would exist for no value of 'optimizer', as the list of them is empty",
        ),
        ({"optimizer": ["sgd", "x"]}, "got 'x' (str)"),
        ({"x": 1}, "cannot exist depending on its own value"),
        ({"rate": 0.5}, "'rate', which is searched as continuous (float from 0 to 1)"),
        ({"n": 9}, "'x', when n: expected a whole number in [1, 3], got 9"),
        ({"n": 1, "optimizer": "none"}, "can never exist: no value of 'optimizer' allows that"),
    ],
)
def test_conditions_that_make_no_sense_are_refused(when: Any, message: str) -> None:
    space = {
        "x": Float(0, 1, when=when),
        "optimizer": OPTIMIZER,
        "rate": Float(0, 1),
        "n": Int(1, 3, when={"optimizer": "sgd"}),
    }
    with pytest.raises(InputError) as error:
        Space(space)
    assert "parameter 'x'" in str(error.value)
    assert message in str(error.value)


def test_a_cycle_is_named() -> None:
    with pytest.raises(InputError, match=r"'a' exists depending on itself \(a → b → a\)"):
        Space({"a": Int(0, 1, when={"b": 1}), "b": Int(0, 1, when={"a": 1})})


def test_the_ways_to_write_a_condition_mean_the_same() -> None:
    ways: list[Any] = ["sgd", ["sgd"], ("sgd",), np.str_("sgd"), ["sgd", "sgd"]]
    spaces = [Space({"o": OPTIMIZER, "x": Float(0, 1, when={"o": way})}) for way in ways]
    assert all(each == spaces[0] for each in spaces)
    assert spaces[0].to_json()["x"] == {
        "type": "float",
        "low": 0.0,
        "high": 1.0,
        "when": {"o": "sgd"},
    }
    both = Space({"o": OPTIMIZER, "x": Float(0, 1, when={"o": ["adam", "sgd"]})})
    assert both != spaces[0]
    assert both.dimensions["x"].when == {"o": ["sgd", "adam"]}
    assert "when={'o': ['sgd', 'adam']}" in repr(both)
    assert describe(both, "x") == "float from 0 to 1; exists where o is 'sgd' or 'adam'"
    assert Float(0, 1) != Float(0, 1, when={"o": "sgd"})
    assert Categorical(["a", "b"]) != Categorical(["a", "b"], when={"o": "sgd"})


def test_json_and_pickle_keep_conditions() -> None:
    space = training()
    assert Space.from_json(json.loads(json.dumps(space.to_json()))) == space
    assert pickle.loads(pickle.dumps(space)) == space
    plain = Space({"x": Float(0, 1), "o": OPTIMIZER})
    assert "when" not in json.dumps(plain.to_json())
    assert "when" not in repr(plain)


# -- the model ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["matern52", "matern12", "squared-exponential"])
def test_the_kernel_of_two_settings_by_its_formula(name: str) -> None:
    """Within a branch only what exists counts; between branches also what one of them has."""
    space = training()
    rng = np.random.default_rng(1)
    scales = rng.uniform(0.2, 2.0, len(space))
    kernel = KERNELS[name](scales, 1.7, space.categorical)
    settings = random_settings(space, 60, seed=2)
    X = space.to_unit_rows(settings)

    def squared(a: dict[str, Any], b: dict[str, Any]) -> float:
        total = 0.0
        for k, (each, dimension) in enumerate(space.dimensions.items()):
            if each not in a and each not in b:
                continue
            if dimension.is_ordered:
                u, v = (dimension.to_unit(p[each]) if each in p else 0.5 for p in (a, b))
                total += (u - v) ** 2 / scales[k] ** 2
            elif (each in a) != (each in b) or a[each] != b[each]:
                total += scales[k] ** -2
        return total

    s = np.array([[squared(a, b) for b in settings] for a in settings])
    expected = 1.7 * KERNELS[name].profile(s)[0]
    K = kernel(X, X)
    np.testing.assert_allclose(K, expected, rtol=1e-10)
    assert np.linalg.eigvalsh(K).min() > -1e-10


def surface(space: Space, seed: int) -> tuple[Any, Array]:
    rng = np.random.default_rng(seed)
    X = space.to_unit_rows(random_settings(space, 25, seed))
    kernel = Matern52(rng.uniform(0.2, 0.8, len(space)), 1.0, space.categorical)
    gp = GaussianProcess(X, rng.standard_normal(25), np.full(25, 0.01), kernel)
    return build("corrected-ei", gp, seed=0), X


@pytest.mark.parametrize("seed", range(4))
def test_the_search_finds_the_best_of_all_branches_searched_one_by_one(seed: int) -> None:
    space = training()
    function, _ = surface(space, seed)
    found = maximize(function, seed=0, discrete=space.discrete, branches=space.branches)
    branching = Branching.of(space.branches)
    assert branching is not None
    np.testing.assert_array_equal(branching.canonical(found.x[None, :])[0], found.x)
    best = -np.inf
    # every choice and step held in turn, and the columns that do not exist with them
    for optimizer in ("sgd", "adam", "none"):
        for nesterov in (True, False):
            for steps in (1, 2, 3, 4):
                wish = {"optimizer": optimizer, "nesterov": nesterov, "steps": steps}
                whole = {"momentum": 0.5, "decay": 0.1, "rate": 0.5, **wish}
                names = active_names(whole if optimizer == "sgd" else {**wish, "nesterov": None})
                x = space.to_unit({name: whole[name] for name in space.names if name in names})
                held = {
                    k: np.array([x[k]])
                    for k, name in enumerate(space.names)
                    if name in wish or name not in names
                }
                best = max(best, maximize(function, seed=0, discrete=held).value)
    assert found.value == pytest.approx(best, rel=1e-3)


def test_a_column_that_does_not_exist_has_no_slope() -> None:
    space = training()
    branching = Branching.of(space.branches)
    assert branching is not None
    rng = np.random.default_rng(3)
    settings = random_settings(space, 50, seed=3)
    X = space.to_unit_rows(settings)
    there = branching.active(X)
    expected = [[name in params for name in space.names] for params in settings]
    np.testing.assert_array_equal(there, expected)
    moved = np.where(there, X, rng.random(X.shape))
    np.testing.assert_array_equal(branching.canonical(moved), X)


# -- suggestions -------------------------------------------------------------------------


def conditional(params: dict[str, Any]) -> float:
    """Best 0 in branch "a" at x = 0.3, y = 0.8; branch "b" begins at 0.2."""
    if params["kind"] == "a":
        return float((params["x"] - 0.3) ** 2 + (params["y"] - 0.8) ** 2)
    return float(0.2 + (params["z"] - 0.6) ** 2)


def two_branches() -> dict[str, Any]:
    return {
        "x": Float(0, 1, when={"kind": "a"}),
        "kind": Categorical(["a", "b"]),
        "y": Float(0, 1, when={"kind": "a"}),
        "z": Float(0, 1, when={"kind": "b"}),
    }


def test_suggestions_in_every_branch_come_from_the_model() -> None:
    study = ceibo.Study.create(two_branches(), seed=0)
    for _ in range(24):
        trial = study.ask()
        assert trial.params.keys() == ({"kind", "x", "y"} if "x" in trial.params else {"kind", "z"})
        study.tell(trial, conditional(trial.params), noise=0.01)
    chosen = {
        trial.params["kind"]: trial.params
        for trial in study.trials
        if study.suggestions[trial.number]["source"] == "model"
    }
    assert chosen.keys() == {"a", "b"}
    assert chosen["b"]["z"] == pytest.approx(0.6, abs=0.2)
    assert study.best.params.keys() == {"kind", "x", "y"}
    assert study.recommended.params["kind"] == "a"
    assert study.recommended.params["x"] == pytest.approx(0.3, abs=0.05)
    verified = study.verify()
    assert verified.checked == verified.identical == 24
    # the other branch can be asked about all the same
    at = study.predict([{"kind": "b", "z": 0.6}])[0]
    assert at.params == {"kind": "b", "z": 0.6}
    assert at.mean == pytest.approx(0.2, abs=0.05)


def test_the_model_is_far_ahead_of_random_settings() -> None:
    ours, random = [], []
    for seed in range(3):
        study = ceibo.Study.create(two_branches(), seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(20):
            trial = study.ask()
            study.tell(trial, conditional(trial.params) + 0.01 * rng.standard_normal())
        ours.append(conditional(study.recommended.params))
        tried = random_settings(Space(two_branches()), 20, seed)
        random.append(min(map(conditional, tried)))
    assert np.mean(ours) < 0.2 * np.mean(random)


def test_outcomes_and_branches_together() -> None:
    outcomes = {"loss": ceibo.Minimize(), "size": ceibo.AtMost(0.5)}
    study = ceibo.Study.create(two_branches(), outcomes=outcomes, seed=0)
    for _ in range(20):
        trial = study.ask()
        size = trial.params.get("y", 0.1)
        study.tell(trial, {"loss": conditional(trial.params), "size": size})
    assert study.best.params.keys() in ({"kind", "x", "y"}, {"kind", "z"})
    assert study.recommended.params.get("y", 0.0) <= 0.55
    assert study.verify().identical == 20


def test_spaces_without_conditions_know_of_none() -> None:
    space = Space({"x": Float(0, 1), "o": OPTIMIZER})
    assert space.conditions is None
    assert space.branches == ()
    assert Branching.of(()) is None
