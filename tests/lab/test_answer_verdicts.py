"""Verdicts on doubts and the last look, from records made up so that the answer is known."""

from collections.abc import Callable

import numpy as np

from ceibo.decide import Settings
from ceibo_lab.library import Library
from ceibo_lab.methods import BELIEVING, SUITE, method
from ceibo_lab.methods.last_look import LAST_LOOK, LastLook
from ceibo_lab.noise import NoisyProblem
from ceibo_lab.plans.answers import ANSWERS, BOTORCH, DEFAULT, DEVELOPED, FINAL
from ceibo_lab.plans.suite import DEVELOPMENT, LOCKED, suite_problem
from ceibo_lab.record import Cell, Record
from ceibo_lab.run import Run, Watch
from ceibo_lab.verdicts import answers
from pages.default.runs import part_of

Level = Callable[[str], float]


def library(levels: dict[str, tuple[float, float]]) -> list[Record]:
    """Every planned run of these methods; log10 shares of the range lie around two levels."""
    records = []
    for cell in [cell for plan in ANSWERS for cell in plan.cells() if cell.method in levels]:
        span = suite_problem(cell.problem, cell.seed).range
        rng = np.random.default_rng([cell.seed, len(cell.problem), len(cell.method)])
        noise = 0.02 * rng.standard_normal()
        found = [span * 10.0 ** (level + noise) for level in levels[cell.method]]
        trace = {"recommended": [span, found[0]], "best": [span, found[1]]}
        if cell.method == BOTORCH:  # the minimiser of ceibo's model of its points decides nothing
            trace = {"recommended": [span, 0.0], "own": [span, found[0]]}
        records.append({"cell": cell.to_json(), "trace": trace})
    return records


def test_the_plan_has_seeds_of_its_own_and_the_pages_leave_its_records_out() -> None:
    assert {cell.problem for cell in DEVELOPED.cells()} == set(DEVELOPMENT)
    assert {cell.problem for cell in FINAL.cells()} == set(LOCKED)
    assert {cell.seed for cell in DEVELOPED.cells()} == set(range(100, 160))
    assert {cell.seed for cell in FINAL.cells()} == set(range(60, 100))
    records = library({DEFAULT: (-1.0, -1.0)})
    assert {part_of(record) for record in records} == {None}
    earlier = records[-1]["cell"] | {"seed": 59}
    assert part_of({"cell": earlier}) == "fresh"


def test_no_loss_is_about_both_answers() -> None:
    same = library({DEFAULT: (-1.0, -1.0), BELIEVING: (-1.0, -1.0)})
    assert answers.no_loss(Library(same)).met
    worse = library({DEFAULT: (-1.0, -0.9), BELIEVING: (-1.0, -1.0)})
    found = answers.no_loss(Library(worse))
    assert found.met is False
    assert "best: mean over 20 cells by seed" in str(found)
    assert answers.no_loss(Library(same[1:])).met is None


def test_a_last_look_is_to_make_the_recommendation_better_and_lose_nothing() -> None:
    better = library({LAST_LOOK: (-1.1, -1.0), DEFAULT: (-1.0, -1.0)})
    assert answers.last_look(Library(better)).met
    equal = library({LAST_LOOK: (-1.0, -1.1), DEFAULT: (-1.0, -1.0)})
    assert answers.last_look(Library(equal)).met is False
    lost = library({LAST_LOOK: (-1.1, -0.9), DEFAULT: (-1.0, -1.0)})
    assert answers.last_look(Library(lost)).met is False


def test_the_locked_half_says_by_how_much_and_against_botorch() -> None:
    levels = {LAST_LOOK: (-1.2, 0.0), DEFAULT: (-1.15, 0.0), BOTORCH: (-1.0, 0.0)}
    records = Library(library(levels))
    found = answers.final(records)
    assert found.met is None
    assert "mean -0.05" in str(found)
    assert "of 40 seeds" in str(found)
    assert answers.botorch(records).met
    levels[BOTORCH] = (-1.15, 0.0)
    assert answers.botorch(Library(library(levels))).met is False


def test_a_last_look_searches_as_the_default_until_the_last_fifth() -> None:
    cell = Cell("suite", "branin", "plain", "homoscedastic-untold", 0.1, LAST_LOOK, 3, 12)
    points = {}
    for name in (LAST_LOOK, DEFAULT):
        target = suite_problem(cell.problem, cell.seed)
        run = Run(target.space, NoisyProblem(target, cell.protocol, cell.level, cell.seed))
        started = method(name, SUITE).start(run.space, cell.seed)
        if isinstance(started, LastLook):
            started.expect(cell.steps)
            assert started.begins == 10
        list(run.states(started, cell.steps, Watch()))
        points[name] = np.array(run.points)
    np.testing.assert_array_equal(points[LAST_LOOK][:10], points[DEFAULT][:10])
    assert np.any(points[LAST_LOOK][10:] != points[DEFAULT][10:])


def test_the_believing_method_says_what_it_does_not_do() -> None:
    described = SUITE[BELIEVING].describe()
    assert Settings.from_json(described) == Settings(outliers=False, varying_noise=False)
    assert Settings.from_json(SUITE[DEFAULT].describe()) == Settings()
