"""The page in a real browser: a small campaign, accessibility, hostile names, sizes, paper."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ceibo
from soak.web import begin, campaign, hostile
from soak.web_page import Page, Server
from tests.web.web_tools import serving


def test_a_campaign_on_two_pages_loses_and_doubles_nothing(browser: Any, tmp_path: Path) -> None:
    assert list(campaign(browser, tmp_path, trials=6, kills=1)) == []


def test_hostile_names_execute_nothing(browser: Any, tmp_path: Path) -> None:
    assert list(hostile(browser, tmp_path, count=12)) == []


@pytest.fixture(scope="module")
def limited() -> ceibo.Study:
    outcomes = {"yield": ceibo.Maximize(unit="%", low=0, high=100), "impurity": ceibo.AtMost(2.0)}
    space = {
        "temp": ceibo.Float(20, 90),
        "hours": ceibo.Ordinal([1, 2, 4, 24]),
        "solvent": ceibo.Categorical(["2-methyltetrahydrofuran", "dimethylformamide"]),
    }
    study = ceibo.Study.create(space, outcomes=outcomes, name="limited", n_initial=6)
    for k in range(6):
        trial = study.ask()
        temp = trial.params["temp"]
        study.tell(trial, {"yield": 90 - (temp - 60) ** 2 / 50, "impurity": temp / 40 + 0.1 * k})
    study.ask(2)
    return study


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_everything_is_within_the_page_and_accessible(
    browser: Any, limited: ceibo.Study, width: int, scheme: str
) -> None:
    with serving(limited) as served:
        size = {"width": width, "height": 900}
        page = Page(browser, served.link, viewport=size, color_scheme=scheme)
        assert page.page.url == f"http://127.0.0.1:{served.gate.port}/"  # the token is not shown
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
        page.page.wait_for_selector("#map-picture svg:visible")
        for part in ("next", "answer", "price", "profiler", "map", "check", "trials"):
            box = page.page.locator(f"#{part}").bounding_box()
            assert box["height"] > 60, part
            assert box["x"] >= 0, part
            assert box["x"] + box["width"] <= width, part
        page.page.click("#open-0")
        page.page.wait_for_selector("dialog[open]")
        assert list(page.faults()) == []
        page.page.keyboard.press("Escape")
        assert list(page.faults()) == []
        page.context.close()


def test_the_plan_is_what_is_printed(browser: Any, limited: ceibo.Study) -> None:
    with serving(limited) as served:
        page = Page(browser, served.link).page
        page.emulate_media(media="print")
        plan = page.locator("#plan")
        assert plan.is_visible()
        assert "± " in plan.inner_text()
        heads = [each.strip() for each in plan.locator("th").all_inner_texts()]
        settings = ["temp", "hours", "solvent"]
        aside = ["Block", "really used, if different", "notes"]
        assert heads == ["Trial", *settings, "expected", "yield (%)", "impurity", *aside]
        assert plan.locator("td.blank").count() == 2 * 5
        widths = [
            plan.locator(f"th.{kind}").first.bounding_box()["width"]
            for kind in ("wide", "expected")
        ]
        assert widths[0] > widths[1]
        for part in ("#profiler", "#answer", "#trials", "#map", "form.ask", "#card-6", "nav"):
            assert not page.locator(part).is_visible(), part
        page.context.close()


def test_what_others_tell_appears_while_one_types(browser: Any, tmp_path: Path) -> None:
    study = ceibo.Study.open(begin(tmp_path), "campaign")
    study.ask(2)
    with serving(study) as served:
        page = Page(browser, served.link)
        page.type_value(0, "0.5")
        study.tell(1, 0.25)
        page.card(1).wait_for(state="detached")
        page.page.wait_for_function(
            "() => document.getElementById('news').textContent.includes('Trial 1 was told 0.25')"
        )
        field = page.card(0).locator('input[name="value"]')
        assert field.input_value() == "0.5"
        assert field.evaluate("each => each === document.activeElement")
        # an error is said beside the form, and nothing that was typed is gone
        page.type_value(0, "1,500")
        page.send_without_waiting(0)
        page.card(0).get_by_text("write 1.500 or 1500").wait_for()
        assert field.input_value() == "1,500"
        page.context.close()


def test_the_server_ends_by_an_interrupt(tmp_path: Path) -> None:
    server = Server(begin(tmp_path))
    assert server.end(signal.SIGINT) == 0


def test_a_missing_package_is_named_with_what_brings_it() -> None:
    code = (
        "import sys; sys.modules['starlette'] = None\n"
        "from ceibo.cli import main; main(['serve', 'nowhere.toml'])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 2
    assert "pip install 'path/to/the/clone[web]'" in ended.stderr


def test_what_a_rule_excludes_cannot_be_measured_and_what_is_shown_is(browser: Any) -> None:
    solvents = ceibo.Categorical(["water", "dioxane"])
    space = {"temp": ceibo.Float(20, 120), "solvent": solvents}
    rules = ["temp <= 100 if solvent == 'dioxane'"]
    study = ceibo.Study.create(ceibo.Space(space, constraints=rules), name="ruled")
    with serving(study) as served:
        page = Page(browser, served.link).page
        button = page.get_by_role("button", name="Measure this setting next")
        page.select_option("#s1", "1")
        page.fill(".exact", "120")
        page.press(".exact", "Enter")
        page.locator("#why-not").get_by_text("excludes this setting").wait_for()
        assert button.is_disabled()
        # what was typed a moment ago is what is measured
        page.fill(".exact", "81.5")
        page.press(".exact", "Enter")
        page.wait_for_function("() => document.getElementById('why-not').textContent === ''")
        page.fill(".exact", "64.5")
        button.click()
        page.locator("#card-0").wait_for()
        assert study.trials[0].params == {"temp": 64.5, "solvent": "dioxane"}
        page.context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_what_is_said_of_a_value_is_in_sight_until_something_else_is(
    browser: Any, width: int, scheme: str
) -> None:
    outcomes = {"yield": ceibo.Maximize(unit="%", low=0, high=100)}
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes, name="seen")
    study.ask(4)
    with serving(study) as served:
        size = {"width": width, "height": 700}
        driver = Page(browser, served.link, viewport=size, color_scheme=scheme)
        page, news = driver.page, driver.page.locator("#news")
        driver.card(3).scroll_into_view_if_needed()
        driver.tell(3, "170")
        news.get_by_text("above 100, the highest that is possible").wait_for()
        toast = page.locator("#toast").bounding_box()
        assert 0 < toast["y"] < 700
        assert toast["y"] + toast["height"] <= 701
        assert toast["width"] <= width
        # it covers no form that has the focus, and one press is told in one sentence
        field = driver.card(0).locator("form").first
        assert field.bounding_box()["y"] + field.bounding_box()["height"] <= toast["y"]
        assert list(driver.faults()) == []
        # a later form's error, success or its own button put it away
        driver.type_value(0, "x")
        driver.send_without_waiting(0)
        driver.card(0).locator(".said").first.get_by_text("expected a number").wait_for()
        assert news.inner_text() == ""
        page.get_by_role("button", name="Measure this setting next").click()
        driver.card(4).wait_for()
        page.wait_for_function("() => Number(document.documentElement.dataset.drawn) >= 7")
        assert news.inner_text() == "Trial 4 is to be measured next."
        page.get_by_role("button", name="Close").click()
        assert news.inner_text() == ""
        # in a dialog too
        page.click("#open-3")
        form = page.locator('dialog[open] form[data-action="void"]')
        form.locator("xpath=..").locator("summary").click()
        form.locator("input[name=reason]").fill("a slip")
        form.locator("button").click()
        news.get_by_text("does not count").wait_for()
        assert page.locator("dialog #toast").is_visible()
        page.keyboard.press("Escape")
        page.locator("body > #toast").wait_for()
        page.context.close()


def test_cards_are_folded_but_the_first_and_stay_as_they_were(browser: Any, tmp_path: Path) -> None:
    study = ceibo.Study.open(begin(tmp_path), "campaign")
    study.ask(4)
    with serving(study) as served:
        driver = Page(browser, served.link)
        page = driver.page

        def unfolded() -> list[str]:
            cards = page.locator("#cards article:has(> details[open])")
            return [str(each.get_attribute("id")) for each in cards.all()]

        assert unfolded() == ["card-0"]
        # by the keyboard too; the line says what the setting is
        line = driver.card(2).locator("summary").first
        assert "temp" in line.inner_text()
        line.focus()
        page.keyboard.press("Enter")
        assert unfolded() == ["card-0", "card-2"]
        # a card that changes stays open; one with something typed in it opens on a new page
        driver.type_value(3, "0.5")
        study.tell(1, 0.25)
        driver.card(1).wait_for(state="detached")
        study.release(2)
        page.locator("#q2").wait_for()
        study.ask()
        driver.card(2).wait_for()
        assert unfolded()[0] == "card-0"
        page.reload()
        driver.wait()
        assert unfolded() == ["card-0", "card-3"]
        # the next to be told opens, and has the focus
        driver.type_value(0, "0.75")
        driver.card(0).locator('input[name="value"]').press("Enter")
        page.wait_for_function("() => document.activeElement.id === 't2-value-0'")
        assert "card-2" in unfolded()
        page.context.close()


def test_what_goes_on_beyond_the_edge_or_is_disabled_looks_so(
    browser: Any, limited: ceibo.Study
) -> None:
    with serving(limited) as served:
        page = Page(browser, served.link, viewport={"width": 390, "height": 900}).page
        table = page.locator("#trials-part .scroll")
        table.scroll_into_view_if_needed()
        page.locator("#trials-part .scroll.more-right").wait_for()
        assert "gradient" in table.evaluate("each => getComputedStyle(each).maskImage")
        table.evaluate("each => each.scrollTo(each.scrollWidth, 0)")
        page.locator("#trials-part .scroll.more-left:not(.more-right)").wait_for()
        page.get_by_text("Hold parameters, or keep").click()
        colours = page.evaluate(
            "['.hold input', '#cost'].map(each =>"
            " getComputedStyle(document.querySelector(each)).backgroundColor)"
        )
        assert colours[0] != colours[1]
        page.context.close()


def test_after_a_restart_the_page_says_to_open_the_new_link(browser: Any, tmp_path: Path) -> None:
    server = Server(begin(tmp_path))
    page = Page(browser, server.link).page
    server.kill()
    page.locator("#trouble").get_by_text("Start it again with ceibo serve").wait_for()
    server.start()
    try:
        trouble = page.locator("#trouble")
        trouble.get_by_text("Open the link that it printed.").wait_for()
        assert "ceibo serve" not in trouble.inner_text()
        assert page.reload().status == 403
        panel = page.locator("section.panel")
        assert "Open the link that ceibo serve printed" in panel.inner_text()
        assert panel.evaluate("each => getComputedStyle(each).borderRadius") != "0px"
        page.context.close()
    finally:
        server.kill()


# answers of the profiler come late, or not at all, where a test says so
LATE = """
const usual = window.fetch;
window.lag = 0;
window.fetch = async (path, options) => {
  if (String(path).endsWith("/view/profile")) {
    if (window.lag < 0) { throw new TypeError("away"); }
    await new Promise((goOn) => setTimeout(goOn, window.lag));
  }
  return usual(path, options);
};
"""


def slow_page(browser: Any, served: Any) -> Any:
    """A page of which the answers of the profiler can be delayed."""
    page = Page(browser, served.link)
    page.page.add_init_script(LATE)
    page.page.reload()
    page.wait()
    return page.page


def test_what_is_no_value_is_not_measured_as_the_setting_before(browser: Any) -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, name="late")
    with serving(study) as served:
        page = slow_page(browser, served)
        page.evaluate("window.lag = 500")
        button = page.get_by_role("button", name="Measure this setting next")
        page.fill(".exact", "7")
        button.click()
        page.locator("#profiler form .said").get_by_text("No trial was made").wait_for()
        assert "0.0, 1.0" in page.locator("#why-not").inner_text()
        assert button.is_disabled()
        # what others do meanwhile lifts nothing: what was typed is still there
        page.evaluate("window.lag = 0")
        study.enqueue({"x": 0.25})
        page.locator("#q0").wait_for()
        page.wait_for_timeout(500)
        assert button.is_disabled()
        assert page.input_value(".exact") == "7"
        assert len(study.trials) == 1
        page.fill(".exact", "0.75")
        page.press(".exact", "Enter")
        page.wait_for_function("() => document.getElementById('why-not').textContent === ''")
        button.click()
        page.locator("#card-1").wait_for()
        assert study.trials[-1].params == {"x": 0.75}
        page.context.close()


def test_the_parameter_in_hand_stays_while_others_follow(browser: Any) -> None:
    """Neither a hand at rest nor news of others come between what was typed and its answer."""
    parts = {name: ceibo.Float(0, 1) for name in "abc"}
    space = ceibo.Space(parts, constraints=["a + b + c == 1"])
    study = ceibo.Study.create(space, name="mixture", n_initial=4, seed=1)
    for _ in range(4):
        trial = study.ask()
        study.tell(trial, (trial.params["a"] - 0.4) ** 2)
    with serving(study) as served:
        page = slow_page(browser, served)
        exact = page.locator(".exact")
        for late in ("rest", "news"):
            page.focus("#s0")
            page.keyboard.press("ArrowRight")
            page.wait_for_function(
                "() => Number(document.getElementById('profiler').dataset.count) > 0"
            )
            page.evaluate("window.lag = 1500")
            typed = {"rest": "0.6", "news": "0.3"}[late]
            exact.nth(1).fill(typed)
            exact.nth(1).press("Enter")
            if late == "news":
                study.enqueue({"a": 0.2, "b": 0.2, "c": 0.6})
                page.locator("article.quiet").wait_for()
            page.wait_for_timeout(3500)
            page.evaluate("window.lag = 0")
            exact.nth(1).evaluate("each => each.blur()")
            page.locator("#to-best").focus()
            page.wait_for_timeout(500)
            slider = float(page.input_value("#s1")) / 1000
            assert slider == pytest.approx(float(typed), abs=2e-3), late
        page.context.close()


def test_an_outcome_without_a_value_does_not_keep_one_from_measuring(browser: Any) -> None:
    outcomes = {"yield": ceibo.Maximize(), "colour": ceibo.Watch()}
    study = ceibo.Study.create(
        {"x": ceibo.Float(0, 1)}, outcomes=outcomes, name="watched", n_initial=3
    )
    for _ in range(3):
        trial = study.ask()
        study.tell(trial, {"yield": trial.params["x"]})
    with serving(study) as served:
        page = slow_page(browser, served)
        button = page.get_by_role("button", name="Measure this setting next")
        page.select_option("#profile-outcome", "1")
        page.locator("#readout").get_by_text("has not been measured yet").wait_for()
        assert button.is_enabled()
        assert not page.locator(".slice svg").is_visible()
        page.fill(".exact", "0.25")
        button.click()
        page.locator("#card-3").wait_for()
        assert study.trials[3].params == {"x": 0.25}
        # nor does an error that says nothing of the setting
        page.evaluate("window.lag = -1")
        page.select_option("#profile-outcome", "0")
        page.locator("#profile-said").get_by_text("does not answer").wait_for()
        assert button.is_enabled()
        page.evaluate("window.lag = 0")
        page.select_option("#profile-outcome", "1")
        page.select_option("#profile-outcome", "0")
        page.locator(".slice svg").wait_for()
        assert page.locator("#profile-said").inner_text() == ""
        page.context.close()


def test_the_block_of_an_old_value_is_not_that_of_the_next(browser: Any) -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, name="days")
    study.ask(4)
    study.tell(0, 0.5, block={"day": "2026-11-01"})
    with serving(study) as served:
        driver = Page(browser, served.link)
        page = driver.page
        driver.correct(0, "0.25")
        page.reload()
        driver.wait()
        assert page.input_value("#t1-block") == ""
        page.fill("#t1-block", "2026-11-16")
        driver.tell(1, "0.75")
        page.reload()
        driver.wait()
        assert page.input_value("#t2-block") == "2026-11-16"
        page.fill("#t2-block", "l7.11.2026")  # a slip, which is remarked
        driver.tell(2, "0.5")
        page.reload()
        driver.wait()
        assert page.input_value("#t3-block") == "2026-11-16"
        page.context.close()


def test_only_what_is_kept_is_said_to_be_kept(browser: Any, tmp_path: Path) -> None:
    server = Server(begin(tmp_path))
    driver = Page(browser, server.link)
    page = driver.page
    driver.ask(2)
    driver.tell(0, "0.5")
    page.click("#open-0")
    form = page.locator('dialog[open] form[data-action="void"]')
    form.locator("xpath=..").locator("summary").click()
    form.locator("input[name=reason]").fill("a slip")
    server.kill()
    form.locator("button").click()
    said = form.locator(".said")
    said.get_by_text("Note what you typed here").wait_for()
    assert "is kept" not in said.inner_text()
    page.click("dialog form[method=dialog] button")
    driver.type_value(1, "0.25")
    driver.send_without_waiting(1)
    driver.card(1).locator(".said").first.get_by_text("What you typed is kept").wait_for()
    page.click('form[data-action="ask"] button[type="submit"]')
    said = page.locator('form[data-action="ask"] .said')
    said.get_by_text("does not answer. Start it again").wait_for()
    page.context.close()
