"""Sheets and tables that were used: read again after corrections, copied, filled in by turns."""

from pathlib import Path
from typing import Any

import pytest

from ceibo import AtLeast, AtMost, Float, Maximize, Measurement, SheetError, Study
from ceibo.errors import InputError
from ceibo.sheets.entries import Wanted
from ceibo.sheets.exporting import to_csv
from ceibo.sheets.importing import import_rows
from ceibo.sheets.rows import read_rows
from tests.sheets.filling import fill

SPACE = {"x": Float(0, 100)}


def imported(study: Study, path: Path, *lines: str) -> Any:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = read_rows(path, Wanted(study.ledger.frame, study.outcomes))
    return import_rows(study, rows, path, "new", dry_run=False)


def told(study: Study) -> list[list[float]]:
    return [[each.value for each in trial.measurements] for trial in study.trials]


@pytest.mark.parametrize("unit", ["mg/(L h)", "g/(L·h)", "1/(M s)"])
@pytest.mark.parametrize("others", [{}, {"ee": AtLeast(3.0, unit="%")}])
def test_units_with_brackets_come_back(unit: str, others: dict[str, Any], tmp_path: Path) -> None:
    study = Study.create(SPACE, outcomes={"rate": Maximize(unit=unit), **others}, seed=0)
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 2)
    fill(plan, {(0, f"rate ({unit})"): 5.5} | dict.fromkeys([(0, "ee (%)")][: len(others)], 4))
    assert study.read_sheet(plan).filled == (0,)
    assert study.trials[0].outcomes["rate"][0].value == 5.5


def test_an_import_again_does_not_bring_back_what_was_corrected_or_voided(tmp_path: Path) -> None:
    study = Study.create(SPACE, seed=0)
    imported(study, tmp_path / "t.csv", "x,value", "1,10", "2,20")
    study.correct(0, 11)
    study.void(1, "bad")
    imported(study, tmp_path / "t.csv", "x,value", "1,10", "2,20", "3,30")
    assert told(study) == [[11], [], [30]]


@pytest.mark.parametrize("key", ["monday", None])
def test_an_export_filled_in_doubles_nothing(key: str | None, tmp_path: Path) -> None:
    study = Study.create(SPACE, outcomes={"y": Maximize(), "z": AtMost(3)}, seed=0)
    study.ask()
    study.tell(0, {"y": 80}, key=key)
    if key is None:
        study.tell(0, {"y": 82}, key="page-1")
    lines = to_csv(study).splitlines()
    column = lines[0].split(",").index("z")
    for row in range(1, len(lines)):
        cells = lines[row].split(",")
        cells[column] = str(row)
        lines[row] = ",".join(cells)
    imported(study, tmp_path / "export.csv", *lines)
    (trial,) = study.trials
    values = [each.value for each in trial.outcomes["y"]]
    assert values == ([80] if key else [80, 82])
    assert [each.value for each in trial.outcomes["z"]] == list(range(1, len(lines)))


@pytest.mark.parametrize("gap", ["\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"])
def test_thousands_with_a_gap_are_no_replicates(gap: str, tmp_path: Path) -> None:
    study = Study.create(SPACE, seed=0)
    sheet = tmp_path / "s.csv"
    sheet.write_text(f"x;replicate 1;replicate 2\n1;1{gap}234,5;1{gap}240,1\n", encoding="utf-8")
    with pytest.raises(SheetError, match="1234,5 without a gap"):
        study.read_sheet(sheet)
    assert not study.trials


@pytest.mark.needs("openpyxl")
def test_another_sheet_with_the_same_columns_is_remarked(tmp_path: Path) -> None:
    import openpyxl

    study = Study.create(SPACE, seed=0)
    plan = tmp_path / "plan.xlsx"
    study.sheet(plan, 2)
    book = openpyxl.load_workbook(plan)
    book.copy_worksheet(book.worksheets[0])
    book.worksheets[0].cell(3, 20, 5.9)  # below no header
    book.save(plan)
    notes = " ".join(study.read_sheet(plan).notes)
    assert "was read, and not" in notes
    assert "column T" in notes


def test_a_failed_run_that_was_repeated_is_read_again(tmp_path: Path) -> None:
    study = Study.create(SPACE, seed=0)
    x = study.ask().params["x"]
    sheet = tmp_path / "s.csv"
    sheet.write_text(f"trial,x,value,notes\n0,{x!r},failed,leak\n0,{x!r},5,ok\n", encoding="utf-8")
    study.read_sheet(sheet)
    again = study.read_sheet(sheet)
    assert (again.known, again.filled, again.failed) == (2, (), ())
    assert told(study) == [[5]]


def test_a_failure_beside_replicates_is_refused_and_one_without_a_reason_says_so(
    tmp_path: Path,
) -> None:
    study = Study.create(SPACE, seed=0)
    x = study.ask().params["x"]
    sheet = tmp_path / "s.csv"
    head = "trial,x,value,replicate 1,replicate 2\n"
    sheet.write_text(f"{head}0,{x!r},failed,3.1,3.2\n", encoding="utf-8")
    with pytest.raises(SheetError, match="there are replicates"):
        study.read_sheet(sheet)
    sheet.write_text(f"{head}0,{x!r},failed,,\n", encoding="utf-8")
    study.read_sheet(sheet)
    assert study.trials[0].reason == "failed; why was not said"


def test_advised_corrections_keep_the_count(tmp_path: Path) -> None:
    study = Study.create(SPACE, seed=0)
    x = study.ask().params["x"]
    study.tell(0, Measurement(5, noise=0.1, count=4))
    sheet = tmp_path / "s.csv"
    sheet.write_text(f"trial,x,value,noise,count\n0,{x!r},6,0.1,4\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"6\.0 0\.1 --count 4"):
        study.read_sheet(sheet)
    sheet.write_text(f"trial,x,replicate 1,replicate 2,noise\n0,{x!r},6,7,0.1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"ceibo void .* and read the sheet again"):
        study.read_sheet(sheet)


def test_every_measurement_of_a_trial_is_voided_by_a_command_of_its_own(tmp_path: Path) -> None:
    outcomes = {"y": Maximize(), "z": AtMost(3)}
    study = Study.create(SPACE, outcomes=outcomes, seed=0)
    x = study.ask().params["x"]
    study.tell(0, {"y": 1, "z": 2})
    sheet = tmp_path / "s.csv"
    sheet.write_text(f"trial,x,y,z\n0,{x!r},failed,\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"--outcome y and ceibo void .* --outcome z"):
        study.read_sheet(sheet)


def test_a_later_reading_has_the_notes_of_a_failure(tmp_path: Path) -> None:
    study = Study.create(SPACE, seed=0)
    x = study.ask().params["x"]
    sheet = tmp_path / "s.csv"
    for notes in ("", "dry"):
        text = f"trial,x,value,reason,notes\n0,{x!r},failed,leak,{notes}\n"
        sheet.write_text(text, encoding="utf-8")
        study.read_sheet(sheet)
    assert study.trials[0].attributes["notes"] == "dry"
