"""Spaces that change: data stay, the record keeps every space, and retired choices stay away."""

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ceibo import AtMost, Categorical, Float, Int, Minimize, Space, Study, minimize
from ceibo.errors import DamagedError, InputError, NewerSchemaError
from ceibo.study.deciding import Decider
from ceibo.study.doctor import examine
from ceibo.study.store import Lease
from ceibo.study.store.checksum import checksum_of_row
from ceibo.study.store.schema import events

FIRST = {"temp": Float(20, 90), "solvent": Categorical(["THF", "DMF"])}
SECOND = {"temp": Float(30, 120), "solvent": Categorical(["DMF", "MeCN"])}


def value_at(params: dict[str, Any]) -> float:
    offset = {"THF": 0.3, "DMF": 0.6, "MeCN": 0.0}[params["solvent"]]
    humid = (params.get("humidity", 40.0) - 40.0) / 100
    return float(((params["temp"] - 70) / 50) ** 2 + offset + humid**2)


def measure(study: Study, count: int, **options: Any) -> list[dict[str, Any]]:
    asked = []
    for _ in range(count):
        trial = study.ask(**options)
        study.tell(trial, value_at(trial.params), noise=0.02)
        asked.append(trial.params)
    return asked


def test_a_study_goes_on_in_another_space(url: str) -> None:
    study = Study.create(FIRST, storage=url, seed=5)
    measure(study, 8)
    study.change(SECOND)
    assert study.space == Space(SECOND)
    later = measure(study, 6)
    assert {params["solvent"] for params in later} <= {"DMF", "MeCN"}
    assert all(30 <= params["temp"] <= 120 for params in later)
    study.change(SECOND | {"humidity": Float(20, 80)}, before={"humidity": 40})
    last = measure(study, 6, fixed={"humidity": 55.5})
    assert {params["humidity"] for params in last} == {55.5}
    assert "humidity" not in study.trials[0].params
    again = Study.open(url)
    assert again.space.names == ("temp", "solvent", "humidity")
    assert len(again.trials) == 20
    verified = again.verify()
    assert verified.checked == verified.identical == 20, verified
    assert again.ledger.store.examine(again.ledger.id).findings == ()
    changes = again.ledger.refresh().changes
    assert [len(change.data["space"]) for change in changes] == [2, 3]
    assert again.ledger.store.snapshot(again.ledger.id, at=changes[0].seq - 1).changes == ()
    measured = again.trials[again.best.number or 0].params
    assert again.best.params == {"humidity": 40.0, **measured}
    assert again.recommended.params["solvent"] in ("DMF", "MeCN")


def test_old_data_inform_the_model() -> None:
    study = Study.create(FIRST, seed=5)
    for temp in (25.0, 45.0, 65.0, 85.0):
        for solvent in ("THF", "DMF"):
            params = {"temp": temp, "solvent": solvent}
            study.add(params, value_at(params), noise=0.01)
    (before,) = study.predict([{"temp": 65.0, "solvent": "DMF"}])
    study.change({"temp": Float(60, 80), "solvent": Categorical(["DMF", "MeCN"])})
    (after,) = study.predict([{"temp": 65.0, "solvent": "DMF"}])
    assert after.mean == pytest.approx(before.mean, abs=0.03)
    assert after.std < 0.05
    assert len(study.belief.evidence) == 8
    assert study.recommended.params["temp"] >= 60.0
    (unknown,) = study.predict([{"temp": 65.0, "solvent": "MeCN"}])
    assert unknown.std > after.std


def test_the_answer_is_a_setting_of_the_present_space() -> None:
    study = Study.create(FIRST, seed=1)
    measure(study, 12)
    study.add({"temp": 45.0, "solvent": "DMF"}, 0.9, noise=0.02)
    assert study.best.params["solvent"] == "THF"
    study.change({"temp": Float(20, 50), "solvent": Categorical(["DMF", "MeCN"])})
    assert study.best.params["solvent"] == "DMF"
    assert study.best.params["temp"] <= 50
    assert study.best_observed.params["solvent"] == "THF"  # what was measured was measured
    why = study.best_observed.why
    assert "is outside the space as it is now" in why
    assert f"trial {study.best.number} is the best within" in why
    found = study.recommended
    assert found.params["solvent"] != "THF"
    assert 20 <= found.params["temp"] <= 50
    assert study.recommend({"solvent": "DMF"}).params["solvent"] == "DMF"


