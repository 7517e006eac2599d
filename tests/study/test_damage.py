"""Damaged databases: a clear error or an objection of `verify`, never another answer or a hang."""

import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from ceibo import Float, Study
from ceibo.errors import DamagedError, NewerSchemaError, StorageError
from ceibo.study.store import Lease, NewTrial
from ceibo.study.store.database import Database
from ceibo.study.store.integrity import Examination, examine
from soak.damage import WRONG, damage_many, watchdog


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A study of four measured trials, one handed out and one queued."""
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    study = Study.create({"x": Float(0, 1)}, storage=url, name="s", n_initial=8)
    for k in range(4):
        study.tell(study.ask(), 1.0 + k)
    study.ledger.create([NewTrial({"x": 0.5}, lease=Lease("w", 1e6))])
    study.enqueue({"x": 0.25})
    study.close()
    return url


def change(url: str, *statements: str) -> None:
    other = sqlite3.connect(url.removeprefix("sqlite:///"))
    for statement in statements:
        other.execute(statement)
    other.commit()
    other.close()


def examined(url: str) -> Examination:
    database = Database(url, 5.0)
    found = database.read(examine)
    database.close()
    return found


def test_a_small_battery(tmp_path: Path) -> None:
    results = damage_many(tmp_path, {"bytes": 12, "wal": 4, "cells": 14, "older": 6}, seed=5)
    assert [result for result in results if result.outcome in WRONG] == []
    found = Counter(result.outcome for result in results)
    assert found["clear error"] >= 8
    assert found["unharmed"] >= 4


def test_nothing_is_found_in_a_sound_study(url: str) -> None:
    assert examined(url) == Examination((), rows=1 + 6 + 10, uncovered=0)
    study = Study.open(url, "s")
    found = study.verify()
    assert (found.ok, found.findings, found.uncovered) == (True, (), 0)
    study.close()


@pytest.mark.parametrize(
    ("statement", "what", "sentence"),
    [
        ("UPDATE ceibo_events SET value = value + 1e-9 WHERE seq = 4", "event", "event 4 of tri"),
        ("UPDATE ceibo_events SET state = 'done' WHERE seq = 9", "event", "its checksum"),
        ("UPDATE ceibo_trials SET params = '{\"x\": 0.5}' WHERE number = 2", "trial", "trial 2 "),
        ("UPDATE ceibo_trials SET suggestion = NULL WHERE number = 2", "trial", "trial 2 "),
        ("UPDATE ceibo_studies SET created = 0.0", "study", "study 's' is damaged"),
        ("UPDATE ceibo_studies SET seq = 9", "counter", "counts 9 events"),
        ("UPDATE ceibo_studies SET trials = 99", "counter", "99 trials"),
        ("UPDATE ceibo_trials SET state = 'queued' WHERE number = 1", "state", "lead to 'done'"),
        ("UPDATE ceibo_trials SET attempt = 5 WHERE number = 1", "state", "its attempt is 5"),
        ("UPDATE ceibo_trials SET worker = 'v' WHERE number = 4", "state", "its worker is 'v'"),
        ("UPDATE ceibo_trials SET lease_until = 9e999", "trial", "its lease_until cannot be inf"),
        ("DELETE FROM ceibo_events WHERE seq = 3", "event", "event 4 stands where 3 belongs"),
        ("DELETE FROM ceibo_trials WHERE number = 0", "trial", "trial 1 stands where 0 belongs"),
        ("UPDATE ceibo_events SET study_id = 7 WHERE seq > 4", "orphan", "study id 7, which is"),
        ("UPDATE ceibo_trials SET token = CAST(x'ff' AS TEXT)", "trial", "its checksum"),
        ("UPDATE ceibo_studies SET space = '{' ", "study", "study 's' is damaged"),
        ("UPDATE ceibo_schema SET version = -1", "schema", "expected a version"),
        ("UPDATE ceibo_schema SET version = 2", "schema", "ceibo_schema says 2"),
        ("DROP TABLE ceibo_trials", "trial", "no longer holds the studies"),
    ],
)
def test_each_damage_is_found(url: str, statement: str, what: str, sentence: str) -> None:
    change(url, statement)
    found = examined(url).findings
    assert what in [each.what for each in found]
    assert sentence in "; ".join(each.sentence for each in found)


def test_verify_objects_without_raising(url: str) -> None:
    change(url, "UPDATE ceibo_events SET value = 7 WHERE seq = 4")
    study = Study.open(url, "s")
    found = study.verify()
    assert not found.ok
    assert [(each.what, each.study, each.trial) for each in found.findings] == [("event", 1, 1)]
    assert str(found).startswith("1 damage was found in the database: event 4 of trial 1 (study")
    with pytest.raises(DamagedError, match=r"event 4 of trial 1 .*checksum; run ceibo doctor"):
        _ = study.best
    study.close()


def test_rows_of_an_older_process_are_counted(url: str) -> None:
    change(url, "UPDATE ceibo_events SET checksum = NULL WHERE seq > 7")
    study = Study.open(url, "s")
    found = study.verify()
    assert (found.ok, found.uncovered) == (True, 3)
    study.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ceibo_studies SET trials = 2",
        "UPDATE ceibo_studies SET trials = 9",
        "UPDATE ceibo_studies SET seq = 4",
        "UPDATE ceibo_studies SET seq = 99",
        "UPDATE ceibo_studies SET id = 5",
        "DELETE FROM ceibo_trials WHERE number = 5",
        "UPDATE ceibo_trials SET state = 'queued' WHERE number = 1",
        "UPDATE ceibo_trials SET attempt = 9223372036854775807 WHERE state = 'queued'",
    ],
)
def test_an_ask_ends(url: str, statement: str) -> None:
    change(url, statement)
    with watchdog(30), pytest.raises(StorageError, match="is damaged"):
        Study.open(url, "s").ask()


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE ceibo_events SET checksum = NULL, outcome = 'cost' WHERE seq = 4", "outcome 'cos"),
        ("UPDATE ceibo_events SET checksum = NULL, data = '{}' WHERE seq = 4", "data .'{}'"),
        ("UPDATE ceibo_events SET checksum = NULL, kind = 'dyed' WHERE seq = 4", "kind 'dyed'"),
        ("UPDATE ceibo_trials SET checksum = NULL, data = '{}' WHERE number = 1", "data"),
        ("UPDATE ceibo_studies SET checksum = NULL, data = '{}'", "study 's' has data"),
    ],
)
def test_what_a_newer_ceibo_wrote_is_refused(url: str, statement: str, named: str) -> None:
    change(url, statement)
    with pytest.raises(NewerSchemaError, match=f"{named}.* upgrade ceibo"):
        _ = Study.open(url, "s").trials
