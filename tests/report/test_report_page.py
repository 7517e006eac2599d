"""The page without a browser: panels, numbers, escaping, and that it needs nothing from outside."""

import base64
import hashlib
import re
import threading
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import ceibo
from ceibo.decide import Space
from ceibo.decide.direction import DirectionLike
from ceibo.decide.surface.sensitivity import importance
from ceibo.gp import GaussianProcess, Matern52, SquaredExponential
from ceibo.numbers import with_uncertainty
from ceibo.report import render_report, write_report
from ceibo.report.contour import isolines
from ceibo.report.svg import Scale, text_of
from soak.report import MEGABYTES, SECONDS, measure

PANELS = ("answer", "convergence", "remaining", "importance", "slices", "map", "trials", "settings")
VOID = {"meta", "link", "br", "img", "input"}


class Reader(HTMLParser):
    """Checks that tags close in order, and collects what a page refers to."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.texts: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            self.handlers += [name] * (name.startswith("on") or name == "style")
            self.ids += [value or ""] * (name == "id")
            self.references += [value or ""] * (
                name in ("href", "src", "xlink:href", "action", "data", "srcset")
            )

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_every_panel_is_there(ordinary: ceibo.Study) -> None:
    page = render_report(ordinary, cost=0.02)
    found = read(page)
    assert set(PANELS) <= set(found.ids)
    assert found.tags.count("script") == found.tags.count("style") == 1
    text = " ".join(found.texts)
    best = ordinary.best
    assert with_uncertainty(best.mean, best.std) in text
    assert f"trial {best.number}" in text
    assert "κ = 0.02" in text
    assert "reactor leaked <b>!</b>" in text
    assert page.count("<tr") > len(ordinary.trials)


def test_nothing_comes_from_outside(ordinary: ceibo.Study, hostile: ceibo.Study) -> None:
    for study in (ordinary, hostile):
        page = render_report(study, cost=0.1)
        found = read(page)
        assert all(reference.startswith("data:") for reference in found.references)
        assert found.handlers == []
        assert not {"iframe", "object", "embed", "form", "base", "video", "audio"} & set(found.tags)
        style = re.search(r"<style>(.*?)</style>", page, flags=re.DOTALL)
        assert style is not None
        assert "url(" not in style[1]
        assert "@import" not in style[1]
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
        assert policy is not None
        assert policy[1].startswith("default-src 'none'")
        for tag, kind in (("style", "style-src"), ("script", "script-src")):
            body = re.search(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
            assert body is not None
            digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
            assert f"{kind} 'sha256-{digest}'" in policy[1]


def test_hostile_texts_stay_text(hostile: ceibo.Study) -> None:
    page = render_report(hostile, cost=0.1)
    found = read(page)
    assert found.tags.count("script") == 1
    assert "img" not in found.tags
    assert "<script>window.hacked = 1</script>" in " ".join(found.texts)
    assert "\u202e" not in page
    assert len(page) < 1_000_000
    assert text_of("<&\"'\x00\u202e") == "&lt;&amp;&quot;&#x27;\\x00\\u202e"


@pytest.mark.parametrize("measured", [0, 1, 2, 3])
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_young_studies(measured: int, direction: DirectionLike) -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, direction=direction, n_initial=3)
    for value in range(measured):
        study.tell(study.ask(), float(value))
    study.ask()
    for cost in (None, 0.1):
        found = read(render_report(study, cost=cost))
        assert ("convergence" in found.ids) == (measured > 0)
        assert "map" not in found.ids


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_any_magnitude_is_drawn(scale: float) -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1), "y": ceibo.Int(1, 30, log=True)})
    for number in range(8):
        trial = study.ask()
        study.tell(trial, scale * (trial.params["x"] + number % 2), noise=scale * 0.1)
    page = render_report(study, cost=scale * 0.01)
    assert not re.search(r'[xy][12]?="[^"]*(nan|inf)', page)
    read(page)


def test_noise_beyond_any_square_is_drawn() -> None:
    """A study takes any finite noise; its report does too."""
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, acquisition="ei")
    for place in np.linspace(0, 1, 9):
        study.add({"x": float(place)}, float(place), noise=1e200 if place == 0.5 else 0.1)
    read(render_report(study, cost=0.01))


def test_equal_values_of_a_trial_of_which_one_has_a_known_noise() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
    for value in (1.0, 2.0):
        study.tell(study.ask(), value)
    study.tell(0, 1.0, noise=0.1, key="again")
    read(render_report(study))


def test_a_price_far_below_the_values_is_drawn() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1), "y": ceibo.Int(1, 30, log=True)})
    for number in range(8):
        trial = study.ask()
        study.tell(trial, 1e300 * (trial.params["x"] + number % 2), noise=1e299)
    for cost in (1e-300, 5.0):
        read(render_report(study, cost=cost))


def test_a_report_leaves_the_answers_as_they_are() -> None:
    """Also with many measurements: what is believed depends on the record alone."""
    rng = np.random.default_rng(0)
    values = 0.1 * rng.standard_normal(450)
    study, other = (ceibo.Study.create({"x": ceibo.Float(0, 1)}) for _ in range(2))
    for each in (study, other):
        each.add_all(
            ({"x": k / 449}, float((k / 449 - 0.3) ** 2 + v)) for k, v in enumerate(values)
        )
    page = render_report(study)
    assert (study.best, study.recommended, study.noise) == (
        other.best,
        other.recommended,
        other.noise,
    )
    assert with_uncertainty(other.best.mean, other.best.std) in page


@pytest.mark.parametrize(
    "widest",
    [
        ceibo.Float(1e-300, 1e300, log=True),
        ceibo.Float(5e-324, 1.7e308, log=True),
        ceibo.Float(-1e308, 1e308),
        ceibo.Float(-1.7e308, 1.7e308),
        ceibo.Float(0, 5e-324),
    ],
)
def test_any_box_is_drawn(widest: ceibo.Float) -> None:
    study = ceibo.Study.create({"x": widest, "y": ceibo.Float(0, 1)})
    for place in (0.0, 0.2, 0.5, 0.8, 1.0):
        study.add({"x": widest.from_unit(place), "y": place}, (place - 0.4) ** 2, noise=0.01)
    page = render_report(study)
    assert not re.search(r">-?(inf|nan)<", page)


def test_equal_values_and_constant_surfaces() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1), "c": ceibo.Categorical(["a", "b"])})
    for _ in range(6):
        study.tell(study.ask(), 1.0)
    read(render_report(study, cost=0.1))


def test_replicates_several_measurements_and_other_acquisitions() -> None:
    space = {"x": ceibo.Float(0, 1, step=0.05), "y": ceibo.Float(0, 1)}
    study = ceibo.Study.create(space, acquisition="knowledge-gradient", n_initial=4)
    for number in range(9):
        trial = study.ask()
        study.tell(trial, ceibo.Measurement.of([number, number + 0.5]))
        study.tell(trial, trial.params["x"], key="again")
    page = render_report(study, cost=0.01)
    read(page)
    # what corrected EI would have promised, computed in hindsight
    assert page.count('class="gain-dot"') > 4


def test_a_corrected_value_is_marked() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
    for value in (665.0, 60.0, 70.0):
        study.tell(study.ask(), value)
    study.tell(2, 71.0, key="again")
    assert "(corrected" not in render_report(study)
    study.correct(0, 66.5)
    study.correct(2, 72.0, key="again")
    page = render_report(study)
    assert '<td data-sort="66.5">66.5 (corrected, was 665)</td>' in page
    # the mean of two, one of them corrected
    assert '<td data-sort="71.0">71 (corrected)</td>' in page
    assert page.count("(corrected") == 2


def test_importance_of_a_known_surface() -> None:
    """f = 4x + y without interaction: shares 16/17 and 1/17, each parameter on its own."""
    rng = np.random.default_rng(0)
    X = rng.random((120, 3))
    kernel = SquaredExponential(np.full(3, 2.0), 30.0)
    gp = GaussianProcess(X, 4 * X[:, 0] + X[:, 1], np.full(120, 1e-6), kernel, mean=2.5)
    shares = importance(gp, Space({name: ceibo.Float(0, 1) for name in "xyz"}))
    np.testing.assert_allclose(shares.total, [16 / 17, 1 / 17, 0], atol=0.02)
    np.testing.assert_allclose(shares.alone, [16 / 17, 1 / 17, 0], atol=0.03)
    assert shares.order.tolist() == [0, 1, 2]


def test_importance_of_pure_interaction() -> None:
    """f = (x − ½)(y − ½): neither matters alone, both matter together."""
    side = np.linspace(0, 1, 9)
    X = np.array([(x, y) for x in side for y in side])
    y = (X[:, 0] - 0.5) * (X[:, 1] - 0.5)
    gp = GaussianProcess(X, y, np.full(len(y), 1e-8), Matern52(np.ones(2)))
    shares = importance(gp, Space({name: ceibo.Float(0, 1) for name in "xy"}))
    np.testing.assert_allclose(shares.total, [1, 1], atol=0.05)
    np.testing.assert_allclose(shares.alone, [0, 0], atol=0.05)


def test_isolines_lie_on_the_circle() -> None:
    side = np.linspace(-1, 1, 41)
    Z = side[None, :] ** 2 + side[:, None] ** 2
    segments = isolines(Z, 0.5)
    ends = np.array(segments).reshape(-1, 2) / 20 - 1
    np.testing.assert_allclose(np.hypot(ends[:, 0], ends[:, 1]), np.sqrt(0.5), atol=2e-3)
    lengths = np.hypot(*(np.array(segments)[:, 0] - np.array(segments)[:, 1]).T) / 20
    np.testing.assert_allclose(lengths.sum(), 2 * np.pi * np.sqrt(0.5), rtol=5e-3)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3, 7), (1e-300, 1e-299), (-1e300, 1e300), (5, 5 + 1e-9)]
)
def test_ticks_are_round_and_within(low: float, high: float) -> None:
    for log in (False, True):
        if log and low <= 0:
            continue
        scale = Scale(low, high, 0, 100, log)
        ticks = scale.ticks()
        assert 1 <= len(ticks) <= 12 or log
        assert all(-1 <= scale(tick) <= 101 for tick in ticks)


def test_written_in_one_step(ordinary: ceibo.Study, tmp_path: Path) -> None:
    """A reader sees a whole page at every moment; nothing else is left in the folder."""
    path = tmp_path / "report.html"
    write_report(ordinary, path)
    torn: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            text = path.read_text(encoding="utf-8")
            torn.extend([1] * (not text.endswith("</html>\n")))

    thread = threading.Thread(target=watch)
    thread.start()
    for _ in range(3):
        write_report(ordinary, path, refresh=2.0)
    done.set()
    thread.join()
    assert torn == []
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    assert 'data-refresh="2"' in path.read_text(encoding="utf-8")


def test_a_thousand_trials_of_twelve_parameters(tmp_path: Path) -> None:
    seconds, _, size = measure(tmp_path)
    assert size < MEGABYTES
    assert seconds < SECONDS
    read((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_choices_that_are_equal_but_of_different_types_have_places_of_their_own() -> None:
    study = ceibo.Study.create({"c": ceibo.Categorical([1, True, "1", 1.0])}, seed=0)
    for trial in study.ask(6):
        study.tell(trial, 1.0, noise=0.1)
    places = re.findall(r'<line class="whisker" x1="([\d.]+)"', render_report(study))
    assert len(places) == len(set(places)) == 4
