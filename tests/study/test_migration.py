"""Databases of an older version: read as they are, brought to this version by the first write."""

import os
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from ceibo.decide.measurement import Measurement
from ceibo.study.store import Lease, NewTrial, Snapshot, Store, checksum, migration, schema
from ceibo.study.store.database import Database
from soak.older import KEPT, make_older


def older_study(url: str, trials: int = 4) -> Snapshot:
    """Leave a database of version 2 with a study; returns what it holds."""
    store = Store(url)
    study = store.create_study("s", {"x": 1}, {"seed": 0})
    store.create_trials(study.id, [NewTrial({"x": k / 7}, {"k": k}) for k in range(trials)])
    store.tell(study.id, 0, Measurement(0.1, noise=0.3))
    store.correct(study.id, 0, Measurement.of([0.1, 0.2]))
    store.fail(study.id, 1, "broken")
    snapshot = store.snapshot(study.id)
    store.close()
    make_older(url)
    return snapshot


def version(url: str) -> int | None:
    plain = Database(url, 5.0)
    found = plain.read(schema.stored_version)
    plain.close()
    return found


def columns(url: str) -> set[str]:
    plain = Database(url, 5.0)
    found = plain.read(lambda c: sa.inspect(c).get_columns("ceibo_events"))
    plain.close()
    return {column["name"] for column in found}


def test_reading_changes_nothing(url: str) -> None:
    before = older_study(url)
    store = Store(url)
    study = store.study("s")
    assert (study.space, store.studies()) == ({"x": 1}, (study,))
    assert store.snapshot(study.id) == before
    assert len(store.events(study.id)) == before.seq
    assert store.suggestions(study.id)[2] == {"k": 2}
    assert store.leases(study.id) == {}
    assert store.claim(study.id) is None
    store.close()
    assert version(url) == 2
    assert columns(url) == set(KEPT.split(", "))


def test_the_first_write_brings_everything_to_this_version(url: str) -> None:
    before = older_study(url)
    store, other = Store(url), Store(url)
    study = store.study("s")
    assert other.snapshot(study.id) == before
    store.tell(study.id, 2, Measurement(7.0))
    after = store.snapshot(study.id)
    assert after.trials[:2] == before.trials[:2]
    assert after.trials[2].measurements[0].measurement == Measurement(7.0)
    assert other.snapshot(study.id) == after  # it had the older tables in mind
    other.tell(study.id, 3, Measurement(8.0))
    assert store.refresh(study.id, after).trials[3].state == "done"
    for each in (store, other):
        each.close()
    assert version(url) == schema.VERSION == 3
    for table in (schema.studies, schema.trials, schema.events):
        plain = Database(url, 5.0)
        rows = plain.read(lambda c, t=table: c.execute(sa.select(t)).mappings().all())  # type: ignore[misc]  # mypy: lambda with a default
        plain.close()
        assert rows
        assert [row["checksum"] for row in rows] == [
            checksum.checksum_of(table, row) for row in rows
        ]


def test_a_write_that_fails_leaves_the_older_version(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = older_study(url)
    store = Store(url)
    study = store.study("s")

    def break_off(*_: object) -> str:
        raise RuntimeError("killed in the middle")

    with monkeypatch.context() as patched:
        patched.setattr(migration, "checksum_of_row", break_off)
        with pytest.raises(RuntimeError, match="killed"):
            store.tell(study.id, 2, Measurement(7.0))
    assert version(url) == 2
    assert store.snapshot(study.id) == before
    store.tell(study.id, 2, Measurement(7.0))
    assert version(url) == 3
    store.close()


def test_a_failed_trial_changes_nothing_in_an_older_database(url: str) -> None:
    """A write that is refused does not leave the connection believing in the new version."""
    before = older_study(url)
    store = Store(url)
    study = store.study("s")
    with pytest.raises(ValueError, match="no trial 99"):
        store.tell(study.id, 99, Measurement(7.0))
    assert version(url) == 2
    assert store.snapshot(study.id) == before
    assert store.create_study("t", {}, {}).name == "t"
    assert version(url) == 3
    store.close()


def test_many_processes_bring_it_over_at_once(url: str) -> None:
    older_study(url, trials=12)
    begin = time.time() + 0.5
    children = []
    for worker in range(8):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                mine = Store(url)
                study = mine.study("s")
                time.sleep(max(begin - time.time(), 0))
                mine.tell(study.id, 2 + worker, Measurement(float(worker)))
                mine.create_trials(study.id, [NewTrial({"x": 0.5}, lease=Lease(f"w{worker}"))])
                mine.heartbeat(study.id, Lease(f"w{worker}"))
                mine.snapshot(study.id)
                status = 0
            finally:
                os._exit(status)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 8
    store = Store(url)
    found = store.snapshot(store.study("s").id)
    values = [trial.measurements[0].measurement.value for trial in found.trials[2:10]]
    assert values == [float(worker) for worker in range(8)]
    assert len(found.trials) == 20
    store.close()
    assert version(url) == 3


def test_a_process_of_an_older_ceibo_goes_on_writing(tmp_path: Path) -> None:
    """It has the database open, knows nothing of the new columns, and is read."""
    url = f"sqlite:///{tmp_path / 'study.db'}"
    older_study(url)
    old = Database(url, 5.0)
    insert = (
        f"INSERT INTO ceibo_events ({KEPT})"
        " VALUES (1, :seq, 2, 'measured', 'done', '', 1.5, NULL, :value, NULL, NULL, NULL)"
    )
    store = Store(url)
    study = store.study("s")
    store.tell(study.id, 3, Measurement(7.0))
    seq = store.snapshot(study.id).seq + 1

    def write(connection: sa.Connection) -> None:
        connection.execute(sa.text(insert), {"seq": seq, "value": 8.0})
        connection.exec_driver_sql("UPDATE ceibo_trials SET state = 'done' WHERE number = 2")
        connection.exec_driver_sql("UPDATE ceibo_studies SET seq = seq + 1")

    old.write(write)
    old.close()
    assert store.snapshot(study.id).trials[2].measurements[0].measurement.value == 8.0
    store.correct(study.id, 2, Measurement(9.0))
    assert store.snapshot(study.id).trials[2].measurements[0].measurement.value == 9.0
    store.close()


def test_a_migration_between_two_looks_is_no_damage(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process commits it after the version was read and before the columns are."""
    Store(url).close()
    looks = iter([2, 3])
    monkeypatch.setattr(schema, "_read_version", lambda _: next(looks))
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        assert schema.stored_version(connection) == 3
    engine.dispose()
