"""CeiboSearchCV with limits on further metrics and on times."""

import re
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, uniform
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold

import ceibo
from ceibo.decide import Measurement
from ceibo.decide.outcomes import AtLeast, AtMost, Maximize, Watch
from ceibo.errors import InputError
from ceibo.integrations.sklearn import CeiboSearchCV

X = np.zeros((20, 1))
FITS: list[float] = []  # the parameter of every fit so far
CLOCK = [0.0]  # seconds, moved on by every fit


@pytest.fixture(autouse=True)
def _no_fits_yet() -> None:
    FITS.clear()


class Trade(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not annotated
    """Its quality is highest at x = 0.3, its recall is x; above 0.95 it fails."""

    def __init__(self, x: float = 0.5) -> None:
        self.x = x

    def fit(self, X: Any, y: Any = None) -> "Trade":
        FITS.append(self.x)
        if self.x > 0.95:
            raise RuntimeError("leaked")
        CLOCK[0] += 1.0 + self.x
        return self

    def score(self, X: Any, y: Any = None) -> float:
        return quality(self, X)


def quality(estimator: Trade, X: Any, y: Any = None) -> float:
    return float(1 - (estimator.x - 0.3) ** 2 + 0.002 * np.cos(1e4 * estimator.x))


def recall(estimator: Trade, X: Any, y: Any = None) -> float:
    return float(estimator.x + 0.002 * np.sin(1e4 * estimator.x))


def both(estimator: Trade, X: Any, y: Any = None) -> dict[str, float]:
    return {"quality": quality(estimator, X), "recall": recall(estimator, X)}


def search_of(high: float = 0.9, **options: Any) -> CeiboSearchCV:
    defaults: dict[str, Any] = {
        "n_iter": 12,
        "cv": KFold(4),
        "random_state": 0,
        "scoring": {"quality": quality, "recall": recall},
        "refit": "quality",
        "limits": {"recall": AtLeast(0.7)},
    }
    return CeiboSearchCV(Trade(), {"x": uniform(0, high)}, **{**defaults, **options})


def test_the_best_candidate_holds_its_limit() -> None:
    search = search_of().fit(X)
    assert search.best_params_["x"] == pytest.approx(0.72, abs=0.03)
    results = search.cv_results_
    assert results["p_feasible"][search.best_index_] >= 0.95
    assert len(results["p_feasible"]) == 12
    assert np.median(results["param_x"][-5:].astype(float)) == pytest.approx(0.7, abs=0.06)
    free = search_of(limits=None).fit(X)
    assert free.best_params_["x"] == pytest.approx(0.3, abs=0.05)
    assert "p_feasible" not in free.cv_results_


def test_the_columns_are_those_of_the_model() -> None:
    """The chance is near that of the posterior beside it; ranks put what holds the limit first.

    Not equal: the posterior's ± is averaged over hyperparameters, the chance is of one model.
    """
    search = search_of(n_iter=9).fit(X)
    results = search.cv_results_
    mean, std = results["posterior_mean_test_recall"], results["posterior_std_test_recall"]
    np.testing.assert_allclose(results["p_feasible"], norm.sf((0.7 - mean) / std), atol=0.1)
    np.testing.assert_allclose(mean, results["mean_test_recall"], atol=0.05)
    held = results["p_feasible"] >= 0.95
    ranks = results["rank_posterior_test_quality"]
    assert held.any()
    assert not held.all()
    assert ranks[held].max() < ranks[~held].min()
    order = np.argsort(ranks)
    score = results["posterior_mean_test_quality"]
    assert np.all(np.diff(score[order][: held.sum()]) <= 0)
    assert np.all(np.diff(results["p_feasible"][order][held.sum() :]) <= 0)
    assert search.best_index_ == order[0]
    assert search.best_score_ == score[order[0]]


def test_without_a_candidate_that_holds_the_most_likely_is_the_best() -> None:
    search = search_of(limits={"recall": AtLeast(5.0)}, n_iter=8)
    with pytest.warns(UserWarning, match=r"confidence=0.95: the most likely one, with .* first"):
        search.fit(X)
    results = search.cv_results_
    assert results["p_feasible"].max() < 0.95
    mean, std = results["posterior_mean_test_recall"], results["posterior_std_test_recall"]
    assert search.best_index_ == np.argmax((mean - 5.0) / std)


def test_a_time_may_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit takes 1 + x seconds on the clock that scikit-learn is given here."""
    clock = SimpleNamespace(time=lambda: CLOCK[0], perf_counter=lambda: CLOCK[0])
    monkeypatch.setattr("sklearn.model_selection._validation.time", clock)
    limits = {"fit_time": AtMost(1.2, low=0)}
    search = search_of(limits=limits, scoring=None, refit=True, n_iter=9).fit(X)
    results = search.cv_results_
    times = 1.0 + results["param_x"].astype(float)
    np.testing.assert_allclose(results["posterior_mean_fit_time"], times, atol=0.05)
    assert search.best_params_["x"] == pytest.approx(0.18, abs=0.03)
    generous = clone(search).set_params(limits={"fit_time": AtMost(60.0)}).fit(X)
    assert np.all(generous.cv_results_["p_feasible"] > 0.99)
    assert generous.best_params_["x"] == pytest.approx(0.3, abs=0.05)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore::UserWarning")
def test_failures_are_never_the_best_and_metrics_of_a_function_are_known_after_one() -> None:
    search = search_of(1.0, scoring=both, n_iter=14, limits={"recall": AtLeast(0.9)}).fit(X)
    assert 0.85 < search.best_params_["x"] <= 0.95
    FITS.clear()
    with pytest.raises(InputError, match="did you mean 'recall'"):
        search_of(scoring=both, limits={"recal": AtLeast(0.9)}).fit(X)
    assert len(FITS) == 4


@pytest.mark.filterwarnings("ignore:No candidate holds all limits")
def test_a_search_ends_by_its_cost_with_limits_too() -> None:
    search = search_of(n_iter=40, cost=0.05).fit(X)
    assert search.stop_.reason is ceibo.StopReason.COST
    assert len(search.cv_results_["params"]) < 40


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"limits": {"recal": AtLeast(0.9)}}, "did you mean 'recall'"),
        ({"limits": {"quality": AtLeast(0.9)}}, "is the metric that is optimised"),
        ({"limits": {"recall": 0.9}}, r"AtMost\(…\) or AtLeast\(…\)"),
        ({"limits": {"recall": Watch()}}, r"AtMost\(…\) or AtLeast\(…\)"),
        ({"limits": {"recall": AtLeast(0.9)}, "confidence": 1.5}, "confidence"),
        ({"limits": None, "confidence": 0.9}, "a search without limits has none"),
        ({"scoring": None, "refit": True}, r'scoring=\["accuracy", \'recall\'\], refit="accuracy"'),
        ({"acquisition": "ucb"}, "'ucb' has no meaning under limits"),
        ({"scoring": None, "refit": True}, "fit_time or score_time"),
        (
            {"scoring": None, "refit": True, "limits": {"fit_tim": AtMost(1.0)}},
            r"got 'fit_tim'; did you mean 'fit_time'\?",
        ),
    ],
)
def test_what_cannot_be_is_refused_before_the_first_fit(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        search_of(**options).fit(X)
    assert not FITS


LOSS = make_scorer(lambda _y, _predicted: 0.04, greater_is_better=False)


@pytest.mark.filterwarnings("ignore:No candidate holds all limits")
@pytest.mark.parametrize("loss", ["neg_mean_squared_error", LOSS])
@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (AtMost(0.1), r"its limit is AtMost\(0.1\); .* at most 0.1 is AtLeast\(-0.1\)"),
        (AtLeast(0.1), r"its limit is AtLeast\(0.1\); .* at most 0.1 is AtLeast\(-0.1\)"),
        (AtLeast(-0.1), None),
    ],
)
def test_a_limit_on_a_loss_of_the_wrong_sign_is_remarked(
    loss: Any, limit: Any, words: str | None
) -> None:
    search = CeiboSearchCV(
        Line(),
        {"x": uniform(0, 1)},
        n_iter=2,
        cv=2,
        random_state=0,
        scoring={"r2": "r2", "loss": loss},
        refit="r2",
        limits={"loss": limit},
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        search.fit(np.linspace(0, 1, 20)[:, None], np.linspace(0, 1, 20))
    found = [str(each.message) for each in said if "sign turned around" in str(each.message)]
    assert len(found) == (words is not None)
    assert words is None or re.search(words, found[0])


class Line(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not annotated
    """Predicts x times what it is given."""

    def __init__(self, x: float = 0.5) -> None:
        self.x = x

    def fit(self, X: Any, y: Any = None) -> "Line":
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return self.x * X[:, 0]


def test_times_are_in_seconds() -> None:
    limits = {"fit_time": AtMost(60.0), "score_time": AtMost(1e4, unit="ms")}
    copy = search_of(limits=limits, n_iter=3).fit(X).to_study()
    assert [copy.outcomes[name].unit for name in limits] == ["s", "ms"]


class Receiver:
    """Takes what a study would."""

    def __init__(self, space: Any, **options: Any) -> None:
        self.space, self.options = space, options
        self.rows: list[Any] = []

    def add_all(self, rows: Any) -> None:
        self.rows += rows


@pytest.mark.filterwarnings("ignore:No candidate holds all limits")
def test_a_copy_has_the_outcomes() -> None:
    search = search_of(n_iter=5).fit(X)
    copy = search.to_study(Receiver)
    outcomes = {"quality": Maximize(), "recall": AtLeast(0.7)}
    assert dict(copy.options["outcomes"]) == outcomes
    assert copy.options["confidence"] == 0.95
    params, values = copy.rows[0]
    assert params["x"] == pytest.approx(search.cv_results_["param_x"][0])
    assert isinstance(values["recall"], Measurement)
    assert values["recall"].value == search.cv_results_["mean_test_recall"][0]
