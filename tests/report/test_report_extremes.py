"""Pages of studies at the ends of what numbers hold, and of records that nobody wrote."""

import dataclasses
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest

import ceibo
from ceibo.errors import StorageError
from ceibo.report import render_report
from ceibo.report.facts import gather
from ceibo.report.page import render
from ceibo.report.svg import Scale
from soak.fuzz_studies import check_page

LARGEST = sys.float_info.max
EVIL = '"><meta http-equiv="refresh" content="0;url=x"><h4>x</h4><img src=x onerror=f()><td class="'


@pytest.mark.parametrize("low", [2**70, 10**400, -(10**400)])
def test_huge_integers(low: int) -> None:
    study = ceibo.Study.create({"n": ceibo.Int(low, low + 9), "x": ceibo.Float(-LARGEST, LARGEST)})
    for number in range(6):
        study.tell(study.ask(), float(number % 4))
    check_page(render_report(study, cost=0.1))


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e300, LARGEST])
@pytest.mark.parametrize("noise", [None, 0.0, 1e155, 1e300, LARGEST])
def test_values_and_noise_of_any_size(scale: float, noise: float | None) -> None:
    study = ceibo.Study.create({"x": ceibo.Float(1e-300, 1e300, log=True), "y": ceibo.Float(0, 1)})
    for number, share in enumerate((1.0, -1.0, 0.5, 0.5, 0.0)):
        study.add({"x": 10.0**number, "y": number / 5}, share * scale, noise if number else None)
    check_page(render_report(study, cost=scale))


def test_a_place_far_from_a_scale_is_a_place() -> None:
    """A curve may leave what its axis shows by more than the numbers go."""
    end = np.float64(1e308)
    scale = Scale(-1e308, 0.0, 0.0, 100.0)
    assert scale(-end) == pytest.approx(0.0)
    assert scale(end) == pytest.approx(200.0)


def test_a_stored_state_that_is_none_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, storage=url)
    study.tell(study.ask(), 1.0)
    study.close()
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("update ceibo_events set state = ? where kind = 'measured'", (EVIL,))
    connection.close()
    with pytest.raises(StorageError, match=r"trial 0 .* is damaged in the database"):
        render_report(ceibo.Study.open(url))


def test_any_text_of_a_record_stays_text() -> None:
    """Whatever a database holds, the page shows it as text."""
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, name="<h4>")
    for value in (1.0, 2.0):
        study.tell(study.ask(), value)
    study.fail(study.ask(), EVIL)
    facts = gather(study, None)
    trials = tuple(dataclasses.replace(trial, state=EVIL) for trial in facts.trials)
    sources = {0: {"source": EVIL}, 1: EVIL, 2: {"source": [EVIL]}}
    page = render(dataclasses.replace(facts, trials=trials, sources=sources))  # type: ignore[arg-type]  # of any type
    check_page(page)
    assert "&lt;meta http-equiv" in page


def study_with_records(folder: Path, records: tuple[str, ...]) -> ceibo.Study:
    """A study whose suggestions have these records, as a process of an older ceibo writes them."""
    url = f"sqlite:///{folder / 'a.db'}"
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, storage=url, n_initial=1)
    for value in (1.0, 2.0, 3.0, 2.5):
        study.tell(study.ask(), value)
    study.close()
    with sqlite3.connect(folder / "a.db") as connection:
        for number, record in enumerate(records):
            change = "update ceibo_trials set suggestion = ?, checksum = null where number = ?"
            connection.execute(change, (record, number))
    connection.close()
    return ceibo.Study.open(url)


def test_a_record_of_a_suggestion_may_hold_anything(tmp_path: Path) -> None:
    records = (
        '{"incumbent": {"mean": "<h4>", "std": null}, "value": "<h4>"}',
        '{"incumbent": [1], "acquisition": "corrected-ei", "value": [1]}',
        "{}",
    )
    check_page(render_report(study_with_records(tmp_path, records)))


@pytest.mark.parametrize("record", ['["<h4>"]', "3", "nonsense"])
def test_a_record_of_a_suggestion_that_is_none_is_refused(tmp_path: Path, record: str) -> None:
    with pytest.raises(StorageError, match="is damaged"):
        render_report(study_with_records(tmp_path, (record,)))
