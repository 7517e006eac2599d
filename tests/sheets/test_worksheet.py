"""A worksheet out and back: what is filled in is stored once, and what is wrong not at all."""

from pathlib import Path
from typing import Any

import pytest

from ceibo import (
    AtMost,
    Categorical,
    CeiboError,
    Float,
    InputError,
    Maximize,
    Measurement,
    Ordinal,
    SheetError,
    Space,
    Study,
)
from tests.sheets.filling import fill, header_of

SPACE = {
    "temp": Float(20, 120),
    "hours": Ordinal([1, 2, 4, 8, 24]),
    "solvent": Categorical(["water", "ethanol"]),
}
NEW = {(9, "temp"): 50, (9, "hours"): 4, (9, "solvent"): "Water"}


@pytest.fixture
def study() -> Study:
    return Study.create(SPACE, name="lab", seed=1)


@pytest.fixture
def plan(study: Study, tmp_path: Path) -> Path:
    """A worksheet of the first three trials of the study."""
    study.sheet(tmp_path / "plan.csv", 3, replicates=2)
    return tmp_path / "plan.csv"


def seq_of(study: Study) -> int:
    """How much has been recorded."""
    return study.ledger.refresh().seq


def refused(study: Study, plan: Path, **options: Any) -> dict[str, str]:
    """The problems of a sheet by their cells; checks that nothing was stored."""
    before = seq_of(study)
    with pytest.raises(SheetError) as caught:
        study.read_sheet(plan, **options)
    assert seq_of(study) == before
    return {each.where.rpartition(" ")[2]: each.message for each in caught.value.problems}


def test_what_is_filled_in_comes_back(study: Study, plan: Path) -> None:
    told = {
        (0, "value"): 71.5,
        (0, "noise"): 0.5,
        (0, "notes"): "clear",
        (0, "date"): "14.11.2026",
        (1, "replicate 1"): 60,
        (1, "replicate 2"): 62,
        (1, "block"): "tuesday",
        (2, "value"): "failed",
        (2, "notes"): "leak",
    }
    fill(plan, told)
    read = study.read_sheet(plan)
    assert (read.filled, read.failed, read.known) == ((0, 1), (2,), 0)
    assert str(read) == "2 filled, 1 failed"
    first, second, third = study.trials
    assert first.measurements == (Measurement(71.5, 0.5),)
    assert first.attributes == {"notes": "clear", "date": "2026-11-14"}
    assert second.measurements == (Measurement.of([60, 62], block="tuesday"),)
    assert (third.state, third.reason) == ("failed", "leak")
    before = seq_of(study)
    assert str(study.read_sheet(plan)) == "3 rows known already"
    assert seq_of(study) == before


def test_a_sheet_is_read_as_it_fills(study: Study, plan: Path) -> None:
    fill(plan, {(1, "value"): 5})
    assert study.read_sheet(plan).waiting == 2
    fill(plan, {(0, "value"): 6})
    read = study.read_sheet(plan)
    assert (read.filled, read.known, read.waiting) == ((0,), 1, 1)


def test_what_is_on_the_sheet_is_what_is_recorded(tmp_path: Path) -> None:
    """Settings are rounded when they are asked for, and the record verifies with that."""
    rules = ["a + b + c == 1", "a <= 0.5 * b + 0.1"]
    parts = {"a": Float(0, 0.6), "b": Float(0, 1), "c": Float(0, 1)}
    mixture = Space({**parts, "rate": Float(1e-5, 1e-1, log=True)}, constraints=rules)
    study = Study.create(mixture, seed=3)
    for round_ in range(2):
        path = tmp_path / f"{round_}.csv"
        trials = study.sheet(path, 6)
        for number, trial in enumerate(trials):
            assert trial.params == study.trials[trial.number].params
            assert sum(trial.params[name] for name in "abc") == pytest.approx(1, abs=1e-12)
            assert all(len(repr(trial.params[name])) <= 6 for name in "abc")
            assert len(f"{trial.params['rate']:.4g}") >= len(repr(trial.params["rate"])) - 1
            fill(path, {(number, "value"): trial.params["a"] - trial.params["rate"]})
        study.read_sheet(path)
    verified = study.verify()
    assert verified.ok
    assert verified.identical == verified.checked == 12


