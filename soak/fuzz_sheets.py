"""Random sheets: read as trials, or refused; what an export wrote comes back as it was."""

import csv
import io
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from ceibo import Categorical, Float, Int, Measurement, Study
from ceibo.decide import Space
from ceibo.decide.frame import Frame
from ceibo.errors import InputError
from ceibo.sheets.cells import guard, unguard
from ceibo.sheets.entries import Wanted
from ceibo.sheets.exporting import to_csv
from ceibo.sheets.rows import Row, Rows, read_rows
from ceibo.study import Failure
from soak.fuzz_files import check_refusal
from soak.fuzz_studies import WrongError, extreme
from soak.fuzz_text import NUMBERS, PIECES, mutate, some_text

ENCODINGS: Final = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1", "utf-32")
_SAMPLES: Final = 20
SPACE: Final = Space(
    {
        "x": Float(-1, 1),
        "=n": Int(-5, 5),
        "c": Categorical(["=1+1", "-a", "'=1+1", "water", "x,y", " a", "é"]),
        "value": Categorical([True, 2, 0.5, "@"]),
    }
)


def sheet(seed: int) -> str:
    """A sheet made at random, or an export, often damaged."""
    rng = random.Random(f"sheet {seed}")
    if rng.random() < 0.1:
        return _round_trip(rng)
    text = _sample(rng.randrange(_SAMPLES)) if rng.random() < 0.5 else _table(rng)
    encoding = rng.choice(("utf-8", "utf-8", rng.choice(ENCODINGS)))
    content = text.encode(encoding, "replace")
    if rng.random() < 0.7:
        content = mutate(rng, content)
    value = rng.choice([None, None, None, "x", "yield", some_text(rng)])
    try:
        rows = _read(content, value).rows
    except InputError as error:
        check_refusal(error, "sheet.csv")
        return "refused"
    frame = Frame(SPACE)  # what was measured may lie outside the space
    for params, outcome in rows:
        if frame.check(params) != params:
            raise WrongError(f"row {params!r} is not as the space has it")
        if isinstance(outcome, Measurement) and not outcome.is_finite:
            raise WrongError(f"row with {outcome!r}")
    return "ok"


def _round_trip(rng: random.Random) -> str:
    """Every text as a cell, and an export read again."""
    for _ in range(20):
        text = some_text(rng)
        if unguard(guard(text)) != text:
            raise WrongError(f"the cell of {text!r} is read as {unguard(guard(text))!r}")
    rows = _rows(rng)
    text = _exported(rows)
    for record in csv.reader(io.StringIO(text, newline="")):
        for cell in record:
            if cell[:1] in ("=", "+", "@", "\t", "\r", "\n") or (
                cell[:1] == "-" and not _number(cell)
            ):
                raise WrongError(f"an export has the formula {cell!r}")
    if (read := list(_read(text.encode(), None).rows)) != rows:
        odd = next(pair for pair in zip(rows, read, strict=False) if pair[0] != pair[1])
        raise WrongError(f"{odd[0]!r} was exported and read as {odd[1]!r}")
    return "ok"


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _rows(rng: random.Random) -> list[Row]:
    rows: list[Row] = []
    for _ in range(rng.randint(1, 5)):
        params = SPACE.from_unit([rng.random() for _ in range(len(SPACE))])
        outcome: Measurement | Failure = Measurement(
            extreme(rng), rng.choice([None, 0.0, abs(extreme(rng))])
        )
        if rng.random() < 0.3:
            outcome = Measurement.of([extreme(rng) for _ in range(rng.randint(1, 3))])
        if rng.random() < 0.2:
            reason = guard(some_text(rng).replace("\0", "")).strip()
            outcome = Failure(unguard(reason) or "failed before the study")
        rows.append((params, outcome))
    return rows


@cache
def _sample(number: int) -> str:
    """One of a few exports, to be damaged; making one takes longer than reading it."""
    return _exported(_rows(random.Random(f"export {number}")))


def _exported(rows: list[Row]) -> str:
    """What `ceibo export` writes of these rows."""
    study = Study.create(SPACE)
    try:
        study.add_all(rows)
        return to_csv(study)
    finally:
        study.close()


def _table(rng: random.Random) -> str:
    """A table as people make it."""
    names = ["x", "'=n", "=n", "c", "params_value", "value", "noise", "replicates", "state"]
    names += ["reason", " X ", "Value", some_text(rng, 1)]
    header = rng.sample(names, rng.randint(1, len(names)))
    if rng.random() < 0.7:
        header = ["x", "=n", "c", "params_value", "value", "noise", "replicates", "state", "reason"]
    lines = [header]
    for _ in range(rng.randint(0, 5)):
        cells = [_cell(rng, name) for name in header]
        lines.append(
            cells[: rng.randint(len(cells) - 1, len(cells))] + ["1"] * rng.choice([0, 0, 1])
        )
    text = io.StringIO()
    separator = rng.choice(",;\t|")
    if rng.random() < 0.3:
        writer = csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL)
    else:
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerows(lines)
    head = rng.choice(["", "", "", "sep=;\n", '"sep=,"\n', "\n\n"])
    return head + text.getvalue()


def _cell(rng: random.Random, name: str) -> str:
    """A cell of a column: usually one of its kind."""
    if rng.random() < 0.08:
        return rng.choice([rng.choice(PIECES), some_text(rng), "z" * rng.choice([200, 140_000])])
    usual = {
        "x": ["0.5", "-1", "1e-3", "0,5", "−0.25"],
        "=n": ["1", "-5", "3.0"],
        "'=n": ["1", "-5", "3.0"],
        "c": ["water", "'=1+1", "=1+1", "''=1+1", "é", "x,y"],
        "params_value": ["true", "2", "0.5", "TRUE", "'@", "@"],
        "value": ["1.5", "-2", "", rng.choice(NUMBERS), rng.choice(PIECES)],
        "noise": ["", "0.1", "0", rng.choice(NUMBERS)],
        "replicates": ["", "", "1 2", "'-1 -2", rng.choice(NUMBERS), "1.5"],
        "state": ["", "done", "failed", "FAILED", "<b>"],
    }
    return rng.choice(usual.get(name, ["", "a", "1"]))


def _read(content: bytes, value: str | None) -> Rows:
    with tempfile.TemporaryDirectory(prefix="ceibo-sheet-") as folder:
        path = Path(folder) / "sheet.csv"
        path.write_bytes(content)
        mapping = {} if value is None else {value: "value"}
        return read_rows(path, Wanted(Frame(SPACE), mapping=mapping))
