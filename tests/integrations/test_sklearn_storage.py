"""CeiboSearchCV keeps its candidates in a file: an interrupted search goes on as if it had not."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold

import ceibo
from ceibo.errors import InputError
from ceibo.integrations.sklearn import CeiboSearchCV
from ceibo.report import render_report

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 2))
Y = (X[:, 0] + 0.5 * RNG.standard_normal(60) > 0).astype(int)
SPACE = {"C": loguniform(1e-2, 1e3), "kind": ["a", "b", "c"]}
FITS: list[float] = []  # of every fit so far
LAST = {"fit": -1}  # fits after which the next is interrupted
FOLDS = 3


class Threshold(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier whose threshold depends on C; some settings cannot be fitted."""

    def __init__(self, C: float = 1.0, kind: str = "a") -> None:
        self.C, self.kind = C, kind

    def fit(self, X: Any, y: Any) -> "Threshold":
        if len(FITS) == LAST["fit"]:
            raise KeyboardInterrupt
        FITS.append(self.C)
        if self.kind == "c":
            raise ValueError("cannot be fitted")
        self.classes_ = np.unique(y)
        self.at_ = 0.2 * np.log10(self.C)
        return self

    def predict(self, X: Any) -> Any:
        return (X[:, 0] > self.at_).astype(int)


def search(storage: Path | None, **options: Any) -> CeiboSearchCV:
    given = {"n_iter": 14, "random_state": 0, "cv": FOLDS, "storage": storage, **options}
    FITS.clear()
    return CeiboSearchCV(Threshold(), SPACE, **given)


def check_same(one: CeiboSearchCV, other: CeiboSearchCV) -> None:
    for key, column in one.cv_results_.items():
        if key == "params":
            assert other.cv_results_[key] == column
        elif "time" not in key:
            np.testing.assert_array_equal(other.cv_results_[key], column)
    assert one.best_params_ == other.best_params_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize("die_at", [4, 13, 29])
def test_an_interrupted_search_goes_on_as_if_it_had_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, die_at: int
) -> None:
    whole = search(tmp_path / "whole.jsonl").fit(X, Y)
    file = tmp_path / "s.jsonl"
    with monkeypatch.context() as interrupted:
        interrupted.setitem(LAST, "fit", die_at)
        with pytest.raises(KeyboardInterrupt) as caught:
            search(file).fit(X, Y)
    assert "s.jsonl; the same search goes on from it" in caught.value.__notes__[0]
    # what was fitted before, but for the candidate under way, is not fitted again
    kept = len(file.read_text().splitlines()) - 1
    assert kept == die_at // FOLDS
    with file.open("a") as lines:
        lines.write('{"x": [0.25, 0.')  # a line that was cut short
    resumed = search(file).fit(X, Y)
    assert len(FITS) == FOLDS * (14 - kept) + 1  # and the refit
    check_same(whole, resumed)