def test_what_a_user_fixed_keeps_its_digits(study: Study, tmp_path: Path) -> None:
    given = 33.123456789
    trials = study.sheet(tmp_path / "p.csv", 2, fixed={"temp": given}, shared=["solvent"])
    assert [trial.params["temp"] for trial in trials] == [given, given]
    assert len({trial.params["solvent"] for trial in trials}) == 1
    assert study.verify().ok


def test_a_run_at_another_setting_counts_where_it_was(study: Study, plan: Path) -> None:
    fill(plan, {(0, "value"): 71.5, (0, "temp used"): 76, (0, "notes"): "slow", (1, "value"): 60})
    planned = study.trials[0].params
    read = study.read_sheet(plan)
    assert read.as_run == {0: 3}
    assert read.details == (
        f"trial 0 was really run at temp=76 instead of temp={planned['temp']}: trial 3",
    )
    withdrawn, run = study.trials[0], study.trials[3]
    assert withdrawn.state == "withdrawn"
    assert run.params == {**planned, "temp": 76.0}
    assert run.attributes == {"planned": 0, "notes": "slow"}
    before = seq_of(study)
    assert study.read_sheet(plan).known == 2
    assert seq_of(study) == before
    evidence = study.belief.evidence
    assert len(evidence.withdrawn) == 0  # nothing is known about the planned setting
    assert len(evidence) == 2


def test_as_planned_is_no_other_setting(study: Study, plan: Path) -> None:
    temp = study.trials[0].params["temp"]
    fill(plan, {(0, "value"): 71.5, (0, "temp used"): temp})
    assert study.read_sheet(plan).filled == (0,)


def test_two_runs_of_one_plan(study: Study, plan: Path) -> None:
    """Further rows of a trial are repeats; those at another setting are trials of their own."""
    temp, hours, solvent = study.trials[0].params.values()
    again = {(3, "trial"): 0, (3, "temp"): temp, (3, "hours"): hours, (3, "solvent"): solvent}
    fill(plan, {(0, "value"): 1, (0, "notes"): "a", **again, (3, "value"): 2, (3, "notes"): "b"})
    study.read_sheet(plan)
    assert [each.value for each in study.trials[0].measurements] == [1, 2]
    assert study.trials[0].attributes == {"notes": "a; b"}
    fill(plan, {(4, "trial"): 1, (4, "temp used"): 70, (4, "value"): 3})
    fill(plan, {(5, "trial"): 1, (5, "temp used"): 70, (5, "value"): 3})
    study.read_sheet(plan)
    assert [each.attributes.get("planned") for each in study.trials] == [None] * 3 + [1, 1]
    before = seq_of(study)
    study.read_sheet(plan)
    assert seq_of(study) == before


def test_rows_without_a_number_are_new_trials(study: Study, plan: Path) -> None:
    fill(plan, {**NEW, (9, "value"): 40})
    read = study.read_sheet(plan)
    assert read.new == (3,)
    added = study.trials[3]
    assert added.params == {"temp": 50.0, "hours": 4, "solvent": "water"}
    assert added.attributes == {"sheet": "plan.csv"}
    assert study.read_sheet(plan).known == 1
    fill(plan, {(10, head): value for (_, head), value in {**NEW, (9, "value"): 41}.items()})
    assert study.read_sheet(plan).new == (4,)  # a second run beside the first
    assert len(study.trials) == 5


