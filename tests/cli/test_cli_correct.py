"""`ceibo correct` and `ceibo tell --withdraw`: what was told or asked by mistake."""

import csv
import io
from pathlib import Path

import pytest

from ceibo import Measurement, Study
from tests.cli.cli_tools import Ceibo, StudyFile


@pytest.fixture
def told(ceibo: Ceibo, study_file: StudyFile) -> tuple[Ceibo, Path]:
    """`ceibo`, and a study file with four trials, of which the first has a wrong value."""
    file = study_file()
    ceibo("ask", "--new", file, "-n", "4")
    ceibo("tell", file, "0", "665")
    return ceibo, file


def test_a_wrong_value_is_replaced(told: tuple[Ceibo, Path], tmp_path: Path) -> None:
    ceibo, file = told
    answer = ceibo("correct", file, "0", "66.5")
    assert (answer.status, answer.out, answer.err) == (0, "trial 0: 66.5, in place of 665\n", "")
    assert ceibo("correct", file, "0", "66.5").out == "trial 0: 66.5, as recorded already\n"
    assert (
        ceibo("correct", file, "0", "-66.5", "1.5").out
        == "trial 0: -66.5 ± 1.5, in place of 66.5\n"
    )
    shown = ceibo("show", file).out.splitlines()[0]
    assert "-66.5 ± 1.5 (corrected, was 66.5)" in shown
    assert (
        "measured 665\ncorrected to 66.5\ncorrected to -66.5 ± 1.5\n"
        in ceibo("show", file, "0").out
    )
    (row, *_) = csv.DictReader(io.StringIO(ceibo("export", file).out))
    assert (row["value"], row["noise"]) == ("-66.5", "1.5")
    study = Study.open(f"sqlite:///{tmp_path}/demo.db", "demo")
    assert study.trials[0].replaced == ((Measurement(665), Measurement(66.5)),)
    assert study.verify().ok
    assert ceibo("best", file, "--json").json["best_observed"]["value"] == -66.5


def test_a_correction_as_json(told: tuple[Ceibo, Path]) -> None:
    ceibo, file = told
    trial = ceibo("correct", file, "0", '{"value": 66.5, "noise": 1}', "--json").json
    wrong: dict[str, object] = {"value": 665.0, "noise": None, "replicates": []}
    assert trial["measurements"] == [
        {"value": 66.5, "noise": 1.0, "replicates": [], "replaced": [wrong]}
    ]
    assert ceibo("show", file, "0", "--json").json == trial


def test_results_are_read_as_tell_reads_them(told: tuple[Ceibo, Path]) -> None:
    ceibo, file = told
    for words, replicates in (
        (["61.2", "60.8", "--replicates"], [61.2, 60.8]),
        (["1", "2", "3"], [1, 2, 3]),
    ):
        trial = ceibo("correct", file, "0", *words, "--json").json
        assert trial["measurements"][0]["replicates"] == replicates
    assert "--replicates" in ceibo("correct", file, "0", "61.2", "60.8").err  # a doubtful noise
    assert "exact" in ceibo("correct", file, "0", "61.2", "0").err
    before = ceibo("show", file, "0", "--json").out
    for words, said in (
        (["66,5"], "write 66.5"),
        (["much"], "a number"),
        (["nan"], "a noise as large as your doubt"),
        (["1", "-2"], "noise"),
        ([], ""),
    ):
        answer = ceibo("correct", file, "0", *words)
        assert (answer.status, answer.out) == (2, "")
        assert said in answer.err
    assert ceibo("show", file, "0", "--json").out == before


def test_a_noise_that_is_lost_is_pointed_out(told: tuple[Ceibo, Path]) -> None:
    ceibo, file = told
    ceibo("tell", file, "1", "665", "5")
    assert "the noise 5 went with the wrong value" in ceibo("correct", file, "1", "66.5").err
    assert ceibo("correct", file, "1", "66.5", "5").err == ""
    assert ceibo("correct", file, "1", "66", "67", "68").err == ""


def test_several_measurements_are_told_apart(told: tuple[Ceibo, Path]) -> None:
    ceibo, file = told
    ceibo("tell", file, "0", "67", "1.5", "--key", "monday")
    which = ceibo("correct", file, "0", "66.5")
    assert (which.status, which.out) == (2, "")
    assert "key" in which.err
    assert "'': 665, 'monday': 67 ± 1.5" in which.err
    assert ceibo("correct", file, "0", "68", "1.5", "--key", "monday").out.endswith(
        "in place of 67 ± 1.5\n"
    )
    assert ceibo("correct", file, "0", "66.5", "--key", "").out.endswith("in place of 665\n")
    assert [each["value"] for each in ceibo("show", file, "0", "--json").json["measurements"]] == [
        66.5,
        68,
    ]
    assert (
        "it has '': 66.5, 'monday': 68" in ceibo("correct", file, "0", "1", "--key", "tuesday").err
    )


def test_what_cannot_be_corrected(told: tuple[Ceibo, Path]) -> None:
    ceibo, file = told
    ceibo("tell", file, "1", "--failed", "leak")
    for number, said in (("1", "failed"), ("2", "running"), ("9", "no trial 9")):
        answer = ceibo("correct", file, number, "1")
        assert (answer.status, answer.out) == (2, "")
        assert said in answer.err
        for python in ("Measurement", "key=", "correct("):
            assert python not in answer.err


def test_tell_leads_to_correct(told: tuple[Ceibo, Path]) -> None:
    ceibo, file = told
    answer = ceibo("tell", file, "0", "66.5")
    assert answer.status == 2
    assert "`ceibo correct`" in answer.err
    ceibo("correct", file, "0", "66.5")
    assert ceibo("tell", file, "0", "66.5").err == ""
    late = ceibo("tell", file, "0", "665")  # a script that is run again
    assert late.status == 0
    assert "corrected since; the trial has 66.5" in late.err


def test_a_trial_is_withdrawn(told: tuple[Ceibo, Path]) -> None:
    ceibo, file = told
    ceibo("tell", file, "1", "--failed", "leak")
    for _ in range(2):
        answer = ceibo("tell", file, "2", "--withdraw")
        assert (answer.status, answer.out, answer.err) == (0, "trial 2: withdrawn\n", "")
    assert ceibo("show", file, "2", "--json").json["state"] == "withdrawn"
    assert ceibo("ask", "--new", file, "--json").json["trial"] == 4  # it is not handed out again
    assert ceibo("tell", file, "3", "--withdraw", "--json").json["state"] == "withdrawn"
    for wrong in (
        ["0", "--withdraw"],
        ["1", "--withdraw"],
        ["9", "--withdraw"],
        ["4", "1", "--withdraw"],
    ):
        answer = ceibo("tell", file, *wrong)
        assert (answer.status, answer.out) == (2, "")
    assert "--withdraw" in ceibo("tell", file, "4").err
