"""Files, disks, servers and versions that are not as they should be: a clear error, no loss."""

import contextlib
import copy
import os
import pickle
import resource
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from ceibo import Float, Study
from ceibo.decide.measurement import Measurement
from ceibo.errors import (
    InputError,
    MissingDatabaseError,
    NewerSchemaError,
    NotFoundError,
    NotStoredError,
    StorageError,
    StorageWarning,
    UnreachableError,
)
from ceibo.study.store import NewTrial, Store, database, schema
from ceibo.study.store.network import network_file_system

AsNobody = Callable[[Callable[[], None]], int]


def filled(file: Path) -> str:
    """The URL of a file with one study and one open trial."""
    url = f"sqlite:///{file}"
    store = Store(url)
    study = store.create_study("s", {}, {})
    store.create_trials(study.id, [NewTrial({"x": 0.5}), NewTrial({"x": 0.6})])
    store.tell(study.id, 0, Measurement(1.0))
    store.close()
    return url


def tell_the_second(url: str) -> None:
    store = Store(url)
    store.tell(store.study("s").id, 1, Measurement(2.0))
    store.close()


def still_good(url: str) -> None:
    store = Store(url)
    first = store.snapshot(store.study("s").id).trials[0]
    assert first.measurements[0].measurement.value == 1.0
    store.close()
    tell_the_second(url)


def test_sqlite_is_set_to_lose_nothing(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'a.db'}")
    with store._database._engine.connect() as connection:
        names = ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
        values = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]
    assert values == ["wal", 2, 60_000, 1]
    store.close()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("lab.db", "did you mean sqlite:///lab.db"),
        (Path("lab.db"), r"Path\('lab.db'\); did you mean 'sqlite:///lab.db'"),
        ("", "expected sqlite:///file.db"),
        ("mysql://host/db", "a URL for 'mysql'"),
        ("sqlite://lab.db", "three slashes.*try sqlite:///lab.db"),
        ("sqlite://data/lab.db", "try sqlite:///data/lab.db"),
        ("sqlite:///", "without a file name"),
        ("sqlite:///a\0b", "NUL"),
        (None, "expected sqlite:///file.db"),
    ],
)
def test_bad_urls(bad: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Store(bad)


@pytest.mark.needs("psycopg")
def test_passwords_are_not_shown() -> None:
    with pytest.raises(StorageError) as caught:
        database.Database("postgresql://u:s3{cr}et%40@127.0.0.1:1/db", 0.1).read(
            lambda connection: None
        )
    assert "s3" not in str(caught.value)
    assert "cannot reach postgresql+psycopg://u:***@127.0.0.1:1/db" in str(caught.value)


@pytest.mark.needs("psycopg")
def test_unreachable_server_is_named_in_time() -> None:
    with pytest.raises(UnreachableError, match="check that the server runs"):
        Store("postgresql://u@127.0.0.1:1/db", patience=0.2)


def test_missing_database_is_named(server: object) -> None:
    url = server.new_database()  # type: ignore[attr-defined]
    with pytest.raises(
        StorageError, match=r"refused the connection.*does not exist.*check user and database"
    ):
        Store(sa.make_url(url).set(database="nowhere").render_as_string(hide_password=False))


def test_missing_folder_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"folder of .* does not exist; create it first"):
        Store(f"sqlite:///{tmp_path}/no/such.db")
    with pytest.raises(MissingDatabaseError, match="there is no file"):
        Store(f"sqlite:///{tmp_path}/typo.db", create=False)
    assert not (tmp_path / "typo.db").exists()


def test_opening_changes_nothing_in_a_file_of_another_program(tmp_path: Path) -> None:
    file, empty = tmp_path / "other.db", tmp_path / "empty.db"
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE app (x)")
    other.commit()
    other.close()
    empty.touch()
    before = file.read_bytes()
    for path in (file, empty):
        with pytest.raises(NotFoundError, match="there are no ceibo studies in"):
            Study.open(f"sqlite:///{path}")
    assert (file.read_bytes(), empty.read_bytes()) == (before, b"")
    assert sorted(tmp_path.iterdir()) == [empty, file]
    # moving in beside it is allowed
    Study.create({"x": Float(0, 1)}, storage=f"sqlite:///{file}").close()
    assert Study.open(f"sqlite:///{file}").trials == ()


def test_opening_changes_nothing_in_a_database_of_another_program(url: str) -> None:
    if url.startswith("sqlite"):
        Path(url.removeprefix("sqlite:///")).touch()
    with pytest.raises(NotFoundError, match="there are no ceibo studies in"):
        Study.open(url)
    plain = database.Database(url, 5.0)
    assert plain.read(lambda connection: sa.inspect(connection).get_table_names()) == []
    plain.close()


