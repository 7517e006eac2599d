"""Worksheets as workbooks: what is written, what comes back, and what spreadsheets do to cells."""

import datetime
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceibo import Categorical, Float, InputError, Int, Maximize, Measurement, Study
from ceibo.decide import Space
from ceibo.decide.frame import Frame
from ceibo.sheets import workbook
from ceibo.sheets.entries import Wanted
from ceibo.sheets.problems import SheetError
from ceibo.sheets.rows import read_rows
from soak.worksheets import worksheet
from tests.sheets.filling import fill

SPACE = {"temp": Float(20, 120), "n": Int(1, 8), "solvent": Categorical(["water", "ethanol"])}


def type_into(path: Path, cells: dict[tuple[int, str], Any]) -> None:
    """Types into the first sheet: (row, counted from 0 below the header; header) -> what."""
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    header = [cell.value for cell in sheet[1]]
    for (row, head), value in cells.items():
        sheet.cell(row + 2, header.index(head) + 1, value)
    book.save(path)


@pytest.fixture
def study() -> Study:
    return Study.create(SPACE, outcomes={"yield": Maximize(unit="%")}, name="lab", seed=1)


def test_a_workbook_for_people(study: Study, tmp_path: Path) -> None:
    study.add({"temp": 40, "n": 2, "solvent": "water"}, {"yield": 50.0})
    path = tmp_path / "plan.xlsx"
    trials = study.sheet(path, 3, replicates=1)
    book = openpyxl.load_workbook(path)
    plan, guide = book.worksheets
    assert plan.freeze_panes == "B2"
    header = [cell.value for cell in plan[1]]
    assert header[:7] == [
        "trial",
        "temp",
        "n",
        "solvent",
        "yield predicted (%)",
        "yield predicted ± (%)",
        "yield (%)",
    ]
    # on paper a hand can write into it, and no header is cut off
    widths = {name: each.width for name, each in plan.column_dimensions.items()}
    lines = [-(-len(name) // (widths[f"{chr(65 + at)}"] - 1)) for at, name in enumerate(header)]
    assert plan.row_dimensions[1].height >= 15 * max(lines)
    assert plan.row_dimensions[4].height >= 20
    assert plan.oddFooter.left.text == "&F"
    for row, trial in enumerate(trials, 2):
        temp = plan.cell(row, 2)
        assert (temp.value, temp.data_type) == (trial.params["temp"], "n")
        assert temp.number_format in ("0.0", "0")
        assert plan.cell(row, 5).data_type == "n"
        tint = plan.cell(row, header.index("yield (%)") + 1).fill.start_color.rgb
        assert tint != plan.cell(row, 2).fill.start_color.rgb
        assert plan.cell(row, 2).border.top.style == "thin"
    said = " ".join(str(row[0]) for row in guide.iter_rows(values_only=True))
    assert "into the replicate columns, or into further rows" in said
    # on paper the sentences are as wide as the page, and none is written over the next
    assert (guide.page_setup.fitToWidth, guide.page_setup.fitToHeight) == (1, 0)
    assert guide.sheet_properties.pageSetUpPr.fitToPage
    for row in range(1, guide.max_row + 1):
        lines = -(-len(guide.cell(row, 1).value) // guide.column_dimensions["A"].width)
        assert guide.row_dimensions[row].height >= 15 * lines
    assert "failed in place of the value" in said
    assert "temp used" in said
    assert book.properties.creator == "ceibo"
    assert book.properties.lastModifiedBy is None
    with zipfile.ZipFile(path) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert str(tmp_path).encode() not in content


def test_the_guide_is_about_the_sheet_it_stands_on(study: Study, tmp_path: Path) -> None:
    study.sheet(tmp_path / "plan.xlsx", 2)
    guide = openpyxl.load_workbook(tmp_path / "plan.xlsx").worksheets[1]
    said = " ".join(str(row[0]) for row in guide.iter_rows(values_only=True))
    assert "replicate columns" not in said
    assert "Several values of one run go into further rows" in said


def test_a_workbook_comes_back(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "plan.xlsx"
    study.sheet(path, 3, replicates=2, blocks=["day"])
    told = {
        (0, "yield (%)"): 71.5,
        (0, "date"): datetime.datetime(2026, 11, 14),
        (0, "block day"): datetime.date(2026, 11, 14),
        (1, "yield replicate 1"): 60,
        (1, "yield replicate 2"): "62,5",
        (1, "date"): datetime.datetime(2026, 11, 14, 15, 30),
        (2, "yield (%)"): "Failed",
        (2, "notes"): "leak",
        (5, "temp"): 30,
        (5, "n"): 2.0,
        (5, "solvent"): "WATER",
        (5, "yield (%)"): True,
    }
    type_into(path, told)
    with pytest.raises(SheetError, match=r"F7|E7") as caught:
        study.read_sheet(path)
    assert len(caught.value.problems) == 1
    type_into(path, {(5, "yield (%)"): 44})
    read = study.read_sheet(path)
    assert (read.filled, read.failed, read.new) == ((0, 1), (2,), (3,))
    found = study.trials
    assert found[0].measurements == (Measurement(71.5, block={"day": "2026-11-14"}),)
    assert found[0].attributes == {"date": "2026-11-14"}
    assert found[1].measurements == (Measurement.of([60, 62.5]),)
    assert found[1].attributes == {"date": "2026-11-14 15:30:00"}
    assert found[3].params == {"temp": 30.0, "n": 2, "solvent": "water"}
    assert study.read_sheet(path).known == 4


def rows_of(tmp_path: Path, lines: Sequence[Any], **options: Any) -> Any:
    """What is read of a workbook with these cells."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for line in lines:
        sheet.append(line)
    for area in options.pop("merged", ()):
        sheet.merge_cells(area)
    for cell, form in options.pop("forms", {}).items():
        sheet[cell].number_format = form
    book.save(tmp_path / "t.xlsx")
    return read_rows(tmp_path / "t.xlsx", Wanted(Frame(Space(SPACE)), **options))


def test_merged_cells_say_the_same_for_every_row(tmp_path: Path) -> None:
    lines = [
        ["Screening of week 47", None, None, None],
        ["temp", "n", "solvent", "value"],
        [40, 1, "water", 1],
        [None, 2, None, 2],
    ]
    read = rows_of(tmp_path, lines, merged=["A1:D1", "A3:A4", "C3:C4"])
    assert [params for params, _ in read.rows] == [
        {"temp": 40.0, "n": 1, "solvent": "water"},
        {"temp": 40.0, "n": 2, "solvent": "water"},
    ]
    with pytest.raises(SheetError, match=r"D4.*merged with another"):
        rows_of(tmp_path, lines, merged=["A3:A4", "C3:C4", "D3:D4"])


@pytest.mark.parametrize(
    ("cell", "form", "message"),
    [
        ("=1+1", "General", "does not hold its value"),
        ("#DIV/0!", "General", "formula has failed"),
        (datetime.date(2026, 5, 1), "dd/mm/yyyy", "format the cell as a number"),
        (0.123, "0.0%", "leave out '%'"),
        ("12,3 %", "General", "leave out '%'"),
        ("<0,5", "General", "write the best guess with a noise"),
        ("n.d.", "General", "leave the cell empty"),
    ],
)
def test_cells_that_are_no_numbers(tmp_path: Path, cell: Any, form: str, message: str) -> None:
    lines = [["temp", "n", "solvent", "value"], [40, 1, "water", cell]]
    with pytest.raises(SheetError, match=message) as caught:
        rows_of(tmp_path, lines, forms={"D2": form})
    assert [each.where for each in caught.value.problems] == ["D2"]


def test_a_percentage_under_a_header_in_percent(tmp_path: Path) -> None:
    lines = [
        ["temp", "n", "solvent", "Yield [%]"],
        [40, 1, "water", 0.123],
        [40, 2, "water", "7 %"],
    ]
    read = rows_of(tmp_path, lines, forms={"D2": "0.0%"}, mapping={"Yield [%]": "value"})
    assert [told for _, told in read.rows] == [Measurement(12.3), Measurement(7)]


def test_the_sheet_with_the_columns_is_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0]["A1"] = "readme"
    sheet = book.create_sheet("data")
    sheet.append(["temp", "n", "solvent", "value"])
    sheet.append([40, 1, "water", 3])
    book.save(tmp_path / "t.xlsx")
    read = read_rows(tmp_path / "t.xlsx", Wanted(Frame(Space(SPACE))))
    assert len(read.rows) == 1


def test_what_is_no_workbook_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.xlsx"
    wanted = Wanted(Frame(Space(SPACE)))
    path.write_bytes(b"PK\x03\x04 not at all")
    with pytest.raises(InputError, match="no workbook that can be read"):
        read_rows(path, wanted)
    monkeypatch.setattr(workbook, "_MOST_BYTES", 1_000_000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"0" * 2_000_000)
    path.write_bytes(packed.getvalue())
    with pytest.raises(InputError, match="2 MB unpacked"):
        read_rows(path, wanted)
    book = openpyxl.Workbook()
    book.worksheets[0]["XFD1000000"] = 1
    book.save(path)
    with pytest.raises(InputError, match="delete the empty ones"):
        read_rows(path, wanted)


HOSTILE = ["=cmd|' /C calc'!A0", "+1", "-1+1", "@SUM(A1)", "'=x", '<b>"', "a,b;c", " x", "_x0041_"]


def test_hostile_names_and_choices_are_texts(tmp_path: Path) -> None:
    space = {f"{text} {place}": Float(0, 1) for place, text in enumerate(HOSTILE)}
    study = Study.create({**space, "c": Categorical(HOSTILE)}, name="=1+1")
    for name in ("plan.xlsx", "plan.csv"):
        path = tmp_path / name
        trials = study.sheet(path, 4)
        if name.endswith("xlsx"):
            for sheet in openpyxl.load_workbook(path).worksheets:
                for row in sheet.iter_rows():
                    assert all(cell.data_type != "f" for cell in row)
                    assert all(not str(cell.value or "").startswith("=") for cell in row)
            type_into(path, {(row, "value"): 10 + row for row in range(4)})
        else:
            fill(path, {(row, "value"): 10 + row for row in range(4)})
        read = study.read_sheet(path)
        assert read.filled == tuple(trial.number for trial in trials)
        params = [study.trials[trial.number].params for trial in trials]
        assert params == [trial.params for trial in trials]


def test_texts_that_no_workbook_can_hold(tmp_path: Path) -> None:
    study = Study.create({"c": Categorical(["a\x01b", "c"])}, seed=0)
    with pytest.raises(InputError, match=r"write a \.csv file"):
        study.sheet(tmp_path / "plan.xlsx", 4)
    waiting = study.sheet(tmp_path / "plan.csv", pending=True)
    assert len(waiting) == 4
    fill(tmp_path / "plan.csv", {(row, "value"): row for row in range(4)})
    assert len(study.read_sheet(tmp_path / "plan.csv").filled) == 4


_texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
# a workbook holds 15 digits
_numbers = st.floats(-1e12, 1e12).map(lambda each: float(f"{each:.12g}") + 0.0)
_noises = st.floats(0, 1e6).map(lambda each: float(f"{each:.12g}"))


@settings(max_examples=20)
@given(
    value=_numbers,
    noise=st.none() | _noises,
    notes=_texts,
    choices=st.lists(_texts.map(str.strip).filter(bool), min_size=2, max_size=4, unique=True),
    book=st.booleans(),
)
def test_whatever_is_typed_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    value: float,
    noise: float | None,
    notes: str,
    choices: list[str],
    book: bool,
) -> None:
    study = Study.create({"x": Float(0, 1), "c": Categorical(choices)}, seed=5)
    path = tmp_path_factory.mktemp("sheet") / ("plan.xlsx" if book else "plan.csv")
    (trial,) = study.sheet(path, 1)
    cells = {(0, "value"): value, (0, "notes"): f"'{notes}" if notes[0] in "=+-@'" else notes}
    if noise is not None:
        cells[(0, "noise")] = noise
    (type_into if book else fill)(path, cells)
    study.read_sheet(path)
    (stored,) = study.trials
    assert stored.params == trial.params
    assert stored.measurements == (Measurement(value, noise),)
    kept = notes.strip() if notes[0] not in "'" else stored.attributes["notes"]
    assert stored.attributes.get("notes", "") in (kept, notes.strip())
    assert study.read_sheet(path).known == 1
    study.close()


def test_worksheets_filled_in_at_random() -> None:
    """The small version of soak.worksheets."""
    ends = [worksheet(number) for number in range(12)]
    assert {"ok", "refused"} == set(ends)