def test_a_changed_value_is_a_conflict_that_says_how_to_correct(study: Study, plan: Path) -> None:
    fill(plan, {(0, "value"): 71.5, **NEW, (9, "value"): 40})
    study.read_sheet(plan)
    fill(plan, {(0, "value"): 72.5, (9, "value"): 44})
    problems = refused(study, plan)
    assert problems.keys() == {"E2", "E11"}
    assert "ceibo correct STUDY.TOML 0 72.5" in problems["E2"]
    assert "ceibo correct STUDY.TOML 3 44" in problems["E11"]
    study.correct(0, 72.5)
    study.correct(3, 44)
    assert study.read_sheet(plan).known == 2
    fill(plan, {(0, "value"): 71.5, (9, "value"): 45})  # the sheet before the correction
    assert refused(study, plan).keys() == {"E11"}
    assert study.read_sheet(plan, again=True).new == (4,)


def test_a_voided_value_is_not_told_again(study: Study, plan: Path) -> None:
    fill(plan, {(0, "value"): 71.5})
    study.read_sheet(plan)
    study.void(0, "broken")
    assert study.read_sheet(plan).known == 1
    assert study.trials[0].state == "running"
    fill(plan, {(0, "value"): 70})
    study.read_sheet(plan)
    assert study.trials[0].measurements == (Measurement(70),)


def test_notes_may_come_later(study: Study, plan: Path) -> None:
    fill(plan, {(0, "value"): 71.5})
    study.read_sheet(plan)
    fill(plan, {(0, "notes"): "=HYPERLINK(1)"})
    assert study.read_sheet(plan).noted == (0,)
    assert study.trials[0].attributes == {"notes": "=HYPERLINK(1)"}
    assert study.trials[0].measurements == (Measurement(71.5),)
    assert study.read_sheet(plan).known == 1


def test_all_problems_are_told_at_once(study: Study, plan: Path) -> None:
    assert header_of(plan)[:6] == ["trial", "temp", "hours", "solvent", "value", "replicate 1"]
    wrong = {
        (0, "value"): "n.d.",
        (1, "value"): 60,
        (1, "hours used"): "three",
        (2, "value"): 61,
        (2, "temp"): 19.5,
        (3, "trial"): 99,
        (3, "value"): 5,
        **NEW,
        (9, "solvent"): "acetone",
        (9, "value"): "<0.5",
    }
    fill(plan, wrong)
    problems = refused(study, plan)
    assert problems.keys() == {"E2", "J3", "B4", "A5", "D11", "E11"}
    assert "leave the cell empty" in problems["E2"]
    assert "'three'" in problems["J3"]
    assert "write it under 'temp used'" in problems["B4"]
    assert "there is no trial 99" in problems["A5"]
    assert "write the best guess with a noise" in problems["E11"]


def test_a_run_elsewhere_of_a_trial_with_a_value(study: Study, plan: Path) -> None:
    fill(plan, {(0, "value"): 71.5})
    study.read_sheet(plan)
    fill(plan, {(0, "temp used"): 76})
    (message,) = refused(study, plan).values()
    assert "ceibo void STUDY.TOML 0" in message
    study.void(0, "run at another setting")
    assert study.read_sheet(plan).as_run == {0: 3}
    fill(plan, {(0, "temp used"): 77})
    (message,) = refused(study, plan).values()
    assert "read before as really run at temp=76" in message
    fill(plan, {(0, "temp used"): "", (1, "value"): 5})
    study.tell(1, 5)
    fill(plan, {(1, "value"): "failed"})
    assert "says that it failed" in refused(study, plan)["E3"]


def test_a_dry_run_stores_nothing(study: Study, plan: Path) -> None:
    fill(plan, {(0, "value"): 1, (1, "value"): 2, (1, "temp used"): 70, **NEW, (9, "value"): 3})
    before = seq_of(study)
    read = study.read_sheet(plan, dry_run=True)
    assert seq_of(study) == before
    assert str(read) == "1 filled, 1 new, 1 as really run, 1 without a value yet"