def test_an_interrupted_search_without_a_file_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    FITS.clear()
    monkeypatch.setitem(LAST, "fit", 0)
    with pytest.raises(KeyboardInterrupt) as caught:
        search(None).fit(X, Y)
    assert "storage='search.jsonl'" in caught.value.__notes__[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_a_search_that_has_ended_is_not_fitted_again(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    whole = search(file, refit=False).fit(X, Y)
    again = search(file, refit=False).fit(X, Y)
    assert FITS == []
    np.testing.assert_array_equal(
        whole.cv_results_["posterior_mean_test_score"],
        again.cv_results_["posterior_mean_test_score"],
    )
    longer = search(file, n_iter=16, refit=False).fit(X, Y)
    assert len(FITS) == 2 * FOLDS
    assert longer.cv_results_["params"][:2] == whole.cv_results_["params"][:2]
    page = render_report(longer.to_study(ceibo.Study.create, name="kept"))
    assert "16 trials" in page
    assert 'id="slices"' in page


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_several_metrics_and_no_seed(tmp_path: Path) -> None:
    options = {"scoring": ["accuracy", "f1"], "refit": False, "metric": "f1"}
    file = tmp_path / "s.jsonl"
    first = search(file, n_iter=9, random_state=None, **options).fit(X, Y)
    more = search(file, n_iter=11, random_state=None, **options).fit(X, Y)
    params = [str(each) for each in more.cv_results_["params"]]
    assert set(map(str, first.cv_results_["params"])) <= set(params)
    assert len(FITS) == 2 * FOLDS
    assert np.isfinite(more.cv_results_["mean_test_accuracy"]).sum() >= 5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"random_state": 1}, "another random_state"),
        ({"n_initial": 3}, r"other settings \(n_initial=None, now 3\)"),
        ({"limits": {"fit_time": ceibo.AtMost(9.0)}}, "a search with no limits"),
        ({"scoring": "f1"}, "a search with another scoring; give"),
        ({"cv": 4}, "a search with other folds; give"),
        ({"cv": 4, "error_score": 0.0}, "a search with other folds and another error_score; give"),
    ],
)
def test_another_search_is_refused_before_the_first_fit(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    file = tmp_path / "s.jsonl"
    search(file, n_iter=4, refit=False).fit(X, Y)
    with pytest.raises(InputError, match=words):
        search(file, **options).fit(X, Y)
    with pytest.raises(InputError, match="a search with other data; give"):
        search(file).fit(X + 1, Y)
    assert FITS == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cv": KFold(3, shuffle=True)}, "give cv a random_state"),
        ({"storage": "sqlite:///lab.db"}, "to_study makes a study in a database"),
        ({"storage": "no such folder/s.jsonl"}, "folder of no such folder/s.jsonl does not exist"),
        ({"storage": __file__}, "not a file that a search has written"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_the_first_fit(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        search(**{"storage": tmp_path / "s.jsonl", **options}).fit(X, Y)
    assert FITS == []


def test_a_search_of_positions_in_lists_says_that_it_is_one(tmp_path: Path) -> None:
    """Lists of ascending numbers were once searched by position, and are so no more."""
    file = tmp_path / "s.jsonl"
    lists = {"param_distributions": {"C": [0.1, 1.0, 10.0, 100.0]}}
    first = search(file, n_iter=4, refit=False).set_params(**lists).fit(X, Y)
    assert {each["C"] for each in first.cv_results_["params"]} <= {0.1, 1.0, 10.0, 100.0}
    whole = file.read_text(encoding="utf-8").splitlines(keepends=True)
    head = json.loads(whole[0])
    head["space"] = {"C (position in its list)": ceibo.Int(0, 3).to_json()}
    file.write_text(json.dumps(head) + "\n" + "".join(whole[1:]), encoding="utf-8")
    with pytest.raises(InputError, match="an earlier ceibo, which searched lists of ascending"):
        search(file).set_params(**lists).fit(X, Y)


def test_another_parameter_beside_positions_in_a_list_is_of_no_earlier_ceibo(
    tmp_path: Path,
) -> None:
    file = tmp_path / "s.jsonl"
    lists: dict[str, Any] = {"C": [0.1, 1.0, np.inf], "kind": ["a", "b"]}
    search(file, n_iter=2, refit=False).set_params(param_distributions=lists).fit(X, Y)
    for other in ({**lists, "kind": ["a", "b", "c"]}, {"C": [1.0, 2.0, np.inf], "kind": ["a"]}):
        with pytest.raises(InputError, match="a search with another param_distributions; give"):
            search(file).set_params(param_distributions=other).fit(X, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ({"outliers": True}, "discounted scores that looked wrong"),
        ({"outliers": True, "n_initial": 3}, "discounted scores that looked wrong"),
        ({"varying_noise": True}, r"had other settings \(varying_noise=True, now None\)"),
    ],
)
def test_settings_that_are_no_options_are_of_an_earlier_ceibo(
    tmp_path: Path, setting: dict[str, Any], why: str
) -> None:
    """Searches once left the scores that looked wrong to the model, as studies do."""
    file = tmp_path / "s.jsonl"
    search(file, n_iter=2, refit=False).fit(X, Y)
    whole = file.read_text(encoding="utf-8").splitlines(keepends=True)
    head = json.loads(whole[0])
    head["settings"] |= setting
    file.write_text(json.dumps(head) + "\n" + "".join(whole[1:]), encoding="utf-8")
    said = f"a search of an earlier ceibo, which {why}; give this one a file of its own.$"
    with pytest.raises(InputError, match=said):
        search(file).fit(X, Y)