def test_queued_suggestions_that_no_longer_fit_are_withdrawn(url: str) -> None:
    study = Study.create(FIRST, storage=url, seed=0)
    mine = study.enqueue({"temp": 85.0, "solvent": "THF"})
    study.ask()
    given = study.ask(fixed={"solvent": "THF"})
    fits = study.ask(fixed={"solvent": "DMF", "temp": 40.0})
    for trial in (mine, given, fits):
        study.release(trial)
    lapsed = study.asking.ask(Lease("gone", 0.01), None)
    assert lapsed is not None
    assert lapsed.number == mine.number
    study.change({"temp": Float(20, 60), "solvent": Categorical(["DMF", "MeCN"])})
    states = {trial.number: trial.state for trial in study.trials}
    assert states[given.number] == "withdrawn"
    assert states[fits.number] == "queued"
    time.sleep(0.05)  # until the lease has lapsed
    taken = study.ask(2)
    assert [trial.number for trial in taken] == [mine.number, fits.number]  # the user's stays
    study.tell(given, 0.4)  # measured after all
    assert study.trials[given.number].state == "done"
    assert study.verify().ok


def test_a_suggestion_released_after_the_change_is_withdrawn_when_its_turn_comes() -> None:
    study = Study.create(FIRST, seed=0)
    running = study.ask(fixed={"solvent": "THF"})
    study.change(SECOND)
    assert study.trials[running.number].state == "running"
    study.release(running)
    assert study.ask().number == 1
    assert study.trials[running.number].state == "withdrawn"


