"""The instrument of coverage: its surfaces, its records, and what it counts."""

import json
from pathlib import Path

import numpy as np
import pytest

from soak.coverage import ANSWERS, LEVELS, Tally, judge, show
from soak.coverage_cells import Cell, evidence_in, gather, read

CELL = Cell("bound", told=False, looks=(7,))


def test_the_surfaces_are_those_of_the_laboratory() -> None:
    at = np.array([[0.3, 0.6, 0.9], [0.9, 0.5, 0.5]])
    rise = [
        98 * (1 - np.exp(-4 * t)) * (1 - np.exp(-5 * e)) * (1 - np.exp(-3 * h)) for t, e, h in at
    ]
    found = {name: -Cell(name, True).instance(0).at_unit(at) for name in ("saturating", "cliff")}
    assert found["saturating"] == pytest.approx(rise)
    assert found["cliff"] == pytest.approx([rise[0], 0.3 * rise[1]])
    logistic = 100 / (1 + np.exp(-(at @ [6, 4, 2] - 5)))
    assert -CELL.instance(0).at_unit(at) == pytest.approx(logistic)


def test_a_folder_is_resumed_and_a_torn_record_is_measured_again(tmp_path: Path) -> None:
    gather(tmp_path, (CELL,), range(1))
    whole = (tmp_path / "bound-untold.jsonl").read_text()
    gather(tmp_path, (CELL,), range(1))
    assert (tmp_path / "bound-untold.jsonl").read_text() == whole
    (tmp_path / "bound-untold.jsonl").write_text(whole[:-40])
    gather(tmp_path, (CELL,), range(1))
    (record,) = read(tmp_path)
    assert json.dumps(record) == whole.strip()
    longer = Cell("bound", told=False, looks=(7, 8))  # one more look, which the record lacks
    gather(tmp_path, (longer,), range(1))
    (record,) = read(tmp_path)
    assert len(record["y"]) == 8
    known = evidence_in(record, 5)
    assert len(known) == 5
    assert np.all(np.isnan(known.noise))


def test_both_statements_are_judged_on_the_same_measurements(tmp_path: Path) -> None:
    gather(tmp_path, (CELL,), range(2))
    tables = judge(tmp_path, (CELL,), range(2))
    assert set(tables["before"]) == {("bound-untold", 7)}
    assert set(tables["stated"]) == {("bound-untold", 7), ("bound-untold+range", 7)}
    assert all(len(row["best"].z) == 2 for table in tables.values() for row in table.values())


def test_a_table_passes_only_without_marks_and_with_all_its_runs() -> None:
    def table(z: float) -> dict[tuple[str, int], dict[str, Tally]]:
        tally = Tally()
        for k in range(100):
            side = 1.0 if k % 2 else -1.0
            tally.add(z + side, (k % 2 == 0, k % 5 > 0, k % 20 > 0))
        return {("cell", 24): dict.fromkeys(ANSWERS, tally)}

    assert show("good", table(0.1), 100)
    assert not show("short", table(0.1), 200)
    assert not show("biased", table(0.4), 100)
    never = Tally()
    for _ in range(100):
        never.add(0.0, (False, False, False))
    always = Tally()
    for _ in range(100):
        always.add(0.0, (True, True, True))
    rows = table(0.0) | {("low", 24): dict.fromkeys(ANSWERS, never)}
    rows |= {("high", 24): dict.fromkeys(ANSWERS, always)}
    assert not show("marked", rows, 100)


def test_a_share_far_from_its_level_is_told_from_one_that_is_not() -> None:
    tally = Tally()
    for k in range(100):  # 50, 60 and 95 of 100
        tally.add(0.0, (k < 50, k < 60, k < 95))
    assert tally.shares == pytest.approx([0.5, 0.6, 0.95])
    p = dict(zip(LEVELS, tally.p_values, strict=True))
    assert p[0.8] < 0.05 < min(p[0.5], p[0.95])
