"""`ceibo sheet`, and tables of any kind through `ceibo import`: the same reader."""

from pathlib import Path

import pytest

from ceibo import Measurement, Study
from tests.cli.cli_tools import Ceibo, trials
from tests.sheets.filling import fill

STUDY = """
name = "lab"
direction = "maximize"
[space]
"Temperature (°C)" = {type = "float", low = 20, high = 120}
hours = {type = "ordinal", values = [1, 2, 4, 8, 24]}
solvent = {type = "categorical", choices = ["water", "1,4-dioxane"]}
"""


@pytest.fixture
def lab(ceibo: Ceibo, tmp_path: Path) -> Ceibo:
    """`ceibo` in a folder with a study file, s.toml."""
    (tmp_path / "s.toml").write_text(STUDY, encoding="utf-8")
    return ceibo


def test_a_week_at_the_bench(lab: Ceibo, tmp_path: Path) -> None:
    refused = lab("sheet", "s.toml", "plan.csv", "-n", "4")
    assert "--new" in refused.err
    written = lab("sheet", "s.toml", "plan.csv", "-n", "4", "--new", "--replicates", "2")
    assert written.out == "wrote 4 trials to plan.csv\n"
    assert "ceibo sheet s.toml plan.csv --read" in written.err
    told = {
        (0, "value"): 71.5,
        (1, "value"): 60,
        (1, "Temperature (°C) used"): 76,
        (2, "value"): "failed",
        (9, "Temperature (°C)"): 55,
        (9, "hours"): 4,
        (9, "solvent"): "water",
        (9, "value"): 44,
    }
    fill(tmp_path / "plan.csv", told)
    dry = lab("sheet", "s.toml", "plan.csv", "--read", "--dry-run")
    summary = "plan.csv: 1 filled, 1 new, 1 as really run, 1 failed, 1 without a value yet"
    assert dry.out.splitlines()[0] == f"would read {summary}"
    assert "nothing was stored" in dry.err
    assert len(trials(tmp_path)) == 4
    read = lab("sheet", "s.toml", "plan.csv", "--read")
    assert read.out.splitlines()[0] == f"read {summary}"
    assert "trial 1 was really run at Temperature (°C)=76 instead of" in read.out
    assert [each.state for each in trials(tmp_path)] == [
        "done",
        "withdrawn",
        "failed",
        "running",
        "done",
        "done",
    ]
    assert "read the file again" in read.err
    assert "ceibo best s.toml; or, to measure more: ceibo sheet s.toml next.csv -n" in read.err
    again = lab("sheet", "s.toml", "plan.csv", "--read")
    assert again.out == "read plan.csv: 4 rows known already, 1 without a value yet\n"
    fill(tmp_path / "plan.csv", {(0, "value"): 72, (3, "value"): "n.d."})
    wrong = lab("sheet", "s.toml", "plan.csv", "--read")
    assert (wrong.status, wrong.out) == (2, "")
    assert "2 problems, and nothing was stored" in wrong.err
    assert "E2 (value)" in wrong.err
    assert "E5 (value)" in wrong.err
    exists = lab("sheet", "s.toml", "plan.csv", "--pending")
    assert "--force" in exists.err
    pending = lab("sheet", "s.toml", "rest.csv", "--pending", "--bom", "--separator", "\\t")
    assert pending.out == "wrote 1 trial to rest.csv\n"
    assert (tmp_path / "rest.csv").read_bytes().startswith(b"\xef\xbb\xbftrial\t")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "expected -n COUNT"),
        (("--read", "-n", "2"), "leave out the options of writing"),
        (("-n", "2", "--dry-run"), "add --read"),
        (("-n", "2", "--column", "a=b"), "add --read"),
        (("--read", "--column", "hours"), "expected HEADER=NAME"),
        (("--read", "--column", "a=value", "--column", "a=noise"), "stands for two things"),
        (("-n", "2", "--new", "--fixed", "hours=3"), "hours"),
    ],
)
def test_options_that_do_not_go_together(
    lab: Ceibo, options: tuple[str, ...], message: str
) -> None:
    answer = lab("sheet", "s.toml", "plan.csv", *options)
    assert answer.status == 2
    assert message in answer.err


