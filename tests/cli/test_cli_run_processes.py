"""`ceibo run` as processes: bad commands, killed runners, hostile names (more in soak/cli_*.py)."""

import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ceibo import Study
from ceibo.command.command import Command
from ceibo.command.placeholders import Template
from ceibo.decide import Categorical, Float, Space
from ceibo.errors import CommandFailedError
from soak.cli_children import KINDS, misbehave
from soak.cli_hostile import hostile
from soak.cli_kills import kill_often
from tests.cli.cli_tools import Ceibo, StudyFile, spawn

LINUX = sys.platform.startswith("linux")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_outlives_its_limit(kind: str) -> None:
    figures = misbehave(kind, runs=2)
    assert figures.good, figures


def test_hostile_names_and_values_are_delivered_or_refused() -> None:
    figures = hostile(30, seed=1)
    assert figures.wrong == []
    assert figures.executed == 0
    assert figures.delivered + figures.refused == 30
    assert figures.delivered > 5


def test_killed_runs_go_on_and_lose_nothing() -> None:
    figures = kill_often(kills=2, trials=8, seed=2)
    assert (figures.trials, figures.measured) == (8, 8)
    assert (figures.wrong, figures.lost, figures.overlaps, figures.left) == (0, 0, 0, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_gives_the_trials_back(
    study_file: StudyFile, tmp_path: Path, number: int
) -> None:
    code = "import os, time; open('pid', 'a').write(str(os.getpid()) + ' '); time.sleep(60)"
    study_file(code=code)
    process = spawn("run", "study.toml", "--jobs", "2", cwd=tmp_path)
    _until(lambda: (tmp_path / "pid").exists() and len((tmp_path / "pid").read_text().split()) == 2)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "goes on from here" in out
    assert "Traceback" not in err
    for pid in map(int, (tmp_path / "pid").read_text().split()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    states = [trial.state for trial in Study.open(f"sqlite:///{tmp_path}/demo.db", "demo").trials]
    assert states == ["queued", "queued"]


def test_commands_die_with_a_killed_runner(study_file: StudyFile, tmp_path: Path) -> None:
    study_file(code="import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)")
    process = spawn("run", "study.toml", cwd=tmp_path)
    _until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
    process.kill()
    process.communicate()
    _until(lambda: not _alive(int((tmp_path / "pid").read_text())))


def test_two_runners_share_the_work(study_file: StudyFile, tmp_path: Path) -> None:
    study_file(code="import time, sys; time.sleep(.2); print(float(sys.argv[1]))", trials=12)
    runners = [spawn("run", "study.toml", "--quiet", cwd=tmp_path) for _ in range(2)]
    for runner in runners:
        _, err = runner.communicate(timeout=120)
        assert runner.returncode == 0, err
    trials = Study.open(f"sqlite:///{tmp_path}/demo.db", "demo").trials
    assert [len(trial.measurements) for trial in trials] == [1] * 12
    with sqlite3.connect(tmp_path / "demo.db") as database:
        workers = database.execute(
            "SELECT DISTINCT worker FROM ceibo_events WHERE worker IS NOT NULL"
        ).fetchall()
    assert len(workers) == 2


def test_a_watched_report_follows_the_study(
    ceibo: Ceibo, study_file: StudyFile, tmp_path: Path
) -> None:
    file = study_file(trials=3)
    assert ceibo("run", file, "-q").status == 0
    page = tmp_path / "report.html"
    process = spawn("report", "study.toml", "--watch", "--every", "0.3", cwd=tmp_path)
    _until(page.exists, 60.0)
    assert 'data-refresh="0.3"' in page.read_text(encoding="utf-8")
    study = Study.open(f"sqlite:///{tmp_path}/demo.db", "demo")
    study.tell(study.ask(), 0.123456)
    _until(lambda: "0.123456" in page.read_text(encoding="utf-8"), 60.0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert 'data-refresh="' not in page.read_text(
        encoding="utf-8"
    )  # what stays behind no longer reloads


def test_a_program_that_cannot_start_is_a_failed_trial(tmp_path: Path) -> None:
    space = Space({"program": Categorical(["./not-there", "x" * 200_000])})
    command = Command(Template(("{program}",), space, tmp_path, 5.0))
    with pytest.raises(CommandFailedError, match="could not be started"):
        command({"program": "./not-there"})
    with pytest.raises(CommandFailedError, match="could not be started"):
        command({"program": "x" * 200_000})


def test_only_the_end_of_the_output_is_kept(tmp_path: Path) -> None:
    code = "import sys; print('A' * 10**7); print('B' * 3000, file=sys.stderr); sys.exit(1)"
    command = Command(Template((sys.executable, "-c", code), Space({"x": Float(0, 1)}), tmp_path))
    with pytest.raises(CommandFailedError) as error:
        command({"x": 0.5})
    assert "exit status 1" in str(error.value)
    assert 4000 < len(str(error.value)) < 4500


def test_a_stopped_command_starts_no_more(tmp_path: Path) -> None:
    command = Command(
        Template((sys.executable, "-c", "print(1)"), Space({"x": Float(0, 1)}), tmp_path)
    )
    command.stop()
    with pytest.raises(CommandFailedError, match="stopped"):
        command({"x": 0.5})


def test_a_lost_supervisor_takes_its_command_along(tmp_path: Path) -> None:
    code = (
        "import os, time; open('pids', 'w').write(f'{{os.getppid()}} {{os.getpid()}}');"
        " time.sleep(60)"
    )
    command = Command(Template((sys.executable, "-c", code), Space({"x": Float(0, 1)}), tmp_path))
    failures: list[str] = []

    def work() -> None:
        try:
            command({"x": 0.5})
        except CommandFailedError as error:
            failures.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    _until(
        lambda: (tmp_path / "pids").exists() and len((tmp_path / "pids").read_text().split()) == 2
    )
    supervisor, program = map(int, (tmp_path / "pids").read_text().split())
    os.kill(supervisor, signal.SIGKILL)
    thread.join(10)
    assert failures
    assert "killed" in failures[0]
    if LINUX:
        _until(lambda: not _alive(program))


def test_the_environment_is_inherited(
    ceibo: Ceibo, study_file: StudyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTOR", "4")
    code = "import os; print(float(os.environ['FACTOR']) + float(os.environ['CEIBO_x']) * 0)"
    file = study_file(code=code, trials=2)
    assert ceibo("run", file, "-q").status == 0
    assert {trial["measurements"][0]["value"] for trial in ceibo("show", file, "--json").json} == {
        4.0
    }


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
