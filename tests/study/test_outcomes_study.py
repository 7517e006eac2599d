"""A study of several outcomes as its users see it: created, told, corrected, voided, asked."""

import math
import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import ceibo
from ceibo import AtLeast, AtMost, Float, Maximize, Measurement, Minimize, Study, Watch
from ceibo.errors import ConflictError, InputError, NoMeasurementError, StorageError
from ceibo.study import Failure
from ceibo.study.runner import Callback
from ceibo.study.trial_line import outcome_line
from soak.outcomes import unbroken, work

SPACE = {"x": Float(0, 1), "y": Float(0, 1)}
LIMITED = {"yield": Maximize(unit="%", low=0, high=100), "impurity": AtMost(1.5), "colour": Watch()}
GOALS = {"yield": Maximize(), "cost": Minimize()}


def react(params: dict[str, Any]) -> dict[str, Any]:
    """Noise that is the same whenever a setting is measured."""
    noise = random.Random(repr(sorted(params.items())))
    x, y = params["x"], params["y"]
    level = 80 - 50 * (x - 0.6) ** 2 - 30 * (y - 0.3) ** 2
    return {
        "yield": Measurement(level + noise.gauss(0, 0.5), noise=0.5),
        "impurity": 3 * x + y + noise.gauss(0, 0.05),
        "colour": x * y,
    }


def lab(count: int = 0, storage: str | None = None, **options: Any) -> Study:
    study = Study.create(SPACE, outcomes=LIMITED, storage=storage, n_initial=4, **options)
    for _ in range(count):
        trial = study.ask()
        study.tell(trial, react(trial.params))
    return study


# -- the record ------------------------------------------------------------------------


