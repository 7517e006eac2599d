"""The page of a study with outcomes: limits, chances, the front, and what it says of doubt."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest

import ceibo
from ceibo.decide import AtLeast, AtMost, Maximize, Minimize, Watch
from ceibo.numbers import percent
from ceibo.report import render_report
from ceibo.report.contour import hatching
from ceibo.report.joint.facts import gather_jointly
from tests.report.conftest import HOSTILE
from tests.report.test_report_page import read

COMMON = {"answer", "convergence", "remaining", "importance", "slices", "map", "trials", "settings"}


def numbers_in(page: str) -> list[float]:
    """Every coordinate of a drawing."""
    found = re.findall(r' (?:[xy][12]?|c[xy]|width|height)="([^"]*)"', page)
    return [float(each) for each in found if each != "device-width"]


def test_every_panel_is_there(limited: ceibo.Study) -> None:
    page = render_report(limited, cost=0.5)
    found = read(page)
    assert set(found.ids) >= COMMON | {"in-spec"}
    assert "front" not in found.ids
    text = " ".join(found.texts)
    best = limited.best
    assert best.p_feasible is not None
    for name, each in best.outcomes.items():
        assert name in text
        assert f"{each.std:.2g}"[:3] in text
    assert "at most 2 %" in text
    assert text.count("limit 2") >= 2  # over the trials and in slices
    assert f"limits hold with {percent(best.p_feasible)}" in text
    assert "hatch" in page
    assert all(map(math.isfinite, numbers_in(page)))
    assert found.tags.count("style") == 1
    assert all(reference.startswith("data:") for reference in found.references)


def test_the_front_is_drawn_and_listed(two_goals: ceibo.Study) -> None:
    page = render_report(two_goals, cost=0.5)  # a price has no meaning here, and is left out
    found = read(page)
    assert {"front", "in-spec", "slices", "map"} <= set(found.ids)
    assert not {"answer", "remaining"} & set(found.ids)
    table = page.partition('<table class="front">')[2].partition("</table>")[0]
    assert table.count("<tr>") == 1 + len(two_goals.front)
    for each in two_goals.front:
        assert f"<td>{each.number}</td>" in table
    picture = page.partition('id="front"')[2].partition("</svg>")[0]
    assert picture.count('class="fluke"') == len(two_goals.raw_front)
    assert picture.count("whisker") == 2 * len(two_goals.front)


def test_three_goals_are_drawn_in_pairs() -> None:
    outcomes = {"a": Maximize(), "b": Minimize(), "c": Minimize(low=0)}
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes)
    for x in np.linspace(0, 1, 6):
        study.add({"x": x}, {"a": x, "b": x**2, "c": 1 - x})
    page = render_report(study)
    assert page.partition('id="front"')[2].partition("</section>")[0].count("<svg") == 3
    assert "map" not in read(page).ids  # there is one parameter


@pytest.mark.parametrize("told", [(), ("yield",), ("impurity",), ("yield", "impurity")])
def test_young_studies(told: tuple[str, ...]) -> None:
    outcomes = {"yield": Maximize(), "impurity": AtMost(2.0), "colour": Watch()}
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes, n_initial=3)
    trial = study.ask()
    if told:
        study.tell(trial, dict.fromkeys(told, 1.0))
    found = read(render_report(study, cost=0.1))
    assert ("convergence" in found.ids) == bool(told)
    assert ("answer" in found.ids) == (len(told) == 2)
    if len(told) == 1:
        missing = "impurity" if told == ("yield",) else "yield"
        assert f"no measurement yet of {missing}" in " ".join(found.texts)


def test_outcomes_of_different_trials_have_no_common_setting() -> None:
    outcomes = {"yield": Maximize(), "impurity": AtMost(2.0)}
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes, n_initial=3)
    for name in outcomes:
        study.tell(study.ask(), {name: 1.0})
    assert "No answer yet" in render_report(study)


def test_a_limit_that_never_holds_is_said() -> None:
    outcomes = {"yield": Maximize(), "purity": AtLeast(1e3)}
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes)
    for x in np.linspace(0, 1, 7):
        study.add({"x": x}, {"yield": x, "purity": x})
    text = " ".join(read(render_report(study)).texts)
    assert "No measured setting holds every limit with probability 0.95" in text
    assert "▲ limit 1000" in text  # out of sight


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_any_magnitude_is_drawn(scale: float) -> None:
    outcomes = {"a": Minimize(), "b": AtMost(0.5 * scale)}
    study = ceibo.Study.create({"x": ceibo.Float(0, 1), "y": ceibo.Int(1, 9)}, outcomes=outcomes)
    for k in range(7):
        x = k / 6
        noisy = ceibo.Measurement(scale * (1 - x), noise=0.1 * scale)
        study.add({"x": x, "y": 1 + k}, {"a": scale * x, "b": noisy})
    page = render_report(study)
    read(page)
    assert all(map(math.isfinite, numbers_in(page)))


def test_hostile_names_stay_text() -> None:
    names = [text.replace("=", "-")[:90] for text in HOSTILE if text.isprintable()]
    wishes = {names[0]: Minimize(unit="<b>")}
    limits = {name: AtMost(1.0, unit="<i>") for name in names[1:]}
    space = {"x": ceibo.Float(0, 1), "y": ceibo.Float(0, 1)}
    study = ceibo.Study.create(space, outcomes={**wishes, **limits})
    for x in (0.0, 0.4, 1.0):
        study.add({"x": x, "y": x}, dict.fromkeys([*wishes, *limits], x), block="<i>")
    page = render_report(study)
    found = read(page)
    assert 'id="in-spec"' in page
    assert found.tags.count("script") == 1
    assert not {"img", "i"} & set(found.tags)
    assert names[0] in " ".join(found.texts)


def test_what_is_shown_is_what_is_believed(limited: ceibo.Study) -> None:
    """Slices and maps go through the best setting, and their chances are the model's."""
    facts = gather_jointly(limited, None)
    findings = facts.findings
    assert findings is not None
    assert findings.chance is not None
    best = limited.best
    for name, each in facts.needed.items():
        for one in each.slices:
            nearest = int(
                np.argmin(np.abs(np.array(one.places) - each.aspect.best_place[one.column]))
            )
            params = dict(best.params)
            dimension = limited.space.dimensions[one.name]
            params[one.name] = dimension.from_unit(one.places[nearest])
            (told,) = limited.predict([params])
            assert one.mean[nearest] == pytest.approx(told.outcomes[name].mean, rel=1e-6)
            if one.chance is not None:
                assert one.chance[nearest] == pytest.approx(told.p_feasible, abs=1e-6)
    assert np.all((findings.chance.mean >= 0) & (findings.chance.mean <= 1))
    standings = facts.each["yield"].standings
    assert standings[-1].mean == best.outcomes["yield"].mean
    assert all(a.number < b.number for a, b in pairwise(standings))
    assert all(0 <= low <= high <= 100 for each in standings for low, high in [each.band])


def test_hatching_covers_the_region_below_a_level() -> None:
    """Against a count of points: the share of hatched length is the share of the area."""
    rows, columns = np.mgrid[0:41, 0:41] / 40
    Z = (columns - 0.5) ** 2 + (rows - 0.5) ** 2
    lines = hatching(Z, 0.09, (10.0, 310.0), (300.0, 20.0), smooth=True)
    length = sum(math.dist(*each) for each in lines)
    whole = sum(math.dist(*e) for e in hatching(Z, 9.0, (10.0, 310.0), (300.0, 20.0), smooth=True))
    assert length / whole == pytest.approx(math.pi * 0.09, rel=0.05)
    for start, end in lines:
        for x, y in (start, end):
            assert math.hypot((x - 10) / 300 - 0.5, (300 - y) / 280 - 0.5) <= 0.3 + 0.01
    cells = hatching(np.array([[0.0, 1.0]]), 0.5, (0.0, 100.0), (50.0, 0.0), smooth=False)
    assert max(x for each in cells for x, _ in each) <= 50.5
    assert hatching(Z, -1.0, (0.0, 1.0), (1.0, 0.0), smooth=True) == []
