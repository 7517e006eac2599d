"""Searches of the doors as studies of ceibo's own: the same answers, and a report."""

import pickle
from pathlib import Path
from typing import Any, Literal

import numpy as np
import optuna
import pytest
from scipy.stats import loguniform, norm, randint, truncnorm, uniform
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

import ceibo
from ceibo.errors import InputError, NoMeasurementError
from ceibo.integrations.optuna import CeiboSampler, best_trial_by_posterior, recommended, to_study
from ceibo.integrations.sklearn import CeiboSearchCV
from ceibo.report import render_report


@pytest.fixture(autouse=True)
def _quiet() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def every_kind(trial: optuna.Trial) -> float:
    """Every type of parameter; minimum near x = 0.3, k = 9, kind None."""
    x = trial.suggest_float("x", 0, 1)
    rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
    k = trial.suggest_int("k", 1, 21, step=4)
    n = trial.suggest_int("n", 3, 8)
    wide = trial.suggest_int("wide", -(2**60), 2**60)
    kind = trial.suggest_categorical("kind", ["a", "b", None])
    trial.suggest_int("one", 1, 1)
    if trial.number == 6:
        raise optuna.TrialPruned
    error = 0.1 * float(np.random.default_rng(trial.number).standard_normal())
    for step in range(3):
        trial.report(x + 2 - step, step)
        if trial.should_prune():
            raise optuna.TrialPruned
    value = (x - 0.3) ** 2 + (np.log10(rate) + 3) ** 2 / 10 + (k - 9) ** 2 / 100 + n / 20
    return float(value + 0.1 * abs(wide) / 2**60 + 0.5 * (kind is not None) + error)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_an_optuna_study_has_the_same_answers_as_its_copy(
    direction: Literal["minimize", "maximize"],
) -> None:
    sign = 1 if direction == "minimize" else -1
    pruner = optuna.pruners.MedianPruner(n_startup_trials=4)
    study = optuna.create_study(sampler=CeiboSampler(seed=3), pruner=pruner, direction=direction)
    study.optimize(lambda trial: sign * every_kind(trial), n_trials=18)
    ours = to_study(study, ceibo.Study.create)
    assert ours.name == study.study_name
    assert ours.direction == direction
    assert ours.seed == 3
    assert set(ours.space.names) == {"x", "rate", "k", "n", "wide", "kind"}
    states = [trial.state for trial in ours.trials]
    assert states.count("failed") == 1  # pruned without a report
    assert len(states) == 18
    theirs = recommended(study)
    assert ours.recommended.mean == pytest.approx(theirs.mean, abs=1e-6)
    assert ours.recommended.params["x"] == pytest.approx(theirs.params["x"], abs=1e-4)
    best = best_trial_by_posterior(study)
    assert ours.belief.at(ours.trials[best.number].params).mean == pytest.approx(best.mean)
    page = render_report(ours)
    assert "rate" in page
    assert "<svg" in page


def test_studies_of_any_sampler_and_any_shape_have_a_page() -> None:
    def branches(trial: optuna.Trial) -> float:
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return (trial.suggest_float("xa", 0, 1 + trial.number % 2) - 0.3) ** 2
        return 1 + trial.suggest_float("xb", 0, 1)

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(branches, n_trials=20)
    study.ask()  # one under way
    ours = to_study(study, ceibo.Study.create, name="both branches")
    assert ours.space.names == ("kind", "xa", "xb")
    assert len(ours.trials) == 20
    assert ours.space.dimensions["xa"] == ceibo.Float(0, 2, when={"kind": "a"})
    assert [trial.params for trial in ours.trials] == [trial.params for trial in study.trials[:20]]
    assert ours.best.mean == pytest.approx(best_trial_by_posterior(study).mean)
    assert "both branches" in render_report(ours, cost=0.01)


def test_of_branches_that_a_number_decides_the_better_one_is_copied() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        return -x + trial.suggest_float("y", 0, 1) if x < 0.5 else 1 + x

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=20)
    ours = to_study(study, ceibo.Study.create)
    assert set(ours.space.names) == {"x", "y"}
    assert 2 < len(ours.trials) < 20


def test_a_copy_is_kept_where_it_is_told_and_can_be_gone_on_with(tmp_path: Path) -> None:
    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(lambda trial: (trial.suggest_float("x", 0, 1) - 0.3) ** 2, n_trials=8)
    storage = f"sqlite:///{tmp_path / 'lab.db'}"
    to_study(study, ceibo.Study.create, storage=storage, name="copied").close()
    again = ceibo.Study.open(storage, "copied")
    assert len(again.trials) == 8
    assert again.ask().number == 8
    again.close()


