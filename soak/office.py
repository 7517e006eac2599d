"""Whether LibreOffice opens what ceibo writes as it was written, and ceibo what LibreOffice saves.

python -m soak.office

A study whose texts try to be formulas is written as a workbook and as CSV of two countries, opened
by LibreOffice and saved in other forms. Every cell must be as it was written, nothing may be a
formula, also where CSV is separated at commas, semicolons and tabs and formulas are evaluated; and
what was typed into a sheet must come back from every form in which LibreOffice saves it.
"""

import csv
import datetime
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import openpyxl

from ceibo import AtMost, Categorical, Float, Maximize, Ordinal, Study
from ceibo.sheets.exporting import to_csv
from ceibo.sheets.text_form import TextForm
from soak.fuzz_studies import WrongError

_SPACE: Final = {
    "Temperature (°C)": Float(20, 120),
    "hours": Ordinal([1, 2, 4, 8, 24]),
    "=rate": Float(1e-4, 1e-1, log=True),
    "solvent": Categorical(["water", "1,4-dioxane", "=1+1", "x;=2+3;y", "a,@SUM(A1)"]),
}
_OUTCOMES: Final = {"yield": Maximize(unit="%"), "impurity": AtMost(2.0)}
_EVERY_SEPARATOR: Final = "CSV:44/59/9,34,76,1,,0,false,true,false,false,false,-1,true"
_SEMICOLON: Final = "CSV:59,34,76,1,,0,false,true,false,false,false,-1,true"
_BOOK: Final = "xlsx:Calc MS Excel 2007 XML"
_TEXT: Final = "csv:Text - txt - csv (StarCalc):44,34,76,1"
_WAIT: Final = 180  # seconds for LibreOffice to open and save a file


@final
@dataclass(frozen=True)
class Office:
    """LibreOffice, with a profile of its own in a folder."""

    program: str
    folder: Path

    def save(self, file: Path, form: str, read_by: str | None = None) -> Path:
        """Opens a file, by a filter if one is named, and saves it in another form."""
        ending = form.partition(":")[0]
        out = self.folder / f"{file.stem}-{file.suffix[1:]}-{ending}"
        command = [self.program, f"-env:UserInstallation={(self.folder / 'profile').as_uri()}"]
        command += [] if read_by is None else [f"--infilter={read_by}"]
        command += ["--headless", "--convert-to", form, "--outdir", str(out), str(file)]
        subprocess.run(command, check=True, timeout=_WAIT, capture_output=True)
        return out / f"{file.stem}.{ending}"


def check_office(folder: Path) -> str:
    """All checks, or that there is no LibreOffice."""
    program = shutil.which("soffice") or shutil.which("libreoffice")
    if program is None:
        return "LibreOffice is not installed; what is written was not opened by it"
    office = Office(program, folder)
    study = Study.create(_SPACE, outcomes=_OUTCOMES, name="office", seed=4)
    _measure(study)
    study.sheet(folder / "plan.xlsx", 5, replicates=2, blocks=["day"])
    _check_same(_cells(folder / "plan.xlsx"), _cells(office.save(folder / "plan.xlsx", _BOOK)))
    _check_texts(study, office, folder)
    for form in (_BOOK, _TEXT):
        _check_filled(study, office, folder, form)
    return "LibreOffice opens what is written, cell by cell, and what it saves is read"


def _measure(study: Study) -> None:
    for trial, note in zip(study.ask(4), ("=1+1", "slow; =2+3", "+4 °C", "'"), strict=True):
        told = {"yield": -1.5 + trial.number, "impurity": 0.25}
        study.tell(trial, told, block={"day": "2026-11-14"}, attributes={"notes": note})
    study.fail(study.ask(), "-leak;=5")


