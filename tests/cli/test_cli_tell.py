"""`ceibo tell`: slips are pointed out or refused, and what is recorded stays."""

import shlex
from pathlib import Path

import pytest

from ceibo import Measurement, Study
from ceibo.errors import NotStoredError, StorageError
from tests.cli.cli_tools import Ceibo, StudyFile


def test_a_doubtful_noise_is_pointed_out(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    doubtful = ceibo("tell", file, "0", "61.2", "60.8")
    assert doubtful.status == 0
    assert "--replicates" in doubtful.err
    assert "exact" in ceibo("tell", file, "1", "61.2", "0").err
    both = ceibo("tell", file, "2", "61.2", "60.8", "--replicates", "--json")
    assert both.err == ""
    assert both.json["measurements"][0]["replicates"] == [61.2, 60.8]
    for number, result in enumerate(
        (["61 ± 59"], ["61", "+/-", "59"], ['{"value": 1, "noise": 5}'], ["60", "4"])
    ):
        assert ceibo("tell", file, 3 + number, *result).err == ""
    assert "noise" in ceibo("tell", file, "7", "900", "300").err  # beyond all values told
    assert ceibo("tell", file, "8", "61 ± 59", "--replicates").status == 2


def test_a_large_noise_that_is_usual_is_not_doubted(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    warned = [
        ceibo("tell", file, number, f"{0.01 * number}", "0.05").err != "" for number in range(6)
    ]
    assert warned == [True] * 3 + [False] * 3


def test_a_comma_is_no_decimal_point(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    for result in (["66,5"], ["66,5 1,2"], ["1.234,5"], ["66,5", "1,2"]):
        answer = ceibo("tell", file, "0", *result)
        assert (answer.status, answer.out) == (2, "")
        assert "write 66.5" in answer.err or "write 1234.5" in answer.err
    assert ceibo("show", file, "0", "--json").json["measurements"] == []


def test_a_refused_second_value_comes_with_the_command_that_tells_it(
    asked: tuple[Ceibo, Path],
) -> None:
    ceibo, file = asked
    ceibo("tell", file, "0", "1")
    for count, words in enumerate(
        (
            ["-2.5"],
            ["3", "--block", "day=a b"],
            ["4", "5", "--replicates"],
            ["6", "1", "--count", "3"],
        )
    ):
        answer = ceibo("tell", file, "0", *words)
        assert (answer.status, answer.out) == (2, "")
        command = answer.err.strip().rpartition("a key of its own: ")[2]
        again = ceibo(*shlex.split(command)[1:])
        assert (again.status, again.err) == (0, "")
        assert len(ceibo("show", file, "0", "--json").json["measurements"]) == count + 2


def test_a_program_that_prints_a_comma_fails(ceibo: Ceibo, study_file: StudyFile) -> None:
    file = study_file(code="print('66,5')", trials=1)
    ceibo("run", file)
    assert "write 66.5" in ceibo("show", file, "0", "--json").json["reason"]


def test_what_ended_is_neither_given_back_nor_failed(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    ceibo("tell", file, "0", "1")
    ceibo("tell", file, "1", "--failed", "leak")
    for wrong in (["0", "--release"], ["0", "--failed", "oops"], ["1", "--release"]):
        answer = ceibo("tell", file, *wrong)
        assert (answer.status, answer.out) == (2, "")
        assert "already" in answer.err
    assert ceibo("tell", file, "99", "--release").status == 2
    assert ceibo("tell", file, "1", "--failed", "another leak").status == 0
    assert ceibo("tell", file, "1", "2").status == 0  # a late result is still data


def test_messages_speak_the_language_of_the_shell(
    asked: tuple[Ceibo, Path], tmp_path: Path
) -> None:
    ceibo, file = asked
    ceibo("tell", file, "0", "1", "0.1")
    (tmp_path / "other.toml").write_text(
        file.read_text().replace("high = 1}", "high = 2, log = false}", 1)
    )
    cases = {
        ("tell", file, "0", "2"): "--key run-2",
        ("tell", file, "1", '{"value": "2"}'): "a number",
        ("tell", file, "1", '{"replicates": {}}'): "[0.31, 0.29, 0.36]",
        ("ask", tmp_path / "other.toml"): 'x\' is {type = "float", low = 0, high = 2} in the file',
    }
    for arguments, word in cases.items():
        answer = ceibo(*arguments)
        assert answer.status == 2
        assert word in answer.err
        for python in ("Measurement", "key=", "Float(", "open the study", "its last line"):
            assert python not in answer.err


def test_a_result_that_was_not_stored_can_be_told_again(
    asked: tuple[Ceibo, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ceibo, file = asked

    def away(*_: object, **__: object) -> None:
        raise NotStoredError("", 3, Measurement.of([0.25, 0.5]), "run 2") from StorageError(
            "it is away"
        )

    monkeypatch.setattr(Study, "tell", away)
    answer = ceibo("tell", file, "3", "[0.25, 0.5]", "--key", "run 2")
    assert answer.status == 2
    assert "it is away" in answer.err
    assert f"ceibo tell {file} 3 0.25 0.5 --replicates --key 'run 2'" in answer.err
    assert "exception" not in answer.err
