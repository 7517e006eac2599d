"""Records run again: the same, or different with what was otherwise; status and resumption."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ceibo_lab.arithmetic import describe, is_older, libraries
from ceibo_lab.cli import app
from ceibo_lab.kinds.require import lacking
from ceibo_lab.methods import METHODS, SUITE
from ceibo_lab.record import Cell
from ceibo_lab.records import Read, Writer
from ceibo_lab.repeat import Agreement, recorded, repetition, sample
from ceibo_lab.replicate import replicate


@pytest.fixture
def made(serial: Read) -> dict[str, Any]:
    return deepcopy(serial.records[0])


@pytest.fixture
def place(serial: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of records as in a clone, in the folder where commands are run."""
    monkeypatch.chdir(tmp_path)
    write(serial.records, tmp_path / "results")
    return tmp_path / "results"


def write(records: list[dict[str, Any]], folder: Path) -> None:
    path = folder / "records" / "small.jsonl"
    path.unlink(missing_ok=True)
    with Writer(path) as writer:
        for record in records:
            writer.add(record)


def otherwise(record: dict[str, Any], at: int = 10) -> dict[str, Any]:
    """The record with another measurement."""
    changed = deepcopy(record)
    changed["digest"] = "0" * 16
    changed["trace"]["regret"][at] += 0.5
    return changed


def call(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, list(arguments))
    return found.exit_code, found.output


def test_the_same_record_is_the_same_whatever_its_times(made: dict[str, Any]) -> None:
    again = deepcopy(made) | {"run": {"seconds": 99.0}}
    assert repetition(made, again).agreement is Agreement.SAME
    older = {name: value for name, value in made.items() if name != "algorithm"}
    assert repetition(older, again).agreement is Agreement.SAME  # the same bits all the same
    more = deepcopy(made)
    more["checked"] = 1  # a later record may say more
    assert repetition(made, more).agreement is Agreement.SAME


def test_what_nothing_explains_is_a_fault(made: dict[str, Any]) -> None:
    found = repetition(made, otherwise(made))
    assert found.agreement is Agreement.UNEXPLAINED
    assert "first seen at measurement 11 of 13" in found.differences[0]


def test_versions_arithmetic_settings_and_machine_explain(made: dict[str, Any]) -> None:
    changed = otherwise(made)
    changed["versions"] |= {"numpy": "9.9", "blas": "other"}
    changed["settings"] |= {"restarts": 7}
    changed["algorithm"] = 99
    found = repetition(made, changed)
    assert found.agreement is Agreement.EXPLAINED
    text = str(found)
    for words in ("now 9.9", "blas", "now arithmetic 99", "setting restarts 16, now 7"):
        assert words in text


def test_what_was_read_off_the_same_measurements_may_differ(made: dict[str, Any]) -> None:
    changed = deepcopy(made)
    changed["trace"]["recommended"]["regret"][-1] = 7.0
    found = repetition(made, changed)
    assert found.differences[0] == "the same measurements, but not the same trace"
    assert "now 7" in found.differences[1]


def test_digits_that_are_not_kept_and_failures(made: dict[str, Any]) -> None:
    assert "does not keep" in repetition(made, made | {"digest": "0"}).differences[0]
    failed = {name: made[name] for name in ("key", "cell", "versions")}
    failed |= {"status": "failed", "error": "ValueError: no"}
    assert "finished in the record, failed (ValueError: no) now" in str(repetition(made, failed))


@pytest.mark.parametrize(
    ("kind", "trace", "said"),
    [
        ("suite", {"n": [10, 20, 30], "best": [3.0, 2.0, 1.0]}, "at n = 20"),
        ("draws", {"value": [3.0, 2.0, 1.0], "t": 2}, "at measurement 2 of 3"),
        ("rules", {"params": [{"a": 1}, {"a": 2}], "y": [None, 1.0]}, "at measurement 2 of 2"),
    ],
)
def test_other_kinds_say_where_they_part(
    kind: str, trace: dict[str, Any], said: str, made: dict[str, Any]
) -> None:
    one = made | {"trace": trace, "cell": made["cell"] | {"kind": kind}}
    two = deepcopy(one) | {"digest": "0"}
    column = next(name for name in ("best", "value", "params") if name in trace)
    two["trace"][column][1] = {"a": 9} if column == "params" else 9.0
    assert said in repetition(one, two).differences[0]


def test_what_a_record_does_not_say_of_its_arithmetic(made: dict[str, Any]) -> None:
    assert not is_older(made)
    older = {name: value for name, value in made.items() if name != "algorithm"}
    older["settings"] = {"fit": "ml", "kernel": "matern52"}
    assert is_older(older)
    assert "one start" in describe(older)
    assert "one start" not in describe(older | {"settings": {"fit": "map"}})
    assert not is_older(older | {"settings": {"outliers": True}})  # since then it is said


