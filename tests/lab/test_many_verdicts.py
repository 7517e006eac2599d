"""Verdicts on the size of the initial design, from records made up so that the answer is known."""

from dataclasses import replace

import numpy as np

from ceibo_lab.library import Library
from ceibo_lab.methods import TWO_EACH
from ceibo_lab.plans.many import BOTORCH, CAPPED, NOISES
from ceibo_lab.plans.suite import HIDDEN, MANY, TWENTY, suite_problem
from ceibo_lab.record import Cell, Record
from ceibo_lab.verdicts import many

CELL = Cell("suite", "levy-20", "plain", "heteroscedastic", 0.10, CAPPED, 0, 120)


def library(levels: dict[str, float], problems: tuple[str, ...] = MANY) -> Library:
    """Twenty seeds a cell; a method's log10 shares of the range lie around a level."""
    records: list[Record] = []
    for problem in problems:
        span = suite_problem(problem, 0).range
        for protocol, level in NOISES:
            for method, log in levels.items():
                rng = np.random.default_rng([len(method), len(problem)])
                for seed in range(20):
                    regret = span * 10.0 ** (log + 0.02 * rng.standard_normal())
                    cell = replace(CELL, problem=problem, method=method, seed=seed)
                    cell = replace(cell, protocol=protocol, level=level)
                    trace = {"recommended": [span, regret], "best": [0.0, 0.0]}
                    records.append({"cell": cell.to_json(), "trace": trace})
    return Library(records)


def test_a_gain_is_large_and_in_every_cell() -> None:
    assert many.gain(library({CAPPED: -1.0, TWO_EACH: -0.5}, HIDDEN)).met
    small = many.gain(library({CAPPED: -1.0, TWO_EACH: -0.8}, HIDDEN))
    assert small.met is False  # below zero for sure, and less than was asked for
    assert "mean -0.2" in str(small)
    assert many.gain(library({CAPPED: -1.0, TWO_EACH: -0.5}, TWENTY)).met is None


def test_no_loss_is_within_the_margin_without_a_lost_cell() -> None:
    assert many.no_loss(library({CAPPED: -1.2, TWO_EACH: -1.0})).met
    lost = many.no_loss(library({CAPPED: -0.96, TWO_EACH: -1.0}))
    assert lost.met is False
    assert "6 cells lost" in str(lost)


def test_botorch_is_compared_where_it_was_run() -> None:
    assert many.botorch(library({CAPPED: -1.0, BOTORCH: -1.0}, HIDDEN[:1])).met
    assert many.botorch(library({CAPPED: -1.0, TWO_EACH: -1.0})).met is None


def test_regrets_below_a_millionth_of_the_range_count_as_that() -> None:
    assert many.no_loss(library({CAPPED: -7.0, TWO_EACH: -9.0})).met
