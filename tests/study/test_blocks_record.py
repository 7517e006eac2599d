"""Blocks and counted standard errors in the record: stored, repeated, corrected, damaged."""

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import ceibo
from ceibo import AtMost, Float, Maximize, Measurement, Study
from ceibo.decide.block_names import block_of
from ceibo.errors import ConflictError, DamagedError, InputError, NewerSchemaError, StorageError
from ceibo.study.blocks import Blocks, doubt_of_block, typed_block
from ceibo.study.store.checksum import checksum_of
from ceibo.study.store.schema import events

SPACE = {"x": Float(0, 1)}
COUNTED = Measurement(0.5, 0.1, count=4, block={"day": "mon", "plate": "3"})


def values(study: Study) -> list[tuple[Measurement, ...]]:
    return [trial.measurements for trial in study.trials]


def test_what_was_told_is_read_back(url: str) -> None:
    study = Study.create(SPACE, storage=url, n_initial=8)
    study.tell(study.ask(), 1.0, noise=0.2, block="mon")
    study.tell(study.ask(), COUNTED)
    study.tell(study.ask(), Measurement.of([1.0, 2.0]), block={"day": "tue"})
    study.add({"x": 0.5}, 3.0, block={"day": "größer"})
    study.add_all([({"x": 0.25}, COUNTED), ({"x": 0.75}, 2.0)])
    expected = [
        (Measurement(1.0, 0.2, block="mon"),),
        (COUNTED,),
        (Measurement.of([1.0, 2.0], block={"day": "tue"}),),
        (Measurement(3.0, block={"day": "größer"}),),
        (COUNTED,),
        (Measurement(2.0),),
    ]
    assert values(study) == expected
    study.close()
    again = Study.open(url)
    assert values(again) == expected
    evidence = again.belief.evidence
    assert evidence.block_kinds == ("block", "day", "plate")
    assert evidence.counts.tolist() == [1, 4, 1, 1, 1, 4, 1]
    assert again.verify().ok
    again.close()


def test_without_blocks_the_rows_are_as_before(url: str) -> None:
    study = Study.create(SPACE, storage=url)
    study.tell(study.ask(), 1.0, noise=0.2)
    study.correct(0, 2.0)
    store = study.ledger.store
    assert [event.data for event in store.events(study.ledger.id)] == [None] * 3
    study.close()


def test_the_same_again_is_nothing_new_and_another_block_a_conflict(url: str) -> None:
    study = Study.create(SPACE, storage=url)
    trial = study.ask()
    study.tell(trial, 1.0, block="mon")
    study.tell(trial, 1.0, block="mon")
    study.tell(trial, Measurement(1.0, block="mon"))
    assert values(study) == [(Measurement(1.0, block="mon"),)]
    with pytest.raises(ConflictError, match=r"has 1 \[mon\] .*, got the same in block tue; if the"):
        study.tell(trial, 1.0, block="tue")
    with pytest.raises(ConflictError, match="got the same without a block"):
        study.tell(trial, 1.0)
    with pytest.raises(ConflictError, match=r"got Measurement\(value=1.0, .*count=3"):
        study.tell(trial, Measurement(1.0, 0.1, count=3))
    study.tell(trial, 1.0, block="tue", key="run-2")
    assert [dict(each.block) for each in values(study)[0]] == [{"block": "mon"}, {"block": "tue"}]
    study.close()


def test_what_a_person_types_is_a_block_as_the_study_has_them() -> None:
    """A day typed on a page beside a sheet with a column "block day" became a block of no kind."""
    study = Study.create(SPACE)
    for day in ("2026-11-14", "2026-11-16"):
        study.tell(study.ask(), 1.0, block={"day": day})
    before = study.trials
    typed = {
        "18.11.2026": (("day", "2026-11-18"),),
        "2026-11-16": (("day", "2026-11-16"),),
        "31.02.2026": (("day", "31.02.2026"),),
    }
    for text, block in typed.items():
        assert typed_block(before, block_of(text)) == block
    plate = block_of({"plate": "3"})
    assert typed_block(before, plate) == plate
    assert "not written as the other days, such as 2026-11-16" in doubt_of_block(
        before, [block_of({"day": "31.02.2026"})]
    )
    assert doubt_of_block(before, [block_of({"day": "2026-11-18"})]) == ""
    assert typed_block([], block_of("Monday")) == block_of("Monday")
    study.tell(study.ask(), 1.0, block={"day": "14.11.26"})  # so from a program: it stays
    assert typed_block(study.trials, block_of("14.11.26")) == (("day", "14.11.26"),)


