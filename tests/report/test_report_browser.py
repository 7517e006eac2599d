"""The page in a real browser: Debian's chromium, driven by Playwright.

Without a Chromium these tests report themselves as not run; `apt-get install chromium` brings one.
"""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import ceibo
from ceibo.report import write_report

PANELS = ("answer", "convergence", "remaining", "importance", "slices", "map", "trials", "settings")


class Visit:
    """An open page, and everything it complained of or asked for."""

    def __init__(self, browser: Any, path: Path, width: int = 1280, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.page = self.context.new_page()
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def check(self, path: Path) -> None:
        assert self.messages == []
        outside = [
            url for url in self.requests if url != path.as_uri() and not url.startswith("data:")
        ]
        assert outside == []


def check_panels(visit: Visit, panels: Iterable[str], width: int) -> None:
    """Every panel is there and within the page."""
    for identifier in panels:
        box = visit.page.locator(f"#{identifier}").bounding_box()
        assert box is not None
        assert box["height"] > 60, identifier
        assert box["x"] >= 0, identifier
        assert box["x"] + box["width"] <= width, identifier


def check_drawings(visit: Visit, panels: Iterable[str]) -> None:
    """Every drawing of these panels is large enough to be seen, and inside its panel."""
    for identifier in panels:
        drawings = [
            each for each in visit.page.locator(f"#{identifier} svg").all() if each.is_visible()
        ]
        assert drawings, identifier
        for drawing in drawings:
            box = drawing.bounding_box()
            assert box["width"] > 200, identifier
            assert box["height"] > 60, identifier
        # what is drawn stays inside its panel
        overflow = visit.page.evaluate(
            """id => {
                const end = document.getElementById(id).getBoundingClientRect().right;
                const box = each => each.getBoundingClientRect();
                const all = [...document.querySelectorAll('#' + id + ' svg')];
                const drawn = all.filter(each => box(each).width);
                const marks = drawn.flatMap(each => [...each.querySelectorAll('text, circle')]);
                return Math.max(...marks.map(each => box(each).right)) - end;
            }""",
            identifier,
        )
        assert overflow <= 1, identifier


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_panel_is_drawn(
    browser: Any, ordinary: ceibo.Study, tmp_path: Path, width: int, scheme: str
) -> None:
    path = tmp_path / "report.html"
    write_report(ordinary, path, cost=0.02)
    visit = Visit(browser, path, width, color_scheme=scheme)
    check_panels(visit, PANELS, width)
    check_drawings(visit, ("convergence", "remaining", "importance", "slices", "map"))
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    ink, ground = (
        visit.page.evaluate(f"getComputedStyle(document.body).{each}")
        for each in ("color", "backgroundColor")
    )
    assert (_brightness(ink) > _brightness(ground)) == (scheme == "dark")
    visit.check(path)


@pytest.mark.parametrize(
    ("name", "more", "width"), [("limited", "remaining", 1280), ("two_goals", "front", 390)]
)
def test_every_panel_of_outcomes_is_drawn(
    browser: Any, request: pytest.FixtureRequest, tmp_path: Path, name: str, more: str, width: int
) -> None:
    path = tmp_path / "report.html"
    write_report(request.getfixturevalue(name), path, cost=0.5)
    visit = Visit(browser, path, width, color_scheme="dark")
    drawn = ("convergence", "importance", "slices", "map", "in-spec", more)
    check_panels(visit, (*drawn, "trials", "settings"), width)
    check_drawings(visit, drawn)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    # the styles that only pages of outcomes have are bound by the page's hashes too
    stroke = "getComputedStyle(document.querySelector('line.limit')).strokeDasharray"
    assert visit.page.evaluate(stroke) != "none"
    visit.check(path)


@pytest.mark.parametrize(("name", "width"), [("syrup", 1280), ("limited_syrup", 390)])
def test_a_mixture_is_drawn(
    browser: Any, request: pytest.FixtureRequest, tmp_path: Path, name: str, width: int
) -> None:
    path = tmp_path / "report.html"
    write_report(request.getfixturevalue(name), path)
    visit = Visit(browser, path, width)
    check_panels(visit, ("slices", "map", "mixture", "settings"), width)
    check_drawings(visit, ("slices", "map", "mixture"))
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    # the pictures are cut to the pieces in which rules hold, each by its own shape
    for group in visit.page.locator("#mixture g").all():
        if group.is_visible():
            clip = group.get_attribute("clip-path")[5:-1]
            assert visit.page.locator(f"clipPath[id='{clip}'] polygon").count() > 0
    fill = "getComputedStyle(document.querySelector('.triangle')).fill"
    assert visit.page.evaluate(fill) == "none"
    visit.check(path)


def test_the_table_sorts(browser: Any, ordinary: ceibo.Study, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(ordinary, path)
    visit = Visit(browser, path)
    column = "[...document.querySelectorAll('.trials tbody tr')].map(r => r.cells[2].dataset.sort)"
    visit.page.click(".trials th:nth-child(3) button")
    up = [float(value) for value in visit.page.evaluate(column) if value]
    assert up == sorted(up)
    assert visit.page.get_attribute(".trials th:nth-child(3)", "aria-sort") == "ascending"
    assert visit.page.evaluate(column)[-1] == ""  # trials without a value come last
    visit.page.click(".trials th:nth-child(3) button")
    down = [float(value) for value in visit.page.evaluate(column) if value]
    assert down == up[::-1]
    visit.page.click(".trials th:nth-child(8) button")
    names = visit.page.evaluate(
        "[...document.querySelectorAll('.trials tbody tr')].map(r => r.cells[7].textContent)"
    )
    assert names == sorted(names)
    visit.page.focus(".trials th:nth-child(1) button")
    visit.page.keyboard.press("Enter")
    numbers = visit.page.evaluate(
        "[...document.querySelectorAll('.trials tbody tr')].map(r => +r.cells[0].textContent)"
    )
    assert numbers == list(range(len(numbers)))
    visit.check(path)


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_texts_are_shown_as_text(
    browser: Any, hostile: ceibo.Study, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "report.html"
    write_report(hostile, path, cost=0.1)
    visit = Visit(browser, path, width)
    assert visit.page.evaluate("window.hacked") is None
    assert visit.page.text_content("h1") == "<script>window.hacked = 1</script>"
    assert visit.page.locator("main img, main script, main iframe").count() == 0
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    visit.page.click(".trials th:nth-child(2) button")
    for summary in visit.page.locator(".trials summary").all():
        summary.click()
    assert visit.page.evaluate("window.hacked") is None
    visit.check(path)


def test_scripts_from_elsewhere_are_refused(
    browser: Any, ordinary: ceibo.Study, tmp_path: Path
) -> None:
    """The policy of the page forbids what escaping should have kept out in the first place."""
    path = tmp_path / "report.html"
    write_report(ordinary, path)
    path.write_text(path.read_text().replace("</main>", "<script>window.hacked=1</script></main>"))
    visit = Visit(browser, path)
    assert visit.page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in message for message in visit.messages)


def test_an_open_page_refreshes_itself(browser: Any, tmp_path: Path) -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1), "y": ceibo.Float(0, 1)})
    for number in range(5):
        study.tell(study.ask(), float(number))
    path = tmp_path / "report.html"
    write_report(study, path, refresh=0.5)
    visit = Visit(browser, path)
    head = ".trials th:nth-child(3)"
    deadline = time.monotonic() + 30
    # a click on a page that is just being replaced is lost: click again
    while visit.page.get_attribute(head, "aria-sort") != "descending":
        visit.page.click(f"{head} button")
        assert time.monotonic() < deadline
    study.tell(study.ask(), 9.0)
    write_report(study, path, refresh=0.5)
    while visit.page.locator(".trials tbody tr").count() != 6:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    # as it was sorted before
    assert visit.page.get_attribute(head, "aria-sort") == "descending"
    visit.check(path)


def test_it_prints(browser: Any, ordinary: ceibo.Study, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(ordinary, path, cost=0.02)
    visit = Visit(browser, path, color_scheme="dark")
    visit.page.emulate_media(media="print")
    ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert _brightness(ground) > 200  # paper is white, also for people who like it dark
    hidden = visit.page.evaluate(
        "(s => s.scrollHeight - s.clientHeight)(document.querySelector('.scroll'))"
    )
    assert hidden <= 2  # every row is on paper
    assert len(visit.page.pdf(format="A4")) > 20_000


def _brightness(colour: str) -> float:
    numbers = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(numbers) / 3
