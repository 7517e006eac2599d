"""Marks on the page, in a real browser: of values that look wrong, of levels, of small bars."""

from collections.abc import Iterator
from typing import Any

import pytest

import ceibo
from soak.web_page import Page
from tests.web.test_web_doubts import SPACE, tell_values
from tests.web.web_tools import serving


@pytest.fixture(scope="module")
def doubtful() -> Iterator[ceibo.Study]:
    outcomes = {"y<b>": ceibo.Minimize(), "z": ceibo.AtMost(2)}
    study = ceibo.Study.create(SPACE, outcomes=outcomes, seed=3)
    tell_values(study, "y<b>")
    yield study
    study.close()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_what_looks_wrong_is_within_the_page_and_accessible(
    browser: Any, doubtful: ceibo.Study, width: int, scheme: str
) -> None:
    with serving(doubtful) as served:
        size = {"width": width, "height": 900}
        page = Page(browser, served.link, viewport=size, color_scheme=scheme)
        page.page.wait_for_selector("p.wrong:visible")
        assert page.page.locator("#check-part small.wrong").count() == 1
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
        assert list(page.faults()) == []
        page.context.close()


def test_every_level_has_a_tick_and_every_bar_its_ends(browser: Any) -> None:
    space = {"hours": ceibo.Ordinal([1, 2, 4, 8, 24]), "kind": ceibo.Categorical(["a", "b", "c"])}
    study = ceibo.Study.create(space, seed=0)
    for trial in study.ask(8):
        study.tell(trial, float(trial.params["hours"]))
    with serving(study) as served:
        page = Page(browser, served.link).page
        page.wait_for_selector("#slices .whisker", state="attached")
        hours, kind = (page.locator(f'figure.slice[data-column="{k}"]') for k in (0, 1))
        assert hours.locator(".tick").count() == 5
        for level in range(3):
            ends = kind.locator(".whisker").nth(3 * level + 1)
            assert float(ends.get_attribute("x2")) - float(ends.get_attribute("x1")) >= 16
        page.context.close()
