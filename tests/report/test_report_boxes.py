"""Odd studies opened in a browser: nothing leaves its frame, overlaps or breaks."""

from pathlib import Path
from typing import Any

import pytest

from soak.odd_studies import STUDIES
from soak.pages import BOXES, VIEWS, faults_of

# of each study one view of a screen, and paper; `python -m soak.pages` has them all
SHOWN = {
    "one_trial": VIEWS[2],
    "falling_far": VIEWS[0],
    "batches": VIEWS[3],
    "many_choices": VIEWS[2],
    "front_of_two": VIEWS[1],
}
PAPER = VIEWS[-1]


@pytest.mark.parametrize("name", SHOWN)
def test_nothing_leaves_its_frame_overlaps_or_breaks(
    browser: Any, tmp_path: Path, name: str
) -> None:
    found = faults_of(browser, STUDIES[name](), tmp_path / "page.html", (SHOWN[name], PAPER))
    assert list(found) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("document.querySelector('polyline').setAttribute('points', '60,20 90,9000')", "frame"),
        ("document.querySelector('svg text').setAttribute('x', '-400')", "outside its drawing"),
        ("[...document.querySelectorAll('#convergence svg text')].forEach(t => {"
         "t.setAttribute('x', 60); t.setAttribute('y', 60)})", "runs into"),
        ("document.querySelector('.big').textContent = '123 456 789 0 1'.repeat(9)"
         ".replaceAll(' ', '').slice(0, 24); document.querySelector('.card').style.width = '90px'",
         "is broken"),
        ("document.querySelector('h1').textContent = 'W'.repeat(90);"
         "document.querySelector('h1').style.whiteSpace = 'nowrap'", "wide"),
    ],
)  # fmt: skip
def test_the_measure_finds_what_is_wrong(
    browser: Any, tmp_path: Path, change: str, fault: str
) -> None:
    path = tmp_path / "page.html"
    assert list(faults_of(browser, STUDIES["one_trial"](), path, VIEWS[:1])) == []
    page = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
    page.goto(path.as_uri())
    page.evaluate(f"() => {{ {change} }}")
    assert any(fault in each for each in page.evaluate(BOXES))
    page.context.close()