def test_two_blocks_at_once_are_refused() -> None:
    study = Study.create(SPACE)
    trial = study.ask()
    with pytest.raises(InputError, match=r"got {'block': 'tue'} beside a Measurement in {'day'"):
        study.tell(trial, Measurement(1.0, block={"day": "mon"}), block="tue")
    with pytest.raises(InputError, match="block: expected a name"):
        study.tell(trial, 1.0, block="")
    study.tell(trial, Measurement(1.0, block="tue"), block="tue")
    assert study.trials[0].measurements[0].block == (("block", "tue"),)


def test_a_correction_stays_in_its_block_unless_told_otherwise(url: str) -> None:
    study = Study.create(SPACE, storage=url)
    trial = study.ask()
    study.tell(trial, 1.0, block="mon")
    assert study.correct(trial, 2.0) == Measurement(1.0, block="mon")
    assert values(study) == [(Measurement(2.0, block="mon"),)]
    study.correct(trial, 2.0, block="tue")
    study.correct(trial, Measurement(2.0, 0.1, count=3))
    study.correct(trial, Measurement(2.0, 0.1, count=3))
    assert values(study) == [(Measurement(2.0, 0.1, count=3, block="tue"),)]
    study.correct(trial, 2.0, block={})
    assert values(study) == [(Measurement(2.0),)]
    blocks = [dict(each.block).get("block") for each in study.trials[0].replaced[0]]
    assert blocks == ["mon", "mon", "tue", "tue"]
    study.void(trial, "broken")
    assert study.trials[0].voided[0].measurement == Measurement(2.0)
    study.close()


def test_outcomes_have_the_block_they_were_told_in(url: str) -> None:
    outcomes = {"yield": Maximize(), "impurity": AtMost(2.0)}
    study = Study.create(SPACE, outcomes=outcomes, storage=url)
    trial = study.ask()
    study.tell(trial, {"yield": 80.0}, block="mon")
    study.tell(trial, {"impurity": Measurement(1.0, 0.1, count=3)}, block={"gc": 2})
    study.tell(trial, {"yield": 80.0}, block="mon")
    study.correct(trial, {"yield": 81.0, "impurity": Measurement(1.1, block={"gc": 1})})
    assert study.trials[0].outcomes == {
        "yield": (Measurement(81.0, block="mon"),),
        "impurity": (Measurement(1.1, block={"gc": 1}),),
    }
    each = study.joint_belief.evidence.each
    assert [each[name].block_kinds for name in outcomes] == [("block",), ("gc",)]
    study.close()


def test_a_run_is_in_its_block() -> None:
    def objective(params: dict[str, Any]) -> float | Measurement:
        own = params["x"] < 0.5
        return Measurement(params["x"], block={"day": "own"}) if own else params["x"]

    with ThreadPoolExecutor(2) as pool:
        for executor in (None, pool):
            options: Any = {"n_trials": 4, "executor": executor}
            study = ceibo.minimize(objective, SPACE, block="mon", **options).study
            for trial in study.trials:
                own = {"day": "own"} if trial.params["x"] < 0.5 else {"block": "mon"}
                assert dict(trial.measurements[0].block) == own
            study.optimize(lambda _: 1.0, n_trials=5, block="tue")
            assert dict(study.trials[4].measurements[0].block) == {"block": "tue"}
    with pytest.raises(InputError, match="block: expected a name"):
        ceibo.minimize(objective, SPACE, block=1.5)  # type: ignore[arg-type]


@pytest.mark.needs("pandas")
def test_a_dataframe_has_columns_of_them_where_they_were_told() -> None:
    study = Study.create({"x": Float(0, 1), "count": Float(0, 1)})
    study.add({"x": 0.5, "count": 0.1}, 1.0)
    assert list(study.to_dataframe().columns)[-2:] == ["x", "count"]
    study.add({"x": 0.5, "count": 0.2}, COUNTED)
    study.add({"x": 0.5, "count": 0.3}, 1.0, block="a")
    table = study.to_dataframe()
    told = ["count", "block day", "block plate", "block"]
    assert list(table.columns)[-6:] == [*told, "x", "params_count"]
    assert table["count"].tolist()[1] == 4
    assert table["block day"].tolist()[1:2] == ["mon"]
    assert table["block"].isna().tolist() == [True, True, False]
    joint = Study.create(SPACE, outcomes={"yield": Maximize(), "impurity": AtMost(2.0)})
    joint.add({"x": 0.5}, {"yield": COUNTED, "impurity": 1.0}, block=None)
    assert list(joint.to_dataframe().columns)[-4:] == [
        "yield_count",
        "yield_block day",
        "yield_block plate",
        "x",
    ]


