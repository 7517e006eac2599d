"""Five hundred worksheets: read rightly, or refused with every problem named by its cell.

python -m soak.worksheets              500 of them, and those written opened by LibreOffice
python -m soak.worksheets --case 61    one, with its traceback

Each is a function of its number: a plan that ceibo wrote, filled in at random, with columns moved,
renamed, merged and left out, in a random encoding and locale, some with typing errors. What was
typed is known, so what must be stored, and which cells must be refused, is known as well.
"""

import argparse
import csv
import datetime
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

import openpyxl

from ceibo import AtMost, Categorical, Float, Maximize, Measurement, Ordinal, Study, Trial
from ceibo.sheets.problems import SheetError
from soak.fuzz_studies import WrongError
from soak.office import check_office
from soak.worksheet_files import Filled, Place, Written, formula_without_value, write

SHEETS: Final = 500
_SPACE: Final = {
    "Temperature (°C)": Float(20, 120),
    "hours": Ordinal([1, 2, 4, 8, 24]),
    "equiv": Float(1, 2, step=0.05),
    "rate": Float(1e-4, 1e-1, log=True),
    "solvent": Categorical(["water", "1,4-dioxane", "2-MeTHF", "=1+1"]),
}
_OUTCOMES: Final = {"yield": Maximize(unit="%"), "impurity": AtMost(2.0)}
_NOTES: Final = ("heater slow", "=HYPERLINK(1)", "Müller", "second lot; new column")


@final
@dataclass
class Truth:
    """What was typed into a sheet, and what must come of it.

    `told` are the measurements by planned trial or, of rows of one's own, by setting; `run` has the
    settings really used, `faults` the cells that must be refused, `missing` the columns.
    """

    told: dict[int, dict[str, Measurement]] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    run: dict[int, dict[str, Any]] = field(default_factory=dict)
    new: list[tuple[dict[str, Any], dict[str, Measurement]]] = field(default_factory=list)
    attributes: dict[int, dict[str, str]] = field(default_factory=dict)
    faults: set[Place] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)


def worksheet(seed: int) -> str:
    """Makes a sheet, reads it, and compares with what was typed."""
    rng = random.Random(f"worksheet {seed}")
    outcomes = _OUTCOMES if rng.random() < 0.5 else None
    study = Study.create(_SPACE, outcomes=outcomes, seed=seed)
    try:
        with tempfile.TemporaryDirectory(prefix="ceibo-worksheet-") as folder:
            return _try(rng, study, Path(folder))
    finally:
        study.close()


def _try(rng: random.Random, study: Study, folder: Path) -> str:
    if rng.random() < 0.3:
        study.add(study.ask().params, _value(rng, study))
    table, trials = _plan(rng, study, folder)
    truth = _fill(rng, study, table, trials)
    mapping = _rearrange(rng, table, truth)
    file = write(rng, table, folder)
    before = study.ledger.refresh().seq
    try:
        study.read_sheet(file.path, columns=mapping)
    except SheetError as error:
        found = {each.where.rpartition(" ")[2] for each in error.problems if each.where}
        wanted = {file.address(place) for place in truth.faults}
        absent = [each.message for each in error.problems if not each.where]
        named = all(any(repr(name) in each for each in absent) for name in truth.missing)
        if found != wanted or len(absent) != len(truth.missing) or not named:
            raise WrongError(f"expected faults in {wanted}, got {error}") from None
        if study.ledger.refresh().seq != before:
            raise WrongError("something was stored") from None
        return "refused"
    if truth.faults or truth.missing:
        what = truth.missing or truth.faults
        raise WrongError(f"faults in {what} were not seen in {_shown(file)}")
    _check(study, trials, truth)
    after = study.ledger.refresh().seq
    again = study.read_sheet(file.path, columns=mapping)
    if study.ledger.refresh().seq != after or again.filled or again.new:
        raise WrongError(f"reading it again changed something: {again}")
    return "ok"


def _shown(file: Written) -> str:
    return f"{file.path.name} of {file.path.stat().st_size} bytes"


def _value(rng: random.Random, study: Study) -> Any:
    value = round(rng.uniform(1, 99), 2)
    return value if study.outcomes is None else {"yield": value, "impurity": round(value / 50, 3)}


