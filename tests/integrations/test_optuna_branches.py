"""CeiboSampler in conditional spaces: the tree it learns, and suggestions inside branches."""

from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import FixedTrial, FrozenTrial, Trial

from ceibo.acquisition import build
from ceibo.decide import Direction
from ceibo.decide.conditions import Condition
from ceibo.decide.model import fit_model
from ceibo.decide.suggest import seed_of
from ceibo.integrations.optuna import CeiboSampler, front_by_posterior, recommended
from ceibo.integrations.optuna.axes import BRANCH, Axes
from ceibo.integrations.optuna.evidence import NOISE, evidence_of_trials, record_of, start_values
from ceibo.integrations.optuna.history import axes_of_finished, find_search_space

optuna.logging.set_verbosity(optuna.logging.WARNING)


def jenatton(trial: Trial | FixedTrial) -> float:
    """Jenatton, Archambeau, González and Seeger 2017; the least value is 0.1."""
    if trial.suggest_categorical("x1", [0, 1]) == 0:
        left = trial.suggest_categorical("x2", [0, 1]) == 0
        r = trial.suggest_float("r8", 0, 1)
        name, level = ("x4", 0.1) if left else ("x5", 0.2)
    else:
        left = trial.suggest_categorical("x3", [0, 1]) == 0
        r = trial.suggest_float("r9", 0, 1)
        name, level = ("x6", 0.3) if left else ("x7", 0.4)
    return trial.suggest_float(name, -1, 1) ** 2 + level + r


def layers(trial: Trial | FixedTrial) -> float:
    units = [trial.suggest_int(f"units{k}", 1, 9) for k in range(trial.suggest_int("layers", 1, 4))]
    return float(sum(units))


def both(trial: Trial | FixedTrial) -> float:
    a = trial.suggest_categorical("a", ["u", "v", "w"])
    b = trial.suggest_categorical("b", [True, False])
    x = trial.suggest_float("x", 0, 1)
    return x + (trial.suggest_float("c", 0, 1) if a == "v" and b else 1)


def by_number(trial: Trial | FixedTrial) -> float:
    x = trial.suggest_float("x", 0, 1)
    return x + trial.suggest_float("y", 0, 1) if x < 0.5 else 1 + trial.suggest_float("z", 0, 1)


def random_study(objective: Any, count: int, seed: int = 0) -> optuna.Study:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    study.optimize(objective, n_trials=count)
    return study


def conditions_of(axes: Axes) -> dict[str, dict[str, Any]]:
    found = axes.space.conditions
    direct: dict[str, tuple[Condition, ...]] = {} if found is None else dict(found.direct)
    return {
        name: {
            each.parent: [axes.axes[each.parent].decode(v) for v in each.values] for each in every
        }
        for name, every in direct.items()
    }


@pytest.mark.parametrize(
    ("objective", "count", "expected"),
    [
        (
            jenatton,
            30,
            {
                "x2": {"x1": [0]},
                "x3": {"x1": [1]},
                "x4": {"x2": [0]},
                "x5": {"x2": [1]},
                "x6": {"x3": [0]},
                "x7": {"x3": [1]},
                "r8": {"x1": [0]},
                "r9": {"x1": [1]},
            },
        ),
        (
            layers,
            30,
            {
                "units1": {"layers": [2, 3, 4]},
                "units2": {"layers": [3, 4]},
                "units3": {"layers": [4]},
            },
        ),
        (both, 40, {"c": {"a": ["v"], "b": [True]}}),
    ],
)
def test_the_tree_of_an_objective_is_learnt(
    objective: Any, count: int, expected: dict[str, Any]
) -> None:
    study = random_study(objective, count)
    axes = axes_of_finished(study.trials)
    assert axes is not None
    assert axes.sets == ()
    found = conditions_of(axes)
    if objective is jenatton:  # r8 exists with x2 whatever its value, which says the same
        for name, parent in (("r8", "x2"), ("r9", "x3")):
            if parent in found[name]:
                assert found.pop(name) == {parent: [0, 1]}
                expected.pop(name)
    assert found == expected
    # every trial has a place, and comes back from it
    for trial in study.trials:
        x = axes.coordinates(trial.params)
        assert x is not None
        assert axes.decode(axes.space.from_unit(x)) == pytest.approx(trial.params)