def test_columns_may_be_renamed_and_left_out(study: Study, plan: Path) -> None:
    fill(plan, {(0, "value"): 71.5, (1, "value"): 60})
    lines = plan.read_text("utf-8").splitlines()
    at = [header_of(plan).index(name) for name in ("value", "trial", "notes")]
    cut = ["Yield / %;No.;Remark"]
    cut += [";".join(line.split(",")[place] for place in at) for line in lines[1:]]
    plan.write_text("Week 47\n\n" + "\n".join(cut), encoding="utf-8")
    with pytest.raises(CeiboError, match="no column 'value'"):
        study.read_sheet(plan)
    with pytest.raises(InputError, match="cannot stand for 'yield'"):
        study.read_sheet(plan, columns={"Yield / %": "yield"})
    with pytest.raises(InputError, match="no column 'Nr'"):
        study.read_sheet(plan, columns={"Nr": "trial"})
    read = study.read_sheet(plan, columns={"Yield / %": "value", "No.": "trial"})
    assert read.filled == (0, 1)


def test_outcomes_may_come_one_after_the_other(tmp_path: Path) -> None:
    outcomes = {"yield": Maximize(unit="%"), "impurity": AtMost(2.0)}
    study = Study.create(SPACE, outcomes=outcomes)
    study.add({"temp": 30, "hours": 1, "solvent": "water"}, {"yield": 50.0, "impurity": 1.0})
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 2)
    assert "yield predicted ± (%)" in header_of(plan)
    fill(plan, {(0, "yield (%)"): "81.5 %", **{(9, h): v for (_, h), v in NEW.items()}})
    fill(plan, {(9, "yield (%)"): 33})
    read = study.read_sheet(plan)
    assert (read.filled, read.new) == ((1,), (3,))
    assert study.trials[1].state == "running"
    fill(plan, {(0, "impurity"): 1.2, (9, "impurity"): 1.9})
    assert study.read_sheet(plan).filled == (1, 3)
    assert study.trials[3].outcomes == {
        "yield": (Measurement(33),),
        "impurity": (Measurement(1.9),),
    }
    assert study.trials[1].state == "done"
    fill(plan, {(0, "impurity"): 1.3})
    (message,) = refused(study, plan).values()
    assert "ceibo correct STUDY.TOML 1 impurity=1.3" in message


def test_a_failed_outcome_beside_a_value_is_unclear(tmp_path: Path) -> None:
    study = Study.create(SPACE, outcomes={"yield": Maximize(), "impurity": AtMost(2.0)})
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 1)
    fill(plan, {(0, "yield"): "failed", (0, "impurity"): 1})
    assert "has no values of other outcomes" in refused(study, plan)["E2"]


def test_blocks_of_several_kinds(study: Study, tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 1, blocks=["day", "plate"])
    fill(plan, {(0, "value"): 1, (0, "block day"): "mon", (0, "block plate"): 3})
    study.read_sheet(plan)
    (told,) = study.trials[0].measurements
    assert told.block == (("day", "mon"), ("plate", "3"))
    study.sheet(tmp_path / "next.csv", 1)
    assert {"block day", "block plate"} <= set(header_of(tmp_path / "next.csv"))


def test_what_is_under_way_can_be_written_again(study: Study, tmp_path: Path) -> None:
    asked = study.ask(2)
    study.tell(asked[0], 1.0)
    again = study.sheet(tmp_path / "a.csv", pending=True)
    assert [trial.number for trial in again] == [1]
    # a trial from ask() has all its digits, on the sheet too
    fill(tmp_path / "a.csv", {(0, "value"): 2})
    assert study.read_sheet(tmp_path / "a.csv").filled == (1,)
    with pytest.raises(InputError, match="no trial is under way"):
        study.sheet(tmp_path / "b.csv", pending=True)
    both = study.ask()
    more = study.sheet(tmp_path / "c.csv", 2, pending=True)
    assert [trial.number for trial in more] == [both.number, both.number + 1, both.number + 2]


