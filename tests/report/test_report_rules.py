"""The page of a study with rules: a triangle, slices along the mixture, what rules exclude."""

import re
from collections import Counter

import numpy as np
import pytest

import ceibo
from ceibo.decide.surface.ruled import holding
from ceibo.report import render_report
from ceibo.report.facts import gather
from tests.report.test_report_page import read


def section(page: str, identifier: str) -> str:
    """The HTML of a panel."""
    return page.partition(f'id="{identifier}">')[2].partition("</section>")[0]


@pytest.fixture(scope="module")
def page(syrup: ceibo.Study) -> str:
    """Of a mixture with one objective."""
    return render_report(syrup)


@pytest.mark.parametrize("name", ["syrup", "limited_syrup"])
def test_a_mixture_has_a_triangle(name: str, request: pytest.FixtureRequest) -> None:
    study = request.getfixturevalue(name)
    page = request.getfixturevalue("page") if name == "syrup" else render_report(study)
    read(page)  # well-formed
    triangle = section(page, "mixture")
    assert "The mixture of sugar, water and acid" in triangle
    figures = 4 if name == "limited_syrup" else 2  # two sizes each
    assert triangle.count('class="triangle"') == figures
    assert triangle.count('class="star"') == figures
    clips = re.findall(r'<clipPath id="([^"]+)"', page)
    assert len(clips) == figures
    assert max(Counter(clips).values()) == 1
    assert all(f'clip-path="url(#{clip})"' in page for clip in clips)
    # every trial has its dot, and its number where there is room
    wide = triangle.partition('class="narrow"')[0]
    assert re.findall(r"<title>trial (\d+):", wide)[:14] == [str(k) for k in range(14)]
    assert wide.count('class="number') >= 7
    if name == "limited_syrup":
        assert "probability that every limit holds" in triangle
        assert 'class="border"' in triangle


def test_the_rules_are_listed(page: str) -> None:
    table = section(page, "settings")
    assert "<tr><td>rule 1</td><td>sugar + water + acid == 1</td></tr>" in table
    assert "temp &lt;= 66 if solvent == &#x27;THF&#x27;" in table
    assert "one of 1 &lt; 2 &lt; 4 &lt; 8 &lt; 24" in table


def test_slices_stay_where_rules_hold(syrup: ceibo.Study, page: str) -> None:
    findings = gather(syrup, None).findings
    assert findings is not None
    for each in findings.slices:
        assert each.path is not None
        assert each.held is not None
        np.testing.assert_array_equal(each.held, holding(syrup.space, each.path))
        assert np.any(each.held)
        parts = [
            [syrup.space.from_unit(x)[name] for name in ("sugar", "water", "acid")]
            for x in each.path[each.held]
        ]
        np.testing.assert_allclose(np.sum(parts, axis=1), 1, atol=1e-8)
        # the values shown are those believed at the points of the path
        mean, _ = syrup.belief.at_points(each.path)
        np.testing.assert_allclose(each.mean, mean)
    assert findings.map is not None
    # two parts of a mixture are never drawn against each other
    assert len({"sugar", "water", "acid"} & set(findings.map.names)) <= 1
    drawn = section(page, "slices")
    assert 'class="excluded"' in drawn
    assert "Grey is what the rules exclude" in drawn


def test_levels_are_labelled(page: str) -> None:
    drawing = section(page, "slices").partition("<figcaption>hours</figcaption>")[2]
    labels = re.findall(r'text-anchor="middle">([^<]+)</text>', drawing.partition("</svg>")[0])
    assert labels[0] == "1"
    assert labels[-2:] == ["8", "24"]


def test_facts_that_break_rules_are_drawn_all_the_same() -> None:
    space = ceibo.Space(
        {name: ceibo.Float(0, 1) for name in "abc"}, constraints=["a + b + c == 1", "a >= 0.2"]
    )
    study = ceibo.Study.create(space, seed=0)
    study.add({"a": 0.0, "b": 0.0, "c": 0.0}, 0.1)
    study.add({"a": 0.5, "b": 0.25, "c": 0.25}, 1.0)
    study.add({"a": 0.2, "b": 0.55, "c": 0.25}, 2.0)
    read(render_report(study))


@pytest.mark.parametrize(
    "constraints",
    [
        ["a + b == 1"],
        ["a <= b"],
        ["a == b"],
        ["a + b + c == 1", "a + b <= 1e-4"],
        ["a + b + c == 1", "at most 2 of a, b, c"],
        ["k >= 2 if a >= 0.5"],
    ],
)
def test_any_rules_are_drawn(constraints: list[str]) -> None:
    dimensions = {name: ceibo.Float(0, 1) for name in "abc"} | {"k": ceibo.Int(0, 3)}
    space = ceibo.Space(dimensions, constraints=constraints)
    study = ceibo.Study.create(space, seed=0)
    for value in range(3):
        study.tell(study.ask(), float(value))
    page = render_report(study)
    read(page)
    assert ('id="mixture"' in page) == (constraints[0].count("+") == 2 and len(constraints[1]) < 20)


def test_hostile_names_of_parts_stay_text() -> None:
    names = ["<script>x</script>", '"><img src=x>', "</svg>"]
    rule = " + ".join(f"`{name}`" for name in names) + " == 1"
    space = ceibo.Space({name: ceibo.Float(0, 1) for name in names}, constraints=[rule])
    study = ceibo.Study.create(space, seed=0)
    study.tell(study.ask(), 1.0)
    study.tell(study.ask(), 2.0)
    page = render_report(study)
    assert 'id="mixture"' in page
    assert page.count("<script>") == 1
    assert "<img" not in page