def _check_texts(study: Study, office: Office, folder: Path) -> None:
    """CSV as it is written: its cells by its own separator, and no formula by any."""
    control = folder / "control.csv"
    control.write_text("a\nx;=1+1\n", encoding="utf-8")
    if "=1+1" not in _formulas(office.save(control, _BOOK, _EVERY_SEPARATOR)):
        raise WrongError("LibreOffice evaluates no formula of a CSV, so the check says nothing")
    semicolon = TextForm(bom=True, separator=";", decimal=",")
    study.sheet(folder / "comma.csv", pending=True)
    study.sheet(folder / "semicolon.csv", pending=True, separator=";", decimal=",", bom=True)
    (folder / "all.csv").write_text(to_csv(study), encoding="utf-8", newline="")
    (folder / "all2.csv").write_text(to_csv(study, semicolon), encoding="utf-8", newline="")
    for name in ("comma", "semicolon", "all", "all2"):
        file = folder / f"{name}.csv"
        if found := _formulas(office.save(file, _BOOK, _EVERY_SEPARATOR)):
            raise WrongError(f"LibreOffice would run {found} of {file.name}")
    for name in ("semicolon", "all2"):  # texts stay what they are, and a decimal comma a text
        file = folder / f"{name}.csv"
        with file.open(encoding="utf-8-sig", newline="") as lines:
            written = [list(map(_shown, row)) for row in csv.reader(lines, delimiter=";")]
        read = [list(map(_shown, row)) for row in _cells(office.save(file, _BOOK, _SEMICOLON))]
        _check_same(written, read)


def _check_filled(study: Study, office: Office, folder: Path, form: str) -> None:
    """What is typed into a sheet comes back from the file that LibreOffice saves."""
    ending = form.partition(":")[0]
    path = folder / f"filled-{ending}.xlsx"
    trials = study.sheet(path, 3, replicates=2, blocks=["day"])
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    place = {cell.value: cell.column for cell in sheet[1]}
    typed: list[dict[str, Any]] = [
        {"yield (%)": 81.25, "impurity": 0.5, "notes": "'=1+1", "block day": "2026-11-15"},
        {"yield replicate 1": 70.5, "yield replicate 2": 71, "impurity": "1.5"},
        {"yield (%)": "failed", "notes": "slow; '=2+3"},
    ]
    for row, cells in enumerate(typed, 2):
        for head, value in cells.items():
            sheet.cell(row, place[head], value)
    book.save(path)
    read = study.read_sheet(office.save(path, form))
    if (read.filled, read.failed) != ((trials[0].number, trials[1].number), (trials[2].number,)):
        raise WrongError(f"LibreOffice saved {ending} with {read}")
    one, two, three = (study.trials[each.number] for each in trials)
    values = [one.outcomes["yield"][0].value, two.outcomes["yield"][0].replicates]
    notes = [one.attributes["notes"], three.attributes["notes"]]
    blocks = [each.block for each in one.measurements]
    found = (values, notes, blocks)
    if found != ([81.25, (70.5, 71.0)], ["=1+1", "slow; =2+3"], [(("day", "2026-11-15"),)] * 2):
        raise WrongError(f"LibreOffice saved {ending}, and {found} was read")
    if study.read_sheet(path).known != len(trials):
        raise WrongError(f"the sheet itself has another thing than LibreOffice's {ending}")


def _cells(path: Path) -> list[list[Any]]:
    """The cells of the first sheet of a workbook, without what is empty at the ends."""
    rows = [[cell.value for cell in row] for row in openpyxl.load_workbook(path).worksheets[0]]
    while rows and not any(cell is not None for cell in rows[-1]):
        rows.pop()
    return rows


def _formulas(path: Path) -> list[Any]:
    sheets = openpyxl.load_workbook(path).worksheets
    return [
        cell.value
        for sheet in sheets
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    ]


def _shown(cell: object) -> object:
    """A cell of a text, or of a workbook that was made of one: numbers and days alike."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat()
    try:
        return float(str(cell).replace(",", "."))
    except ValueError:
        return str(cell)


def _check_same(written: list[list[Any]], read: list[list[Any]]) -> None:
    for row, (one, other) in enumerate(zip(written, read, strict=True), 1):
        wide = max(len(one), len(other))
        one, other = (each + [None] * (wide - len(each)) for each in (one, other))
        if one != other:
            raise WrongError(f"row {row} was {one}, and LibreOffice has {other}")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="ceibo-office-") as folder:
        print(check_office(Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