def test_outcomes_and_confidence_are_those_of_the_study(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    study = lab(storage=url, confidence=0.9)
    again = Study.open(url)
    for each in (study, again):
        assert dict(each.outcomes or {}) == LIMITED
        assert each.confidence == 0.9
        assert repr(each) == (
            "<Study 'study': maximize yield, impurity ≤ 1.5 over 2 parameters, 0 trials measured>"
        )
    assert lab().confidence == 0.95
    plain = Study.create(SPACE)
    assert (plain.outcomes, plain.confidence) == (None, None)


def test_an_outcome_is_told_when_it_is_known() -> None:
    study = lab()
    trial = study.ask()
    study.tell(trial, {"yield": 81.2})
    assert study.trials[0].state == "running"
    study.tell(trial.number, {"impurity": Measurement(1.7, noise=0.1)})
    told = study.trials[0]
    assert (told.state, told.names) == ("done", ("yield", "impurity"))
    assert told.outcomes == {
        "yield": (Measurement(81.2),),
        "impurity": (Measurement(1.7, noise=0.1),),
    }
    study.tell(trial, {"yield": 81.2})  # the same again
    study.tell(trial, {"yield": 80.1}, key="run-2")
    assert [each.value for each in study.trials[0].outcomes["yield"]] == [81.2, 80.1]
    assert outcome_line(study.trials[0]) == "yield 80.1 (+1), impurity 1.7 ± 0.1"


def test_a_single_outcome_takes_a_bare_number() -> None:
    study = Study.create(SPACE, outcomes={"yield": Maximize()})
    trial = study.ask()
    study.tell(trial, 81.2, noise=0.5)
    assert study.trials[0].outcomes == {"yield": (Measurement(81.2, noise=0.5),)}
    assert study.correct(trial, 82.0) == Measurement(81.2, noise=0.5)


def test_each_outcome_is_corrected_by_itself() -> None:
    study = lab(1)
    (told,) = study.trials
    wrong = told.outcomes["impurity"][0]
    assert study.correct(0, 0.5, noise=0.1, outcome="impurity") == wrong
    assert study.trials[0].outcomes["impurity"] == (Measurement(0.5, noise=0.1),)
    assert study.trials[0].outcomes["yield"] == told.outcomes["yield"]
    assert study.correct(0, {"impurity": 0.6, "colour": 7}) == {
        "impurity": Measurement(0.5, noise=0.1),
        "colour": told.outcomes["colour"][0],
    }
    assert "impurity 0.6 (corrected, was 0.5 ± 0.1)" in outcome_line(study.trials[0])


def test_a_voided_value_does_not_count_and_stays_in_the_record() -> None:
    study = lab(6)
    before = study.predict([{"x": 0.2, "y": 0.2}])
    evidence = study.joint_belief.evidence
    assert len(evidence.each["impurity"]) == 6
    study.void(5, "GC column was broken", outcome="impurity")
    assert len(study.joint_belief.evidence.each["impurity"]) == 5
    assert len(study.joint_belief.evidence.each["yield"]) == 6
    assert len(study.joint_belief.evidence.each["impurity"].pending) == 1
    trial = study.trials[5]
    assert (trial.state, [each.reason for each in trial.voided]) == (
        "running",
        ["GC column was broken"],
    )
    assert outcome_line(trial).endswith("; running")
    study.tell(5, {"impurity": trial.voided[0].measurement})
    assert study.trials[5].state == "done"
    assert study.predict([{"x": 0.2, "y": 0.2}]) == before
    assert study.verify().ok


def test_a_plain_study_voids() -> None:
    study = Study.create(SPACE)
    study.tell(study.ask(), 5.0)
    study.tell(study.ask(), 1.0)
    assert study.void(1, "wrong sample") == Measurement(1.0)
    assert (study.best.number, study.trials[1].state) == (0, "running")
    assert outcome_line(study.trials[1]) == "running (1 voided: wrong sample)"
    study.tell(1, 2.0)
    assert [each.value for each in study.trials[1].measurements] == [2.0]
    assert study.verify().ok


def test_added_with_what_is_known() -> None:
    study = lab()
    study.add({"x": 0.1, "y": 0.1}, react({"x": 0.1, "y": 0.1}))
    study.add({"x": 0.2, "y": 0.1}, {"yield": 70})
    study.add({"x": 0.3, "y": 0.1}, {"yield": 70, "impurity": math.nan})
    study.add({"x": 0.4, "y": 0.1}, Failure("exploded"))
    study.add({"x": 0.4, "y": 0.1}, {"impurity": math.inf})
    assert [trial.state for trial in study.trials] == ["done", "running", *["failed"] * 3]
    assert [trial.reason for trial in study.trials[2:]] == [
        "impurity is nan",
        "exploded",
        "impurity is inf",
    ]
    assert list(study.trials[2].outcomes) == ["yield"]
    evidence = study.joint_belief.evidence
    assert [len(each) for each in evidence.each.values()] == [3, 1, 1]
    assert [len(each.pending) for each in evidence.each.values()] == [0, 1, 1]
    assert (len(evidence.under_way), evidence.failures_in_a_row) == (1, 3)
    with pytest.raises(InputError):
        study.add_all([({"x": 0.5, "y": 0.1}, {"yield": 1}), ({"x": 0.5, "y": 0.1}, 1.0)])
    assert len(study.trials) == 5


def test_a_value_that_is_not_finite() -> None:
    study = lab()
    trial = study.ask()
    study.tell(trial, {"yield": 80, "impurity": math.nan, "colour": math.nan})
    failed = study.trials[0]
    assert (failed.state, failed.reason) == ("failed", "impurity is nan")
    assert failed.outcomes == {"yield": (Measurement(80),)}
    other = study.ask()
    study.tell(other, {"yield": 80, "impurity": 1, "colour": math.nan})  # only watched
    assert (study.trials[1].state, study.trials[1].names) == ("done", ("yield", "impurity"))
    study.tell(trial, {"impurity": 1.2})  # late, and finite after all
    assert study.trials[0].state == "done"


@pytest.mark.needs("pandas")
def test_a_table_has_a_row_per_trial() -> None:
    study = lab(1)
    study.tell(0, {"yield": 5}, key="run-2")
    study.tell(study.ask(), {"yield": 6})
    table = study.to_dataframe()
    assert list(table.columns) == [
        "number",
        "state",
        "reason",
        *("yield", "yield_noise", "impurity", "impurity_noise", "colour", "colour_noise"),
        "x",
        "y",
    ]
    assert table["number"].tolist() == [0, 0, 1]
    assert table["yield"].tolist()[1:] == [5.0, 6.0]
    assert table["impurity"].isna().tolist() == [False, True, True]
    named = Study.create(
        {"cost": Float(0, 1)},
        outcomes={"cost": Minimize(), "state": Watch(), "cost_noise": Watch()},
    )
    named.add({"cost": 0.5}, {"cost": 1, "state": 2, "cost_noise": 3})
    row = named.to_dataframe().iloc[0]
    assert (row["outcomes_cost"], row["outcomes_state"], row["cost_noise"]) == (1, 2, 3)
    assert row["cost"] == 0.5


# -- the answers -----------------------------------------------------------------------


def test_answers_under_limits_hold_them_likely() -> None:
    study = lab(14)
    for answer in (study.best, study.recommended):
        assert list(answer.outcomes) == ["yield", "impurity", "colour"]
        assert answer.mean == answer.outcomes["yield"].mean
        assert answer.p_feasible is not None
        assert answer.p_feasible >= 0.95
        assert 3 * answer.params["x"] + answer.params["y"] < 1.55
    assert study.best.params == study.trials[study.best.number or 0].params
    there = study.predict([study.best.params, {"x": 1, "y": 1}])
    assert there[0].mean == pytest.approx(study.best.mean)
    assert (there[1].p_feasible or 0) < 1e-3
    assert isinstance(study.noise, dict)
    assert set(study.noise) == set(LIMITED)
    assert study.noise["yield"] is None  # it was told
    assert study.verify().ok


def test_predict_in_a_plain_study() -> None:
    study = Study.create(SPACE)
    for k in range(6):
        study.add({"x": k / 5, "y": 0.5}, (k / 5 - 0.4) ** 2)
    found = study.predict([{"x": 0.4, "y": 0.5}, {"x": 1.0, "y": 0.5}])
    assert found[0] == study.belief.at({"x": 0.4, "y": 0.5})
    assert found[0].mean < found[1].mean
    with pytest.raises(InputError, match="expected a list of settings"):
        study.predict({"x": 0.4, "y": 0.5})  # type: ignore[dict-item]  # refused at run time
    with pytest.raises(InputError, match="outcomes; ask for its joint belief"):
        _ = lab(1).belief
    with pytest.raises(InputError, match="has no outcomes; ask for its belief"):
        _ = study.front


def test_two_goals_have_a_front() -> None:
    study = Study.create(SPACE, outcomes=GOALS, n_initial=5)
    for _ in range(9):
        trial = study.ask()
        told = react(trial.params)
        study.tell(trial, {"yield": told["yield"], "cost": told["impurity"]})
    front = study.front
    assert len(front) > 1
    means = [(each.outcomes["yield"].mean, each.outcomes["cost"].mean) for each in front]
    assert all(not (a[0] > b[0] and a[1] < b[1]) for a in means for b in means)
    assert all(each.params == study.trials[each.number or 0].params for each in front)
    assert set(study.raw_front) <= set(range(9))
    for question in ("best", "recommended", "best_observed"):
        with pytest.raises(InputError, match="ask for its front"):
            getattr(study, question)
    assert study.verify().ok


def test_while_something_is_missing_there_is_no_answer_and_no_reason_to_stop() -> None:
    study = lab()
    with pytest.raises(NoMeasurementError, match="no measurement yet"):
        _ = study.best
    assert "more measurement" in study.should_stop(0.1).message
    for _ in range(6):
        study.tell(study.ask(), {"yield": 80})
    with pytest.raises(NoMeasurementError, match="no measurement of 'impurity' yet"):
        _ = study.best
    verdict = study.should_stop(0.1)
    assert not verdict
    assert verdict.message == "go on: not every goal and limit has been measured."
    study.tell(5, {"impurity": 1})
    assert study.best.number == 5
    assert not study.should_stop(0.1)


def test_a_price_for_one_goal_and_none_for_several() -> None:
    study = lab(8)
    assert len(study.should_stop(0.1).remaining) == 2
    assert study.profit(0.1).evaluations == 4
    with pytest.raises(InputError, match="units of one goal"):
        Study.create(SPACE, outcomes=GOALS).should_stop(0.1)


# -- running ---------------------------------------------------------------------------


def test_optimize_is_asking_and_telling(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    seen: list[int] = []
    callback: Callback[Study] = lambda study, trial: seen.append(trial.number)  # noqa: E731 - typed
    ceibo.optimize(react, SPACE, LIMITED, n_trials=5, n_initial=4, storage=url)
    result = ceibo.optimize(
        react, SPACE, LIMITED, n_trials=9, n_initial=4, storage=url, callbacks=[callback]
    )
    by_hand = lab(9)
    assert seen == [5, 6, 7, 8]
    assert [each.params for each in result.study.trials] == [each.params for each in by_hand.trials]
    assert result.best == by_hand.best
    assert result.study.verify().ok
    with pytest.raises(InputError, match="the study's outcomes are"):
        ceibo.optimize(react, SPACE, GOALS, storage=url)
    with pytest.raises(InputError, match=r"confidence=0\.95, now came confidence=0\.9"):
        ceibo.optimize(react, SPACE, LIMITED, confidence=0.9, n_initial=4, storage=url)
    with pytest.raises(InputError, match="has the outcomes yield, impurity, colour; go on"):
        ceibo.minimize(lambda params: 1.0, SPACE, storage=url)


def test_an_objective_may_leave_an_outcome_for_later(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"

    def quick(params: dict[str, Any]) -> dict[str, Any]:
        return {"yield": react(params)["yield"]}

    result = ceibo.optimize(quick, SPACE, LIMITED, n_trials=5, n_initial=4, storage=url)
    study = result.study
    assert "5 of them wait for a result or an outcome" in result.stop.message
    assert {trial.state for trial in study.trials} == {"running"}
    assert study.ledger.workers() == {}
    again = ceibo.optimize(quick, SPACE, LIMITED, n_trials=5, n_initial=4, storage=url)
    assert [trial.attempt for trial in again.study.trials] == [1] * 5  # none was measured again
    for trial in study.trials:
        study.tell(trial, {"impurity": react(trial.params)["impurity"]})
    assert study.best.p_feasible is not None
    assert study.verify().ok


def test_an_objective_that_fails_in_part() -> None:
    def broken(params: dict[str, Any]) -> dict[str, Any]:
        told = react(params)
        return told | {"impurity": math.nan} if params["x"] > 0.5 else told

    study = ceibo.optimize(broken, SPACE, LIMITED, n_trials=8, n_initial=8, max_failures=None).study
    failed = [trial for trial in study.trials if trial.state == "failed"]
    assert failed
    assert all(trial.params["x"] > 0.5 for trial in failed)
    assert all(trial.names == ("yield", "colour") for trial in failed)
    assert "gave impurity = nan, which is not finite" in (failed[0].reason or "")


def test_processes_bring_outcomes_back() -> None:
    with ProcessPoolExecutor(2) as pool:
        study = ceibo.optimize(react, SPACE, LIMITED, n_trials=4, executor=pool).study
    for trial in study.trials:
        assert {name: each[0] for name, each in trial.outcomes.items()} == {
            name: each if isinstance(each, Measurement) else Measurement(each)
            for name, each in react(trial.params).items()
        }


@pytest.mark.parametrize("kind", ["limits", "goals", "watch", "partial"])
def test_a_study_reopened_at_every_step_suggests_the_same(tmp_path: Path, kind: str) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    whole = unbroken(kind, 3, 7)
    for count in range(1, 8):
        work(kind, url, 3, count)
    again = Study.open(url)
    assert [trial.params for trial in again.trials] == [trial.params for trial in whole.trials]
    assert again.suggestions == whole.suggestions
    found = again.verify()
    assert (found.ok, found.identical) == (True, 7)


# -- bad input -------------------------------------------------------------------------

Act = Callable[[Study], object]


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda s: s.tell(0, {"yeild": 1}), r"outcome must be one of yield.*got 'yeild'; did you"),
        (lambda s: s.tell(0, {1: 1}), r"outcome must be one of yield, impurity, colour, got 1"),
        (lambda s: s.tell(0, {}), "expected a value of yield, impurity, colour, got none"),
        (lambda s: s.tell(0, 81.2), "expected a value for each outcome, as in {'yield': …"),
        (lambda s: s.tell(0, {"yield": "high"}), "outcome 'yield': expected value to be a number"),
        (lambda s: s.tell(0, {"yield": None}), "outcome 'yield': expected value to be a number"),
        (lambda s: s.tell(0, {"yield": {"a": 1}}), "outcome 'yield': expected value to be a numb"),
        (lambda s: s.tell(0, {"yield": 1}, noise=0.1), "the noise of an outcome is told with"),
        (lambda s: s.tell(0, {"colour": math.nan}), "'colour': expected a finite value, got nan"),
        (lambda s: s.correct(0, 1.0), "expected a value for each outcome"),
        (lambda s: s.correct(0, 1.0, outcome="yeild"), "did you mean 'yield'"),
        (lambda s: s.correct(0, 1.0, outcome="yield"), "has no value of 'yield' to correct"),
        (lambda s: s.correct(0, {"yield": math.nan}), "expected a finite value in place"),
        (lambda s: s.void(0, "why", outcome="yeild"), "did you mean 'yield'"),
        (lambda s: s.void(0, "why"), "has no value to void"),
        (lambda s: s.void(0, ""), "expected a reason why the measurement does not count, got ''"),
        (lambda s: s.void(0, 3), "expected a reason why the measurement does not count, got 3"),
        (lambda s: s.void(9, "why", outcome="yield"), "has no trial 9"),
        (lambda s: s.add({"x": 0, "y": 0}, {"yeild": 1}), "did you mean 'yield'"),
        (lambda s: s.add({"x": 0, "y": 0}, 3.0), "expected a value for each outcome"),
    ],
)
def test_bad_input_is_refused_with_a_sentence_and_nothing_is_stored(act: Act, says: str) -> None:
    study = lab()
    study.ask()
    before = study.ledger.refresh()
    with pytest.raises(InputError, match=says) as caught:
        act(study)
    assert str(caught.value).endswith((".", "?"))
    assert study.ledger.refresh() == before


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"outcomes": {}}, "expected outcomes as in"),
        ({"outcomes": "yield"}, "expected outcomes as in"),
        ({"outcomes": {"yield": "maximize"}}, "outcome 'yield': expected Minimize"),
        ({"outcomes": {"impurity": AtMost(2.0)}}, "expected one to 3 goals.*got 0"),
        ({"outcomes": {f"g{k}": Minimize() for k in range(4)}}, "expected one to 3 goals.*got 4"),
        ({"outcomes": LIMITED, "direction": "maximize"}, "direction='maximize' is of a study with"),
        ({"outcomes": LIMITED, "confidence": 1.5}, "confidence must be"),
        ({"outcomes": LIMITED, "confidence": math.nan}, "confidence must be"),
        ({"confidence": 0.9}, "a study without outcomes has none"),
        ({"outcomes": GOALS, "acquisition": "corrected-ei"}, "corrected-ei"),
        ({"outcomes": LIMITED, "acquisition": "ucb"}, "ucb"),
    ],
)
def test_a_study_that_cannot_be_is_not_created(
    tmp_path: Path, options: dict[str, Any], says: str
) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    with pytest.raises(InputError, match=says):
        Study.create(SPACE, storage=url, **options)
    assert not (tmp_path / "lab.db").exists()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: AtMost(math.nan), "limit must be a finite number, got nan"),
        (lambda: AtLeast(math.inf), "limit must be a finite number, got inf"),
        (lambda: AtMost("2"), "limit must be a finite number"),  # type: ignore[arg-type]  # refused
        (lambda: AtMost(-1.0, low=0), "can never be held with low=0"),
        (lambda: AtLeast(101, high=100), "can never be held with high=100"),
        (lambda: Maximize(low=100, high=0), "low must be below high"),
    ],
)
def test_limits_that_mean_nothing(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


def test_an_outcome_told_twice_with_another_value() -> None:
    study = lab()
    trial = study.ask()
    study.tell(trial, {"yield": 80})
    before = study.ledger.refresh()
    with pytest.raises(ConflictError, match=r"trial 0 has yield = .*80.* already, got .*81.*run-2"):
        study.tell(trial, {"impurity": 1, "yield": 81})
    assert study.ledger.refresh() == before


def test_a_dict_where_a_number_belongs() -> None:
    study = Study.create(SPACE)
    study.ask()
    with pytest.raises(
        InputError, match=r"expected value to be a number, got \{'yield': 1\} .dict"
    ):
        study.tell(0, {"yield": 1})
    with pytest.raises(InputError, match="the study has one objective and no outcomes"):
        study.correct(0, 1.0, outcome="yield")
    with pytest.raises(InputError, match="the study has one objective and no outcomes"):
        study.void(0, "why", outcome="yield")
    assert study.trials[0].measurements == ()
    with pytest.raises(InputError, match="expected value to be a number"):
        ceibo.minimize(lambda params: {"yield": 1}, SPACE, n_trials=2)


def test_a_kind_of_outcome_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    study = lab(storage=url)
    data = {"outcomes": {"yield": {"goal": "target"}}}
    study.ledger.store.create_study(
        "newer", study.space.to_json(), {"seed": 0, "suggest": {}}, data
    )
    with pytest.raises(StorageError, match=r"study 'newer' cannot be used here: .*'target'"):
        Study.open(url, "newer")