def test_what_no_value_explains_has_a_column_of_its_own() -> None:
    study = random_study(by_number, 20)
    axes = axes_of_finished(study.trials)
    assert axes is not None
    assert set(axes.sets) == {frozenset({"y"}), frozenset({"z"})}
    assert axes.space.names == ("x", "y", "z", BRANCH)
    places = [axes.coordinates(trial.params) for trial in study.trials]
    assert all(x is not None for x in places)
    assert axes.coordinates({"x": 0.1}) is None
    assert BRANCH not in axes.decode(axes.space.from_unit(places[0]))  # type: ignore[arg-type]  # above


def noisy(objective: Any, sd: float) -> Any:
    def measure(trial: Trial) -> float:
        error = np.random.default_rng(trial.number).standard_normal()
        return float(objective(trial) + sd * error)

    return measure


def regret(study: optuna.Study) -> float:
    return float(jenatton(FixedTrial(recommended(study).params)) - 0.1)


def boosted(trial: Trial) -> float:
    kind = trial.suggest_categorical("booster", ["hist", "gb"])
    rate = trial.suggest_float("rate", 0.01, 1, log=True)
    trial.suggest_int("trees", 10, 60)
    if kind == "hist":
        return rate + abs(trial.suggest_int("leaves", 3, 31, log=True) - 10) / 20
    depth = trial.suggest_int("depth", 1, 5)
    return rate + abs(depth - 2) / 5 + trial.suggest_float("subsample", 0.4, 1)


@pytest.mark.parametrize("seed", [0, 2, 11])
def test_the_initial_design_has_the_parameters_of_a_branch_that_was_not_foreseen(
    seed: int, lines: list[str]
) -> None:
    """They were drawn at random, with a warning that no finished trial had them."""
    study = optuna.create_study(sampler=CeiboSampler(seed=seed))
    study.optimize(noisy(boosted, 0.05), n_trials=12)
    assert not any("independently" in line for line in lines)
    again = optuna.create_study(sampler=CeiboSampler(seed=seed))
    again.optimize(noisy(boosted, 0.05), n_trials=12)
    assert [t.params for t in again.trials] == [t.params for t in study.trials]


def test_what_is_sampled_beside_a_value_that_no_trial_had_is_not_said_to_be_in_none(
    lines: list[str],
) -> None:
    def wider(trial: Trial) -> float:
        high = 1.0 if trial.number < 8 else 9.0
        return trial.suggest_float("x", 0, high) + trial.suggest_float("y", 0, 1)

    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(wider, n_trials=8)
    study.enqueue_trial({"x": 8.0})
    study.sampler.infer_relative_search_space = lambda study, trial: {}  # type: ignore[method-assign]
    study.optimize(wider, n_trials=1)
    (said,) = [line for line in lines if "independently" in line]
    assert "finished trials have it with one value only, or not beside what this one has" in said


def test_jenattons_function_with_noise_against_random_draws() -> None:
    ours, random = [], []
    for seed in range(2):
        study = optuna.create_study(sampler=CeiboSampler(seed=seed))
        study.optimize(noisy(jenatton, 0.05), n_trials=30)
        ours.append(regret(study))
        random.append(regret(random_study(noisy(jenatton, 0.05), 30, seed)))
    assert np.mean(ours) < 0.5 * np.mean(random)


def draws(study: optuna.Study) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


def test_a_seed_gives_the_same_trials_also_after_a_restart(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'optuna.db'}"
    whole = optuna.create_study(sampler=CeiboSampler(seed=3))
    whole.optimize(noisy(jenatton, 0.05), n_trials=16)
    for count in (7, 9):
        study = optuna.create_study(
            sampler=CeiboSampler(seed=3), storage=storage, study_name="s", load_if_exists=True
        )
        study.optimize(noisy(jenatton, 0.05), n_trials=count)
    assert draws(study) == draws(whole)
    assert [record_of(t) for t in study.trials] == [record_of(t) for t in whole.trials]


