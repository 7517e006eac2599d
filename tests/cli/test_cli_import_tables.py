"""`ceibo import` of tables as spreadsheets save them: read as meant, or refused with the line."""

import unicodedata
from pathlib import Path

import pytest

from ceibo import Measurement, Study
from tests.cli.cli_tools import Ceibo, trials

STUDY = """
name = "lab"
direction = "maximize"
[space]
T = {type = "float", low = 20, high = 120}
"é" = {type = "categorical", choices = ["a", "b"]}
"""


@pytest.fixture
def lab(ceibo: Ceibo, tmp_path: Path) -> Ceibo:
    """`ceibo` in a folder with a study file, s.toml."""
    (tmp_path / "s.toml").write_text(STUDY, encoding="utf-8")
    return ceibo


def told(folder: Path) -> list[tuple[object, object, object, object]]:
    """(T, é, value, noise) of every measurement."""
    return [
        (trial.params["T"], trial.params["é"], each.value, each.noise)
        for trial in trials(folder)
        for each in trial.measurements
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("T,é,value\n60,a,45\n60,a,45,2\n", ["line 3", "4 cells", "3 columns", "decimal comma"]),
        ("T,é,value\n60,a,1_5\n", ["line 2", "1_5"]),
        ("T,é,value\n6_0,a,15\n", ["line 2", "'T'", "6_0"]),
        ("T,é,value,replicates\n60,a,,1_5 16\n", ["line 2", "replicates", "1_5"]),
        ("T,é,value,value\n60,a,1,2\n", ["several columns", "'value', 'value'"]),
        ("T,é,T,value\n60,a,1,2\n", ["several columns", "'T', 'T'"]),
        ("T,é,Value,VALUE\n60,a,1,2\n", ["several columns", "'Value', 'VALUE'"]),
        ("t,é,value\n60,a,45\n", ["no column 'T'", "did you mean 't'?"]),
        ('T,é,value\n60,a,"45,2"\n', ["line 2", "'45,2'", "write 45.2"]),
        ("T;é;value\n60;a;1.234,5\n", ["line 2", "1.234,5", "write 1234.5"]),
        ("T;é;value\n60,5;a;1.234\n", ["line 2", "different decimal marks", "60,5", "1.234"]),
        ("T,é,value\n60,c,45\n", ["line 2", "'é'", "'a', 'b'", "'c'"]),
        ("T,é,value,replicates\n60,a,50,44 46\n", ["line 2", "50", "45", "empty"]),
        ("T,é,value\n60,a,45 kg\n", ["line 2", "value", "45 kg"]),
        ('T,é,value\n60,"a"x,45\n', ["not CSV"]),
        ("T,é,yield\n60,a,45\n", ["no column 'value'", "--value"]),
    ],
)
def test_what_could_mean_two_things_is_refused(
    lab: Ceibo, tmp_path: Path, text: str, words: list[str]
) -> None:
    (tmp_path / "f.csv").write_text(text, encoding="utf-8")
    answer = lab("import", "s.toml", "f.csv")
    assert (answer.status, answer.out) == (2, "")
    for word in words:
        assert word in answer.err
    assert "?." not in answer.err
    assert not (tmp_path / "s.db").exists()


