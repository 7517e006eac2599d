"""Parameters that exist only sometimes, at the command line: from init to the report."""

import csv
import io
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.cli.cli_tools import Ceibo

# The middle of `momentum`, which is its coordinate where it does not exist, is 1234.5.
PARAMETERS = (
    "optimizer=sgd,adam",
    "momentum=1234:1235 when optimizer=sgd",
    "layers=1:3:int",
    "width=8:64:int when layers=2|3 and optimizer=adam",
    "kind=zebra,giraffe when layers=3",
)
CODE = "import sys; print(len(sys.argv) + ['sgd', 'adam'].index(sys.argv[1]) + 1)"
COMMAND = (sys.executable, "-c", CODE, "{optimizer}", "--m", "{momentum}", "--w={width}", "{kind}")


@pytest.fixture
def study(ceibo: Ceibo) -> Path:
    options = [part for each in PARAMETERS for part in ("-p", each)]
    made = ceibo("init", *options, "--trials", 10, "--", *COMMAND)
    assert made.status == 0, made.err
    return Path("study.toml")


def test_init_writes_conditions(study: Path) -> None:
    text = study.read_text(encoding="utf-8")
    assert (
        'momentum = {type = "float", low = 1234, high = 1235, when = {optimizer = "sgd"}}' in text
    )
    assert 'when = {layers = [2, 3], optimizer = "adam"}}' in text
    assert "when = {layers = 3}}" in text


def test_wrong_conditions_are_refused_in_the_words_of_the_file(ceibo: Ceibo) -> None:
    for given, message in {
        "x=0:1 when optimiser=sgd": "'optimiser', but the space has optimizer; did you mean",
        "x=0:1 when optimizer=sdg": "'x', when optimizer: expected one of ['sgd', 'adam'], got",
        "x=0:1 when x=1": "cannot exist depending on its own value",
    }.items():
        answer = ceibo("init", "-p", "optimizer=sgd,adam", "-p", given)
        assert answer.status != 0
        assert message in answer.err


def test_nothing_that_does_not_exist_is_stored_shown_or_exported(
    ceibo: Ceibo, study: Path, tmp_path: Path
) -> None:
    ran = ceibo("run", study)
    assert ran.status == 0, ran.err
    rows = list(csv.DictReader(io.StringIO(ceibo("export", study).out)))
    assert len(rows) == 10
    for row in rows:
        assert bool(row["momentum"]) == (row["optimizer"] == "sgd")
        assert bool(row["width"]) == (row["layers"] in "23" and row["optimizer"] == "adam")
        assert bool(row["kind"]) == (row["layers"] == "3")
        # the command was given what exists: its name, the optimizer, an option and its value, …
        told = 2 + 2 * bool(row["momentum"]) + bool(row["width"]) + bool(row["kind"])
        assert float(row["value"]) == told + (1 if row["optimizer"] == "sgd" else 2)
    used = {float(row["momentum"]) for row in rows if row["momentum"]}
    assert 1234.5 not in used
    ceibo("export", study, "-o", "out.csv")
    ceibo("report", study, "-o", "report.html")
    json = ceibo("export", study, "--format", "json").out
    with sqlite3.connect(next(tmp_path.glob("*.db"))) as database:
        dump = "\n".join(database.iterdump())
    shown = ceibo("show", study).out + ceibo("best", study).out + ran.out
    page = Path("report.html").read_text(encoding="utf-8")
    for text in (json, dump, shown, page, Path("out.csv").read_text(encoding="utf-8")):
        assert "1234.5," not in text
        assert "1234.5<" not in text
        assert "1234.5\n" not in text
    assert "exists where optimizer is &#x27;sgd&#x27;" in page
    # back in, also without the columns of what no row has
    text = study.read_text(encoding="utf-8").replace('name = "study"', 'name = "again"')
    study.write_text(text, encoding="utf-8")
    assert "added 10 measurements" in ceibo("import", study, "out.csv").out
    again = list(csv.DictReader(io.StringIO(ceibo("export", study).out)))
    assert [{**row, "trial": ""} for row in again] == [{**row, "trial": ""} for row in rows]
    Path("few.csv").write_text("optimizer,layers,value\nadam,1,4.5\n", encoding="utf-8")
    assert "added 1 measurement" in ceibo("import", study, "few.csv").out
    Path("few.csv").write_text("optimizer,layers,value\nsgd,1,4\n", encoding="utf-8")
    refused = ceibo("import", study, "few.csv")
    assert (
        "line 2: parameter 'momentum' is missing; it exists where optimizer is 'sgd'" in refused.err
    )
    said = ceibo("predict", study, "optimizer=adam", "layers=1")
    assert said.status == 0, said.err
    refused = ceibo("predict", study, "optimizer=adam", "layers=1", "momentum=1234.2")
    assert (
        "exists only where optimizer is 'sgd', and it is 'adam' here; leave it out" in refused.err
    )
    assert "No problem was found" in ceibo("doctor", study).out
