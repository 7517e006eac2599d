"""Every verb takes a study file or a database; studies are listed, settings are queued."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from ceibo import AtMost, Float, Int, Maximize, Space, Study
from ceibo.cli.verbs import VERBS, verb
from tests.cli.cli_tools import Ceibo, StudyFile

SPACE: dict[str, Any] = {"x": Float(0, 1), "n": Int(1, 4)}
# those that make a study file, or have no study
WITHOUT = {"init", "doctor", "backup", "studies"}


@pytest.fixture
def database(tmp_path: Path) -> str:
    """The URL of a database with one study, made in Python."""
    url = f"sqlite:///{tmp_path}/lab.db"
    study = Study.create(SPACE, storage=url, name="bowl", direction="maximize")
    study.optimize(lambda p: -((p["x"] - 0.3) ** 2), n_trials=6)
    study.close()
    return url


def test_every_verb_can_name_a_study() -> None:
    for name in VERBS.keys() - WITHOUT:
        options = inspect.signature(verb(name)).parameters
        assert {"study", "study_name"} & set(options), name


@pytest.mark.parametrize("by_url", [True, False])
def test_a_study_made_in_python_is_seen_from_the_shell(
    ceibo: Ceibo, database: str, by_url: bool, tmp_path: Path
) -> None:
    """`ceibo best lab.db` said that the file is not valid TOML."""
    place = database if by_url else "lab.db"
    best = ceibo("best", place, "--json").json["best"]
    assert best["params"] == Study.open(database, "bowl").best.params
    assert len(ceibo("show", place, "--json", "--study", "bowl").json) == 6
    study = Study.open(database, "bowl")
    study.tell(5, study.trials[5].measurements[0], attributes={"operator": "Ann"})
    assert ceibo("show", place, "5", "--json").json["attributes"] == {"operator": "Ann"}
    in_full = ceibo("show", place, "5").out
    assert 'operator: "Ann"\n' in in_full
    assert " s after it was handed out\n" in in_full
    asked = ceibo("ask", place, "--json").json
    assert asked["trial"] == 6
    assert ceibo("tell", place, "6", "0.5").status == 0
    assert ceibo("correct", place, "6", "0.4").status == 0
    assert ceibo("void", place, "6", "broken").status == 0
    assert ceibo("should-stop", place, "--cost", "0.1").status in (0, 1)
    assert ceibo("predict", place, "x=0.2", "n=3").status == 0
    assert ceibo("export", place, "-o", "out.csv").status == 0
    assert ceibo("import", place, "out.csv", "--again").status == 0
    assert ceibo("report", place).status == 0
    assert ceibo("backup", place, "copy.db").status == 0
    assert "has no [command]" in ceibo("run", place).err
    assert "expected a study file" in ceibo("change", place).err
    again = ceibo("export", place, "-o", "lab.db", "--format", "csv")
    assert (again.status, "belongs to the study itself" in again.err) == (2, True)


def test_several_studies_in_one_database(ceibo: Ceibo, database: str) -> None:
    outcomes = {"yield": Maximize(unit="%"), "impurity": AtMost(2.0)}
    Study.create({"y": Float(0, 1)}, outcomes=outcomes, storage=database, name="yields").ask(2)
    answer = ceibo("best", database)
    assert answer.status == 2
    assert "there are 2 studies" in answer.err
    assert "--study: 'bowl', 'yields'" in answer.err
    assert len(ceibo("show", database, "--study", "yields", "--json").json) == 2
    assert "no study named 'bowel'" in ceibo("best", database, "--study", "bowel").err
    listed = ceibo("studies", database, "--json").json
    assert [each["study"] for each in listed] == ["bowl", "yields"]
    assert [each["trials"] for each in listed] == [6, 2]
    assert [each["done"] for each in listed] == [6, 0]
    assert [each["running"] for each in listed] == [0, 2]
    shown = ceibo("studies", "lab.db").out
    assert "maximize yield, impurity ≤ 2" in shown
    assert shown.count("\n") == 3


def test_the_environment_does_not_move_a_database_that_is_named(
    ceibo: Ceibo, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CEIBO_STORAGE", "sqlite:///elsewhere.db")
    assert len(ceibo("show", database, "--json").json) == 6
    assert len(ceibo("studies", database, "--json").json) == 1


def test_a_file_names_its_own_study(ceibo: Ceibo, study_file: StudyFile) -> None:
    file = study_file()
    assert ceibo("ask", file, "--new").status == 0
    assert ceibo("show", file, "--study", "demo").status == 0
    answer = ceibo("show", file, "--study", "other")
    assert answer.status == 2
    assert "is the file of study 'demo'" in answer.err


def test_settings_are_queued(ceibo: Ceibo, study_file: StudyFile, tmp_path: Path) -> None:
    file = study_file()
    assert ceibo("enqueue", file, "x=0.5", "y=0.25").status == 2
    answer = ceibo("enqueue", file, "x=0.5", "y=0.25", "--new")
    assert answer.out == "trial 0: x=0.5  y=0.25\n"
    (tmp_path / "own.csv").write_text("x,y\n0.1,0.2\n0.3,0.4\n")
    queued = ceibo("enqueue", file, "own.csv", "--json").json
    assert [each["trial"] for each in queued] == [1, 2]
    handed = ceibo("ask", file, "-n", "3", "--json").json
    pairs = [(each["params"]["x"], each["params"]["y"]) for each in handed]
    assert pairs == [(0.5, 0.25), (0.1, 0.2), (0.3, 0.4)]
    assert "lacks y" in ceibo("enqueue", file, "x=0.5").err
    (tmp_path / "wrong.csv").write_text("x,y\n0.1,0.2\n0.3,4\n")
    assert ceibo("enqueue", file, "wrong.csv").status == 2
    assert len(ceibo("show", file, "--json").json) == 3  # all or none


def test_ask_without_a_database_says_so(ceibo: Ceibo, study_file: StudyFile) -> None:
    """A colleague with the file alone began the study again at trial 0, without a word."""
    file = study_file()
    answer = ceibo("ask", file)
    assert answer.status == 2
    assert "study 'demo' has no database: there is no file" in answer.err
    assert f"ceibo ask {file} --new" in answer.err
    assert not (file.parent / "demo.db").exists()
    assert ceibo("ask", file, "--new").status == 0
    assert ceibo("ask", file, "--json").json["trial"] == 1


def test_init_creates_the_database(ceibo: Ceibo, tmp_path: Path) -> None:
    assert ceibo("init", "-p", "x=0:1").status == 0
    assert (tmp_path / "study.db").exists()
    assert "no studies in" in ceibo("studies", "study.toml").out
    assert ceibo("ask", "study.toml", "--json").json["trial"] == 0


def test_what_is_advised_is_about_the_same_study(
    ceibo: Ceibo, study_file: StudyFile, tmp_path: Path
) -> None:
    """A value would have gone to a trial of the same number in the file's own database."""
    file, other = study_file(), f"sqlite:///{tmp_path}/another one.db"
    asked = ceibo("ask", file, "--new", "--storage", other)
    assert asked.err.endswith(f"0 VALUE [NOISE] --storage '{other}'\n")
    queued = ceibo("enqueue", file, "x=0.5", "y=0.5", "--storage", other)
    assert queued.err.endswith(f"--storage '{other}'\n"), queued.err
    written = ceibo("sheet", file, tmp_path / "plan.csv", "-n", 1, "--storage", other)
    assert f"--read --storage '{other}'" in written.err
    base = tmp_path / "two.db"
    for name in ("one", "two"):
        Study.create(SPACE, storage=f"sqlite:///{base}", name=name)
    assert ceibo("ask", base, "--study", "two").err.endswith("[NOISE] --study two\n")


