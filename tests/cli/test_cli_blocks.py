"""Blocks and counts in a shell: told, corrected, run, shown."""

import json
from pathlib import Path

import pytest

from ceibo import Measurement
from ceibo.command.outcome import parse_line
from ceibo.errors import InputError
from tests.cli.cli_tools import Ceibo, StudyFile
from tests.sheets.filling import fill

OUTCOMES = """
[outcomes]
yield = {goal = "maximize"}
impurity = {at_most = 2.0}
"""


def test_a_result_is_told_in_blocks(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    told = ceibo("tell", file, 0, "61.2", "--block", "day=2026-11-14", "--block", "plate=3")
    assert told.out == "trial 0: 61.2 [day 2026-11-14, plate 3]\n"
    assert ceibo("tell", file, 1, "61.2", "0.5", "--count", "4", "--block", "mon").status == 0
    again = ceibo("tell", file, 1, "61.2", "0.5", "--count", "4", "--block", "mon")
    assert again.status == 0
    other = ceibo("tell", file, 1, "61.2", "0.5", "--count", "4", "--block", "tue")
    assert other.status == 2
    assert "was measured before: 61.2 ± 0.5 (of 4) [mon]. Now came" in other.err
    shown = ceibo("show", file, 1, "--json").json["measurements"]
    assert shown == [
        {
            "value": 61.2,
            "noise": 0.5,
            "replicates": [],
            "count": 4,
            "block": {"block": "mon"},
            "replaced": [],
        }
    ]
    assert "61.2 ± 0.5 (of 4) [mon]" in ceibo("show", file).out
    assert "measured 61.2 [day 2026-11-14, plate 3]" in ceibo("show", file, 0).out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["61.2", "--count", "4"], "--count: expected the standard error of 4 values beside it"),
        (["61.2", "1", "--count", "1"], "--count must be a whole number from 2"),
        (["61", "62", "63", "--count", "3"], "--count: expected none beside replicates"),
        (["61.2", "--block", ""], "--block: expected a name"),
        (["61.2", "--block", "day="], "--block: expected a name"),
        (["61.2", "--block", "=mon"], "--block: expected a kind"),
        (["61.2", "--block", "mon", "--block", "tue"], "--block: expected each kind once"),
        (["--failed", "leak", "--block", "mon"], "--count and --block are about a result"),
        (['{"value": 1, "block": "a"}', "--block", "b"], "beside a Measurement in {'block': 'a'}"),
    ],
)
def test_slips_are_refused(asked: tuple[Ceibo, Path], words: list[str], sentence: str) -> None:
    ceibo, file = asked
    answer = ceibo("tell", file, 0, *words)
    assert (answer.status, answer.out) == (2, "")
    assert sentence in answer.err