def test_digits_that_a_spreadsheet_leaves_out(study: Study, tmp_path: Path) -> None:
    """A trial from ask() has all its digits; a program that saves eight of them changes nothing."""
    plan = tmp_path / "plan.csv"
    exact = study.ask().params["temp"]
    study.sheet(plan, pending=True)
    fill(plan, {(0, "temp"): f"{exact:.8g}", (0, "value"): 1})
    assert study.read_sheet(plan, dry_run=True).filled == (0,)
    fill(plan, {(0, "temp"): f"{exact + 0.02:.8g}"})
    assert refused(study, plan).keys() == {"B2"}
    fill(plan, {(0, "temp"): f"{exact:.0f}"})  # what was set, perhaps, but not what was planned
    assert refused(study, plan).keys() == {"B2"}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("plan.csv", {"shared": ["temp"]}, "say how many to ask for"),
        ("plan.pdf", {"count": 1}, "name it .xlsx or .csv"),
        ("absent/plan.csv", {"count": 1}, "does not exist"),
        ("there.csv", {"count": 1}, "may have been filled in"),
        ("plan.csv", {"count": 1, "separator": "|"}, "separator must be"),
        ("plan.csv", {"count": 1, "decimal": ","}, "cannot be the separator"),
        ("plan.csv", {"count": 1, "decimal": "'"}, "decimal must be"),
        ("plan.xlsx", {"count": 1, "bom": True}, "of .csv files"),
        ("plan.csv", {"count": 1, "blocks": "day"}, "a list of kinds"),
        ("plan.csv", {"count": 1, "replicates": -1}, "replicates must be"),
        ("plan.csv", {"pending": True, "fixed": {"temp": 30}}, "about new trials"),
    ],
)
def test_what_cannot_be_written_asks_for_nothing(
    study: Study, tmp_path: Path, name: str, options: dict[str, Any], message: str
) -> None:
    (tmp_path / "there.csv").write_text("filled in by hand")
    with pytest.raises(InputError, match=message):
        study.sheet(tmp_path / name, **options)
    assert study.trials == ()
    assert (tmp_path / "there.csv").read_text() == "filled in by hand"


def test_a_file_is_replaced_by_force(study: Study, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("old")
    study.sheet(tmp_path / "there.csv", 1, force=True)
    assert header_of(tmp_path / "there.csv")[0] == "trial"


def test_a_csv_of_another_country(study: Study, tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    (trial,) = study.sheet(plan, 1, bom=True, separator=";", decimal=",")
    text = plan.read_bytes().decode("utf-8")
    assert text.startswith("\ufefftrial;temp;")
    assert f";{trial.params['temp']!r};".replace(".", ",") in text
    filled = text.replace(";;", ";71,5;", 1)
    plan.write_bytes(filled.encode("utf-8"))
    study.read_sheet(plan)
    assert study.trials[0].measurements == (Measurement(71.5),)


def test_a_parameter_may_be_called_like_any_column(tmp_path: Path) -> None:
    names = ["value", "trial", "notes", "date", "block", "temp used", "temp", "predicted", "count"]
    study = Study.create({name: Float(0, 1) for name in names})
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 2)
    header = header_of(plan)
    assert len(set(header)) == len(header)
    fill(plan, {(0, "value"): 5, (0, "sheet notes"): "fine", (1, "value"): 6})
    fill(plan, {(1, "sheet temp used"): 0.5})
    read = study.read_sheet(plan)
    assert (read.filled, read.as_run) == ((0,), {1: 2})
    assert study.trials[0].attributes == {"notes": "fine"}
    assert study.trials[2].params["temp"] == 0.5


def test_parameters_that_exist_only_sometimes(tmp_path: Path) -> None:
    space = {
        "kind": Categorical(["sgd", "adam"]),
        "momentum": Float(0, 1, when={"kind": "sgd"}),
        "beta": Float(0, 1, when={"kind": "adam"}),
    }
    study = Study.create(space, seed=2)
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 2, fixed={"kind": "sgd"})
    fill(plan, {(0, "value"): 1, (1, "value"): 2, (1, "kind used"): "adam", (1, "beta used"): 0.5})
    read = study.read_sheet(plan)
    assert (read.filled, read.as_run) == ((0,), {1: 2})
    assert study.trials[2].params == {"kind": "adam", "beta": 0.5}
    assert study.read_sheet(plan).known == 2


