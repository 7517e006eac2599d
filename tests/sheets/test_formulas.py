"""No text that ceibo writes is run by a spreadsheet program, whatever separator that reads with."""

import re
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceibo import Categorical, Float, Maximize, Study
from ceibo.cli.verbs.predict import to_csv as predicted
from ceibo.sheets.cells import guard, unguard
from ceibo.sheets.exporting import to_csv
from ceibo.sheets.text_form import TextForm
from tests.sheets.filling import fill

HOSTILE = ("=1+1", "x;=cmd|' /C calc'!A0;y", "a,@SUM(A1)", 'b\t"=1"', "c; -A1", "＝1+1")
SIGNS = "=+-@＝＋－＠"
NUMBER = re.compile(r"[+-] ?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
WITH_UNIT = re.compile(r"[+-] ?\d+(?:\.\d+)? ?[\w%°]*")


def runs(text: str) -> list[str]:
    """The pieces of a file that a program would run, whatever it takes for a separator."""
    first, *others = re.split(r"[,;\t\r\n]", text)
    pieces = [first, *(piece.strip(' "') for piece in others)]
    return [each for each in pieces if each[:1] in tuple(SIGNS) and not NUMBER.fullmatch(each)]


@pytest.fixture
def study() -> Study:
    """A study whose every text is hostile."""
    space = {f"{text} p": Float(-1, 1) for text in HOSTILE if text.isprintable()}
    made = Study.create(
        {**space, "c": Categorical(HOSTILE)},
        outcomes={"@yield": Maximize(unit="=1;@x")},
        name="=1+1",
        seed=0,
    )
    for trial, text in zip(made.ask(6), HOSTILE, strict=True):
        block = {"day; @2": re.sub(r"\s", " ", text)}
        made.tell(trial, {"@yield": -1.5}, block=block, attributes={"notes": text, "date": text})
    made.fail(made.ask(), "failed;=1+1")
    return made


def test_no_writer_writes_a_formula(study: Study, tmp_path: Path) -> None:
    texts = [predicted(study, study.predict([trial.params for trial in study.trials]))]
    for place, separator in enumerate((",", ";", "\t")):
        texts.append(to_csv(study, TextForm(separator=separator)))
        study.sheet(tmp_path / f"{place}.csv", 2, separator=separator, replicates=1)
        texts.append((tmp_path / f"{place}.csv").read_text(encoding="utf-8"))
    assert [runs(text) for text in texts] == [[]] * len(texts)
    study.sheet(tmp_path / "plan.xlsx", 2, pending=True)
    for sheet in openpyxl.load_workbook(tmp_path / "plan.xlsx").worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type != "f"
                assert cell.data_type == "n" or not cell.value.startswith(tuple(SIGNS))


def test_a_sheet_of_hostile_texts_comes_back(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "plan.csv"
    trials = study.sheet(path, 6)
    fill(path, {(row, "'@yield (=1;'@x)"): row for row in range(6)})
    assert study.read_sheet(path).filled == tuple(each.number for each in trials)
    assert {each.params["c"] for each in trials} & set(HOSTILE[1:5])


@given(st.text(st.sampled_from(",;\t\n '\"=+-@a5.°|"), max_size=12))
def test_every_text_comes_back_and_none_is_run(text: str) -> None:
    assert unguard(guard(text)) == text
    assert [each for each in runs(guard(text)) if not WITH_UNIT.fullmatch(each)] == []


def test_a_note_of_numbers_stays_readable() -> None:
    assert guard("slow; +2 °C, -5 %; 3 - 4") == "slow; +2 °C, -5 %; 3 - 4"
