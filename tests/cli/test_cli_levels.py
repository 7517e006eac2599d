"""Levels, steps and tuples on the command line: written, measured, exported, read back."""

import json
import sys
from pathlib import Path

import pytest

from ceibo import Categorical, Int, Ordinal, Study
from ceibo.cli.studyfile import load
from tests.cli.cli_tools import Ceibo

ECHO = "import os, sys; print(len(sys.argv[1]) + float(sys.argv[2]), 0.1)"
STUDY = f"""
name = "lab"
storage = "sqlite:///lab.db"
[space]
hours = {{type = "ordinal", values = [1, 2, 4, 8, 24]}}
dose = {{type = "ordinal", values = ["low", "medium", "high"]}}
n = {{type = "int", low = 8, high = 64, step = 8}}
layers = {{type = "categorical", choices = [[64, 64], [128], ["a,b", 0.5, true]]}}
[command]
argv = [{json.dumps(sys.executable)}, "-c", {json.dumps(ECHO)}, "{{layers}}", "{{hours}}"]
[stop]
trials = 6
"""


@pytest.fixture
def lab(ceibo: Ceibo, tmp_path: Path) -> Ceibo:
    """`ceibo` in a folder with a study file, s.toml."""
    (tmp_path / "s.toml").write_text(STUDY, encoding="utf-8")
    return ceibo


def test_an_export_is_read_back_as_it_was(lab: Ceibo, tmp_path: Path) -> None:
    assert lab("run", "s.toml", "--quiet").status == 0
    study = Study.open(f"sqlite:///{tmp_path}/lab.db", "lab")
    # a tuple is one argument of the command, as JSON
    for trial in study.trials:
        text = json.dumps(trial.params["layers"])
        assert trial.measurements[0].value == len(text) + trial.params["hours"]
    assert lab("export", "s.toml", "-o", "out.csv").status == 0
    (tmp_path / "t.toml").write_text(STUDY.replace("lab.db", "other.db"), encoding="utf-8")
    done = lab("import", "t.toml", "out.csv")
    assert done.status == 0, done.err
    copy = Study.open(f"sqlite:///{tmp_path}/other.db", "lab")
    assert [each.params for each in copy.trials] == [each.params for each in study.trials]
    again = lab("import", "s.toml", "out.csv")
    assert "already in study" in again.err
    assert lab("show", "s.toml").status == 0
    assert lab("best", "s.toml").status == 0
    asked = lab("ask", "--new", "s.toml", "--json").json
    assert isinstance(asked["params"]["layers"], list)


def test_cells_as_people_write_them(lab: Ceibo, tmp_path: Path) -> None:
    rows = [
        "hours;dose;n;layers;value",
        '4,0;medium;16;"[64,64]";1,5',
        '24; high ;8;"[ ""a,b"", 0.5, true ]";2,5',
    ]
    (tmp_path / "f.csv").write_text("\n".join(rows), encoding="utf-8")
    done = lab("import", "s.toml", "f.csv")
    assert done.status == 0, done.err
    first, second = Study.open(f"sqlite:///{tmp_path}/lab.db", "lab").trials
    assert first.params == {"hours": 4, "dose": "medium", "n": 16, "layers": (64, 64)}
    assert second.params == {"hours": 24, "dose": "high", "n": 8, "layers": ("a,b", 0.5, True)}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("4,lo,8,[128],1", ["'dose'", "did you mean 'low'?"]),
        ("four,low,8,[128],1", ["'hours'", "'four'"]),
        ('4,low,8,"[64, 64.0]",1', ["'layers'", "'[64, 64]'"]),
        ('4,low,8,"[64",1', ["'layers'", "'[64'"]),
    ],
)
def test_other_cells_are_refused(lab: Ceibo, tmp_path: Path, row: str, words: list[str]) -> None:
    (tmp_path / "f.csv").write_text(f"hours,dose,n,layers,value\n{row}\n", encoding="utf-8")
    answer = lab("import", "s.toml", "f.csv")
    assert answer.status == 2
    for word in words:
        assert word in answer.err


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("5,low,8,[128],1", ["'hours'", "[1, 2, 4, 8, 24]", "got 5; the nearest is 4"]),
        ("4,low,9,[128],1", ["'n'", "8 plus a multiple of 8", "the nearest is 8"]),
    ],
)
def test_numbers_between_levels_are_facts(
    lab: Ceibo, tmp_path: Path, row: str, words: list[str]
) -> None:
    (tmp_path / "f.csv").write_text(f"hours,dose,n,layers,value\n{row}\n", encoding="utf-8")
    answer = lab("import", "s.toml", "f.csv")
    assert answer.status == 0
    assert "warning: 1 row is outside the space" in answer.err
    for word in words:
        assert word in answer.err
    assert lab("ask", "--new", "s.toml").status == 0


def test_init_writes_what_was_spelled(ceibo: Ceibo, tmp_path: Path) -> None:
    given = ["hours=1<2<4<8<24:log", "dose=low<high", "n=8:512:int:step=8"]
    options = [word for each in given for word in ("--param", each)]
    done = ceibo("init", "-o", "new.toml", *options)
    assert done.status == 0, done.err
    assert "hours: 5 levels: 1, 2, 4, 8, 24" in done.out
    space = load(tmp_path / "new.toml").space
    assert space.dimensions == {
        "hours": Ordinal([1, 2, 4, 8, 24], log=True),
        "dose": Ordinal(["low", "high"]),
        "n": Int(8, 512, step=8),
    }


def test_a_study_file_says_what_is_wrong_in_its_own_words(ceibo: Ceibo, tmp_path: Path) -> None:
    wrong = STUDY.replace("[1, 2, 4, 8, 24]", "[8, 4]")
    (tmp_path / "s.toml").write_text(wrong, encoding="utf-8")
    answer = ceibo("ask", "--new", "s.toml")
    assert answer.status == 2
    assert "'hours': expected numbers in ascending order, got values = [8, 4]; use" in answer.err
    assert "values = [4, 8]." in answer.err


def test_tuples_are_lists_in_a_study_file(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY, encoding="utf-8")
    found = load(tmp_path / "s.toml").space.dimensions["layers"]
    assert found == Categorical([(64, 64), (128,), ("a,b", 0.5, True)])
