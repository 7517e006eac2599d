"""The command at the bench: what can be dialled, a table filled in, advice that fits the fault."""

import csv
import io
import tomllib
from pathlib import Path

import pytest

from ceibo import Float, Measurement
from ceibo.decide.dimensions.dial import to_dial
from tests.cli.cli_tools import Ceibo, trials

STUDY = """
name = "lab"
direction = "maximize"
[space]
"Temperature (°C)" = {type = "float", low = 20, high = 120}
rate = {type = "float", low = 1e-5, high = 1e-1, log = true}
grid = {type = "float", low = 0, high = 2, step = 0.05}
solvent = {type = "categorical", choices = ["water", "ethanol"]}
"""


@pytest.fixture
def lab(ceibo: Ceibo, tmp_path: Path) -> Ceibo:
    """`ceibo` in a folder with a study file, s.toml."""
    (tmp_path / "s.toml").write_text(STUDY, encoding="utf-8")
    return ceibo


def fill(folder: Path, values: dict[int, dict[str, str]], source: str = "p.csv") -> None:
    """Types cells into the rows of an export."""
    table = list(csv.DictReader(io.StringIO((folder / source).read_text("utf-8"))))
    for row in table:
        row.update(values.get(int(row["trial"]), {}))
    with (folder / "q.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows(table)


def test_ask_prints_what_can_be_dialled(lab: Ceibo, tmp_path: Path) -> None:
    answer = lab("ask", "s.toml", "--new", "-n", "3")
    shown = [line.split(" = ")[1] for line in answer.out.splitlines() if " = " in line]
    assert max(map(len, shown)) <= 9
    values = [value for trial in trials(tmp_path) for value in trial.params.values()]
    for text, value in zip(shown, values, strict=True):
        if isinstance(value, float):
            assert float(text) == pytest.approx(value, rel=1e-3, abs=0.06)
    assert "for each TRIAL of 0 to 2: ceibo tell s.toml TRIAL VALUE" in answer.err


@pytest.mark.parametrize(
    ("dimension", "value", "text"),
    [
        (Float(20, 90), 40.267299339175224, "40.27"),
        (Float(0, 1), 1 / 3, "0.333"),
        (Float(1e-5, 1e-1, log=True), 1.23456e-4, "0.0001235"),
        (Float(0, 2, step=0.05), 0.15, "0.15"),
        (Float(0, 2, step=0.05), 1.5, "1.50"),
        (Float(20, 120, step=1), 35.0, "35"),
        (Float(0.5, 9, step=1), 3.5, "3.5"),
        (Float(20, 120, step=1), 35.25, "35.25"),  # asked for elsewhere
        (Float(-1, 1, step=1), -0.0, "0"),
        (Float(0, 1e-12, step=1e-14), 3e-13, "3e-13"),
        (Float(0.12344, 1), 0.12344, "0.12344"),  # not beyond the end
        (Float(-1e300, 1e300), 1.23456789e299, "1.23457e+299"),
        (Float(0, 1e-12), 5.4321e-13, "5.4321e-13"),
    ],
)
def test_digits_that_matter(dimension: Float, value: float, text: str) -> None:
    assert to_dial(dimension, value) == text


def test_an_export_filled_in_tells_the_trials_under_way(lab: Ceibo, tmp_path: Path) -> None:
    lab("ask", "s.toml", "--new", "-n", "4")
    lab("tell", "s.toml", "0", "70")
    lab("export", "s.toml", "-o", "p.csv")
    fill(tmp_path, {1: {"value": "81.5", "noise": "0.5"}, 2: {"state": "failed"}})
    # a state that was changed is no longer one of a trial under way
    fill(tmp_path, {1: {"value": "81.5", "noise": "0.5"}, 2: {"replicates": "60 61 65"}})
    dry = lab("import", "s.toml", "q.csv", "--dry-run")
    assert "would tell 2 trials under way" in dry.out
    answer = lab("import", "s.toml", "q.csv")
    assert answer.status == 0
    assert "told 2 trials under way" in answer.out
    found = trials(tmp_path)
    assert [trial.state for trial in found] == ["done", "done", "done", "running"]
    assert found[1].measurements == (Measurement(81.5, noise=0.5),)
    assert found[2].measurements == (Measurement.of([60, 61, 65]),)
    again = lab("import", "s.toml", "q.csv")
    assert again.status == 2
    assert len(trials(tmp_path)) == 4


def test_another_setting_under_the_same_number_is_a_new_trial(lab: Ceibo, tmp_path: Path) -> None:
    lab("ask", "s.toml", "--new")
    lab("export", "s.toml", "-o", "p.csv")
    fill(tmp_path, {0: {"value": "81.5", "Temperature (°C)": "76"}})
    assert lab("import", "s.toml", "q.csv").status == 0
    states = [trial.state for trial in trials(tmp_path)]
    assert states == ["running", "done"]


def test_several_outcomes_are_filled_in(ceibo: Ceibo, tmp_path: Path) -> None:
    outcomes = '[outcomes]\nyield = {goal = "maximize"}\nimpurity = {at_most = 2.0}\n'
    head = STUDY.replace('direction = "maximize"\n', "")
    (tmp_path / "s.toml").write_text(head + outcomes, encoding="utf-8")
    ceibo("ask", "s.toml", "--new", "-n", "2")
    ceibo("tell", "s.toml", "0", "yield=80")
    ceibo("export", "s.toml", "-o", "p.csv")
    fill(tmp_path, {0: {"impurity": "1.5"}, 1: {"yield": "70", "impurity": "1"}})
    answer = ceibo("import", "s.toml", "q.csv")
    assert "told 2 trials under way" in answer.out
    found = trials(tmp_path)
    assert [trial.state for trial in found] == ["done", "done"]
    assert [len(trial.measurements) for trial in found] == [2, 2]


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("12,3 %", "leave out '%'"),
        ("<0,5", "write the best guess with a noise"),
        ("n.d.", "leave the cell empty"),
        ("66.5 °C", "leave out '°C'"),
        ("1.234,5,6", "expected a number"),
    ],
)
def test_the_advice_is_about_the_fault(lab: Ceibo, tmp_path: Path, cell: str, advice: str) -> None:
    head = "Temperature (°C);rate;grid;solvent;value\n"
    (tmp_path / "d.csv").write_text(f"{head}40;0,01;0,5;water;{cell}\n", encoding="utf-8")
    answer = lab("import", "s.toml", "d.csv")
    assert answer.status == 2
    assert advice in answer.err
    assert "write 66.5" not in answer.err