def _plan(rng: random.Random, study: Study, folder: Path) -> tuple[Filled, list[Trial]]:
    """A plan that ceibo wrote, as a table."""
    count, replicates = rng.randint(2, 5), rng.choice([0, 2, 3])
    blocks = rng.choice([(), ("day",), ("day", "plate")])
    path = folder / rng.choice(["made.xlsx", "made.csv"])
    trials = study.sheet(path, count, replicates=replicates, blocks=blocks)
    if path.suffix == ".xlsx":
        sheet = openpyxl.load_workbook(path).worksheets[0]
        lines = [list(line) for line in sheet.iter_rows(values_only=True)][: count + 1]
    else:
        with path.open(encoding="utf-8", newline="") as file:
            lines = [[_typed(cell) for cell in line] for line in csv.reader(file)]
    return Filled([str(each) for each in lines[0]], lines[1:]), trials


def _typed(cell: str) -> Any:
    try:
        number = float(cell)
    except ValueError:
        return cell or None
    return int(number) if cell.isdigit() else number


# -- filling in --------------------------------------------------------------------------------


def _fill(rng: random.Random, study: Study, table: Filled, trials: list[Trial]) -> Truth:
    truth = Truth()
    for row, trial in enumerate(trials, 1):
        if rng.random() < 0.85:
            _fill_row(rng, study, table, truth, row, trial)
    for _ in range(rng.choice([0, 0, 1, 2])):
        _add_row(rng, study, table, truth)
    filled = [row for row, line in enumerate(table.rows, 1) if _has_value(table, line)]
    for row in rng.sample(filled, min(len(filled), rng.choice([0, 0, 0, 1, 2, 3]))):
        _spoil(rng, table, truth, row)
    return truth


def _outcomes(study: Study) -> list[tuple[str, str, str]]:
    """Of each outcome its name, the beginning of its columns, and the header of its value."""
    if study.outcomes is None:
        return [("", "", "value")]
    return [("yield", "yield ", "yield (%)"), ("impurity", "impurity ", "impurity")]


def _has_value(table: Filled, line: list[Any]) -> bool:
    heads = ("value", "yield (%)", "impurity")
    cells = zip(table.header, line, strict=True)
    named = [cell for head, cell in cells if head in heads or "replicate" in head]
    return any(cell is not None for cell in named)


def _set(table: Filled, row: int, head: str, value: Any) -> Place:
    column = table.header.index(head)
    table.rows[row - 1][column] = value
    return row, column


def _fill_row(
    rng: random.Random, study: Study, table: Filled, truth: Truth, row: int, trial: Trial
) -> None:
    number = trial.number
    noted: dict[str, str] = {}
    if rng.random() < 0.5:
        note = rng.choice(_NOTES)
        # Excel and ceibo write an apostrophe before what could be run
        _set(table, row, "notes", f"'{note}" if note.startswith("=") else note)
        noted["notes"] = note
    if rng.random() < 0.5:
        day = datetime.date(2026, 11, rng.randint(13, 28))
        styles = [day, day.isoformat(), f"{day.day}.{day.month}.{day.year}"]
        _set(table, row, "date", rng.choice(styles))
        noted["date"] = day.isoformat()
    if rng.random() < 0.15:
        first = _outcomes(study)[0][2]
        _set(table, row, first, rng.choice(["failed", "FAILED"]))
        truth.failed.add(number)
        truth.attributes[number] = noted
        return
    truth.told[number] = _measure(rng, study, table, row)
    truth.attributes[number] = noted
    if rng.random() < 0.25:
        truth.run[number] = _run_elsewhere(rng, table, row, trial)


def _run_elsewhere(rng: random.Random, table: Filled, row: int, trial: Trial) -> dict[str, Any]:
    """Types settings really used; the whole setting."""
    params = dict(trial.params)
    if rng.random() < 0.7:
        used = round(params["Temperature (°C)"] - 7.5, 1)
        _set(table, row, "Temperature (°C) used", used)
        params["Temperature (°C)"] = used
    else:
        other = "water" if params["solvent"] != "water" else "2-MeTHF"
        typed = rng.choice([other, other.upper(), other.lower()])
        _set(table, row, "solvent used", typed)
        params["solvent"] = other
    return params