def test_a_sheet_of_another_study_is_refused(study: Study, plan: Path) -> None:
    other = Study.create(SPACE, seed=99)
    other.ask(3)
    fill(plan, {(0, "value"): 1})
    before = seq_of(other)
    with pytest.raises(SheetError, match="was planned with"):
        other.read_sheet(plan)
    assert seq_of(other) == before


def test_a_row_with_another_trials_number_says_whose_setting_it_is(
    study: Study, plan: Path
) -> None:
    first, second = study.trials[:2]
    swapped = {(0, name): second.params[name] for name in SPACE}
    fill(plan, {**swapped, (0, "value"): 71.5})
    (message,) = refused(study, plan).values()
    assert message.startswith("the row has the setting of trial 1, and the number of trial 0")
    assert first.params != second.params


def test_rows_without_numbers_are_the_trials_under_way_at_their_settings(
    study: Study, plan: Path
) -> None:
    fill(plan, {(row, "trial"): "" for row in range(3)})
    fill(plan, {(0, "value"): 71.5, (2, "value"): "failed"})
    read = study.read_sheet(plan)
    assert (read.filled, read.failed, read.new) == ((0,), (2,), ())
    assert "line 2 has no trial number, and the setting of trial 0" in read.details[0]
    assert [each.state for each in study.trials] == ["done", "running", "failed"]
    assert study.read_sheet(plan).known == 2
    # with again they are further runs, whatever is under way
    fill(plan, {(1, "value"): 60})
    assert study.read_sheet(plan, again=True).new == (3,)
    assert study.trials[1].state == "running"


def test_two_rows_without_a_number_are_repeats_of_the_trial_under_way(
    study: Study, plan: Path
) -> None:
    fill(plan, {(0, "trial"): "", (0, "value"): 71.5})
    twin = {(3, name): study.trials[0].params[name] for name in SPACE}
    fill(plan, {**twin, (3, "value"): 70.5})
    assert study.read_sheet(plan).filled == (0,)
    assert [each.value for each in study.trials[0].measurements] == [71.5, 70.5]
    assert len(study.trials) == 3


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    outcomes = {"yield": Maximize(unit="%"), "impurity": AtMost(2)}
    study = Study.create(SPACE, outcomes=outcomes, name="two", seed=1)
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 2)
    fill(plan, {(0, "yield (%)"): 71.5, (0, "impurity"): 1.2})
    plan.write_text(plan.read_text(encoding="utf-8").replace("yield (%)", "yeild (%)"), "utf-8")
    (absent, unread) = study.read_sheet(plan).notes
    assert "no column of yield" in absent
    assert "If 'yeild' is yield, mend its header and read the file again." in absent
    assert "'yeild (%)'" in unread
    # empty columns, and those that are there to be seen, are not named
    study.sheet(tmp_path / "next.csv", 1)
    assert "yield predicted" not in str(study.read_sheet(tmp_path / "next.csv").notes)


def test_a_column_of_another_unit_is_named(tmp_path: Path) -> None:
    outcomes = {"yield": Maximize(unit="%"), "impurity": AtMost(2)}
    study = Study.create(SPACE, outcomes=outcomes, name="two", seed=1)
    plan = tmp_path / "plan.csv"
    study.sheet(plan, 2)
    fill(plan, {(0, "yield (%)"): 0.715, (0, "impurity"): 1.2})
    assert study.read_sheet(plan, dry_run=True).notes == ()
    plan.write_text(plan.read_text(encoding="utf-8").replace("yield (%)", "yield (g)"), "utf-8")
    (note,) = study.read_sheet(plan).notes
    said = "yield is in %, and its column is called 'yield (g)': the values were taken as they"
    assert note == f"{said} stand."


