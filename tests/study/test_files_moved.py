"""A database deleted, renamed, replaced or robbed of its log under an open study; its backups."""

import os
import random
import shutil
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from ceibo import Float, Study
from ceibo.errors import (
    InputError,
    MovedDatabaseError,
    NotStoredError,
    StorageError,
    StorageWarning,
    UnreachableError,
)
from ceibo.files import write_whole
from ceibo.study.store import Store, advice, database, keeper
from soak.power import SYNC, check, compile_recorder, disk_after, lose_power, record
from soak.server import Server
from soak.vanish import WAYS, vanish

SPACE = {"x": Float(0, 1)}


def begun(folder: Path, tells: int = 3) -> Study:
    study = Study.create(SPACE, storage=f"sqlite:///{folder / 'lab.db'}", n_initial=50)
    for value in range(tells):
        study.tell(study.ask(), float(value))
    return study


def values_in(file: Path) -> list[float]:
    study = Study.open(f"sqlite:///{file}")
    found = [trial.measurements[0].value for trial in study.trials if trial.measurements]
    study.close()
    return found


def test_a_deleted_file_is_noticed_and_what_it_held_is_rescued(tmp_path: Path) -> None:
    study = begun(tmp_path)
    trial = study.ask()
    (tmp_path / "lab.db").unlink()
    with pytest.raises(NotStoredError, match="deleted or renamed while") as caught:
        study.tell(trial, 7.0)
    assert isinstance(caught.value.__cause__, MovedDatabaseError)
    with pytest.raises(MovedDatabaseError, match=r"study\.backup"):
        study.ask()
    assert not (tmp_path / "lab.db").exists()
    assert len(study.trials) == 4  # reading goes on
    study.backup(tmp_path / "rescued.db")
    assert values_in(tmp_path / "rescued.db") == [0.0, 1.0, 2.0]
    study.close()


def test_a_renamed_file_is_complete_and_can_be_put_back(tmp_path: Path) -> None:
    study = begun(tmp_path)
    (tmp_path / "lab.db").rename(tmp_path / "elsewhere.db")
    with pytest.raises(MovedDatabaseError, match="deleted or renamed"):
        study.ask()
    shutil.copy(tmp_path / "elsewhere.db", tmp_path / "copy.db")
    assert values_in(tmp_path / "copy.db") == [0.0, 1.0, 2.0]
    (tmp_path / "elsewhere.db").rename(tmp_path / "lab.db")
    study.tell(study.ask(), 3.0)
    study.close()
    assert values_in(tmp_path / "lab.db") == [0.0, 1.0, 2.0, 3.0]