def test_an_export_has_the_rules_and_what_is_off(ceibo: Ceibo, tmp_path: Path) -> None:
    space = Space({"a": Float(0, 1), "b": Float(0, 1)}, constraints=["a + b <= 1"])
    url = f"sqlite:///{tmp_path}/ruled.db"
    Study.create(space, storage=url, outliers=False).close()
    data = ceibo("export", url, "--format", "json").json
    assert data["constraints"] == ["a + b <= 1"]
    assert data["settings"]["outliers"] is False


@pytest.mark.parametrize("name", ["q?1.db", "p%20q.db"])
def test_odd_names_of_databases_are_examined(ceibo: Ceibo, tmp_path: Path, name: str) -> None:
    escaped = name.replace("%", "%25").replace("?", "%3F")
    Study.create(SPACE, storage=f"sqlite:///{tmp_path}/{escaped}").close()
    assert (tmp_path / name).exists()
    assert ceibo("doctor", tmp_path / name).status == 0


def test_commands_quote_names_with_spaces(ceibo: Ceibo, tmp_path: Path) -> None:
    made = ceibo("init", "-o", "my study.toml", "-p", "x=0:1")
    assert "ceibo sheet 'my study.toml' plan.xlsx" in made.out
    (tmp_path / "my study.db").unlink()
    assert "`ceibo ask 'my study.toml' --new`" in ceibo("best", "my study.toml").err
    odd = ceibo("init", "-o", "a.toml", "-p", "x\udcff=0:1")
    assert (odd.status, "UTF-8" in odd.err) == (2, True)