def test_a_column_that_is_named_must_be_there(lab: Ceibo, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("T,é,yield,noise\n60,a,45,2\n", encoding="utf-8")
    wrong = lab("import", "s.toml", "f.csv", "--value", "yield", "--noise", "nosie")
    assert wrong.status == 2
    assert "no column 'nosie'; did you mean 'noise'?" in wrong.err
    assert lab("import", "s.toml", "f.csv", "--value", "yeild").status == 2
    assert lab("import", "s.toml", "f.csv", "--value", "yield").status == 0
    assert told(tmp_path) == [(60, "a", 45, 2)]


@pytest.mark.parametrize(
    "content",
    [
        "T,é,Value,NOISE\n60.5,a,-45.25,2\n".encode(),
        "\ufeffT;é;value;noise\r\n60,5;a;-45,25;2\r\n".encode(),
        "T\té\tvalue\tnoise\n60,5\ta\t-45,25\t2,0\n".encode(),
        "T\té\tvalue\tnoise\r\n60,5\ta\t-45,25\t2\r\n".encode("utf-16"),
        "sep=;\r\nT;é;value;noise\r\n60,5;a;-45,25;2\r\n".encode(),
        "sep=|\nT|é|value|noise\n60.5|a|-45.25|2\n".encode(),
        "T;é;value;noise\r\n60,5;a;-45,25;2\r\n".encode("latin-1"),
        " T , é , value , noise \n 60.5 , a , -45.25 ,\xa02 \n".encode(),
        "T,é,value,noise\n60.5,a,\N{MINUS SIGN}45.25,2\n".encode(),
        unicodedata.normalize("NFD", "T,é,value,noise\n60.5,a,-45.25,2\n").encode(),
        "T,é,value,noise,\n\n60.5,a,-45.25,2,,\n,,,,\n".encode(),
        'T,é,"value",noise,remark\n60.5,a,-45.25,2,one\x0cpage\u2028\n'.encode(),
        "T,é,value,noise\r60.5,a,-45.25,2\r".encode(),
        "T, in °C;T;é;value;noise\n1;60,5;a;-45,25;2\n".encode(),
    ],
    ids=[
        "capitals",
        "semicolons",
        "tabs",
        "utf-16",
        "sep",
        "sep-bar",
        "latin-1",
        "spaces",
        "minus",
        "nfd",
        "blanks",
        "form-feed",
        "cr",
        "comma-in-name",
    ],
)
def test_ordinary_spreadsheets_are_read(lab: Ceibo, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f.csv").write_bytes(content)
    answer = lab("import", "s.toml", "f.csv")
    assert answer.status == 0, answer.err
    assert answer.out == "added 1 measurement to study 'lab'\n"
    assert told(tmp_path) == [(60.5, "a", -45.25, 2.0)]
    assert ("Latin-1" in answer.err) == (b"\xe9" in content and content[:1] == b"T")


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04xl/workbook.xml", b"\xd0\xcf\x11\xe0\xa1\xb1", b"T\0,\0"]
)
def test_a_workbook_is_to_be_saved_as_csv(lab: Ceibo, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f.xlsx").write_bytes(content)
    answer = lab("import", "s.toml", "f.xlsx")
    assert answer.status == 2
    assert "CSV" in answer.err


def test_the_line_of_a_mistake_counts_all_lines(lab: Ceibo, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(
        'sep=,\n\nT,é,value,n\n60,a,1,"x\ny"\n\n60,a,much,"x\ny"\n', encoding="utf-8"
    )
    assert "line 7" in lab("import", "s.toml", "f.csv").err


def test_replicates_need_no_value(lab: Ceibo, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("T,é,Replicates\n60,a,44 46\n70,b,\n", encoding="utf-8")
    assert "left out: 1 row without a value" in lab("import", "s.toml", "f.csv").out
    text = (
        "T;é;value;replicates;noise\n60;a;;44,5 46;\n70;b;45,3;44,5 46;\n80;a;45,25;44,5"
        " 46;1,5\n90;a;7;;\n"
    )
    (tmp_path / "g.csv").write_text(text, encoding="utf-8")
    assert lab("import", "s.toml", "g.csv").status == 0
    found = [each for trial in trials(tmp_path) for each in trial.measurements]
    both = (44.5, 46.0)
    of_both = Measurement.of(both)
    assert found == [
        Measurement.of([44, 46]),
        of_both,
        of_both,
        Measurement(45.25, 1.5, both),
        Measurement(7),
    ]


def test_whole_numbers_and_choices_as_spreadsheets_write_them(ceibo: Ceibo, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'name = "lab"\n[space]\nn = {type = "int", low = 1, high = 8}\n'
        'c = {type = "categorical", choices = [true, 2.5, 3, "3x"]}\n'
    )
    (tmp_path / "f.csv").write_text("n,c,value\n2.0,TRUE,1\n3,2.50,1\n4,3.0,1\n5,3x,1\n")
    assert ceibo("import", "s.toml", "f.csv").status == 0
    assert [trial.params for trial in trials(tmp_path)] == [
        {"n": 2, "c": True},
        {"n": 3, "c": 2.5},
        {"n": 4, "c": 3},
        {"n": 5, "c": "3x"},
    ]
    (tmp_path / "g.csv").write_text("n,c,value\n2.5,3,1\n")
    assert "whole number" in ceibo("import", "s.toml", "g.csv").err


def test_the_same_rows_are_not_added_twice_unasked(lab: Ceibo, tmp_path: Path) -> None:
    rows = "T,é,value,state,reason\n60,a,45,,\n60,a,45,,\n70,b,50,,\n80,a,,failed,leak\n"
    (tmp_path / "f.csv").write_text(rows, encoding="utf-8")
    first = lab("import", "s.toml", "f.csv")  # twice in one file is fine
    assert first.out == "added 3 measurements and 1 failed trial to study 'lab'\n"
    assert [(each.state, each.reason) for each in trials(tmp_path)][3] == ("failed", "leak")
    twice = lab("import", "s.toml", "f.csv")
    assert (twice.status, twice.out) == (2, "")
    assert "every row is already in study 'lab'" in twice.err
    assert "--again" in twice.err
    assert len(trials(tmp_path)) == 4
    (tmp_path / "f.csv").write_text(rows + "90,b,55,,\n", encoding="utf-8")
    assert "4 of 5 rows are already" in lab("import", "s.toml", "f.csv").err
    assert lab("import", "s.toml", "f.csv", "--new", "--dry-run").out.startswith(
        "would add 1 measurement to"
    )
    added = lab("import", "s.toml", "f.csv", "--new")
    assert (
        added.out
        == "added 1 measurement to study 'lab'; left out: 4 rows that the study has already\n"
    )
    assert lab("import", "s.toml", "f.csv", "--again").status == 0
    assert len(trials(tmp_path)) == 10
    assert lab("import", "s.toml", "f.csv", "--again", "--new").status == 2


def test_a_dry_run_leaves_nothing_behind(lab: Ceibo, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("T,é,value\n60,a,45\n", encoding="utf-8")
    before = sorted(each.name for each in tmp_path.iterdir())
    assert (
        lab("import", "s.toml", "f.csv", "--dry-run").out
        == "would add 1 measurement to study 'lab'\n"
    )
    assert sorted(each.name for each in tmp_path.iterdir()) == before


def test_parameters_named_like_columns_survive_an_export_and_an_import(
    ceibo: Ceibo, tmp_path: Path
) -> None:
    """Also one that is called what the other is renamed to."""
    space = (
        '[space]\nvalue = {type = "int", low = 1, high = 8}\nparams_value = {type = "int", low = 1,'
        " high = 8}\n"
    )
    for name in ("one", "other"):
        (tmp_path / f"{name}.toml").write_text(f'name = "{name}"\n{space}')
    (tmp_path / "f.csv").write_text("params_params_value,params_value,value\n2,3,0.5\n")
    assert ceibo("import", "one.toml", "f.csv").status == 0
    assert ceibo("export", "one.toml", "-o", "all.csv").status == 0
    assert ceibo("import", "other.toml", "all.csv").status == 0
    study = Study.open(f"sqlite:///{tmp_path / 'other.db'}", "other")
    assert [(dict(t.params), t.measurements[0].value) for t in study.trials] == [
        ({"value": 2, "params_value": 3}, 0.5)
    ]