def test_a_replaced_file_is_noticed(tmp_path: Path) -> None:
    study = begun(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    begun(other, tells=1).close()
    (other / "lab.db").replace(tmp_path / "lab.db")
    with pytest.raises(MovedDatabaseError, match="replaced by another file"):
        study.ask()
    study.backup(tmp_path / "rescued.db")
    study.close()
    assert values_in(tmp_path / "rescued.db") == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_a_removed_log_loses_nothing(tmp_path: Path, end: str) -> None:
    study = begun(tmp_path)
    trial = study.ask()
    (tmp_path / f"lab.db{end}").unlink()
    with pytest.raises(NotStoredError, match=f"lab.db{end}.*was removed while"):
        study.tell(trial, 7.0)
    study.close()
    assert values_in(tmp_path / "lab.db") == [0.0, 1.0, 2.0]
    study.tell(trial, 7.0)
    study.close()
    assert values_in(tmp_path / "lab.db") == [0.0, 1.0, 2.0, 7.0]


@pytest.mark.parametrize("seed", range(len(WAYS)))
def test_files_vanish_under_workers(tmp_path: Path, seed: int) -> None:
    case = vanish(tmp_path, seed)
    assert case.passed, case
    assert case.raised


def test_a_copy_of_an_open_study_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: each write comes long after the last copying of the log, and copies it."""
    monkeypatch.setattr(keeper, "LARGEST_SHARE", 1.0)  # also on a slow disk
    study = Study.create(SPACE, storage=f"sqlite:///{tmp_path / 'lab.db'}")
    for value in range(3):
        time.sleep(1.5 * keeper.SHORTEST_REST)
        study.tell(study.enqueue({"x": 0.1 * value}), float(value))
        time.sleep(1.5 * keeper.SHORTEST_REST)
        trial = study.ask()
        shutil.copy(tmp_path / "lab.db", tmp_path / f"copy-{value}.db")
        assert values_in(tmp_path / f"copy-{value}.db") == [float(k) for k in range(value + 1)]
        study.withdraw(trial)
    study.close()


def test_a_closed_file_is_complete_while_another_program_has_it_open(tmp_path: Path) -> None:
    study = begun(tmp_path)
    other = sqlite3.connect(tmp_path / "lab.db")
    other.execute("SELECT count(*) FROM ceibo_events").fetchall()
    study.close()
    (tmp_path / "copy.db").write_bytes((tmp_path / "lab.db").read_bytes())
    assert values_in(tmp_path / "copy.db") == [0.0, 1.0, 2.0]
    other.close()


def test_a_backup_holds_everything_and_replaces_nothing_unasked(url: str, tmp_path: Path) -> None:
    study = Study.create(SPACE, storage=url, name="lab", seed=3)
    for value in range(12):
        study.tell(study.ask(), float(value), noise=0.1)
    pending = study.ask()
    study.backup(tmp_path / "copy.db")
    copy = Study.open(f"sqlite:///{tmp_path / 'copy.db'}", "lab")
    assert copy.trials == study.trials
    assert copy.suggestions == study.suggestions
    assert copy.verify().ok
    copy.tell(pending.number, 3.0)
    with pytest.raises(InputError, match="exists already"):
        study.backup(tmp_path / "copy.db")
    copy.close()
    study.backup(tmp_path / "copy.db", force=True)
    again = Study.open(f"sqlite:///{tmp_path / 'copy.db'}", "lab")
    assert again.trials == study.trials
    again.close()
    with pytest.raises(InputError, match="does not exist; create it first"):
        study.backup(tmp_path / "no" / "copy.db")
    study.close()
    assert not list(tmp_path.glob(".*"))


def test_a_backup_never_overwrites_its_own_study(tmp_path: Path) -> None:
    study = begun(tmp_path)
    with pytest.raises(InputError, match="the study's own file"):
        study.backup(tmp_path / "lab.db", force=True)
    study.close()
    assert len(values_in(tmp_path / "lab.db")) == 3


def test_a_study_in_memory_can_be_saved(tmp_path: Path) -> None:
    study = Study.create(SPACE)
    study.tell(study.ask(), 1.0)
    study.backup(tmp_path / "saved.db")
    assert values_in(tmp_path / "saved.db") == [1.0]


def test_power_losses_lose_nothing(tmp_path: Path) -> None:
    losses = lose_power(1, 30, compile_recorder(tmp_path), tells=12)
    assert losses.checked > 30
    assert losses.passed, losses


def test_the_check_of_power_losses_sees_a_missing_sync(tmp_path: Path) -> None:
    """A check that cannot fail proves nothing: the same record as if nothing had been synced."""
    steps = record(tmp_path, compile_recorder(tmp_path), 2, tells=6)
    unsynced = [step for step in steps if step.kind != SYNC]
    results = [
        check(disk_after(unsynced, random.Random(seed)), range(6), tmp_path / f"disk-{seed}")
        for seed in range(8)
    ]
    assert any(lost or damaged for lost, damaged in results)
    whole = disk_after(steps, random.Random(0))
    assert check(whole, range(6), tmp_path / "whole") == (0, False)


@pytest.mark.needs("psycopg")
def test_secrets_among_the_options_are_not_shown() -> None:
    secret = "postgresql://u@127.0.0.1:1/db?password=hush1&sslpassword=hush2&application_name=lab"
    with pytest.raises(UnreachableError) as caught:
        database.Database(secret, 0.1).read(lambda connection: None)
    assert "hush" not in str(caught.value)
    assert "password=***" in str(caught.value)
    assert "application_name=lab" in str(caught.value)


def test_a_url_that_cannot_be_read_shows_no_secret() -> None:
    with pytest.raises(InputError) as caught:
        Store("not a url?password=hush")
    assert "hush" not in str(caught.value)


def test_a_worker_waits_for_a_server_that_comes_back(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.new_database()
    monkeypatch.setattr(database, "CONNECT_SECONDS", 0.2)
    server.crash()
    restart = threading.Timer(1.0, server.start)
    restart.start()
    try:
        with pytest.warns(StorageWarning, match="check that the server runs.*up to 60 s"):
            store = Store(url, patience=60.0)
    finally:
        restart.join()
    store.create_study("s", {}, {})
    store.close()


def test_a_linked_file_on_a_network_is_warned_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mounted").mkdir()
    (tmp_path / "lab.db").symlink_to(tmp_path / "mounted" / "lab.db")
    found = (tmp_path / "mounted").resolve()
    monkeypatch.setattr(
        database, "network_file_system", lambda path: "nfs4" if path == found else None
    )
    with pytest.warns(StorageWarning, match="network file system"):
        store = Store(f"sqlite:///{tmp_path / 'lab.db'}")
    store.close()


def test_a_file_written_whole_is_synced_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    fsync = os.fsync

    def note(handle: int) -> None:
        synced.append(os.fstat(handle).st_ino)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    write_whole(tmp_path / "page.html", "text")
    assert synced == [(tmp_path / "page.html").stat().st_ino, tmp_path.stat().st_ino]


@pytest.mark.parametrize(
    ("version", "affected"),
    [
        ((3, 40, 1), True),
        ((3, 44, 5), True),
        ((3, 44, 6), False),
        ((3, 45, 0), True),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 53, 0), False),
    ],
)
def test_versions_of_sqlite_with_a_known_defect(
    version: tuple[int, int, int], affected: bool
) -> None:
    said = advice.sqlite_advice(version)
    assert (said is not None) == affected
    assert said is None or "walresetbug" in said


def test_an_error_of_the_copy_names_the_target(tmp_path: Path) -> None:
    study = begun(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="got the folder"):
        study.backup(tmp_path / "folder", force=True)
    with pytest.raises(StorageError, match=r"cannot write .*name too long"):
        study.backup(tmp_path / ("x" * 300))
    study.close()