def test_memory_cannot_be_opened() -> None:
    with pytest.raises(NotFoundError, match="only the program that made a study has it"):
        Study.open("sqlite://")


def test_not_a_database(tmp_path: Path) -> None:
    file = tmp_path / "notes.db"
    file.write_text("these are not the bytes of a database\n" * 100)
    with pytest.raises(StorageError, match="not an SQLite database"):
        Store(f"sqlite:///{file}")
    assert file.read_text().startswith("these are not")


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (
            "UPDATE ceibo_trials SET params = 'garbage' WHERE number = 1",
            "trial 1 .* is damaged.*expected JSON.*'garbage'",
        ),
        (
            "UPDATE ceibo_trials SET params = '3' WHERE number = 1",
            "trial 1 .* is damaged.*expected parameters, got 3",
        ),
        (
            "UPDATE ceibo_trials SET params = '{\"x\": null}' WHERE number = 1",
            "trial 1 of study 's' is damaged.*'x'.*got None",
        ),
        (
            "UPDATE ceibo_trials SET params = CAST(x'FFFE' AS TEXT)",
            "is damaged: a text in it cannot be read",
        ),
        ("UPDATE sqlite_master SET sql = 'CREATE ' || CAST(x'EA41' AS TEXT)", "is damaged"),
        (
            "UPDATE ceibo_trials SET suggestion = '{' WHERE number = 3",
            "the suggestion of trial 3 .* is damaged",
        ),
        (
            "UPDATE ceibo_trials SET suggestion = '{\"hyperparameters\": {}}'",
            "suggestion of trial 3 of study 's' is",
        ),
        ("DELETE FROM ceibo_trials WHERE number = 3", "last trial 2"),
        (
            "UPDATE ceibo_events SET value = NULL WHERE number = 2",
            "a measurement of trial 2 .* is damaged",
        ),
        (
            "UPDATE ceibo_events SET replicates = '[' WHERE number = 2",
            "a measurement of trial 2 .* is damaged",
        ),
        (
            "UPDATE ceibo_events SET kind = 'annulled' WHERE seq = 6",
            "kind 'annulled'.*upgrade ceibo",
        ),
        (
            (
                "UPDATE ceibo_events SET kind = 'corrected', key = '77' WHERE kind = 'measured' AND"
                " number = 2"
            ),
            "a correction of trial 2 is damaged.*event 77",
        ),
        ("UPDATE ceibo_studies SET settings = '{}'", "study 's' is damaged.*'direction'"),
        ("UPDATE ceibo_studies SET settings = 'x'", "study 's' is damaged"),
        ("UPDATE ceibo_studies SET space = '[]'", "study 's' is damaged"),
        (
            "UPDATE ceibo_studies SET settings = replace(settings, 'noisy-ei', 'their-own')",
            "study 's' cannot be used here: acquisition must be one of .*install or import",
        ),
    ],
)
def test_damage_is_named(tmp_path: Path, damage: str, named: str) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    study = Study.create({"x": Float(0, 1)}, storage=url, name="s", n_initial=2)
    for _ in range(4):
        study.tell(study.ask(), 1.0)
    study.close()
    other = sqlite3.connect(tmp_path / "lab.db")
    other.execute("PRAGMA writable_schema = ON")
    other.execute(damage)
    for table in ("studies", "trials", "events"):  # as in a database of an older version
        with contextlib.suppress(sqlite3.Error):
            other.execute(f"UPDATE ceibo_{table} SET checksum = NULL")
    other.commit()
    other.close()
    with pytest.raises(StorageError, match=named):
        Study.open(url, "s").ask()


def test_a_file_deleted_under_a_study_is_named(tmp_path: Path) -> None:
    study = Study.create({"x": Float(0, 1)}, storage=f"sqlite:///{tmp_path / 'lab.db'}")
    study.close()  # its connections: the next use opens new ones
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(StorageError, match=r"no longer holds the studies .* file was deleted"):
        study.ask()


def test_a_closed_study_in_memory_is_gone() -> None:
    study = Study.create({"x": Float(0, 1)})
    study.close()
    with pytest.raises(
        StorageError, match="kept in memory and closed, so it is gone; give it a storage"
    ):
        study.ask()


