"""`ceibo ask --fixed --shared`, `best --fixed`, `change`, and data from outside in the shell."""

import csv
import json
from pathlib import Path

import pytest

from ceibo import Study
from tests.cli.cli_tools import Answer, Ceibo

FIRST = """
name = "lab"
storage = "sqlite:///lab.db"
[space]
temp = {type = "float", low = 20, high = 90}
solvent = {type = "categorical", choices = ["THF", "DMF"]}
"""
SECOND = """
name = "lab"
storage = "sqlite:///lab.db"
[space]
temp = {type = "float", low = 20, high = 120}
solvent = {type = "categorical", choices = ["DMF", "MeCN"]}
humidity = {type = "float", low = 20, high = 80}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(FIRST)
    return path


def measure(ceibo: Ceibo, file: Path, answer: Answer) -> None:
    trials = answer.json if isinstance(answer.json, list) else [answer.json]
    for trial in trials:
        told = ceibo("tell", file, trial["trial"], trial["params"]["temp"] / 100, 0.01)
        assert told.status == 0, told.err


def test_parameters_are_held_and_shared(ceibo: Ceibo, file: Path) -> None:
    held = ceibo("ask", "--new", file, "--fixed", "solvent=THF", "--fixed", "temp=33.3", "--json")
    assert held.json["params"] == {"temp": 33.3, "solvent": "THF"}
    measure(ceibo, file, held)
    batch = ceibo("ask", "--new", file, "-n", 4, "--shared", "temp", "--json")
    assert len({trial["params"]["temp"] for trial in batch.json}) == 1
    measure(ceibo, file, batch)
    best = ceibo("best", file, "--fixed", "solvent=DMF")
    assert best.status == 0, best.err
    assert best.out.startswith("recommended  ")
    assert ["solvent", "DMF", "held"] in [line.split() for line in best.out.splitlines()]
    found = ceibo("best", file, "--fixed", "solvent=DMF", "--json").json["recommended"]
    assert found["params"]["solvent"] == "DMF"
    assert Study.open("sqlite:///lab.db", "lab").verify().ok


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ask", "--fixed", "tmp=3"), "--fixed: there is no parameter 'tmp'; did you mean 'temp'"),
        (("ask", "--fixed", "temp"), "expected --fixed such as temp=VALUE, got 'temp'"),
        (("ask", "--fixed", "temp=hot"), "parameter 'temp'"),
        (("ask", "--fixed", "temp=1", "--fixed", "temp=2"), "'temp' is given twice"),
        (("ask", "--fixed", "temp=200"), "'temp': expected a value in [20.0, 90.0], got 200"),
        (("ask", "-n", "2", "--shared", "tmp"), "shared: there is no parameter 'tmp'"),
        (("ask", "--shared", "temp"), "there is one trial only"),
        (("best", "--fixed", "solvent=water"), "expected one of 'THF', 'DMF', got 'water'"),
    ],
)
def test_bad_words_are_sentences(
    ceibo: Ceibo, file: Path, words: tuple[str, ...], said: str
) -> None:
    verb, *options = words
    answer = ceibo(verb, file, *options)
    assert answer.status == 2
    assert said in answer.err


def test_an_edited_file_is_taken_over(ceibo: Ceibo, file: Path) -> None:
    measure(ceibo, file, ceibo("ask", "--new", file, "-n", 5, "--json"))
    queued = ceibo("ask", "--new", file, "--fixed", "solvent=THF", "--json").json["trial"]
    ceibo("tell", file, queued, "--release")
    file.write_text(SECOND)
    refused = ceibo("ask", "--new", file)
    assert refused.status == 2
    assert "the space has changed: parameter 'temp'" in refused.err
    assert f"`ceibo change {file}`" in refused.err
    lacking = ceibo("change", file)
    assert lacking.status == 2
    assert "'humidity' is new" in lacking.err
    unknown = ceibo("change", file, "--before", "damp=3")
    assert "--before: there is no parameter 'damp'" in unknown.err
    changed = ceibo("change", file, "--before", "humidity=40")
    assert changed.status == 0, changed.err
    assert "parameter 'humidity' is" in changed.out
    assert f"trial {queued} was withdrawn" in changed.out
    assert ceibo("change", file, "--before", "humidity=40").out.startswith(
        "study 'lab' has this space already"
    )
    later = ceibo("ask", "--new", file, "-n", 3, "--json")
    assert {trial["params"]["solvent"] for trial in later.json} <= {"DMF", "MeCN"}
    measure(ceibo, file, later)
    for verb in (("best",), ("show",), ("report", "-o", "report.html"), ("doctor",)):
        answer = ceibo(verb[0], file, *verb[1:])
        assert answer.status == 0, (verb, answer.err)
    ceibo("export", file, "-o", "all.csv")
    with Path("all.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    assert rows[0]["humidity"] == ""
    assert rows[-1]["humidity"] != ""
    ceibo("export", file, "-o", "all.json")
    data = json.loads(Path("all.json").read_text())
    assert data["earlier_spaces"][0]["temp"]["high"] == 90.0
    assert data["before"] == {"humidity": 40.0}
    again = ceibo("import", file, "all.csv", "--new")
    assert "added 0 measurements" in again.out, again.err
    assert Study.open("sqlite:///lab.db", "lab").verify().ok


def test_a_change_that_is_none_of_the_space_is_still_refused(ceibo: Ceibo, file: Path) -> None:
    ceibo("ask", "--new", file)
    file.write_text(f"seed = 3{FIRST}")
    for verb in ("ask", "change"):
        refused = ceibo(verb, file)
        assert refused.status == 2
        assert "seed is 3" in refused.err


def test_data_from_outside_are_taken_with_a_warning(ceibo: Ceibo, file: Path) -> None:
    Path("old.csv").write_text("temp,solvent,value\n50,THF,0.5\n140,DMF,0.7\n-5,THF,0.9\n")
    answer = ceibo("import", file, "old.csv")
    assert answer.status == 0, answer.err
    assert "2 rows are outside the space" in answer.err
    assert "'temp': expected a value in [20.0, 90.0], got 140" in answer.err
    assert "added 3 measurements" in answer.out
    for cells in ("nan,THF,0.5", "50,water,0.5", "hot,THF,1"):
        Path("bad.csv").write_text(f"temp,solvent,value\n{cells}\n")
        assert ceibo("import", file, "bad.csv").status == 2
    file.write_text(FIRST.replace('["THF", "DMF"]', '["MeCN", "DMF"]'))
    assert ceibo("change", file).status == 0
    Path("more.csv").write_text("temp,solvent,value\n55,THF,0.45\n")
    answer = ceibo("import", file, "more.csv")
    assert answer.status == 0, answer.err
    assert "1 row is outside the space" in answer.err
