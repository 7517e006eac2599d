"""What a study, a result, a trial and an answer look like in a notebook."""

import html
from html.parser import HTMLParser
from pathlib import Path

import pytest

import ceibo
from ceibo.errors import NoMeasurementError
from ceibo.numbers import with_uncertainty
from ceibo.report import render_report
from ceibo.report.notebook import face
from ceibo.study.blocks import Blocks
from tests.odd import ODD, odd_study

TAGS = {
    *("div", "style", "p", "b", "table", "thead", "tbody", "tr", "th", "td"),
    *("svg", "line", "circle"),
}
HOSTILE = "</td></style><script>alert(1)</script><img src=x onerror=alert(2)>"


class Reader(HTMLParser):
    """Reads a piece of HTML: its tags, which are all closed in order, its attributes, its text."""

    def __init__(self, piece: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(piece)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data


def check(piece: str) -> Reader:
    """Reads a piece that needs no script and reaches nothing outside."""
    read = Reader(piece)
    assert read.tags <= TAGS
    assert not {name for name in read.attributes if name.startswith(("on", "href", "src"))}
    assert "url(" not in piece
    assert len(piece) < 20_000
    return read


@pytest.mark.parametrize("name", ODD)
def test_any_study_shows_itself_compactly(name: str) -> None:
    study = odd_study(name)
    assert "minimize" in (text := check(face(study)).text) or "maximize" in text
    for trial in study.trials[:3]:
        check(face(trial))
    try:
        best = study.front[0] if len(study.outcomes.goals if study.outcomes else ()) > 1 else None
        check(face(best or study.best))
    except NoMeasurementError:
        assert "Nothing can be said yet" in text


def test_hostile_texts_stay_texts() -> None:
    space = {HOSTILE: ceibo.Float(0, 1), "kind": ceibo.Categorical([HOSTILE, "b"])}
    name = HOSTILE.replace("=", "-")
    outcomes = {name: ceibo.Maximize(unit="<b>%"), "other": ceibo.AtMost(3, unit=HOSTILE[:20])}
    study = ceibo.Study.create(space, outcomes=outcomes, name=HOSTILE)
    for _ in range(3):
        told = {name: 1.0, "other": 2.0}
        study.tell(study.ask(), told, attributes={HOSTILE: HOSTILE})
    study.fail(study.ask(), HOSTILE)
    study.enqueue({HOSTILE: 0.5, "kind": HOSTILE})
    for shown in (study, study.trials[0], study.trials[3], study.best):
        assert HOSTILE[:40] in check(face(shown)).text


def test_a_study_says_its_answer_and_what_is_under_way() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, name="oven", direction="maximize")
    for x in (0.1, 0.5, 0.9):
        study.add({"x": x}, 10 - (x - 0.5) ** 2, noise=0.01)
    study.ask(8)
    text = check(face(study)).text
    for said in ("oven", "maximize over 1 parameter", "3 measured", "8 running", "trial 1"):
        assert said in text
    assert "best measured (trial 1)" in text
    assert "and 2 more under way" in text


def test_a_result_says_why_it_ended_and_what_it_brought() -> None:
    result = ceibo.minimize(
        lambda p: (p["x"] - 0.3) ** 2, {"x": ceibo.Float(0, 1)}, n_trials=6, cost=1e-9
    )
    text = check(face(result)).text
    assert result.stop.message in text
    assert " % probability" in text
    assert str(result.profit)[:20] in text
    assert "best measured" in text


def test_blocks_are_a_table_for_each_kind() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
    study.add({"x": 0.4}, 0.4)
    assert check(face(study.blocks)).text == "no blocks were told."
    for number in range(8):
        day, value = HOSTILE if number % 2 else "monday", number / 8 + 5 * (number % 2)
        study.add({"x": number / 8}, value, block={"day": day, "plate": number // 4})
    text = check(face(study.blocks)).text
    assert "day: 2 blocks, which differ by a standard deviation of" in text
    assert "plate: 2 blocks" in text
    blocks = study.blocks
    assert isinstance(blocks, Blocks)
    monday = blocks.by_kind["day"][0]
    assert f"monday{with_uncertainty(monday.mean, monday.std)}4" in text
    assert HOSTILE in text


def test_how_close_an_answer_is_and_whether_to_stop_are_sentences() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
    for x in (0.1, 0.5, 0.9):
        study.add({"x": x}, (x - 0.5) ** 2, noise=0.01)
    near = study.closeness()
    assert check(face(near)).text == f"The best measured setting is {near}."
    other = study.closeness(of="recommended")
    assert check(face(other)).text == f"The recommended setting is {other}."
    verdict = study.should_stop(cost=1.0)
    assert check(face(verdict)).text == verdict.message
    observed = study.best_observed
    assert f"{observed.value:.6g}{observed.why}" in check(face(observed)).text


def test_notebooks_ask_for_a_face_by_its_usual_name() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
    study.add({"x": 0.5}, 1.0)
    blocks = study.blocks
    assert isinstance(blocks, Blocks)
    answers = (study.best, study.best_observed, study.closeness(), study.should_stop(cost=1.0))
    for shown in (study, study.trials[0], blocks, *answers):
        assert shown._repr_html_() == face(shown)


def test_the_page_is_embedded_in_a_frame_that_reaches_nothing(tmp_path: Path) -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, name='"><script>x</script>')
    study.add({"x": 0.5}, 1.0)
    page = study.report()
    assert str(page).startswith("<!DOCTYPE html>")
    assert len(str(page)) == len(render_report(study))
    piece = page._repr_html_()
    assert piece.startswith('<iframe sandbox="allow-scripts" ')
    assert piece.count("<") == 2  # the frame alone
    assert html.unescape(piece.partition('srcdoc="')[2].rpartition('"')[0]) == str(page)
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == str(page)
    assert len(repr(page)) < 80
    assert "another measurement" in str(study.report(cost=0.1)).lower()
