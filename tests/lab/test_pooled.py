"""One test over many cells: seeds are its units, whatever the cells of a seed have in common."""

from typing import Any

import numpy as np
import pytest

from ceibo.decide.record import ALGORITHM
from ceibo_lab.claims import beats_ei
from ceibo_lab.compare import Verdict
from ceibo_lab.library import Library, Setting
from ceibo_lab.methods import METHODS
from ceibo_lab.plans import EXPERIMENTS
from ceibo_lab.plans.benchmark import POOLED, POWER_SEEDS, TWO
from ceibo_lab.pooled import Pooled, pooled
from ceibo_lab.record import Cell

CELLS = [Setting("levy", ""), Setting("powell", "")]


def record(problem: str, method: str, seed: int, value: float) -> dict[str, Any]:
    """With one measurement, of a regret of 10^value, by today's arithmetic."""
    cell = Cell("optimise", problem, "plain", "heteroscedastic", 0.1, method, seed, 150)
    trace = {"regret": [10.0**value], "best": [0]}
    made = {"key": cell.key, "cell": cell.to_json(), "algorithm": ALGORITHM, "settings": {}}
    return made | {"trace": trace, "value": value}


def library(values: dict[str, list[float]]) -> Library:
    """Corrected EI at these values, EI at 0, seed by seed."""
    found = [
        record(problem, method, seed, value if method == "corrected-ei" else 0.0)
        for problem, each in values.items()
        for seed, value in enumerate(each)
        for method in TWO
    ]
    return Library(found)


def test_means_by_hand_over_the_seeds_that_all_cells_have() -> None:
    found = pooled(
        library({"levy": [1, 2, 3, 9], "powell": [3, 2, 7]}), CELLS, TWO, lambda r: r["value"]
    )
    assert found is not None
    assert found.differences.tolist() == [[1, 2, 3], [3, 2, 7]]
    seeds, cells = found.over_seeds("a"), found.over_cells("a")
    assert seeds.comparison.differences.tolist() == [2, 2, 5]
    assert cells.comparison.differences.tolist() == [2, 4]
    assert (seeds.comparison.n, cells.comparison.n) == (3, 2)
    later = found.from_seed(2)
    assert later is not None
    assert later.over_seeds("a").comparison.differences.tolist() == [5]
    assert found.from_seed(3) is None


def test_missing_cells_are_said_and_none_is_no_row() -> None:
    found = pooled(library({"levy": [1, 2]}), CELLS, TWO, lambda r: r["value"])
    assert found is not None
    assert "1 of 2 cells" in found.over_seeds("a").label
    assert pooled(library({}), CELLS, TWO, lambda r: r["value"]) is None


def test_cells_that_share_their_luck_do_not_count_twice() -> None:
    """Ten cells with the same differences: one in twenty tests is below 0.05, as of one cell."""
    rng, below = np.random.default_rng(0), 0
    for _ in range(300):
        luck = np.repeat(rng.standard_normal((1, 12)), 10, axis=0)
        below += Pooled(luck, tuple(range(12)), 10, 0).over_seeds("").comparison.p < 0.05
    assert below / 300 == pytest.approx(0.05, abs=0.04)


def test_the_verdict_on_ei_is_that_of_the_pooled_test() -> None:
    worse = [0.3 + 0.01 * k for k in range(12)]
    claim = beats_ei(library({"levy": worse, "powell": worse}))
    assert claim.verdict is Verdict.FAILS
    assert len(claim.table.rows) == 1
    assert claim.table.rows[0].label.endswith(f"2 of {len(POOLED)} cells, by seed")
    assert claim.table.rows[0].older == 0


def test_every_pooled_cell_is_planned_with_all_seeds() -> None:
    planned = {cell for name in EXPERIMENTS for cell in EXPERIMENTS[name].cells()}
    assert len(set(POOLED)) == len(POOLED)
    for name, variant, level in POOLED:
        for method in TWO:
            for seed in range(POWER_SEEDS):
                cell = ("optimise", name, variant, "heteroscedastic", level, method, seed, 150)
                assert Cell(*cell) in planned


def test_the_papers_own_tables_keep_the_seeds_that_all_methods_have() -> None:
    records = [record("levy", method, seed, 0.0) for method in TWO for seed in range(6)]
    records += [record("levy", "ucb", seed, 0.0) for seed in (1, 2)]
    records += [record("levy", "ei/map", 5, 0.0)]
    found = Library(records).alike(Setting("levy", ""), (*TWO, "ucb", "pi"))
    assert {name: list(runs) for name, runs in found.items()} == {
        "corrected-ei": [1, 2],
        "ei": [1, 2],
        "ucb": [1, 2],
    }


def test_the_papers_model_believes_every_measurement() -> None:
    for name, entry in METHODS.items():
        assert "outliers" not in entry.settings, name
