"""verify(): past suggestions come out of the record again, and a record that was changed is
found.
"""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from ceibo import Float, Int, Study
from ceibo.decide.record import ALGORITHM
from ceibo.study import verify as module
from ceibo.study.store import schema

SPACE = {"x": Float(0, 1), "k": Int(0, 9)}


def worked(url: str | None, trials: int = 9) -> Study:
    study = Study.create(SPACE, storage=url, seed=1, acquisition="corrected-ei", kernel="matern52")
    for _ in range(trials):
        trial = study.ask()
        study.tell(trial, (trial.params["x"] - 0.3) ** 2 + 0.1 * trial.params["k"], noise=0.05)
    return study


def tamper(study: Study, statement: str, **values: object) -> Study:
    """The study after a change of one row by somebody who knows of the checksums."""
    with study.ledger.store._database._engine.begin() as connection:
        assert connection.execute(sa.text(statement), values).rowcount == 1
        for table in (schema.studies, schema.trials, schema.events):
            connection.execute(table.update().values(checksum=None))
    return Study.open(study.ledger.store.url, study.name)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return worked(f"sqlite:///{tmp_path / 'lab.db'}")


def test_a_study_worked_one_by_one_and_in_batches(study: Study) -> None:
    study.add({"x": 0.5, "k": 3}, 0.2)
    study.enqueue({"x": 0.1, "k": 1})
    batch = study.ask(4)
    study.fail(batch[1], "no")
    for trial in (batch[2], batch[0]):
        study.tell(trial, 0.5)
    study.release(batch[3])
    study.ask(3)
    found = study.verify()
    assert found.ok
    assert found.checked == found.identical == found.same_versions == 9 + 3 + 2
    assert str(found) == "14 suggestions verified: 14 byte for byte, 0 within 1e-06."


def test_a_changed_measurement_is_found(study: Study) -> None:
    changed = tamper(
        study, "UPDATE ceibo_events SET value = value + 1 WHERE number = 3 AND kind = 'measured'"
    )
    found = changed.verify()
    assert not found.ok
    assert found.differences[0].number >= 4  # what was suggested before the change still agrees
    assert "came out differently: trials" in str(found)


def test_changed_settings_of_a_trial_are_found(study: Study) -> None:
    new = json.dumps({"x": 0.123, "k": 2})
    changed = tamper(study, "UPDATE ceibo_trials SET params = :new WHERE number = 6", new=new)
    assert 6 in [difference.number for difference in changed.verify().differences]


@pytest.mark.parametrize(
    "field", ["x", "value", "seed", "start", "hyperparameters", "incumbent", "acquisition"]
)
def test_a_changed_record_is_found(study: Study, field: str) -> None:
    record = study.suggestions[7]
    record[field] = {
        "x": [0.5, 0.5],
        "value": 1.0,
        "seed": 3,
        "start": None,
        "hyperparameters": record["hyperparameters"] | {"variance": 2.0},
        "incumbent": {"mean": 0.0, "std": 1.0},
        "acquisition": "ei",
    }[field]
    changed = tamper(
        study, "UPDATE ceibo_trials SET suggestion = :new WHERE number = 7", new=json.dumps(record)
    )
    assert 7 in [difference.number for difference in changed.verify().differences]


def test_an_older_arithmetic_is_superseded_and_not_a_difference(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {record["algorithm"] for record in study.suggestions.values()} == {ALGORITHM}
    monkeypatch.setattr(module, "ALGORITHM", ALGORITHM + 1)
    monkeypatch.setattr("ceibo.decide.record.ALGORITHM", ALGORITHM + 1)
    study.ask(2)
    found = study.verify()
    assert (found.ok, found.checked, found.identical, found.superseded) == (True, 11, 11, 0)
    record = study.suggestions[7] | {"value": 1.0}  # what another arithmetic would have found
    changed = tamper(
        study, "UPDATE ceibo_trials SET suggestion = :new WHERE number = 7", new=json.dumps(record)
    )
    found = changed.verify()
    assert (found.ok, found.checked, found.identical, found.superseded) == (True, 10, 10, 1)
    assert "1 by another version" in str(found)


def test_a_record_without_a_version_is_of_the_first(study: Study) -> None:
    record = study.suggestions[7]
    del record["algorithm"]
    changed = tamper(
        study, "UPDATE ceibo_trials SET suggestion = :new WHERE number = 7", new=json.dumps(record)
    )
    found = changed.verify()
    assert (found.ok, found.identical, found.superseded) == (True, 9, 0)


def test_other_versions_may_differ_in_the_last_digits(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = study.suggestions[5]
    record["x"][0] += 1e-8
    params = study.space.from_unit(record["x"])
    study = tamper(
        study, "UPDATE ceibo_trials SET suggestion = :new WHERE number = 5", new=json.dumps(record)
    )
    study = tamper(
        study, "UPDATE ceibo_trials SET params = :new WHERE number = 5", new=json.dumps(params)
    )
    strict = study.verify()
    assert 5 in [difference.number for difference in strict.differences]
    assert strict.differences[0].distance < 1e-3
    monkeypatch.setattr(module, "versions", lambda: {"ceibo": "another"})
    lenient = study.verify()
    assert lenient.same_versions == 0
    assert 5 not in [difference.number for difference in lenient.differences]
    assert lenient.close >= 1


def test_what_is_recorded(study: Study) -> None:
    first, last = study.suggestions[0], study.suggestions[8]
    assert first["source"] == "initial"
    assert set(first) == {"source", "seen", "seed", "x", "algorithm", "versions"}
    assert (last["source"], last["acquisition"], last["fit"], last["fallback"]) == (
        "model",
        "corrected-ei",
        "converged",
        None,
    )
    assert (last["seen"], last["observations"], last["used"]) == (16, 8, 8)
    assert last["value"] > 0
    assert last["kernel"] == "Matern52"
    assert last["start"] == study.suggestions[7]["hyperparameters"]
    assert {"ceibo", "numpy", "scipy", "platform", "blas"} == set(last["versions"])
