"""A last look in a study: handed out, recorded, verified, at the end of runs; repeats."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ceibo
from ceibo import AtMost, Categorical, Float, Maximize, Measurement, Minimize, Precision, Study
from ceibo.errors import InputError, NewerSchemaError, NoMeasurementError
from ceibo.study import Limits

SPACE = {"x": Float(0, 1), "kind": Categorical(["a", "b"])}


def value_at(params: dict[str, Any]) -> float:
    wiggle = 0.05 * np.sin(1000 * params["x"])  # stands for noise, and is the same again
    return float((params["x"] - 0.3) ** 2 + 0.2 * (params["kind"] == "b") + wiggle)


def measured(count: int = 8, **options: Any) -> Study:
    study = Study.create(SPACE, **options)
    for _ in range(count):
        trial = study.ask()
        study.tell(trial, value_at(trial.params))
    return study


def purposes(study: Study) -> list[str | None]:
    return [trial.purpose for trial in study.trials]


def test_what_is_confirmed_is_recorded_and_verified(url: str) -> None:
    study = measured(storage=url)
    batch = study.confirm(3)
    assert [trial.number for trial in batch] == [8, 9, 10]
    assert [trial.purpose for trial in batch] == ["confirm"] * 3
    for trial in batch:
        study.tell(trial, value_at(trial.params))
    study.tell(study.ask(), 0.1)
    held = study.confirm(2, fixed={"kind": "b"}, shared=["x"])
    assert {trial.params["kind"] for trial in held} == {"b"}
    assert held[0].params["x"] == held[1].params["x"]
    records = study.suggestions
    assert [records[n].get("purpose") for n in (7, 8, 11, 12)] == [None, "confirm", None, "confirm"]
    assert records[8]["acquisition"] == "knowledge-gradient"
    again = Study.open(url)
    verified = again.verify()
    assert verified.ok
    assert verified.identical == verified.checked == 14
    assert purposes(again) == [None] * 8 + ["confirm"] * 3 + [None] + ["confirm"] * 2
    assert ceibo.Study.open(url).closeness(0.5).probability > 0.5


def test_a_record_without_its_purpose_would_not_verify(tmp_path: Path) -> None:
    study = measured(storage=f"sqlite:///{tmp_path}/lab.db")
    study.confirm(1)
    study.close()
    with sqlite3.connect(tmp_path / "lab.db") as connection:
        connection.execute(
            "UPDATE ceibo_trials SET suggestion = replace(suggestion, '\"confirm\"', '\"other\"'),"
            " checksum = NULL WHERE number = 8"
        )
    assert [each.number for each in Study.open(study.ledger.store.url).verify().differences] == [8]


def test_an_older_ceibo_refuses_what_it_cannot_know(tmp_path: Path) -> None:
    """By the column `data`, in which it allows nothing of a trial, and of a study other names."""
    study = measured(storage=f"sqlite:///{tmp_path}/lab.db")
    study.confirm(1)
    Study.create(SPACE, storage=f"sqlite:///{tmp_path}/lab.db", name="b", precision=Precision(1, 1))
    with sqlite3.connect(tmp_path / "lab.db") as connection:
        data = [row[0] for row in connection.execute("SELECT data FROM ceibo_trials")]
        assert data == [None] * 8 + ['{"purpose": "confirm"}']
        found = connection.execute("SELECT data FROM ceibo_studies WHERE name = 'b'").fetchone()[0]
        kept = {"setup": 1.0, "repeat": 1.0, "most": 16}
        assert json.loads(found) == {"outliers": True, "varying_noise": True, "precision": kept}
        for other in ('{"purpose": 3}', '{"place": "here"}', "[]"):
            connection.execute("UPDATE ceibo_trials SET data = ? WHERE number = 8", (other,))
            connection.execute("UPDATE ceibo_trials SET checksum = NULL WHERE number = 8")
            connection.commit()
            with pytest.raises(NewerSchemaError, match="upgrade ceibo"):
                Study.open(f"sqlite:///{tmp_path}/lab.db").trials  # noqa: B018 - it raises


def test_the_queue_is_left_alone_but_for_what_was_to_confirm() -> None:
    study = measured()
    mine = study.enqueue({"x": 0.9, "kind": "b"})
    (first,) = study.confirm(1)
    assert first.number == mine.number + 1
    study.release(first)
    assert study.confirm(1)[0].number == first.number  # handed out again
    assert study.ask().number == mine.number


@pytest.mark.parametrize(("confirm", "count"), [(0.25, 4), (3, 3), (0.01, 1), (16, 16), (0, 0)])
def test_the_end_of_a_run_goes_into_the_answer(confirm: float, count: int) -> None:
    result = ceibo.minimize(value_at, SPACE, n_trials=16, confirm=confirm)
    expected: list[str | None] = [None] * (16 - count) + ["confirm"] * count
    if count == 16:
        expected[0] = None  # nothing is known yet
    assert purposes(result.study) == expected
    assert ("with 90 % probability." in result.stop.message) == bool(count)
    assert result.study.verify().ok


def test_a_run_that_goes_on_counts_from_the_end(tmp_path: Path) -> None:
    options: dict[str, Any] = {"storage": f"sqlite:///{tmp_path}/lab.db", "confirm": 0.25}

    def stop(study: Study, trial: ceibo.Trial) -> None:
        if trial.number in (6, 10):
            raise ceibo.StopRun("for today")

    for _ in range(3):
        result = ceibo.minimize(value_at, SPACE, n_trials=12, callbacks=[stop], **options)
    whole = ceibo.minimize(value_at, SPACE, n_trials=12, confirm=3)
    assert result.study.trials[-1].state == "done"
    assert purposes(result.study) == [None] * 9 + ["confirm"] * 3
    found, expected = ([t.params for t in each.study.trials] for each in (result, whole))
    assert found == expected
    longer = ceibo.minimize(value_at, SPACE, n_trials=16, **options)
    assert purposes(longer.study) == [None] * 9 + ["confirm"] * 3 + ["confirm"] * 4
    assert longer.study.verify().ok


def test_batches_of_an_executor() -> None:
    with ThreadPoolExecutor(4) as pool:
        result = ceibo.minimize(value_at, SPACE, n_trials=16, confirm=6, executor=pool)
    assert purposes(result.study) == [None] * 10 + ["confirm"] * 6
    assert result.study.verify().ok


def test_limits_weigh_and_goals_are_refused() -> None:
    limited = {"gain": Maximize(), "heat": AtMost(0.5)}

    def react(params: dict[str, Any]) -> dict[str, float]:
        return {"gain": params["x"], "heat": params["x"] + 0.02 * np.sin(900 * params["x"])}

    result = ceibo.optimize(react, {"x": Float(0, 1)}, limited, n_trials=14, confirm=5)
    assert purposes(result.study) == [None] * 9 + ["confirm"] * 5
    assert all(trial.params["x"] < 0.75 for trial in result.study.trials[9:])
    assert result.study.verify().ok
    with pytest.raises(InputError, match="closeness is asked of a study of one objective"):
        result.study.closeness()
    goals = {"gain": Maximize(), "heat": Minimize()}
    with pytest.raises(InputError, match="this study has 2 goals, whose answer is a front"):
        ceibo.optimize(react, {"x": Float(0, 1)}, goals, n_trials=8, confirm=2)
    study = Study.create({"x": Float(0, 1)}, outcomes=goals)
    with pytest.raises(InputError, match="2 goals"):
        study.confirm(1)
    with pytest.raises(InputError, match="its front says"):
        study.closeness()


def test_there_must_be_an_answer() -> None:
    study = Study.create(SPACE)
    with pytest.raises(NoMeasurementError, match="no measurement yet, and so no answer to confirm"):
        study.confirm(1)
    limited = Study.create(SPACE, outcomes={"gain": Maximize(), "heat": AtMost(1.0)})
    limited.tell(limited.ask(), {"gain": 1.0})
    with pytest.raises(NoMeasurementError, match="no measurement of 'heat' yet"):
        limited.confirm(1)


@pytest.mark.parametrize("wrong", [-1, -0.1, True, 1.5, "0.2", None, float("nan"), 10**400])
def test_wrong_shares(wrong: Any) -> None:
    said = "confirm must be a share from 0 to below 1, or a whole number of trials, got"
    with pytest.raises(InputError, match=said):
        ceibo.minimize(value_at, SPACE, n_trials=5, confirm=wrong)


def test_a_share_of_an_unknown_number_and_more_than_all() -> None:
    with pytest.raises(InputError, match="confirm=6 is more than all 5 trials"):
        ceibo.minimize(value_at, SPACE, n_trials=5, confirm=6)
    with pytest.raises(InputError, match="their number is not known; give n_trials too"):
        ceibo.minimize(value_at, SPACE, timeout=5.0, confirm=0.2)
    assert Limits(confirm=0.2).or_default().confirm_from == 40
    for count in (0, -1, True, 1.5):
        with pytest.raises(InputError, match="count must be a whole number above zero"):
            measured(4).confirm(count)  # type: ignore[arg-type]  # that is the mistake


# -- precision ---------------------------------------------------------------------------


def test_repeats_are_handed_out_recorded_and_verified(url: str) -> None:
    price = Precision(setup=5.0, repeat=0.5, most=6)
    study = Study.create({"x": Float(0, 1)}, storage=url, precision=price)
    rng = np.random.default_rng(0)
    for _ in range(9):
        trial = study.ask()
        values = (trial.params["x"] - 0.3) ** 2 + 0.2 * rng.standard_normal(trial.repeats)
        study.tell(trial, Measurement.of(values.tolist()))
    batch = study.ask(3)
    again = Study.open(url)
    assert again.settings.precision == price
    repeats = [trial.repeats for trial in again.trials]
    assert repeats[:4] == [1] * 4  # of the initial design
    assert max(repeats) > 1
    assert [trial.repeats for trial in batch] == repeats[9:]
    assert [again.suggestions[n].get("repeats", 1) for n in range(12)] == repeats
    assert again.verify().ok
    # a trial of m values under way is as good as m of one
    pending = again.belief.evidence.pending
    assert len(pending) == sum(repeats[9:])


def test_an_objective_knows_how_often_to_measure() -> None:
    study = Study.create({"x": Float(0, 1)}, precision=Precision(10.0, 0.1, 4))
    seen = []

    def objective(params: dict[str, Any]) -> Measurement:
        seen.append(ceibo.current_trial().repeats)
        rng = np.random.default_rng(len(seen))
        values = params["x"] + 0.3 * rng.standard_normal(seen[-1])
        return Measurement.of(values.tolist())

    study.optimize(objective, n_trials=8, confirm=2)
    assert seen == [trial.repeats for trial in study.trials]
    assert max(seen) > 1


def test_a_study_without_a_price_says_nothing_of_it() -> None:
    study = measured(6)
    assert [trial.repeats for trial in study.trials] == [1] * 6
    assert not any({"repeats", "purpose"} & set(record) for record in study.suggestions.values())
    assert "repeats" not in repr(study.trials[0])


def test_a_price_of_precision_is_of_one_goal() -> None:
    goals = {"gain": Maximize(), "heat": Minimize()}
    with pytest.raises(InputError, match="is known of one goal, and there are 2"):
        Study.create(SPACE, outcomes=goals, precision=Precision(1.0, 0.2))
    limited = {"gain": Maximize(), "heat": AtMost(1.0)}
    study = Study.create({"x": Float(0, 1)}, outcomes=limited, precision=Precision(9.0, 0.1, 3))
    for _ in range(7):
        trial = study.ask()
        gain = Measurement(trial.params["x"], noise=0.5)
        study.tell(trial, {"gain": gain, "heat": 2 * trial.params["x"]})
    assert max(trial.repeats for trial in study.trials) > 1
    assert study.verify().ok