def test_a_killed_process_has_kept_its_blocks(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    code = f"""
import os, ceibo
study = ceibo.Study.create({{"x": ceibo.Float(0, 1)}}, storage={url!r})
for day in ("mon", "tue"):
    study.tell(study.ask(), ceibo.Measurement(1.0, 0.1, count=3), block={{"day": day}})
os._exit(9)
"""
    done = subprocess.run([sys.executable, "-c", code], env=os.environ, check=False)
    assert done.returncode == 9
    study = Study.open(url)
    assert values(study) == [
        (Measurement(1.0, 0.1, count=3, block={"day": day}),) for day in ("mon", "tue")
    ]
    assert study.verify().ok
    study.close()


def test_every_suggestion_of_a_study_with_blocks_is_found_again(url: str) -> None:
    study = Study.create({"x": Float(0, 1), "y": Float(0, 1)}, storage=url, n_initial=4, seed=1)
    for number in range(12):
        trial = study.ask()
        value = (trial.params["x"] - 0.3) ** 2 + (number // 4) + 0.1 * (number % 3)
        block = {"day": number // 4} if number % 5 else {"day": number // 4, "plate": number % 2}
        told = Measurement(value, 0.1, count=4) if number % 2 else Measurement(value)
        study.tell(trial, told, block=block)
        if number == 7:
            study.correct(3, Measurement(value, 0.1, count=4), block={"day": "first"})
            study.void(5, "broken")
    study.close()
    study = Study.open(url)
    found = study.verify()
    assert (found.ok, found.checked) == (True, 12)
    blocks = study.blocks
    assert isinstance(blocks, Blocks)
    assert [(each.kind, each.label, each.count) for each in blocks] == [
        ("day", "0", 3),
        ("day", "first", 1),
        ("day", "1", 3),
        ("day", "2", 4),
        ("plate", "0", 2),
    ]
    assert str(blocks).startswith("day: 4 blocks, which differ by a standard deviation of ")
    study.close()


def rewritten(tmp_path: Path, data: str) -> str:
    """A study with an event whose data were replaced, and its checksum with them."""
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    study = Study.create(SPACE, storage=url)
    study.tell(study.ask(), COUNTED)
    study.close()
    with sqlite3.connect(tmp_path / "lab.db") as connection:
        connection.row_factory = sqlite3.Row
        query = "SELECT * FROM ceibo_events WHERE kind = 'measured'"
        row = dict(connection.execute(query).fetchone())
        assert row["data"] == '{"count": 4, "block": {"day": "mon", "plate": "3"}}'
        row["data"] = data
        new = (data, checksum_of(events, row), row["seq"])
        connection.execute("UPDATE ceibo_events SET data = ?, checksum = ? WHERE seq = ?", new)
    return url


@pytest.mark.parametrize(
    ("data", "error", "sentence"),
    [
        ('{"count": 1}', DamagedError, "count must be a whole number from 2"),
        ('{"count": "4"}', DamagedError, "count must be"),
        ('{"block": {"day": ""}}', DamagedError, "block: expected a name"),
        ('{"block": 1.5}', DamagedError, "block: expected a name"),
        ("{", DamagedError, "expected JSON"),
        ("[]", NewerSchemaError, "which this ceibo does not know"),
        ("{}", NewerSchemaError, "which this ceibo does not know"),
        ('{"weather": "fair"}', NewerSchemaError, "which this ceibo does not know"),
    ],
)
def test_data_that_say_something_else_are_refused(
    tmp_path: Path, data: str, error: type[StorageError], sentence: str
) -> None:
    url = rewritten(tmp_path, data)
    study = Study.open(url)
    with pytest.raises(error, match=sentence):
        _ = study.trials
    found = study.ledger.store.examine(study.ledger.id).findings
    assert sentence in found[0].sentence
    study.close()


def test_a_block_changed_on_the_disk_is_damage(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    study = Study.create(SPACE, storage=url)
    study.tell(study.ask(), COUNTED)
    study.close()
    with sqlite3.connect(tmp_path / "lab.db") as connection:
        connection.execute("UPDATE ceibo_events SET data = replace(data, 'mon', 'tue')")
    study = Study.open(url)
    with pytest.raises(DamagedError, match="does not match its checksum"):
        _ = study.trials
    study.close()