@pytest.mark.parametrize("transfer", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_study_does_not_travel(transfer: Callable[[Study], object], tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"in memory cannot go there.*Study\.open\(storage, 'study'\)"
    ):
        transfer(Study.create({"x": Float(0, 1)}))
    with pytest.raises(InputError, match=r"instead, call Study\.open\(storage, 's'\) over there"):
        transfer(
            Study.create({"x": Float(0, 1)}, storage=f"sqlite:///{tmp_path / 'lab.db'}", name="s")
        )


def test_read_only_file_is_named_and_nothing_is_lost(tmp_path: Path, as_nobody: AsNobody) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    url = filled(folder / "study.db")
    for path in tmp_path.parents:
        if path.owner() == "root" and path != Path("/") and path.stat().st_mode & 0o055 != 0o055:
            # so that the child may look into the test's folder
            path.chmod(path.stat().st_mode | 0o055)
    tmp_path.chmod(0o755)
    (folder / "study.db").chmod(0o444)
    folder.chmod(0o555)

    def work() -> None:
        with pytest.raises(StorageError, match=r"read-only; make .* writable"):
            tell_the_second(url)

    assert as_nobody(work) == 0
    folder.chmod(0o755)
    (folder / "study.db").chmod(0o644)
    still_good(url)


def test_full_disk_keeps_the_value_and_the_file(tmp_path: Path) -> None:
    url = filled(tmp_path / "study.db")
    store = Store(url)
    study = store.study("s")
    with store._database._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    large = [NewTrial({"x": 0.5}, {"note": "x" * 3000})] * 100
    with pytest.raises(StorageError, match=r"disk of .* is full; free some space"):
        store.create_trials(study.id, large)
    assert len(store.snapshot(study.id).trials) == 2
    store.close()
    still_good(url)


def test_failing_writes_keep_the_value_and_the_file(tmp_path: Path) -> None:
    """The system refuses to let the file grow, at a different moment each time."""
    url = filled(tmp_path / "study.db")
    for extra in (0, 100, 5000, 40_000):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                store = Store(url)
                study = store.study("s")
                size = max(path.stat().st_size for path in tmp_path.iterdir())
                resource.setrlimit(resource.RLIMIT_FSIZE, (size + extra, resource.RLIM_INFINITY))
                try:
                    for index in range(1000):
                        store.tell(study.id, 0, Measurement(1.0), f"repeat-{extra}-{index}")
                except NotStoredError as error:
                    status = 0 if error.measurement == Measurement(1.0) else 2
                    stored = {m.key for m in store.snapshot(study.id).trials[0].measurements}
                    if not {f"repeat-{extra}-{k}" for k in range(index)} <= stored:
                        status = 3
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        check = sqlite3.connect(tmp_path / "study.db")
        assert check.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        check.close()
    still_good(url)


def test_newer_version_is_refused_unchanged(url: str) -> None:
    store = Store(url)
    store.create_study("s", {}, {})
    store._database.write(
        lambda c: c.execute(schema.versions.update().values(version=schema.VERSION + 1))
    )
    store.close()
    with pytest.raises(
        NewerSchemaError, match=f"schema version {schema.VERSION + 1}.*upgrade ceibo"
    ):
        Store(url)
    plain = database.Database(url, 5.0)
    version = plain.read(lambda c: c.execute(sa.select(schema.versions.c.version)).scalars().all())
    assert version == [schema.VERSION + 1]
    plain.close()


def test_memory_is_refused_in_a_child(tmp_path: Path) -> None:
    store = Store("sqlite://")
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            store.studies()
        except StorageError:
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_store_survives_fork(url: str) -> None:
    store = Store(url)
    study = store.create_study("s", {}, {})
    pids = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                inherited = store._database.is_sqlite and store._database._engine.pool.checkedin()  # type: ignore[attr-defined]
                for _ in range(5):
                    store.create_trials(study.id, [NewTrial({"x": 0.5})])
                status = 2 if inherited else 0
            finally:
                os._exit(status)
        pids.append(pid)
    for _ in range(5):
        store.create_trials(study.id, [NewTrial({"x": 0.5})])
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [0] * 4
    assert [t.number for t in store.snapshot(study.id).trials] == list(range(25))
    store.close()


MOUNTS = """22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 0:40 / /home rw shared:1 - nfs4 server:/home rw
31 30 8:2 / /home/local rw - xfs /dev/sdb rw
32 22 0:41 / /mnt/with\\040space rw - fuse.sshfs host: rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/tmp", None),
        ("/home/me/data", "nfs4"),
        ("/home/local/data", None),
        ("/homely", None),
        ("/mnt/with space/x", "fuse.sshfs"),
    ],
)
def test_network_file_systems_are_recognised(tmp_path: Path, path: str, kind: str | None) -> None:
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(MOUNTS)
    assert network_file_system(Path(path), mountinfo) == kind
    assert network_file_system(Path(path), tmp_path / "missing") is None


def test_network_file_system_is_warned_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "network_file_system", lambda path: "nfs4")
    with pytest.warns(StorageWarning, match=r"network file system \(nfs4\).*use PostgreSQL"):
        Store(f"sqlite:///{tmp_path / 'a.db'}").close()