def test_what_cannot_be_copied_is_refused() -> None:
    with pytest.raises(NoMeasurementError):
        to_study(optuna.create_study(), ceibo.Study.create)
    with pytest.raises(NoMeasurementError):
        to_study(optuna.create_study(directions=["minimize"] * 2), ceibo.Study.create)
    with pytest.raises(InputError, match="one to 3 objectives"):
        to_study(optuna.create_study(directions=["minimize"] * 4), ceibo.Study.create)
    fixed = optuna.create_study()
    fixed.optimize(lambda trial: float(trial.suggest_int("one", 1, 1)), n_trials=2)
    with pytest.raises(NoMeasurementError):
        to_study(fixed, ceibo.Study.create)


class Anything(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not annotated
    """Takes every type of parameter; its score is highest at C = 1, and it fails for bad = 2."""

    def __init__(self, C: float = 1.0, line: float = 0.0, bad: int = 0, kind: Any = None) -> None:
        self.C = C
        self.line = line
        self.bad = bad
        self.kind = kind

    def fit(self, X: Any, y: Any = None) -> "Anything":
        if self.bad == 2:
            raise RuntimeError("leaked")
        return self

    def score(self, X: Any, y: Any = None) -> float:
        return float(-(np.log10(self.C) ** 2) - abs(self.line) + 0.1 * np.mean(X))


X = np.random.default_rng(0).standard_normal((30, 2))


@pytest.mark.filterwarnings("ignore")  # scikit-learn's, of the fits that fail
def test_a_search_has_the_same_answers_as_its_copy() -> None:
    space = {
        "C": loguniform(1e-3, 1e3),
        "line": uniform(-1, 3),
        "bad": randint(0, 3),
        "kind": [None, ("a", "b"), "c"],
    }
    search = CeiboSearchCV(Anything(), space, n_iter=14, cv=3, random_state=0).fit(X)
    ours = pickle.loads(pickle.dumps(search)).to_study(ceibo.Study.create, name="search")
    assert ours.direction == "maximize"
    assert ours.space.dimensions["C"] == ceibo.Float(1e-3, 1e3, log=True)
    assert ours.space.dimensions["line"] == ceibo.Float(-1, 2)
    assert ours.space.dimensions["bad"] == ceibo.Int(0, 2)
    assert "('a', 'b')" in ours.space.dimensions["kind"].describe()
    assert len(ours.trials) == 14
    results = search.cv_results_
    for trial, params, mean in zip(
        ours.trials, results["params"], results["posterior_mean_test_score"], strict=True
    ):
        assert trial.params["C"] == pytest.approx(params["C"])
        assert (trial.state == "failed") == (params["bad"] == 2)
        assert ours.belief.at(trial.params).mean == pytest.approx(mean, abs=1e-6)
    assert ours.best.mean == pytest.approx(search.best_score_)
    assert "search" in render_report(ours)


def test_spaces_that_ceibo_does_not_have_are_named_for_what_is_shown() -> None:
    space = {"C": truncnorm(-1, 1, loc=1e9), "line": norm(0, 1), "bad": [0, 1, np.inf]}
    search = CeiboSearchCV(Anything(), space, n_iter=6, cv=3, random_state=0).fit(X)
    ours = search.to_study(ceibo.Study.create)
    assert set(ours.space.names) == {
        "C (quantile)",
        "line (quantile)",
        "bad (position in its list)",
    }
    assert len(ours.trials) == 6
    with pytest.raises(NotFittedError):
        CeiboSearchCV(Anything(), space).to_study(ceibo.Study.create)


def test_a_copy_needs_no_more_than_its_name() -> None:
    search = CeiboSearchCV(Anything(), {"C": loguniform(1e-3, 1e3)}, n_iter=4, random_state=0)
    search.fit(X)
    optunas = optuna.create_study(sampler=CeiboSampler(seed=0))
    optunas.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=4)
    for ours in (
        search.to_study(),
        search.to_study(ceibo.Study, name="search"),
        to_study(optunas),
        to_study(optunas, ceibo.Study),
    ):
        assert isinstance(ours, ceibo.Study)
        assert len(ours.trials) == 4
    with pytest.raises(InputError, match=r"ceibo\.Study\.create, or be left out, got 'sqlite"):
        search.to_study("sqlite:///lab.db")  # type: ignore[call-overload]