def test_the_values_of_another_branch_are_where_the_acquisition_is_largest() -> None:
    """Oracle: the acquisition, built by hand, on a grid over the branch that was enqueued."""

    def objective(trial: Trial) -> float:
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return (trial.suggest_float("x", 0, 1) - 0.3) ** 2
        u, v = trial.suggest_float("u", 0, 1), trial.suggest_int("v", 1, 20)
        return 0.1 + 4 * (u - 0.7) ** 2 + (v - 5) ** 2 / 100

    sampler = CeiboSampler(seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=12)
    axes = axes_of_finished(study.trials)
    assert axes is not None
    grid = [
        {"kind": "b", "u": float(u), "v": v} for u in np.linspace(0, 1, 101) for v in range(1, 21)
    ]
    points = np.array([axes.coordinates(each) for each in grid])
    for _ in range(3):
        study.enqueue_trial({"kind": "b"})
        trial = study.ask()
        objective(trial)
        trials = study.get_trials()
        evidence = evidence_of_trials(trials, axes, Direction.MINIMIZE, NOISE, before=trial.number)
        start = start_values(trials, axes.space.names, trial.number)
        model = fit_model(evidence, axes.space, sampler.settings, start)
        gp = model.conditioned(evidence, 1000)
        seed = seed_of(sampler.seed, trial.number)
        function = build(sampler.settings.acquisition, gp, seed=seed)
        chosen = axes.coordinates(trial.params)
        assert chosen is not None
        assert function.log_value([chosen])[0] >= function.log_value(points).max() - 1e-6
        study.tell(trial, objective(trial))


def test_what_contradicts_the_tree_is_searched_by_the_model_too() -> None:
    """From trial 14 on branch "a" asks for what only "b" had."""

    def objective(trial: Trial) -> float:
        kind = trial.suggest_categorical("kind", ["a", "b"])
        if kind == "a" and trial.number < 14:
            return (trial.suggest_float("x", 0, 1) - 0.3) ** 2
        return (trial.suggest_float("u", 0, 1) - 0.7) ** 2

    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(objective, n_trials=14)
    axes = axes_of_finished(study.trials)
    assert axes is not None
    for _ in range(4):
        study.enqueue_trial({"kind": "a"})
    study.optimize(objective, n_trials=4)
    assert axes.coordinates(study.trials[14].params) is None
    assert np.mean([trial.value for trial in study.trials[14:]]) < 0.03


def test_ranges_that_change_are_searched_within_what_is_asked_for() -> None:
    def objective(trial: Trial) -> float:
        low = 0.0 if trial.number % 2 else 0.5
        x = trial.suggest_float("x", low, low + 0.5)
        n = trial.suggest_int("n", 0, 4 + 2 * (trial.number % 3), step=2)
        return (x - 0.55) ** 2 + abs(n - 6) / 10

    study = optuna.create_study(sampler=CeiboSampler(seed=1))
    study.optimize(objective, n_trials=24)
    assert find_search_space(study.trials)["x"] == FloatDistribution(0, 1)
    for trial in study.trials:
        low = 0.0 if trial.number % 2 else 0.5
        assert low <= trial.params["x"] <= low + 0.5
        assert trial.params["n"] % 2 == 0
    even = [trial.params["x"] for trial in study.trials[-8:] if trial.number % 2 == 0]
    odd = min(study.trials[1::2], key=lambda trial: trial.values[0])
    assert np.median(even) == pytest.approx(0.55, abs=0.1)
    assert odd.params["x"] == pytest.approx(0.5, abs=0.1)


def test_branches_decided_by_a_number_are_searched_by_the_model() -> None:
    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(by_number, n_trials=24)
    assert study.best_value < 0.1
    names = (record_of(study.trials[-1]) or {})["names"]
    assert names == ["x", "y", "z", BRANCH]


def test_several_objectives_and_constraints_in_branches() -> None:
    def two(trial: Trial) -> tuple[float, float]:
        kind = trial.suggest_categorical("kind", ["a", "b"])
        x = trial.suggest_float(f"x_{kind}", 0, 1)
        return x**2 + (kind == "b"), (x - 1) ** 2 + (kind == "b")

    study = optuna.create_study(sampler=CeiboSampler(seed=0), directions=["minimize", "minimize"])
    study.optimize(two, n_trials=18)
    front = front_by_posterior(study)
    assert {each.params["kind"] for each in front} == {"a"}
    assert len(front) > 3

    def limited(trial: FrozenTrial) -> tuple[float]:
        return (0.5 - trial.params.get("x4", 1.0),)

    study = optuna.create_study(sampler=CeiboSampler(seed=0, constraints_func=limited))
    study.optimize(jenatton, n_trials=20)
    assert (record_of(study.trials[-1]) or {})["source"] == "model"
    found = recommended(study)
    assert found.params.get("x4", 1.0) >= 0.45
