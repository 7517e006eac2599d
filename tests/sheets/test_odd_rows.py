"""Rows of a worksheet that are odd: days written in two ways, broken rules, impossible values."""

from pathlib import Path

import pytest

from ceibo import AtMost, Float, InputError, Maximize, SheetError, Space, Study, Watch
from ceibo.sheets.entries import Wanted
from ceibo.sheets.rows import read_rows
from tests.sheets.filling import fill


@pytest.fixture
def study() -> Study:
    return Study.create({"temp": Float(20, 120)}, seed=1)


def test_a_day_in_two_ways_of_writing_is_one_block(study: Study, tmp_path: Path) -> None:
    plan = tmp_path / "days.csv"
    study.sheet(plan, 3, blocks=["day"])
    days = ("14.11.2026", "2026-11-14", "Friday")
    fill(plan, {(row, "value"): row for row in range(3)})
    fill(plan, {(row, "block day"): day for row, day in enumerate(days)})
    study.read_sheet(plan)
    told = [each.measurements[0].block for each in study.trials]
    assert told == [(("day", name),) for name in ("2026-11-14", "2026-11-14", "Friday")]
    assert study.read_sheet(plan).known == 3


def test_a_block_on_record_stays_as_it_is_written(study: Study, tmp_path: Path) -> None:
    study.tell(study.ask(), 70, block={"day": "14.11.2026"})
    plan = tmp_path / "days.csv"
    study.sheet(plan, 1, blocks=["day"])
    fill(plan, {(0, "value"): 71, (0, "block day"): "14.11.2026"})
    study.read_sheet(plan)
    assert study.trials[1].measurements[0].block == (("day", "14.11.2026"),)


def test_what_breaks_a_rule_or_is_beyond_what_is_possible_is_said(tmp_path: Path) -> None:
    parts = Space({"a": Float(0, 1), "b": Float(0, 1)}, constraints=["a + b == 1"])
    study = Study.create(parts, outcomes={"yield": Maximize(unit="%", low=0, high=100)}, seed=0)
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 3)
    fill(plan, {(0, "yield (%)"): 100, (1, "yield (%)"): 593, (2, "yield (%)"): -1})
    fill(plan, {(2, "a used"): 0.7, (2, "b used"): 0.4})
    for dry_run in (True, False):
        rule, values = study.read_sheet(plan, dry_run=dry_run).notes
        assert "1 row breaks a rule of the space (row 4), first 'a + b == 1' with a=0.7" in rule
        said = "2 values are beyond what is possible (D3, D4). The first: yield 593 % is above"
        assert said in values
        slip = "that is possible; correct it if it is a slip of the pen: "
        right = "ceibo correct STUDY.TOML 1 yield=VALUE, and mend D3."
        assert values.endswith(slip + ("mend the cell." if dry_run else right))
    assert study.read_sheet(plan).notes == ()


def test_a_reading_says_which_trials_lack_which_outcomes(tmp_path: Path) -> None:
    outcomes = {"yield": Maximize(), "impurity": AtMost(2), "colour": Watch()}
    study = Study.create({"a": Float(0, 1)}, outcomes=outcomes, seed=0)
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 4)
    fill(plan, {(row, "yield"): 50 + row for row in range(3)} | {(1, "impurity"): 1})
    fill(plan, {(3, "colour"): 7})
    lacking = ("trials 0, 2 still lack impurity", "trial 3 still lacks yield and impurity")
    assert study.read_sheet(plan, dry_run=True).details == lacking
    assert study.read_sheet(plan).details == lacking
    fill(plan, {(0, "impurity"): 1.5})
    assert study.read_sheet(plan).details == ("trial 2 still lacks impurity", lacking[1])
    study.withdraw(3)
    fill(plan, {(2, "impurity"): 1.5})
    assert study.read_sheet(plan).details == ()


def test_a_repeat_of_a_complete_trial_lacks_nothing(tmp_path: Path) -> None:
    outcomes = {"y": Maximize(), "impurity": AtMost(2)}
    study = Study.create({"x": Float(0, 1)}, outcomes=outcomes, seed=0)
    study.add({"x": 0.1}, {"y": 0.1, "impurity": 1.0})
    sheet = tmp_path / "repeat.csv"
    sheet.write_text("trial,x,y,impurity\n0,0.1,0.1,1\n0,0.1,0.12,\n", encoding="utf-8")
    assert study.read_sheet(sheet).details == ()


