"""Signals that end a run: trials under way are given back (more in soak/signals.py)."""

import os
import pty
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ceibo import Study
from ceibo.study.interrupts import Interrupts
from soak.signals import Case, send_all
from tests.cli.cli_tools import StudyFile

WAITING = "import time; open('begun', 'w').close(); time.sleep(60)"


def test_series_of_signals_at_every_stage() -> None:
    cases = [
        Case("INT x5", "evaluating", "stubborn", 3),
        Case("all", "ending", "stubborn", 1),
        Case("HUP", "asking", "polite", 1),
    ]
    figures = send_all(cases, jobs=3)
    assert figures.wrong == []


def test_a_terminal_that_is_closed(study_file: StudyFile, tmp_path: Path) -> None:
    study_file(code=WAITING)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execv(sys.executable, [sys.executable, "-m", "ceibo", "run", "study.toml"])
    _until((tmp_path / "begun").exists)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    assert _states(tmp_path) == ["queued"]


def test_a_hangup_that_is_ignored_stays_ignored(study_file: StudyFile, tmp_path: Path) -> None:
    study_file(code=WAITING.replace("60", "1.5") + "; print(0.5)", trials=1)
    command = ["nohup", sys.executable, "-m", "ceibo", "run", "study.toml", "--quiet"]
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=tmp_path, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    _until((tmp_path / "begun").exists)
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 0
    assert _states(tmp_path) == ["done"]


def test_ctrl_c_twice_in_python(tmp_path: Path) -> None:
    """The second one comes while the trials are given back."""
    code = """
        import os, signal, time
        import ceibo
        from ceibo.study.store import Store

        signal.signal(signal.SIGINT, signal.default_int_handler)

        def objective(params):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)

        def release(*arguments, inside=Store.release):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            inside(*arguments)

        Store.release = release
        result = ceibo.minimize(objective, {"x": ceibo.Float(0, 1)}, storage="sqlite:///demo.db",
                                name="demo")
        print(result.stop.reason.name, signal.getsignal(signal.SIGINT).__name__)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, capture_output=True, text=True
    )
    assert (ended.stdout, ended.stderr) == ("INTERRUPTED default_int_handler\n", "")
    assert _states(tmp_path) == ["queued"]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C as in a terminal; it is ignored where the tests run in the background."""
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, earlier)


@pytest.mark.usefixtures("ctrl_c")
def test_a_late_signal_gets_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits in vain for an end can still have one; a handler of the caller's stays."""
    with Interrupts(raising=False) as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.number == signal.SIGINT
        monkeypatch.setattr("ceibo.study.interrupts.PATIENCE", -1.0)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.signal(signal.SIGINT, signal.default_int_handler) is signal.SIG_IGN
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    with Interrupts():
        signal.raise_signal(signal.SIGINT)
    assert came == [signal.SIGINT]


@pytest.mark.usefixtures("ctrl_c")
def test_an_objective_that_catches_ctrl_c_goes_on() -> None:
    with Interrupts() as interrupts:
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            interrupts.rearm()
        assert interrupts.number is None


def _states(folder: Path) -> list[str]:
    return [trial.state for trial in Study.open(f"sqlite:///{folder}/demo.db", "demo").trials]


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
