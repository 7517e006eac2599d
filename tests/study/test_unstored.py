"""Results that were measured and could not be stored: all are kept for the caller, and shown."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import ceibo
from ceibo import Float, Measurement, Study
from ceibo.cli import main
from ceibo.decide.space import Params
from ceibo.errors import NotStoredError, StorageError
from ceibo.study.ledger import Ledger

SPACE = {"x": Float(0, 1), "y": Float(0, 1)}


def fill_disk_at_first_tell(monkeypatch: pytest.MonkeyPatch, ended: Callable[[], bool]) -> None:
    """From the first tell on nothing can be written; it waits until every evaluation has ended."""
    tell = Ledger.tell

    def full(self: object, work: object, patience: float | None = None) -> None:
        raise StorageError("the disk is full.")

    def last(self: Ledger, *arguments: Any, **options: Any) -> None:
        deadline = time.monotonic() + 60
        while not ended():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        monkeypatch.setattr("ceibo.study.store.database.Database.write", full)
        tell(self, *arguments, **options)

    monkeypatch.setattr(Ledger, "tell", last)


def test_the_error_has_every_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = f"sqlite:///{tmp_path / 'lab.db'}"
    futures: list[Future[Any]] = []

    class Recording(ThreadPoolExecutor):
        def submit(self, *arguments: Any, **options: Any) -> Future[Any]:
            futures.append(super().submit(*arguments, **options))
            return futures[-1]

    def objective(params: Params) -> Measurement:
        return Measurement(params["x"], 0.5)

    def ended() -> bool:
        return len(futures) == 3 and all(each.done() for each in futures)

    fill_disk_at_first_tell(monkeypatch, ended)
    with Recording(3) as pool, pytest.raises(NotStoredError) as caught:
        ceibo.minimize(objective, SPACE, n_trials=3, storage=storage, executor=pool)
    monkeypatch.undo()
    study = Study.open(storage)
    assert sorted(each.number for each in caught.value.unstored) == [0, 1, 2]
    for each in caught.value.unstored:
        assert isinstance(each.measurement, Measurement)
        study.tell(each.number, each.measurement, key=each.key)
    for trial in study.trials:
        assert [measured.value for measured in trial.measurements] == [trial.params["x"]]


def test_ctrl_c_with_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What had ended is told when the run is interrupted; if that fails, it is in the error."""
    storage = f"sqlite:///{tmp_path / 'lab.db'}"
    over = threading.Barrier(2)

    def objective(params: Params) -> Measurement:
        over.wait(60)
        return Measurement(0.25)

    def full(*_: object, **__: object) -> None:
        raise StorageError("the disk is full.")

    def wait(*arguments: Any, **options: Any) -> None:
        pool.shutdown()
        monkeypatch.setattr("ceibo.study.store.database.Database.write", full)
        raise KeyboardInterrupt

    monkeypatch.setattr("ceibo.study.runner.wait", wait)
    pool = ThreadPoolExecutor(2)
    with pytest.raises(NotStoredError) as caught:
        ceibo.minimize(objective, SPACE, n_trials=2, storage=storage, executor=pool)
    assert [each.number for each in caught.value.unstored] == [0, 1]
    assert [each.measurement for each in caught.value.unstored] == [Measurement(0.25)] * 2


def test_the_command_line_shows_every_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(
        'space.x = {type = "float", low = 0, high = 1}\n'
        'command.argv = ["echo", "{x}", "0.5"]\nrun.jobs = 3\nstop.trials = 3\n'
    )
    fill_disk_at_first_tell(
        monkeypatch, lambda: "ceibo-command" not in {each.name for each in threading.enumerate()}
    )
    with pytest.raises(SystemExit) as ended:
        main(["run", "study.toml"])
    monkeypatch.undo()
    assert ended.value.code == 2
    shown = capfd.readouterr().err
    study = Study.open(f"sqlite:///{tmp_path / 'study.db'}", "study")
    for trial in study.trials:
        x = trial.params["x"]
        assert f"ceibo tell study.toml {trial.number} {x!r} 0.5\n" in shown
    assert len(study.trials) == 3
    assert shown.count("the disk is full. Once") == 1
