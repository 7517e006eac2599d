"""Absurd input ends with a sentence, and exports hold no formulas."""

import csv
import io
import json
from pathlib import Path

import pytest

from ceibo import Categorical, Float, Measurement, Study
from ceibo.cli.toml import to_toml
from ceibo.sheets.cells import guard, unguard
from ceibo.sheets.exporting import to_csv
from ceibo.study import Failure
from tests.cli.cli_tools import Ceibo, StudyFile

SPACE = 'x = {type = "float", low = 0, high = 1}\n'


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 5000 + "]" * 5000,
        f"[space]\n{SPACE}y = " + "{a = " * 5000 + "1" + "}" * 5000,
        "[space]\nx = {type = 'categorical', choices = " + "[" * 300 + "]" * 300 + "}",
        f"seed = {'9' * 5000}\n[space]\n{SPACE}",
        f"seed = 0x{'9' * 5000}\n[space]\n{SPACE}",
        f"initial = 0x{'9' * 5000}\n[space]\n{SPACE}",
        f"[space]\nn = {{type = 'int', low = 0, high = 0x{'9' * 5000}}}\n",
        f"[space]\nn = {{type = 'categorical', choices = [1, 0x{'9' * 5000}]}}\n",
        f"name = 0x{'9' * 5000}\n[space]\n{SPACE}",
    ],
    ids=range(9),
)
def test_absurd_study_files(ceibo: Ceibo, text: str) -> None:
    Path("study.toml").write_text(text)
    answer = ceibo("ask", "--new", "study.toml")
    assert answer.status == 2
    assert answer.err.startswith("ceibo: study.toml")
    assert len(answer.err) < 5000


def test_a_trial_number_of_twenty_digits(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    for verb in ("tell", "correct"):
        answer = ceibo(verb, file, "99999999999999999999", "1.5")
        assert answer.status == 2
        assert answer.err.startswith("ceibo: there is no trial 99999999999999999999")


@pytest.mark.parametrize(
    "value", ["1e9999999999", "0e9999999999", "1e-9999999999", "9" * 350, f"1e{'9' * 5000}", "nan"]
)
def test_an_absurd_value_beside_replicates(ceibo: Ceibo, study_file: StudyFile, value: str) -> None:
    Path("old.csv").write_text(f"x,y,value,replicates\n0.5,0.5,{value},1.0 2.0\n")
    answer = ceibo("import", study_file(), "old.csv")
    assert answer.status == 2
    assert "the mean of the replicates is 1.5" in answer.err


def test_a_mean_may_have_a_typographic_minus(ceibo: Ceibo, study_file: StudyFile) -> None:
    Path("old.csv").write_text("x,y,value,replicates\n0.5,0.5,1.5e−3,0.001 0.002\n")
    assert ceibo("import", study_file(), "old.csv").status == 0


def test_a_long_cell_is_not_shown_whole(ceibo: Ceibo, study_file: StudyFile) -> None:
    for head in ("x,y,value", f"{'z' * 100_000},y,value"):
        Path("old.csv").write_text(f"{head}\n0.5,{'9' * 100_000}z,1\n")
        answer = ceibo("import", study_file(), "old.csv")
        assert answer.status == 2
        assert len(answer.err) < 2000


FORMULAS = ("=1+1", "+1", "-1", "-a", "@SUM(A1)", "\tx", "\rx", "\nx", "'=1+1", "''=1+1", "'@")
PLAIN = ("water", "", "'quoted'", "a=b", " =x", "1", "'", "''")


def test_every_text_comes_back_from_its_cell() -> None:
    for text in (*FORMULAS, *PLAIN):
        cell = guard(text)
        assert unguard(cell) == text
        assert cell[:1] not in tuple("=+-@\t\r\n")
        assert (cell == text) == (text in PLAIN)


def test_an_export_holds_no_formulas_and_comes_back(ceibo: Ceibo) -> None:
    names = ["=x", "'=x", "c", "@n"]
    space = {
        "=x": Float(-1, 1),
        "'=x": Float(-1, 1),
        "c": Categorical([*FORMULAS, "water", -1]),
        "@n": Categorical([-2, -0.5, "+"]),
    }
    study = Study.create(space, storage="sqlite:///one.db", name="one")
    last: list[object] = [-2, -0.5, "+"]
    choices = space["c"].listed
    assert choices is not None
    for number, choice in enumerate(choices):
        params = dict(zip(names, (-0.25, 0.5, choice, last[number % 3]), strict=True))
        study.add(params, Measurement(-1.5, 0.5))
        study.add(params, Measurement.of([-1.0, -2.0]))
        study.add(params, Failure(f"{choice}"))
    table = list(csv.reader(io.StringIO(to_csv(study), newline="")))
    dangerous = [
        cell
        for row in table
        for cell in row
        if cell[:1] in tuple("=+@\t\r\n") or (cell[:1] == "-" and not cell[1:2].isdigit())
    ]
    assert dangerous == []
    value = table[0].index("value")
    assert {row[value] for row in table[1:]} == {"-1.5", ""}
    assert {row[table[0].index("replicates")] for row in table[1:]} == {"", "'-1.0 -2.0"}

    entries = [f"{to_toml(n, key=True)} = {to_toml(d.to_json())}" for n, d in space.items()]
    Path("two.toml").write_text('name = "two"\n[space]\n' + "\n".join(entries))
    Path("one.toml").write_text(
        'name = "one"\nstorage = "sqlite:///one.db"\n[space]\n' + "\n".join(entries)
    )
    assert ceibo("export", "one.toml", "-o", "one.csv").status == 0
    answer = ceibo("import", "two.toml", "one.csv")
    assert answer.status == 0, answer.err
    copy = Study.open("sqlite:///two.db", "two")
    assert [trial.params for trial in copy.trials] == [trial.params for trial in study.trials]
    assert [t.measurements for t in copy.trials] == [t.measurements for t in study.trials]
    given = [trial.reason for trial in study.trials]
    assert [trial.reason for trial in copy.trials] == given
    assert ceibo("import", "one.toml", "one.csv").status == 2  # every row is known


def test_choices_in_a_study_file_keep_their_type() -> None:
    assert to_toml([1.0, 1, -0.0, 2.5, "a"]) == '[1.0, 1, -0.0, 2.5, "a"]'
    assert to_toml(1.0) == "1"
    assert json.loads(to_toml([1.0])) == [1.0]


@pytest.mark.parametrize("verb", ["import", "best", "show"])
def test_a_name_that_no_file_can_have_is_refused(ceibo: Ceibo, verb: str) -> None:
    answer = ceibo(verb, "no\0file", *(["rows.csv"] if verb == "import" else []))
    assert answer.status == 2
    assert "no file can have the name" in answer.err
