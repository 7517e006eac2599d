"""`ceibo backup`, a run whose file is deleted, and imports at once."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from ceibo import Study
from ceibo.sheets import importing
from ceibo.sheets.rows import Row
from ceibo.study import Trial
from tests.cli.cli_tools import Ceibo, StudyFile, spawn


def test_a_backup_is_a_study_of_its_own(asked: tuple[Ceibo, Path], tmp_path: Path) -> None:
    ceibo, file = asked
    ceibo("tell", file, "0", "0.5")
    made = ceibo("backup", file, "copy.db")
    assert (made.status, made.out) == (0, "wrote 1 study to copy.db\n")
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == ["copy.db"]
    again = ceibo("backup", "sqlite:///demo.db", "copy.db")
    assert again.status == 2
    assert "exists already; name another file, or replace it by --force" in again.err
    assert ceibo("backup", "sqlite:///demo.db", "copy.db", "--force").status == 0
    shown = ceibo("show", file, "--storage", "sqlite:///copy.db", "--json")
    assert shown.json == ceibo("show", file, "--json").json


def test_a_backup_of_nothing_or_onto_itself_is_refused(
    asked: tuple[Ceibo, Path], tmp_path: Path
) -> None:
    ceibo, file = asked
    assert "there is no file none.db" in ceibo("backup", "sqlite:///none.db", "copy.db").err
    assert "the folder" in ceibo("backup", file, "/", "--force").err
    own = ceibo("backup", file, "demo.db", "--force")
    assert own.status == 2
    assert "the study's own file" in own.err
    assert not (tmp_path / "copy.db").exists()


def test_a_study_file_is_not_replaced_by_a_backup(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    before = file.read_bytes()
    refused = ceibo("backup", file, file, "--force")
    assert refused.status == 2
    assert "is the study file and would be lost" in refused.err
    assert file.read_bytes() == before


def test_a_run_whose_file_is_deleted_says_so_and_saves_it(
    ceibo: Ceibo, study_file: StudyFile, tmp_path: Path
) -> None:
    code = (
        "import pathlib, sys; n = len(list(pathlib.Path('.').glob('run-*')));"
        " pathlib.Path('run-' + str(n)).touch();"
        " n == 3 and [p.unlink() for p in pathlib.Path('.').glob('demo.db*')]; print(0.5 + n)"
    )
    file = study_file(code)
    ended = ceibo("run", file)
    assert ended.status == 2
    assert "the file was deleted or renamed" in ended.err
    assert "trial 3 was measured, 3.5" in ended.err
    assert f"ceibo tell {file} 3 3.5" in ended.err
    assert "demo-rescued.db" in ended.err
    rescued = Study.open(f"sqlite:///{tmp_path / 'demo-rescued.db'}", "demo")
    values = [trial.measurements[0].value for trial in rescued.trials if trial.measurements]
    assert values == [0.5, 1.5, 2.5]
    rescued.close()


def test_imports_at_once_add_a_file_once(study_file: StudyFile, tmp_path: Path) -> None:
    file = study_file()
    rows = "\n".join(f"{k / 200},{k / 300},{k}" for k in range(200))
    (tmp_path / "old.csv").write_text(f"x,y,value\n{rows}\n")
    processes = [spawn("import", file, "old.csv", cwd=tmp_path) for _ in range(3)]
    said = [process.communicate(timeout=120)[1] for process in processes]
    assert sorted(process.returncode for process in processes) == [0, 2, 2], said
    study = Study.open(f"sqlite:///{tmp_path / 'demo.db'}", "demo")
    assert len(study.trials) == 200
    study.close()


def test_an_import_compares_again_with_what_came_meanwhile(
    ceibo: Ceibo, study_file: StudyFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = study_file()
    (tmp_path / "old.csv").write_text("x,y,value\n0.1,0.2,3\n0.3,0.4,5\n")
    compare = importing.are_fresh
    compared: list[int] = []

    def meanwhile(trials: Sequence[Trial], rows: Sequence[Row]) -> list[bool]:
        compared.append(len(trials))
        found = compare(trials, rows)
        if len(compared) == 1:
            other = Study.open("sqlite:///demo.db", "demo")
            thread = threading.Thread(target=other.add, args=({"x": 0.1, "y": 0.2}, 3.0))
            thread.start()
            thread.join()
            other.close()
        return found

    monkeypatch.setattr(importing, "are_fresh", meanwhile)
    added = ceibo("import", file, "old.csv", "--new")
    assert "added 1 measurement to study 'demo'; left out: 1 row" in added.out
    assert compared == [0, 1]
