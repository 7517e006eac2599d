"""The command called in this process, in an empty folder, and study files for it."""

import json
import sys
from pathlib import Path

import pytest

from ceibo.cli import main
from tests.cli.cli_tools import BOWL, STUDY, Answer, Ceibo, StudyFile


@pytest.fixture
def ceibo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Ceibo:
    """Calls `ceibo` in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CEIBO_STORAGE", raising=False)

    def call(*arguments: object) -> Answer:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(each) for each in arguments])
        captured = capfd.readouterr()
        code = ended.value.code
        return Answer(code if isinstance(code, int) else 0, captured.out, captured.err)

    return call


@pytest.fixture
def study_file(tmp_path: Path) -> StudyFile:
    """Writes a study file around a Python program of one line."""

    def write(code: str = BOWL, trials: int = 12, extra: str = "") -> Path:
        argv = json.dumps([sys.executable, "-c", code, "{x}", "{y}"])
        path = tmp_path / "study.toml"
        path.write_text(STUDY.format(argv=argv, trials=trials) + extra, encoding="utf-8")
        return path

    return write


@pytest.fixture
def asked(ceibo: Ceibo, study_file: StudyFile) -> tuple[Ceibo, Path]:
    """`ceibo`, and a study file with twelve trials to tell."""
    file = study_file()
    ceibo("ask", "--new", file, "-n", "12")
    return ceibo, file