def test_a_sheet_never_replaces_the_study(lab: Ceibo, tmp_path: Path) -> None:
    lab("ask", "s.toml", "--new")
    content = (tmp_path / "s.toml").read_bytes()
    assert lab("sheet", "s.toml", "s.toml", "-n", "1", "--force").status == 2
    assert (tmp_path / "s.toml").read_bytes() == content


MESSY = """Suzuki, before 2026;;;;;
;;;;;
Run;Temp. [°C];Time (h);Solvent;Ausbeute 1;Ausbeute 2;Remark
a1;60,5;4;Water;71,5;72,5;clear
a2;80;8;1,4-dioxane;66;;
;;;;;;
a3;90;24;WATER;55,1 %;;dark
"""


def test_a_table_as_a_chemist_has_it(lab: Ceibo, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text(MESSY, encoding="cp1252")
    mapping = ["Temp. [°C]=Temperature (°C)", "Time (h)=hours", "Solvent=solvent"]
    mapping += ["Ausbeute 1=replicates", "Ausbeute 2=replicates"]
    options = [word for each in mapping for word in ("--column", each)]
    refused = lab("import", "s.toml", "old.csv", *options)
    assert refused.status == 2
    assert "old.csv, line 7, E7 (Ausbeute 1)" in refused.err
    assert "leave out '%'" in refused.err
    mended = MESSY.replace("55,1 %", "55,1")
    (tmp_path / "old.csv").write_text(mended, encoding="cp1252")
    assert "added 3 measurements" in lab("import", "s.toml", "old.csv", *options).out
    found = trials(tmp_path)
    assert found[0].params == {"Temperature (°C)": 60.5, "hours": 4, "solvent": "water"}
    assert found[0].measurements == (Measurement.of([71.5, 72.5]),)
    assert found[1].measurements == (Measurement.of([66]),)
    assert [trial.attributes.get("notes") for trial in found] == ["clear", None, "dark"]


def test_every_problem_of_a_table_is_told(lab: Ceibo, tmp_path: Path) -> None:
    rows = ["hours,solvent,value", "4,water,71", "three,acetone,n.d.", "4,,60", "2,water,1,5"]
    (tmp_path / "old.csv").write_text("\n".join(rows), encoding="utf-8")
    answer = lab("import", "s.toml", "old.csv")
    assert answer.status == 2
    assert "6 problems" in answer.err
    for word in ("'Temperature (°C)'", "A3", "B3", "C3", "B4", "line 5: there are 4 cells"):
        assert word in answer.err
    assert not (tmp_path / "s.db").exists()


def test_an_export_has_blocks_and_counts_where_they_are(lab: Ceibo, tmp_path: Path) -> None:
    lab("ask", "s.toml", "--new", "-n", "2")
    study = Study.open(f"sqlite:///{tmp_path}/s.db", "lab")
    study.tell(0, 5.0)
    lab("export", "s.toml", "-o", "plain.csv")
    assert "block" not in (tmp_path / "plain.csv").read_text("utf-8")
    study.tell(1, Measurement(6.0, 0.5, count=4, block={"day": "=mon", "block": "x"}))
    study.close()
    lab("export", "s.toml", "-o", "all.csv")
    header = (tmp_path / "all.csv").read_text("utf-8").splitlines()[0]
    assert header.endswith(",block,block day,count")
    (tmp_path / "t.toml").write_text(STUDY.replace('"lab"', '"copy"'), encoding="utf-8")
    assert lab("import", "t.toml", "all.csv").status == 0
    copy = Study.open(f"sqlite:///{tmp_path}/t.db", "copy")
    told = [each for trial in copy.trials for each in trial.measurements]
    assert told == [each for trial in trials(tmp_path) for each in trial.measurements]


def test_an_export_for_another_country(lab: Ceibo, tmp_path: Path) -> None:
    lab("ask", "s.toml", "--new", "-n", "2")
    study = Study.open(f"sqlite:///{tmp_path}/s.db", "lab")
    study.tell(0, Measurement.of([-1.5, 2.25]))
    study.tell(1, 6.5, noise=0.25)
    study.close()
    options = ["--bom", "--separator", ";", "--decimal", ","]
    lab("export", "s.toml", "-o", "all.csv", *options)
    text = (tmp_path / "all.csv").read_bytes().decode("utf-8")
    assert text.startswith("\ufefftrial;state;value;")
    assert ";6,5;0,25;" in text
    (tmp_path / "t.toml").write_text(STUDY.replace('"lab"', '"copy"'), encoding="utf-8")
    assert lab("import", "t.toml", "all.csv").status == 0
    copy = Study.open(f"sqlite:///{tmp_path}/t.db", "copy")
    before = trials(tmp_path)
    assert [trial.params for trial in copy.trials] == [trial.params for trial in before]
    assert [each.measurements for each in copy.trials] == [each.measurements for each in before]


def test_outcomes_of_one_trial_in_different_blocks(ceibo: Ceibo, tmp_path: Path) -> None:
    goals = '[outcomes]\nyield = {goal = "maximize"}\nimpurity = {at_most = 2.0}\n'
    text = STUDY.replace('direction = "maximize"\n', "") + goals
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    ceibo("ask", "s.toml", "--new")
    study = Study.open(f"sqlite:///{tmp_path}/s.db", "lab")
    study.tell(0, {"yield": Measurement(80, block={"day": "mon"}), "impurity": 1.0})
    study.close()
    ceibo("export", "s.toml", "-o", "all.csv")
    (tmp_path / "t.toml").write_text(text.replace('"lab"', '"copy"'), encoding="utf-8")
    assert ceibo("import", "t.toml", "all.csv").status == 0
    copy = Study.open(f"sqlite:///{tmp_path}/t.db", "copy")
    assert [each.outcomes for each in copy.trials] == [each.outcomes for each in trials(tmp_path)]


@pytest.mark.needs("openpyxl")
def test_a_workbook_is_imported(lab: Ceibo, tmp_path: Path) -> None:
    lab("sheet", "s.toml", "plan.xlsx", "-n", "2", "--new")
    assert "added 0 measurements" in lab("import", "s.toml", "plan.xlsx").out


def test_notes_and_dates_are_exported_and_come_back(lab: Ceibo, tmp_path: Path) -> None:
    lab("sheet", "s.toml", "plan.csv", "-n", "2", "--new")
    told = {(0, "value"): 71.5, (0, "notes"): "-yellow", (0, "date"): "14.11.2026", (1, "value"): 3}
    fill(tmp_path / "plan.csv", told)
    lab("sheet", "s.toml", "plan.csv", "--read")
    lab("export", "s.toml", "-o", "all.csv")
    (tmp_path / "t.toml").write_text(STUDY.replace('"lab"', '"other"'), encoding="utf-8")
    lab("import", "t.toml", "all.csv")
    lab("export", "t.toml", "-o", "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "all.csv").read_bytes()
    lines = (tmp_path / "all.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith(",notes,date")
    assert lines[1].endswith(",'-yellow,2026-11-14")
    assert lines[2].endswith(",,")


def test_commands_on_a_sheet_name_the_study_file(lab: Ceibo, tmp_path: Path) -> None:
    lab("sheet", "s.toml", "plan.csv", "-n", "2", "--new")
    fill(tmp_path / "plan.csv", {(0, "value"): 71.5})
    lab("sheet", "s.toml", "plan.csv", "--read")
    fill(tmp_path / "plan.csv", {(0, "value"): 72.5})
    refused = lab("sheet", "s.toml", "plan.csv", "--read")
    assert "if the sheet is right: ceibo correct s.toml 0 72.5" in refused.err


@pytest.mark.needs("openpyxl")
def test_the_guide_names_the_study_file(lab: Ceibo, tmp_path: Path) -> None:
    from openpyxl import load_workbook

    lab("sheet", "s.toml", "plan.xlsx", "-n", "2", "--new")
    guide = load_workbook(tmp_path / "plan.xlsx").worksheets[1]
    said = " ".join(str(row[0]) for row in guide.iter_rows(values_only=True))
    assert "ceibo sheet s.toml plan.xlsx --read" in said