def test_a_correction_keeps_its_block(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    ceibo("tell", file, 0, "61.2", "--block", "mon")
    right = ceibo("correct", file, 0, "62.1")
    assert right.out == "trial 0: 62.1 [mon], in place of 61.2 [mon]\n"
    assert "as recorded already" in ceibo("correct", file, 0, "62.1").out
    moved = ceibo("correct", file, 0, "62.1", "0.5", "--count", "3", "--block", "day=tue")
    assert moved.out == "trial 0: 62.1 ± 0.5 (of 3) [day tue], in place of 62.1 [mon]\n"
    none = ceibo("correct", file, 0, "62.1", "0.5", "--block", "")
    assert none.out == "trial 0: 62.1 ± 0.5, in place of 62.1 ± 0.5 (of 3) [day tue]\n"


def test_outcomes_are_told_in_blocks(ceibo: Ceibo, study_file: StudyFile) -> None:
    file = study_file(extra=OUTCOMES)
    ceibo("ask", "--new", file)
    told = ceibo("tell", file, 0, "yield=81", "0.5", "impurity=1", "--count", 3, "--block", "mon")
    assert told.status == 0, told.err
    measurements = ceibo("show", file, 0, "--json").json["measurements"]
    assert [each.get("count") for each in measurements] == [3, None]
    assert [each["block"] for each in measurements] == [{"block": "mon"}] * 2
    wrong = ceibo("tell", file, 0, "yield=81", "impurity=1", "--count", 3, "--key", "b")
    assert "--count: expected a value with its noise" in wrong.err


def test_a_run_is_in_a_block(ceibo: Ceibo, study_file: StudyFile) -> None:
    code = """
import sys, json
x = float(sys.argv[1])
own = dict(block=dict(day="own")) if x < 0.5 else dict()
print(json.dumps(dict(value=x, noise=0.1, count=3, **own)))
"""
    file = study_file(code, trials=6)
    assert ceibo("run", file, "--block", "day=mon").status == 0
    trials = ceibo("show", file, "--json").json
    days = {each["measurements"][0]["block"]["day"] for each in trials}
    assert days == {"mon", "own"}
    assert all(each["measurements"][0]["count"] == 3 for each in trials)
    assert "effects of day: 2 blocks, which differ by" in ceibo("best", file).out
    blocks = ceibo("best", file, "--json").json["blocks"]
    assert {each["label"] for each in blocks} == {"mon", "own"}
    assert sum(each["count"] for each in blocks) == 6


def test_results_as_json_have_counts_and_blocks() -> None:
    line = json.dumps({"value": 0.3, "noise": 0.1, "count": 4, "block": {"day": "a"}})
    assert parse_line(line) == Measurement(0.3, 0.1, count=4, block={"day": "a"})
    several = json.dumps({"replicates": [1.0, 2.0], "block": "a"})
    assert parse_line(several) == Measurement.of([1.0, 2.0], block="a")
    for wrong, sentence in (
        ({"value": 1, "count": 4}, "count: expected the standard error"),
        ({"value": 1, "noise": 1, "count": 2.5}, "count must be a whole number"),
        ({"value": 1, "block": 1.5}, "block: expected a name"),
        ({"value": 1, "blocks": "a"}, "known are value, noise, replicates, count and block"),
        ({"replicates": [1.0], "count": 1}, "replicates beside other keys"),
    ):
        with pytest.raises(InputError, match=sentence):
            parse_line(json.dumps(wrong))


def test_a_value_told_without_the_usual_block_is_warned_of(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    first = ceibo("tell", file, 0, "61.2", "--block", "day=2026-11-14")
    assert first.err == ""
    bare = ceibo("tell", file, 1, "62.2")
    assert "trial 1: most measurements are in a block of a day, and this one counts" in bare.err
    assert bare.out == "trial 1: 62.2\n"
    ceibo("correct", file, 1, "62.2", "--block", "day=2026-11-14")
    plate = ceibo("tell", file, 1, "63", "--key", "b", "--block", "plate=3")
    assert "most measurements are in a block of a day" in plate.err


def test_a_bare_day_is_of_the_usual_kind(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    ceibo("tell", file, 0, "61", "--block", "day=14.11.2026")
    for number, typed in ((1, "2026-11-15"), (2, "15.11.2026"), (3, "day=15.11.2026")):
        told = ceibo("tell", file, number, "62", "--block", typed)
        assert (told.out, told.err) == (f"trial {number}: 62 [day 2026-11-15]\n", "")
    doubtful = ceibo("tell", file, 4, "62", "--block", "31.02.2026")
    assert "'31.02.2026' is not written as the other days" in doubtful.err
    right = ceibo("correct", file, 4, "62.5", "--block", "28.2.2026")
    assert right.out == "trial 4: 62.5 [day 2026-02-28], in place of 62 [day 31.02.2026]\n"


def test_the_block_alone_is_corrected(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    ceibo("tell", file, 0, "61.2", "0.5", "--count", "4", "--block", "day=2026-11-14")
    ceibo("tell", file, 1, "60", "61", "63", "--block", "day=2026-11-14")
    moved = ceibo("correct", file, 0, "--block", "18.11.2026")
    was = "61.2 ± 0.5 (of 4) [day 2026-11-14]"
    now = "61.2 ± 0.5 (of 4) [day 2026-11-18]"
    assert (moved.out, moved.err) == (f"trial 0: {now}, in place of {was}\n", "")
    ceibo("correct", file, 1, "--block", "2026-11-18")
    (several,) = ceibo("show", file, 1, "--json").json["measurements"]
    assert (several["replicates"], several["block"]) == ([60, 61, 63], {"day": "2026-11-18"})
    assert "as recorded already" in ceibo("correct", file, 0, "--block", "2026-11-18").out
    assert "61.2 ± 0.5 (of 4), in place" in ceibo("correct", file, 0, "--block", "").out
    for words, sentence in (
        ((0,), "expected the right result, as in 71.5 or yield=71.5; or --block alone"),
        ((0, "--block", "mon", "--count", 3), "or --block alone"),
        ((2, "--block", "mon"), "trial 2 has no such value on record"),
        ((0, "--key", "b", "--block", "mon"), "trial 0 has no such value on record"),
        ((99, "--block", "mon"), "there is no trial 99"),
    ):
        refused = ceibo("correct", file, *words)
        assert refused.status == 2
        assert sentence in refused.err


def test_the_block_of_outcomes_is_corrected(ceibo: Ceibo, study_file: StudyFile) -> None:
    file = study_file(extra=OUTCOMES)
    ceibo("ask", "--new", file)
    ceibo("tell", file, 0, "yield=81", "impurity=1", "--block", "day=mon")
    ceibo("tell", file, 0, "yield=82", "--key", "b", "--block", "day=mon")
    one = ceibo("correct", file, 0, "--block", "day=tue", "--outcome", "impurity")
    assert one.out == "trial 0: impurity 1 [day tue], in place of impurity 1 [day mon]\n"
    assert ceibo("correct", file, 0, "--block", "x", "--outcome", "impurty").status == 2
    every = ceibo("correct", file, 0, "--block", "day=wed", "--json").json["measurements"]
    assert [each["block"] for each in every] == [{"day": "wed"}] * 3
    assert [each["value"] for each in every] == [81, 1, 82]


def test_a_run_is_on_a_day_as_the_others(ceibo: Ceibo, study_file: StudyFile) -> None:
    file = study_file(trials=2)
    ceibo("run", file, "--block", "day=2026-11-14")
    ceibo("run", file, "--trials", 3, "--block", "15.11.2026")
    last = ceibo("show", file, 2, "--json").json["measurements"]
    assert last[0]["block"] == {"day": "2026-11-15"}
    odd = ceibo("run", file, "--trials", 4, "--block", "31.02.2026")
    assert "not written as the other days" in odd.err


def test_a_sheet_reads_a_bare_name_as_the_shell_does(
    ceibo: Ceibo, study_file: StudyFile, tmp_path: Path
) -> None:
    file, plan = study_file(), tmp_path / "plan.csv"
    ceibo("sheet", file, plan, "-n", 5, "--new")
    ceibo("tell", file, 0, "71", "--block", "day=2026-11-14")
    ceibo("tell", file, 1, "72", "--block", "2026-11-15")
    days = {(1, "block"): "2026-11-15", (2, "block"): "15.11.2026"}
    fill(plan, {(1, "value"): 72, (2, "value"): 73} | days)
    read = ceibo("sheet", file, plan, "--read")
    assert read.status == 0, read.err
    assert "1 filled, 1 row known already" in read.out
    stored = ceibo("show", file, 2, "--json").json["measurements"]
    assert stored[0]["block"] == {"day": "2026-11-15"}
    # also where most measurements are in no day any more
    fill(plan, {(row, "value"): 80 for row in (3, 4)})
    ceibo("sheet", file, plan, "--read")
    for key in "abc":
        ceibo("tell", file, 4, "80", "--key", key)
    again = ceibo("sheet", file, plan, "--read")
    assert "4 rows known already" in again.out, again.err


def test_the_correction_that_a_sheet_advises_mends_it(
    ceibo: Ceibo, study_file: StudyFile, tmp_path: Path
) -> None:
    file, plan = study_file(), tmp_path / "plan.csv"
    ceibo("sheet", file, plan, "-n", 4, "--new", "--block", "block", "--block", "day")
    for number in range(4):
        ceibo("tell", file, number, 70 + number, "--block", "day=2026-11-14")
    fill(plan, {(row, "value"): 70 + row for row in range(4)})
    fill(plan, {(row, "block day"): "2026-11-14" for row in (2, 3)} | {(1, "block"): "mon"})
    refused = ceibo("sheet", file, plan, "--read")
    assert refused.status == 2
    for words in (("0", "70.0", "--block", ""), ("1", "71.0", "--block", "block=mon")):
        said = " ".join(word or "''" for word in words)
        assert f"{said} (a further run" in refused.err
        assert ceibo("correct", file, *words).status == 0
    read = ceibo("sheet", file, plan, "--read")
    assert "4 rows known already" in read.out, read.err


def test_a_kind_that_is_said_stays(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    ceibo("tell", file, 0, "61", "--block", "day=2026-11-14")
    told = ceibo("tell", file, 1, "62", "--block", "block=mon")
    assert told.out == "trial 1: 62 [mon]\n"
    moved = ceibo("correct", file, 0, "--block", "block=tue")
    assert moved.out == "trial 0: 61 [tue], in place of 61 [day 2026-11-14]\n"


def test_a_bare_name_is_of_no_kind_where_two_are_usual(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    for number in range(3):
        ceibo("tell", file, number, 60 + number, "--block", "B1", "--block", "day=2026-11-14")
    told = ceibo("tell", file, 3, "63", "--block", "B2")
    assert told.out == "trial 3: 63 [B2]\n"
    assert "most measurements are in a block of a day" in told.err


def test_one_of_several_days_is_moved_by_its_key(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    ceibo("tell", file, 0, "2", "--block", "day=2026-11-14")
    ceibo("tell", file, 0, "2.1", "--key", "run-2", "--block", "day=2026-11-15")
    bare = ceibo("tell", file, 0, "2.2", "--key", "run 3")
    assert "`ceibo correct --key 'run 3' --block` mends it" in bare.err
    refused = ceibo("correct", file, 0, "--block", "day=2026-11-16")
    assert "in different blocks; say by --key which of them is meant: " in refused.err
    assert ceibo("correct", file, 0, "--key", "run 3", "--block", "2026-11-16").status == 0
    told = ceibo("show", file, 0, "--json").json["measurements"]
    days = [each["block"]["day"] for each in told]
    assert days == ["2026-11-14", "2026-11-15", "2026-11-16"]


def test_the_kind_of_the_only_block_stays(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    ceibo("tell", file, 0, "61", "--block", "day=2026-11-14")
    moved = ceibo("correct", file, 0, "--block", "15.11.2026")
    assert moved.out == "trial 0: 61 [day 2026-11-15], in place of 61 [day 2026-11-14]\n"