def _measure(rng: random.Random, study: Study, table: Filled, row: int) -> dict[str, Measurement]:
    """Types what was measured in a row."""
    told = {}
    block = {}
    for head in table.header:
        if head.startswith("block") and rng.random() < 0.5:
            block[head.removeprefix("block ")] = name = rng.choice(["mon", "tue"])
            _set(table, row, head, name)
    for name, start, head in _outcomes(study):
        columns = [each for each in table.header if each.startswith(f"{start}replicate ")]
        if columns and rng.random() < 0.5:
            repeats = [round(rng.uniform(1, 90), 2) for _ in columns]
            for column, value in zip(columns, repeats, strict=True):
                _set(table, row, column, value)
            told[name] = Measurement.of(repeats, block=block or None)
            continue
        value, noise = round(rng.uniform(1, 99), 1), None
        place = _set(table, row, head, value)
        style = rng.random()
        if style < 0.15:
            _set(table, row, head, f"{value}".replace(".", "·"))  # typed as a text
        elif style < 0.3 and "%" in head:
            _set(table, row, head, f"{value}".replace(".", "·") + " %")
        elif style < 0.5:
            table.formulas.add(place)
        elif style < 0.6 and "%" in head:
            table.shares.add(place)
        if rng.random() < 0.4:
            noise = round(rng.uniform(0.1, 2), 2)
            _set(table, row, f"{start}noise", noise)
        told[name] = Measurement(value, noise, block=block or None)
    return told


def _add_row(rng: random.Random, study: Study, table: Filled, truth: Truth) -> None:
    """A run of one's own below the plan."""
    table.rows.append([None] * len(table.header))
    row = len(table.rows)
    params = {
        "Temperature (°C)": round(rng.uniform(10, 130), 1),
        "hours": rng.choice([1, 4, 24]),
        "equiv": rng.choice([1.05, 1.27, 1.8]),
        "rate": 0.025,
        "solvent": rng.choice(["water", "2-MeTHF"]),
    }
    for name, value in params.items():
        _set(table, row, name, value.swapcase() if isinstance(value, str) else value)
    truth.new.append((params, _measure(rng, study, table, row)))


def _spoil(rng: random.Random, table: Filled, truth: Truth, row: int) -> None:
    """A typing error in a row that has a result."""
    line = table.rows[row - 1]
    values = [
        column
        for column, head in enumerate(table.header)
        if (head in ("value", "yield (%)", "impurity") or "replicate" in head)
        and line[column] is not None
        and str(line[column]).casefold() != "failed"
    ]
    ways: list[Callable[[], tuple[int, Any]]] = [
        lambda: (table.header.index("hours"), "3 days"),
        lambda: (table.header.index("solvent"), "acetone"),
    ]
    if values:
        words = ("n.d.", "<0·5", "12 kg", "1_5", "about 7", "#DIV/0!", "1·2·3", "--")
        ways.append(lambda: (rng.choice(values), rng.choice(words)))
        ways.append(lambda: (rng.choice(values), datetime.date(2026, 5, 1)))
        ways.append(lambda: (rng.choice(values), formula_without_value()))
    if line[table.header.index("trial")] is not None:
        ways.append(lambda: (table.header.index("trial"), 99))
        ways.append(lambda: (table.header.index("trial"), "third"))
        ways.append(lambda: (table.header.index("Temperature (°C)"), 19.5))
    column, wrong = rng.choice(ways)()
    line[column] = wrong
    place = (row, column)
    table.formulas.discard(place)
    table.shares.discard(place)
    truth.faults.add(place)


# -- rearranging -------------------------------------------------------------------------------