def test_a_plan_of_another_making_is_no_number_of_a_trial(study: Study, tmp_path: Path) -> None:
    trial = study.ask()
    study.tell(trial, 5, block="2026-11-14", attributes={"planned": [1, 2]})
    sheet = tmp_path / "s.csv"
    sheet.write_text("temp,value\n50,3\n", encoding="utf-8")
    assert study.read_sheet(sheet).new == (1,)


def test_remarks_say_where(study: Study, tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 8, blocks=["day"])
    days = {(row, "block day"): "2026-11-14" for row in range(8)}
    values = {(row, "value"): 70 + row for row in range(8)}
    own = {(row, "temp"): 130 + row for row in (8, 9)}
    cells = days | values | own | {(8, "value"): 60, (9, "value"): 61, (2, "block day"): ""}
    fill(plan, cells | {(row, "block day"): "" for row in (8, 9)})
    outside, blocks = study.read_sheet(plan, dry_run=True).notes
    assert "2 rows are outside the space (row 10, row 11); the model" in outside
    assert "3 values on the sheet have no usual block (row 4, row 10, row 11): most" in blocks
    fill(plan, {(row, "temp used"): 150 for row in range(8)})
    outside, _ = study.read_sheet(plan, dry_run=True).notes
    assert "(row 2, row 3, row 4, row 5, row 6 and 5 more)" in outside


@pytest.mark.parametrize("name", ["31.02.2026", "14.11."])
def test_a_block_that_is_no_day_among_days_is_remarked(
    study: Study, tmp_path: Path, name: str
) -> None:
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 3, blocks=["day"])
    fill(plan, {(row, "value"): 70 + row for row in range(3)})
    fill(plan, {(row, "block day"): "14.11.2026" for row in range(3)} | {(1, "block day"): name})
    (note,) = study.read_sheet(plan).notes
    assert note == (
        f"1 value is in a block that is no day (row 3): {name!r} is not written as the other days,"
        " such as 2026-11-14."
    )


def test_blocks_that_are_not_days_are_not_remarked(study: Study, tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 3, blocks=["lot"])
    fill(plan, {(row, "value"): 70 + row for row in range(3)})
    lots = ("A", "B", "2026-11-14")
    fill(plan, {(row, "block lot"): name for row, name in enumerate(lots)})
    assert study.read_sheet(plan).notes == ()


def test_several_values_in_the_cell_of_one_have_columns(study: Study, tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 2)
    fill(plan, {(0, "value"): "57.5 58.2 56.6", (1, "value"): "1 000"})
    with pytest.raises(SheetError) as caught:
        study.read_sheet(plan)
    first, second = (each.message for each in caught.value.problems)
    assert "several values of one run go into columns of replicates" in first
    assert "replicates" not in second


@pytest.mark.parametrize(
    "text", ["1 000", "1 000,5", "1\N{NO-BREAK SPACE}000", "\N{MINUS SIGN}1 000"]
)
def test_a_number_with_a_gap_is_no_two_replicates(study: Study, tmp_path: Path, text: str) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text(f"temp;replicates\n30;{text}\n", encoding="utf-8")
    with pytest.raises(SheetError, match=r"may be one number or two; write .?1000"):
        read_rows(plan, Wanted(study.ledger.frame))


def test_two_columns_of_one_name_are_refused_with_the_file(study: Study, tmp_path: Path) -> None:
    plan = tmp_path / "twice.csv"
    plan.write_text("temp,temp,value\n30,40,1\n")
    with pytest.raises(InputError, match=r"twice\.csv: several columns could be 'temp'"):
        read_rows(plan, Wanted(study.ledger.frame))


def test_a_cell_of_any_length_is_refused_at_once(study: Study, tmp_path: Path) -> None:
    """The search for a unit at its end took minutes: every place was tried as its beginning."""
    plan = tmp_path / "long.csv"
    plan.write_text(f"temp,value\n30,{'z' * 130_000}1\n")
    with pytest.raises(SheetError, match="expected a number"):
        read_rows(plan, Wanted(study.ledger.frame))


def test_a_name_that_no_file_can_have_is_refused(study: Study) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_rows(Path("no\0file.csv"), Wanted(study.ledger.frame))
