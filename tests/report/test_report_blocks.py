"""The panel of blocks: what it shows of one objective and of outcomes, and when it is empty."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ceibo
from ceibo import AtMost, Maximize, Measurement
from ceibo.report import render_report, write_report
from tests.report.conftest import HOSTILE
from tests.report.test_report_browser import Visit, check_drawings, check_panels

SPACE = {"temp": ceibo.Float(20, 90), "rate": ceibo.Float(0, 1)}
DAYS = {"2026-11-10": 0.0, "2026-11-11": 6.0, "2026-11-12": -6.0}


@pytest.fixture(scope="module")
def days() -> ceibo.Study:
    """Three days on two plates, the days far apart; a counted standard error among them."""
    rng = np.random.default_rng(0)
    study = ceibo.Study.create(SPACE, seed=3, name="days", n_initial=6)
    for day, offset in DAYS.items():
        for trial in study.ask(4):
            value = ((trial.params["temp"] - 60) / 20) ** 2 + offset + 0.2 * rng.standard_normal()
            study.tell(trial, value, block={"day": day, "plate": trial.number % 2})
    again = Measurement(4.0, 0.2, count=4, block={"day": "2026-11-10", "plate": 1})
    study.tell(1, again, key="again")
    return study


@pytest.fixture(scope="module")
def outcomes() -> ceibo.Study:
    """A yield measured on days, and an impurity of which no block is known."""
    study = ceibo.Study.create(
        SPACE, outcomes={"yield": Maximize(unit="%"), "impurity": AtMost(2.0)}, n_initial=8
    )
    for number, trial in enumerate(study.ask(6)):
        told = Measurement(80.0 + number % 3, block={"day": HOSTILE[number % 3]})
        study.tell(trial, {"yield": told, "impurity": 1.0 + 0.01 * number})
    return study


def panel(page: str, name: str = "blocks") -> str:
    found = re.search(rf'<section class="panel" id="{name}">.*?</section>', page, re.DOTALL)
    return "" if found is None else found[0]


def test_slices_show_measurements_without_the_effects_of_their_blocks(days: ceibo.Study) -> None:
    """Days are 6 apart, and what the slices show of f is not 2 high: only then all are in sight."""
    shown = panel(render_report(days), "slices")
    dots = re.findall(r'class="(?:near|middle|far)"', shown)
    assert len(dots) == 2 * sum(len(each.measurements) for each in days.trials)
    assert "without the effects of their blocks" in shown


def test_every_block_is_drawn_with_its_effect(days: ceibo.Study) -> None:
    shown = panel(render_report(days))
    blocks = days.blocks
    assert not isinstance(blocks, dict)
    assert [each.label for each in blocks] == [*DAYS, "0", "1"]
    for each in blocks:
        assert f"{each.label}: " in shown
        assert f", {each.count} measurement" in shown
    # one of each in the wide drawing, one in the narrow
    assert shown.count('class="level"') == 2 * len(blocks)
    assert shown.count('class="whisker"') == 2 * len(blocks)
    assert "day: 3 blocks, which differ by a standard deviation of" in shown
    lower = {each.label: each.mean for each in blocks}
    assert lower["2026-11-11"] - lower["2026-11-12"] == pytest.approx(12, abs=3)


def test_the_table_has_blocks_and_counts(days: ceibo.Study) -> None:
    table = panel(render_report(days), "trials")
    assert ">Block</button>" in table
    assert "day 2026-11-11, plate 0" in table
    assert "(n = 5)" in table
    assert "the mean of 4 (day 2026-11-10, plate 1)" in panel(render_report(days), "convergence")


def test_without_blocks_there_is_neither_panel_nor_column(ordinary: ceibo.Study) -> None:
    page = render_report(ordinary)
    assert panel(page) == ""
    assert ">Block</button>" not in page
    empty = ceibo.Study.create(SPACE)
    empty.ask()
    assert panel(render_report(empty)) == ""


def test_outcomes_have_their_own_blocks(outcomes: ceibo.Study) -> None:
    page = render_report(outcomes)
    shown = panel(page)
    assert "<h3>yield</h3>" in shown
    assert "<h3>impurity</h3>" not in shown
    assert "<script>window" not in shown
    assert ">Block</button>" in panel(page, "trials")


def test_of_very_many_blocks_the_latest_are_shown() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, n_initial=2)
    rows: list[Any] = [
        ({"x": k / 60}, Measurement(float(k % 5), block=f"batch {k:02}")) for k in range(60)
    ]
    study.add_all(rows)
    shown = panel(render_report(study))
    assert "The latest 40 are shown." in shown
    assert "batch 59" in shown
    assert "batch 19:" not in shown


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_the_panel_fits_the_page(
    browser: Any, days: ceibo.Study, tmp_path: Path, width: int, scheme: str
) -> None:
    path = tmp_path / "report.html"
    write_report(days, path)
    visit = Visit(browser, path, width, color_scheme=scheme)
    check_panels(visit, ["blocks", "trials"], width)
    check_drawings(visit, ["blocks"])
    visit.check(path)