def test_another_process_learns_of_the_change(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Study.create(FIRST, storage=url, seed=0)
    other = Study.open(url)
    one.enqueue({"temp": 85.0, "solvent": "THF"})
    one.change(SECOND)
    assert other.space == Space(FIRST)  # it has not looked since
    assert other.ask().params["solvent"] == "THF"  # enqueued by the user
    assert other.space == Space(SECOND)
    suggest, calls = Decider.suggest, []

    def overtaken(self: Decider, *arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 1:  # between the look and the record of the suggestion
            one.change(SECOND | {"solvent": Categorical(["MeCN", "water"])})
        return suggest(self, *arguments, **options)

    monkeypatch.setattr(Decider, "suggest", overtaken)
    asked = other.ask(4)
    assert {trial.params["solvent"] for trial in asked} <= {"MeCN", "water"}
    assert len(calls) == 5
    assert Study.open(url).verify().ok


def test_an_objective_gets_every_parameter(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    study = Study.create(FIRST, storage=url)
    study.enqueue({"temp": 50.0, "solvent": "DMF"})
    study.release(study.ask(fixed={"solvent": "DMF", "temp": 51.0}))
    space = FIRST | {"humidity": Float(20, 80)}
    study.change(space, before={"humidity": 40})
    assert study.trials[1].state == "withdrawn"  # a suggestion that lacks a value
    seen = []

    def objective(params: dict[str, Any]) -> float:
        seen.append(params)
        return value_at(params) + float(params["humidity"])

    minimize(objective, space, n_trials=4, storage=url)
    assert seen[0] == {"temp": 50.0, "solvent": "DMF", "humidity": 40.0}
    assert study.trials[0].params == {"temp": 50.0, "solvent": "DMF"}
    assert len(seen) == 3
    assert study.verify().ok


def test_the_best_setting_from_before_has_every_parameter_of_today() -> None:
    study = Study.create(FIRST, seed=5)
    measure(study, 6)
    study.change(FIRST | {"humidity": Float(20, 80)}, before={"humidity": 40})
    for best in (study.best, study.best_observed):
        assert best.params == {**study.trials[best.number or 0].params, "humidity": 40.0}
        assert study.enqueue(best.params).params == best.params


def test_the_same_space_changes_nothing() -> None:
    study = Study.create(FIRST)
    study.change(dict(reversed(FIRST.items())))
    assert study.ledger.refresh().seq == 0
    study.change(SECOND)
    study.change(SECOND)
    assert len(study.ledger.changes) == 1


@pytest.mark.parametrize(
    ("space", "before"),
    [
        ({"temp": Float(20, 90)}, None),
        (FIRST | {"temp": Int(20, 90)}, None),
        (FIRST | {"h": Float(0, 1)}, None),
        (FIRST | {"h": Float(0, 1)}, {"h": 2}),
        ({"temp": 3}, None),
    ],
)
def test_a_change_that_is_refused_changes_nothing(space: Any, before: Any) -> None:
    study = Study.create(FIRST)
    with pytest.raises(InputError):
        study.change(space, before)
    assert study.space == Space(FIRST)
    assert study.ledger.refresh().seq == 0


def test_rules_may_change_too() -> None:
    space = {"a": Float(0, 1), "b": Float(0, 1)}
    study = Study.create(space, seed=0)
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, trial.params["a"] + trial.params["b"], noise=0.01)
    study.change(Space(space, constraints=["a + b >= 0.5"]))
    for _ in range(6):
        trial = study.ask()
        assert trial.params["a"] + trial.params["b"] >= 0.5 - 1e-9
        study.tell(trial, trial.params["a"] + trial.params["b"], noise=0.01)
    assert sum(study.recommended.params.values()) >= 0.5 - 1e-9
    study.change(space)
    assert study.space.constraints == ()
    assert sum(study.recommended.params.values()) < 0.5
    assert study.verify().ok


def test_several_outcomes() -> None:
    study = Study.create(FIRST, outcomes={"loss": Minimize(), "heat": AtMost(100.0)}, seed=0)
    for step in range(2):
        for _ in range(8):
            trial = study.ask()
            study.tell(trial, {"loss": value_at(trial.params), "heat": trial.params["temp"]})
        if step == 0:
            study.change(SECOND)
    assert study.recommended.params["solvent"] in ("DMF", "MeCN")
    assert study.recommended.params["temp"] < 103
    assert study.verify().ok


def test_facts_are_taken_wherever_they_were_measured() -> None:
    study = Study.create(FIRST | {"n": Int(1, 4), "level": Float(0, 1, step=0.25)}, seed=0)
    inside = {"temp": 50.0, "solvent": "THF", "n": 2, "level": 0.5}
    study.add(inside | {"temp": 140, "n": 9, "level": 0.3}, 1.0)
    assert study.trials[0].params == {"temp": 140.0, "solvent": "THF", "n": 9, "level": 0.3}
    assert study.belief.evidence.X[0].tolist() == pytest.approx([120 / 70, 0.25, 2.125, 0.34])
    for wrong in ({"temp": "hot"}, {"n": 2.5}, {"solvent": "water"}, {"level": float("nan")}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            study.add(inside | wrong, 1.0)
    with pytest.raises(InputError, match="'temp'"):
        study.enqueue(inside | {"temp": 140})
    for _ in range(9):
        trial = study.ask()
        assert study.space.check(trial.params) == trial.params
        study.tell(trial, value_at(trial.params), noise=0.1)
    assert study.verify().ok


def test_opening_with_another_space_names_the_way() -> None:
    study = Study.create(FIRST)
    with pytest.raises(InputError, match=r"study\.change\(space\)"):
        study.space.check_same(Space(SECOND))


def test_copies_and_the_doctor_know_of_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    study = Study.create(FIRST, storage=url)
    measure(study, 5)
    study.change(SECOND)
    measure(study, 2)
    study.backup(tmp_path / "copy.db")
    copy = Study.open(f"sqlite:///{tmp_path / 'copy.db'}")
    assert copy.space == Space(SECOND)
    assert copy.verify().ok
    found = examine(url)
    assert found.healthy
    assert any("its space was changed 1 time" in fact for fact in found.facts)


def test_damage_and_a_newer_ceibo_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    study = Study.create(FIRST, storage=f"sqlite:///{path}")
    study.change(SECOND)
    study.close()
    text = json.dumps({"space": Space(SECOND).to_json(), "before": {}, "colour": 1})
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE ceibo_events SET data = ? WHERE number = -1", (text,))
    with pytest.raises(DamagedError, match="does not match its checksum"):
        Study.open(f"sqlite:///{path}")
    with sa.create_engine(f"sqlite:///{path}").begin() as connection_:
        row = connection_.execute(sa.select(events)).one()
        seal = {"checksum": checksum_of_row(events, row)}
        connection_.execute(events.update().values(**seal))
    with pytest.raises(NewerSchemaError, match="the part 'colour', which this ceibo does not know"):
        _ = Study.open(f"sqlite:///{path}").space
