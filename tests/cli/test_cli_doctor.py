"""`ceibo doctor`: what is wrong with a database is said, and nothing in it is changed."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import ceibo as package
from ceibo.study.store import Lease, NewTrial, Store
from tests.cli.cli_tools import Ceibo

OLD = Path(__file__).parents[1] / "data" / "29a131d"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with one study of six trials, closed."""
    file = tmp_path / "lab.db"
    study = package.Study.create(
        {"x": package.Float(0, 1)}, storage=f"sqlite:///{file}", name="bowl", seed=0
    )
    for _ in range(5):
        trial = study.ask()
        study.tell(trial, (trial.params["x"] - 0.3) ** 2)
    study.ask()
    study.close()
    return file


def change(file: Path, statement: str) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(statement)
    connection.close()


def test_a_sound_database_has_no_problem(ceibo: Ceibo, database: Path) -> None:
    before = database.read_bytes()
    answer = ceibo("doctor", f"sqlite:///{database}")
    assert answer.status == 0, answer
    assert "study 'bowl': 6 trials (5 done, 1 running), 5 measurements" in answer.out
    assert "trial 5 was asked for by hand and waits" in answer.out
    assert "No problem was found." in answer.out
    assert ceibo("doctor", database).out == answer.out
    assert database.read_bytes() == before


def test_a_study_file_names_the_database_and_the_study(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    answer = ceibo("doctor", file)
    assert answer.status == 0, answer
    assert "12 trials (12 running), 0 measurements" in answer.out


def test_a_changed_value_is_found(ceibo: Ceibo, database: Path) -> None:
    change(database, "UPDATE ceibo_events SET value = 0.5 WHERE kind = 'measured' AND number = 2")
    answer = ceibo("doctor", database, "--json")
    assert answer.status == 1, answer
    told = json.loads(answer.out)
    assert not told["healthy"]
    assert any("trial 2" in each["what"] for each in told["findings"])
    assert all(each["advice"] for each in told["findings"])


def test_a_deleted_measurement_is_found(ceibo: Ceibo, database: Path) -> None:
    change(database, "DELETE FROM ceibo_events WHERE kind = 'measured' AND number = 4")
    answer = ceibo("doctor", database)
    assert answer.status == 1, answer
    assert "PROBLEM" in answer.out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no ceibo studies"),
        (b"name,value\n1,2\n" * 100, "not an SQLite database"),
        (b"SQLite format 3\0" + b"\x07" * 4000, "PROBLEM"),
    ],
)
def test_a_foreign_file_is_no_exception(
    ceibo: Ceibo, tmp_path: Path, content: bytes, says: str
) -> None:
    file = tmp_path / "other.db"
    file.write_bytes(content)
    answer = ceibo("doctor", file)
    assert answer.status == 1, answer
    assert says in answer.out
    assert file.read_bytes() == content


def test_a_cut_file_is_no_exception(ceibo: Ceibo, database: Path) -> None:
    content = database.read_bytes()
    for length in range(1000, len(content), 4096):
        database.write_bytes(content[:length])
        answer = ceibo("doctor", database)
        assert answer.status == 1, (length, answer)
        assert "PROBLEM" in answer.out


def test_a_missing_file_is_not_created(ceibo: Ceibo, tmp_path: Path) -> None:
    answer = ceibo("doctor", tmp_path / "none.db")
    assert answer.status == 1
    assert "does not exist" in answer.out
    assert not (tmp_path / "none.db").exists()


def test_an_older_database_is_read_as_it_is(ceibo: Ceibo, tmp_path: Path) -> None:
    for old in sorted(OLD.glob("*.db")):
        file = Path(shutil.copy(old, tmp_path / old.name))
        answer = ceibo("doctor", file)
        assert answer.status == 0, answer
        assert "the first write brings it from schema version" in answer.out
        assert file.read_bytes() == old.read_bytes()


def test_a_lapsed_lease_is_a_note(ceibo: Ceibo, database: Path) -> None:
    store = Store(f"sqlite:///{database}")
    lease = Lease("gone", seconds=60)
    store.create_trials(store.study("bowl").id, [NewTrial({"x": 0.5}, lease=lease)])
    store.close()
    change(database, "UPDATE ceibo_trials SET lease_until = 1000.0 WHERE number = 6")
    answer = ceibo("doctor", database)
    assert answer.status == 0, answer
    assert "trial 6: its worker gone has not been heard of" in answer.out
