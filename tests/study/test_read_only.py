"""A study on read-only media can be read; a write says why it cannot be."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ceibo import Float, Study
from ceibo.errors import StorageError
from ceibo.study.store import Store

AsNobody = Callable[[Callable[[], None]], int]


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """A folder with a finished study, in which nothing may be written."""
    folder = tmp_path / "data"
    folder.mkdir()
    study = Study.create({"x": Float(0, 1)}, storage=f"sqlite:///{folder / 'lab.db'}")
    for value in range(4):
        study.tell(study.ask(), float(value))
    study.close()
    for path in (tmp_path, *tmp_path.parents):
        # so that a child without root's rights may look into the test's folder
        if path != Path("/") and path.owner() == tmp_path.owner():
            path.chmod(path.stat().st_mode | 0o055)
    (folder / "lab.db").chmod(0o444)
    folder.chmod(0o555)
    return folder


def test_a_finished_study_can_be_read(sealed: Path, as_nobody: AsNobody, tmp_path: Path) -> None:
    def work() -> None:
        assert not os.access(sealed, os.W_OK)
        study = Study.open(f"sqlite:///{sealed / 'lab.db'}")
        assert len(study.trials) == 4
        assert study.best.mean < 2.0
        with pytest.raises(StorageError, match="is read-only; make the file and its folder"):
            study.ask()
        study.backup(tmp_path / "copy" / "copy.db")
        study.close()

    (tmp_path / "copy").mkdir()
    (tmp_path / "copy").chmod(0o777)
    assert as_nobody(work) == 0
    assert [path.name for path in sealed.iterdir()] == ["lab.db"]
    copy = Study.open(f"sqlite:///{tmp_path / 'copy' / 'copy.db'}")
    assert len(copy.trials) == 4
    copy.close()


def test_a_reader_without_rights_sees_what_a_writer_adds(
    sealed: Path, as_nobody: AsNobody, tmp_path: Path
) -> None:
    """The file was read as one that nobody writes; once it is written, it is opened anew."""
    ready, added = tmp_path / "ready", tmp_path / "added"
    for path in (ready, added):
        os.mkfifo(path)
        path.chmod(0o666)

    def work() -> None:
        store = Store(f"sqlite:///{sealed / 'lab.db'}", create=False)
        study = store.study("study")
        assert len(store.snapshot(study.id).trials) == 4
        ready.write_text("ready")
        added.read_text()
        assert len(store.snapshot(study.id).trials) == 5

    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            ready.read_text()
            sealed.chmod(0o755)
            (sealed / "lab.db").chmod(0o644)
            writer = Study.open(f"sqlite:///{sealed / 'lab.db'}")
            writer.ask()
            writer.close()
            status = 0
        finally:
            added.write_text("added")
            os._exit(status)
    assert as_nobody(work) == 0
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_log_that_cannot_be_read_in_is_not_passed_over(sealed: Path, as_nobody: AsNobody) -> None:
    """Results are in the log: reading the file without it would show too few."""
    sealed.chmod(0o755)
    (sealed / "lab.db-wal").write_bytes(b"x" * 100)
    sealed.chmod(0o555)

    def work() -> None:
        with pytest.raises(StorageError, match=r"read-only; make it writable, or copy lab\.db"):
            Study.open(f"sqlite:///{sealed / 'lab.db'}")

    assert as_nobody(work) == 0