@pytest.mark.parametrize(("word", "meant"), [("acetone", None), ("ethanl", "ethanol")])
def test_did_you_mean_only_what_is_near(
    lab: Ceibo, tmp_path: Path, word: str, meant: str | None
) -> None:
    head = "Temperature (°C),rate,grid,solvent,value\n"
    (tmp_path / "d.csv").write_text(f"{head}40,0.01,0.5,{word},1\n", encoding="utf-8")
    answer = lab("import", "s.toml", "d.csv")
    assert ("did you mean" in answer.err) == (meant is not None)
    assert meant is None or f"did you mean {meant!r}?" in answer.err


def test_the_mean_of_replicates_is_exported_as_people_write_it(lab: Ceibo, tmp_path: Path) -> None:
    lab("ask", "s.toml", "--new")
    values = ["74.8", "74.9", "75.0", "74.9", "74.9"]
    lab("tell", "s.toml", "0", *values)
    lab("export", "s.toml", "-o", "p.csv")
    row = next(csv.DictReader(io.StringIO((tmp_path / "p.csv").read_text("utf-8"))))
    assert row["value"] == "74.9"
    assert row["replicates"] == " ".join(values)


def test_init_without_a_command_leads_to_ask_and_tell(ceibo: Ceibo, tmp_path: Path) -> None:
    answer = ceibo("init", "-p", "x=0:1")
    assert "ceibo ask study.toml" in answer.out
    first = answer.out.splitlines()[0]
    assert first.endswith("then, for a worksheet: ceibo sheet study.toml plan.xlsx -n 8")
    assert "ceibo run" not in answer.out
    assert "command" not in tomllib.loads((tmp_path / "study.toml").read_text("utf-8"))
    assert "ceibo tell study.toml" in (tmp_path / "study.toml").read_text("utf-8")
    assert "ceibo ask" not in ceibo("init", "-p", "x=0:1", "-o", "t.toml", "--", "echo", "{x}").out


def test_answers_have_the_digits_that_are_dialled(ceibo: Ceibo, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'name = "s"\n[space]\ntemp = {type = "float", low = 0, high = 300}\n'
        'rate = {type = "float", low = 1e-4, high = 1, log = true}\n'
        "[outcomes]\nyield = {goal = 'maximize'}\n",
        encoding="utf-8",
    )
    for number, trial in enumerate(ceibo("ask", "s.toml", "--new", "-n", "6", "--json").json):
        value = 70 - (trial["params"]["temp"] - 120) ** 2 / 1000
        ceibo("tell", "s.toml", number, f"yield={value}", "--block", "day=2026-11-14")
    answer = ceibo("best", "s.toml").out
    lines = {line.split()[0]: line.split()[-1] for line in answer.splitlines() if line.strip()}
    exact = ceibo("best", "s.toml", "--json").json["recommended"]["params"]
    assert lines["temp"] == f"{exact['temp']:.1f}".removesuffix(".0")
    assert float(lines["rate"]) == float(f"{exact['rate']:.4g}")
    # one block alone says nothing of how blocks differ
    assert answer.endswith("from the process.\n  2026-11-14  6 measurements\n")
    expected, low, _, high = (
        ceibo("predict", "s.toml", "temp=150", "rate=0.01")
        .out.splitlines()[1]
        .rsplit(maxsplit=4)[:4]
    )
    std = expected.split("±")[1].split()[0]
    places = len(std.partition(".")[2])
    assert [len(each.partition(".")[2]) for each in (low, high)] == [places, places]