def _rearrange(rng: random.Random, table: Filled, truth: Truth) -> dict[str, str]:
    """Moves, renames, merges and leaves out columns; what renamed ones stand for."""
    keep = list(range(len(table.header)))
    has_new = len(table.rows) > 0 and any(
        line[table.header.index("trial")] in (None, "third") for line in table.rows
    )
    faulty = {column for _, column in truth.faults}
    for column, head in enumerate(table.header):
        empty = all(line[column] is None for line in table.rows)
        planned = head in _SPACE and not has_new and column not in faulty
        unneeded = empty and not _is_value(head)
        if (unneeded or planned or "predicted" in head) and rng.random() < 0.4:
            keep.remove(column)
    needed = [column for column in keep if table.header[column] in _SPACE]
    if truth.new and rng.random() < 0.2:
        lost = rng.choice([column for column in needed if column not in faulty])
        truth.missing.append(table.header[lost])
        keep.remove(lost)
    if rng.random() < 0.5:
        rng.shuffle(keep)
    _take(table, truth, keep)
    mapping = {}
    renames = {"hours": "Time [min]", "notes": "What happened", "equiv": "Base (eq.)"}
    for column, head in enumerate(table.header):
        if head in renames and rng.random() < 0.4:
            table.header[column] = renames[head]
            mapping[renames[head]] = head
        elif head == "hours" and rng.random() < 0.5:
            table.header[column] = "hours (h)"
        elif head in ("value", "notes", "date", "trial") and rng.random() < 0.3:
            table.header[column] = head.upper()
        elif head.startswith("block") and rng.random() < 0.5:
            table.spread.add(column)
    return mapping


def _is_value(head: str) -> bool:
    return head in ("value", "yield (%)", "impurity")


def _take(table: Filled, truth: Truth, keep: list[int]) -> None:
    """Keeps some columns in some order."""
    place = {old: new for new, old in enumerate(keep)}
    table.header = [table.header[each] for each in keep]
    table.rows = [[line[each] for each in keep] for line in table.rows]
    for places in (table.formulas, table.shares, truth.faults):
        moved = {(row, place[column]) for row, column in places if column in place}
        places.clear()
        places.update(moved)


# -- what must be stored -----------------------------------------------------------------------


def _check(study: Study, trials: list[Trial], truth: Truth) -> None:
    stored = study.trials
    linked = {each.attributes["planned"]: each for each in stored if "planned" in each.attributes}
    if linked.keys() != truth.run.keys():
        raise WrongError(f"run elsewhere: {sorted(linked)}, expected {sorted(truth.run)}")
    for trial in trials:
        number = trial.number
        now = stored[number]
        if number in truth.run:
            if now.state != "withdrawn" or linked[number].params != truth.run[number]:
                raise WrongError(f"trial {number} was run at {truth.run[number]}: {linked[number]}")
            now = linked[number]
        wanted = "failed" if number in truth.failed else "done" if number in truth.told else None
        if (wanted or "running") != now.state:
            raise WrongError(f"trial {number} is {now.state}, expected {wanted}")
        _check_told(now, truth.told.get(number, {}))
        for name, value in truth.attributes.get(number, {}).items():
            if now.attributes.get(name) != value:
                raise WrongError(f"trial {number}: {name} is {now.attributes}, expected {value!r}")
    added = [each for each in stored if "sheet" in each.attributes]
    for params, told in truth.new:
        same = [each for each in added if each.params == params and _told(each) == told]
        if not same:
            raise WrongError(f"{params} with {told} is not among {added}")
    if len(added) != len(truth.new):
        raise WrongError(f"{len(added)} rows were added, expected {len(truth.new)}")


def _told(trial: Trial) -> dict[str, Measurement]:
    names = trial.names or ("",) * len(trial.measurements)
    return dict(zip(names, trial.measurements, strict=True))


def _check_told(trial: Trial, told: dict[str, Measurement]) -> None:
    if _told(trial) != told or len(trial.measurements) != len(told):
        raise WrongError(f"trial {trial.number} has {trial.measurements}, expected {told}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--cases", type=int, default=SHEETS)
    parser.add_argument("--case", type=int, help="one case, with its traceback")
    options = parser.parse_args()
    if options.case is not None:
        print(worksheet(options.case))
        return 0
    counts: Counter[str] = Counter()
    for number in range(options.cases):
        try:
            counts[worksheet(number)] += 1
        except Exception as error:
            counts["wrong"] += 1
            shown = f"{type(error).__name__}: {error}".replace("\n", " | ")[:400]
            print(f"   python -m soak.worksheets --case {number}   # {shown}", flush=True)
    total = f"{options.cases} worksheets: {counts['ok']} read rightly"
    print(f"{total}, {counts['refused']} refused with every problem named, {counts['wrong']} wrong")
    with tempfile.TemporaryDirectory(prefix="ceibo-worksheet-") as folder:
        print(check_office(Path(folder)))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
