"""The files that `ceibo export`, `ceibo report` and `ceibo init` write."""

import shutil
from pathlib import Path

import pytest

from tests.cli.cli_tools import Ceibo


@pytest.mark.parametrize("verb", ["export", "report"])
def test_the_study_itself_is_not_written_over(
    asked: tuple[Ceibo, Path], tmp_path: Path, verb: str
) -> None:
    ceibo, file = asked
    ceibo("tell", file, "0", "1")
    shutil.copy(tmp_path / "demo.db", tmp_path / "other.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "demo.db")
    (tmp_path / "again.csv").hardlink_to(file)
    before = file.read_bytes(), (tmp_path / "other.csv").read_bytes()
    for target in (
        "demo.db",
        "./demo.db",
        "study.toml",
        "link.csv",
        "again.csv",
        "demo.db-wal",
        "other.csv",
    ):
        answer = ceibo(verb, file, "-o", target, *(["--format", "csv"] if verb == "export" else []))
        assert (answer.status, answer.out) == (2, ""), target
        assert "another file" in answer.err
    assert before == (file.read_bytes(), (tmp_path / "other.csv").read_bytes())
    assert len(ceibo("show", file, "--json").json) == 12
    assert ceibo("init", "-o", "demo.db", "--force").status == 2
    assert ceibo(verb, file, "-o", ".").status == 2
    assert ceibo("export", file, "-o", "/dev/null").status == 0
