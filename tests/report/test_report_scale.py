"""The report of very many trials: what is drawn, what is listed, what is said to be left out."""

import re

import numpy as np
import pytest

from ceibo import Float, Study
from ceibo.decide import Direction, Measurement
from ceibo.decide.surface.spread import spread
from ceibo.numbers import with_uncertainty
from ceibo.report import render_report, thinning
from ceibo.report.thinning import MOST_DOTS, chosen_trials, visible
from ceibo.study import Trial
from soak.scale import Figure, build_study, measure_dimensions, measure_study


def trial(number: int, value: float | None, state: str = "done") -> Trial:
    told = () if value is None else (Measurement(value),)
    return Trial(number, {}, state, told, None, 1, ((),) * len(told))


def test_dots_that_cover_each_other_are_drawn_once_and_outliers_stay() -> None:
    rng = np.random.default_rng(0)
    across, up = np.arange(50_000.0), rng.standard_normal(50_000)
    up[31_234] = 40.0
    shown = visible(across, up, first=[17, 49_999])
    assert len(shown) <= MOST_DOTS + 2
    assert {17, 31_234, 49_999} <= set(shown.tolist())
    assert shown.tolist() == sorted(set(shown.tolist()))
    # every dot has one that is shown within a few cells of the drawing
    for k in rng.integers(0, 50_000, 200):
        gaps = np.hypot((across[shown] - across[k]) / 5e4, (up[shown] - up[k]) / np.ptp(up))
        assert gaps.min() < 0.05


@pytest.mark.parametrize("up", [np.zeros(9000), 1.7e308 * np.linspace(-1, 1, 9000)])
def test_dots_of_extreme_values(up: np.ndarray) -> None:
    shown = visible(np.arange(9000.0), up)
    assert 0 < len(shown) <= MOST_DOTS
    assert visible([], []).tolist() == []
    assert visible([1.0, 1.0], [2.0, 2.0]).tolist() == [0, 1]


def test_an_even_spread_has_both_ends() -> None:
    assert spread(list(range(10)), 4) == [0, 3, 6, 9]
    assert spread([1, 2], 5) == [1, 2]
    assert spread([], 5) == []


@pytest.mark.parametrize("direction", Direction)
def test_the_table_has_the_best_the_latest_and_those_without_a_value(direction: Direction) -> None:
    trials = [trial(k, float((k * 7919) % 5003)) for k in range(5000)]
    trials[40], trials[41] = trial(40, None, "failed"), trial(41, None, "running")
    trials[42] = trial(42, None, "queued")
    shown = {each.number for each in chosen_trials(trials, direction, 9, also=[1234])}
    assert len(shown) <= 2000 + 1
    assert {40, 41, 42, 1234, 4999, 4500} <= shown
    valued = [each for each in trials if each.measurements]
    valued.sort(key=lambda each: direction.flip(each.measurements[0].value))
    assert {each.number for each in valued[:400]} <= shown
    assert chosen_trials(trials[:2000], direction, 9, ()) == trials[:2000]
    assert len(chosen_trials(trials, direction, 1000, ())) <= 100


def test_the_page_of_many_trials_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinning, "MOST_ROWS", 400)
    monkeypatch.setattr(thinning, "MOST_DOTS", 300)
    study = build_study(None, 1500, seed=1, limit=120)
    waiting = study.ask()
    page = render_report(study)
    table = page[page.index('<table class="trials">') :]
    rows = table[: table.index("</table>")].count("<tr") - 1
    assert rows <= 402
    assert f"{rows:,} of 1,501 trials" in page
    assert f"{1501 - rows:,} are left out" in page
    assert "<code>ceibo export</code> writes them all" in page
    assert f'<td data-sort="{waiting.number}">{waiting.number}</td>' in table
    best = study.best
    assert re.search(rf'<tr class="best"><td data-sort="{best.number}">', table)
    assert with_uncertainty(best.mean, best.std) in page
    assert "1501 trials" in page
    circles = page.count('<circle class="measured"')
    assert 100 < circles <= 2 * (300 + 8)
    assert page.count('<circle class="visited"') <= 2 * 300
    assert len(page) < 1_500_000


def test_answers_agree_and_every_figure_is_measured(tmp_path: object) -> None:
    url = f"sqlite:///{tmp_path}/scale.db"
    build_study(url, 1500, seed=2, limit=120).close()
    figures = {each.what: each for each in measure_study(url)}
    assert {"open", "first read", "ask", "best", "report", "report MB", "memory MB"} <= set(figures)
    assert not figures["report MB"].missed
    assert Figure("report", 6.0).missed
    study = Study.open(url)
    assert len(study.trials) == 1502
    assert study.verify().ok
    again = Study.open(url)
    assert again.best == study.best
    study.close()
    again.close()


def test_a_report_in_many_dimensions_is_bounded() -> None:
    assert [each.what for each in measure_dimensions(120, 20, seed=0)] == ["suggestion"]
    rng = np.random.default_rng(3)
    study = Study.create({f"x{k}": Float(0, 1) for k in range(120)}, n_initial=4)
    study.add_all(
        ({f"x{k}": float(u) for k, u in enumerate(x)}, float(x[7])) for x in rng.random((20, 120))
    )
    page = render_report(study)
    assert page.count('<figure class="slice">') == 100
    assert "Of 120 parameters the 100 that matter most are shown." in page
    assert len(page) < 4_000_000