def test_what_is_on_record_of_a_trial_under_way_stands_on_its_sheet(tmp_path: Path) -> None:
    outcomes = {"yield": Maximize(unit="%"), "impurity": AtMost(2)}
    study = Study.create(SPACE, outcomes=outcomes, name="two", seed=1)
    first, _ = study.ask(2)
    study.tell(first, {"yield": Measurement.of([80.5, 81.5], block="mon")})
    rest = tmp_path / "rest.csv"
    study.sheet(rest, pending=True)
    header, row, other = rest.read_text(encoding="utf-8").splitlines()
    place = header.split(",").index("yield on record")
    assert "impurity on record" not in header
    assert row.split(",")[place].startswith(str(study.trials[0].measurements[0])[:5])
    assert other.split(",")[place] == ""
    # it is not read: the block of what comes now is its own
    fill(rest, {(0, "impurity"): 1.2, (0, "block"): "tue"})
    read = study.read_sheet(rest)
    assert (read.filled, read.notes) == ((0,), ())
    told = study.trials[0].outcomes
    assert told["yield"][0].block == (("block", "mon"),)
    assert told["impurity"][0].block == (("block", "tue"),)


def test_a_later_sheet_adds_its_date_and_notes(tmp_path: Path) -> None:
    outcomes = {"yield": Maximize(unit="%"), "impurity": AtMost(2)}
    study = Study.create(SPACE, outcomes=outcomes, name="two", seed=1)
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    study.sheet(one, 1)
    study.sheet(two, pending=True)
    fill(one, {(0, "yield (%)"): 71.5, (0, "date"): "14.11.2026", (0, "notes"): "slow"})
    fill(two, {(0, "impurity"): 1.2, (0, "date"): "15.11.2026", (0, "notes"): "slow"})
    study.read_sheet(one)
    study.read_sheet(two)
    both = {"date": "2026-11-14; 2026-11-15", "notes": "slow"}
    assert dict(study.trials[0].attributes) == both
    for sheet in (one, two):
        before = seq_of(study)
        assert study.read_sheet(sheet).known == 1
        assert seq_of(study) == before
    fill(one, {(0, "date"): "13.11.2026"})
    study.read_sheet(one)
    assert study.trials[0].attributes["date"] == "2026-11-13"


def test_a_value_without_a_block_among_blocks_is_remarked(study: Study, plan: Path) -> None:
    told = {(row, "value"): 70 + row for row in range(3)}
    fill(plan, {**told, (0, "block"): "mon", (1, "block"): "tue"})
    (note,) = study.read_sheet(plan, dry_run=True).notes
    assert note.startswith("1 value on the sheet has no usual block (row 4): most measurements are")
    fill(plan, {(2, "block"): "tue"})
    assert study.read_sheet(plan).notes == ()


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("Failed, septum leaked", "write failed alone, and why under notes."),
        ("70.5 ± 1", "write what follows the ± under noise."),
        ("ca. 70", "write the number alone, and what is to be said of it under notes."),
    ],
)
def test_what_to_write_instead_is_said(study: Study, plan: Path, cell: str, advice: str) -> None:
    fill(plan, {(0, "value"): cell})
    (message,) = refused(study, plan).values()
    assert message.endswith(advice)


def test_numbers_have_the_digits_that_are_dialled(tmp_path: Path) -> None:
    study = Study.create({"temp": Float(0, 3000), "rate": Float(0, 1)}, seed=1)
    study.sheet(tmp_path / "plan.csv", 3)
    for trial, line in zip(
        study.trials, (tmp_path / "plan.csv").read_text().splitlines()[1:], strict=True
    ):
        temp, rate = line.split(",")[1:3]
        assert "." not in temp
        assert len(rate.partition(".")[2]) == 3
        assert (float(temp), float(rate)) == (trial.params["temp"], trial.params["rate"])