def test_a_record_names_the_packages_of_its_method(monkeypatch: pytest.MonkeyPatch) -> None:
    for table in (METHODS, SUITE):
        assert {"torch", "gpytorch", "botorch"} <= set(table["botorch-qlognei"].packages)
        assert {"torch", "optuna"} <= set(table["optuna-gp"].packages)
    outside = replace(SUITE["random"], packages=("torch",))
    monkeypatch.setitem(SUITE, "random", outside)
    monkeypatch.setattr("ceibo_lab.method.version", lambda _name: "9.9")
    record = replicate(Cell("suite", "branin", "shifted", "homoscedastic", 0.1, "random", 0, 3))
    assert record is not None
    assert libraries(record)["torch"] == "9.9"
    peer = record | {"settings": {"scikit-optimize": "0.10.2"}}
    assert libraries(peer)["scikit-optimize"] == "0.10.2"


def test_a_sample_is_the_same_for_a_seed_and_leaves_out_what_cannot_run(
    serial: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [record["key"] for record in sample(serial.records, 3, 1).chosen]
    assert len(chosen) == 3
    assert chosen == [record["key"] for record in sample(serial.records[::-1], 3, 1).chosen]
    monkeypatch.delenv("CEIBO_COMPRESSION_DATA", raising=False)
    strange = deepcopy(serial.records[0])
    strange["cell"] |= {"method": "clairvoyance"}
    strange["key"] = "strange"
    found = sample([strange, *serial.records], 9, 0)
    assert len(found.chosen) == 4
    assert "method must be one of" in found.refused["strange"]
    monkeypatch.setattr("ceibo_lab.kinds.require._is_installed", lambda _name: False)
    outside = Cell("optimise", "hartmann", "shifted", "heteroscedastic", 0.1, "optuna-gp", 0, 1)
    assert lacking(outside) == "optuna-gp needs optuna, torch: pip install optuna torch."


def test_a_check_of_records_made_here(place: Path) -> None:
    status, said = call("check", "--sample", "2", "--jobs", "1")
    assert (status, said.count("same: optimise:hartmann")) == (0, 2)
    assert "2 of 2 the same bit for bit" in said
    assert not list(Path("paper-results/check").iterdir())
    assert len(recorded(place).records) == 4


def test_the_status_of_a_check_is_that_of_its_worst_record(place: Path, serial: Read) -> None:
    elsewhere = otherwise(serial.records[0])
    elsewhere["versions"] |= {"numpy": "9.9"}
    write([elsewhere, *serial.records[1:]], place)
    status, said = call("check", "--sample", "4", "--jobs", "1")
    assert status == 3
    assert "was otherwise: numpy 9.9, now" in said
    write([elsewhere, otherwise(serial.records[1])], place)
    assert call("check", "--jobs", "1")[0] == 1


def test_an_unfinished_check_goes_on(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, said = call("check", str(place), "--sample", "3", "--jobs", "1", "--time-limit", "0")
    assert status == 4
    assert "3 left: the same command continues" in said
    kept = Path("paper-results/check/repeated.jsonl")
    first = sample(recorded(place).records, 3, 0).chosen[0]
    with Writer(kept) as writer:  # as if one had been finished, and its result is recognised
        writer.add(otherwise(first))
    status, said = call("check", str(place), "--sample", "3", "--jobs", "1")
    assert status == 1
    assert f"{Agreement.UNEXPLAINED.value}: {first['key']}" in said
    assert "2 of 3 the same" in said


def test_one_recorded_cell_by_its_names(place: Path) -> None:
    one = ("run", "scenario", "--seed", "3", "--backend", "serial")
    assert call(*one, "--out", "results")[0] == 0
    status, said = call(*one, "--against", str(place))
    assert (status, "same: scenario:scenario:plain" in said) == (0, True)
    assert not Path("paper-results/records").exists()
    status, said = call("run", "scenario", "--seed", "4", "--against", str(place))
    assert status == 2
    assert "no record: scenario:scenario:plain:homoscedastic:0.3:ei:T4:s4" in said


def test_no_records_and_nothing_that_can_run_are_errors(place: Path, serial: Read) -> None:
    (place / "empty").mkdir()
    status, said = call("check", str(place / "empty"))
    assert status == 2
    assert "there are no records in" in said
    strange = deepcopy(serial.records[0])
    strange["cell"] |= {"method": "clairvoyance"}
    write([strange], place)
    status, said = call("check")
    assert status == 2
    assert "cannot be run here: 1" in said
