"""What the page says is what the study says: profit, the best line, replicates, digits, maps."""

import re

import numpy as np
import pytest

import ceibo
from ceibo.numbers import distinct, with_uncertainty
from ceibo.report import render_report
from ceibo.report.facts import gather
from ceibo.report.map_drawing import is_elsewhere
from ceibo.report.svg import Scale
from soak.odd_studies import STUDIES


@pytest.mark.parametrize("pending", [0, 5])
def test_profit_is_that_of_the_study(pending: int) -> None:
    """It counted the numbers of trials: those withdrawn or under way cost money."""
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, direction="maximize", seed=0)
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, 10 - (trial.params["x"] - 0.3) ** 2, noise=0.1)
    study.withdraw(study.ask())
    for trial in study.ask(5):
        if not pending:
            study.withdraw(trial)
    profit = study.profit(1.0)
    page = render_report(study, cost=1.0)
    said = f"Profit now: {with_uncertainty(profit.value, profit.std)}"
    assert said in page
    assert f"less κ × {profit.evaluations} evaluations after" in page


def test_the_best_line_does_not_fall_in_batch_work() -> None:
    """What a batch had recorded when it was asked was drawn after the batch's own results."""
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, direction="maximize", seed=0)

    def f(x: float) -> float:
        return 90 - 200 * (x - 0.5) ** 2

    for x in (0.0, 0.05):
        study.add({"x": x}, f(x), noise=1)
    for trial in study.ask(8):
        study.tell(trial, f(trial.params["x"]), noise=1)
    study.ask()
    findings = gather(study, None).findings
    assert findings is not None
    means = np.array([each.mean for each in findings.standings])
    assert len(means) > 8
    assert np.all(np.diff(means) > -2.0)  # the noise is 1; it fell from 81 to 49
    assert [each.number for each in findings.standings] == sorted(
        {each.number for each in findings.standings}
    )


@pytest.mark.parametrize("ends", [(0.78, 9.2), (0.3, 2.1), (0.5, 8), (0.11, 0.9), (1e-9, 3)])
def test_a_logarithmic_axis_has_ticks_in_both_halves(ends: tuple[float, float]) -> None:
    scale = Scale.over(ends, (0, 100), log=True)
    places = [scale(tick) for tick in scale.ticks(4)]
    assert len(places) >= 3
    assert min(places) < 50 < max(places)


@pytest.mark.parametrize(
    "values",
    [[1.0, 2.0], [123456.0002, 123456.0004], [1e-302, 2e-302], [0.0, 2.5, 5.0], [-3e299, 1e299]],
)
def test_labels_of_an_axis_differ_and_are_true(values: list[float]) -> None:
    texts = distinct(values)
    assert len(set(texts)) == len(values)
    gap = values[1] - values[0]
    assert all(abs(float(t) - v) < 0.1 * gap for t, v in zip(texts, values, strict=True))


def test_replicates_are_seen() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, seed=0)
    values = (3.0, 3.3, 2.7)
    study.tell(study.ask(), ceibo.Measurement.of(values))
    trial = study.ask()
    for key, value in zip("abc", values, strict=True):
        study.tell(trial, value, key=key)
    page = render_report(study)
    table = page[page.index('<table class="trials">') :]
    # the standard error of three values, and how many there are
    assert table.count(">0.173 (n = 3)</td>") == 2
    assert page.count('class="replicate"') == 2 * 3  # in both sizes
    assert "the mean of 3" in page


def test_a_number_has_the_same_digits_everywhere() -> None:
    study = STUDIES["maximised"]()
    page = render_report(study)
    best = with_uncertainty(study.best.mean, study.best.std)
    mean, _, std = best.partition(" ± ")
    assert f"<span>{mean}</span> <small>± {std}</small>" in page  # the card
    assert best in study.best_observed.why
    assert str(study.best).startswith(f"{best} at")
    assert "price of a measurement" not in page  # no price is set


def test_one_is_no_plural() -> None:
    page = render_report(STUDIES["one_trial"]())
    assert "1 trial · 1 measurement ·" in page


def test_importance_has_its_caveat() -> None:
    for study in (STUDIES["maximised"](), STUDIES["limited"]()):
        page = render_report(study)
        assert "looks unimportant too" in page
        assert "can be left alone" not in page


def test_a_map_tells_other_choices_apart_and_is_labelled() -> None:
    study = STUDIES["maximised"]()
    page = render_report(study)
    drawing = page[page.index('id="map"') :]
    drawing = drawing[: drawing.index("</section>")]
    assert 'class="visited elsewhere"' in drawing
    assert drawing.count('class="isoline-text"') >= 4
    # the larger value of the key is above the smaller one
    wide = drawing[: drawing.index("</svg>")]
    key = re.findall(r'x="([\d.]+)" y="([\d.]+)" text-anchor="start">([\d.e-]+)<', wide)
    values = [float(text) for _, _, text in sorted(key, key=lambda each: float(each[1]))]
    assert len(values) == 5
    assert values == sorted(values, reverse=True)


def test_elsewhere_is_another_choice_or_far_away() -> None:
    space = ceibo.Space(
        {"x": ceibo.Float(0, 1), "y": ceibo.Float(0, 1), "z": ceibo.Float(0, 1),
         "solvent": ceibo.Categorical([str(k) for k in range(20)])}
    )  # fmt: skip
    best = space.to_unit({"x": 0.5, "y": 0.5, "z": 0.5, "solvent": "3"})
    settings = [
        {"x": 0.0, "y": 1.0, "z": 0.5, "solvent": "3"},
        {"x": 0.5, "y": 0.5, "z": 0.5, "solvent": "4"},
        {"x": 0.5, "y": 0.5, "z": 1.0, "solvent": "3"},
    ]
    places = np.array([space.to_unit(each) for each in settings])
    assert is_elsewhere(places, best, space, (0, 1)).tolist() == [False, True, True]
