"""From records to statements: the page says what the records say."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from ceibo.acquisition import build
from ceibo.gp import GaussianProcess, Matern52
from ceibo.version import __version__
from ceibo_lab.compare import compare_by_seed
from ceibo_lab.kinds.compression import search
from ceibo_lab.library import Library
from ceibo_lab.problems.networks.tasks import Task
from ceibo_lab.record import FORMAT
from ceibo_lab.records import Writer, read
from ceibo_lab.run import Watch
from pages.compression.__main__ import main, page
from pages.compression.results import PLANNED, finals, lacking, optimism, runs_of
from pages.compression.stall import crowd, stall
from tests.network_fixtures import compression_cell


@pytest.fixture(scope="module")
def records(task: Task) -> list[dict[str, Any]]:
    """Short searches on a small network, under the name of a task of the paper."""
    made = []
    for seed in (0, 1):
        for method in ("corrected-ei", "random"):
            cell = compression_cell("fc3", method, seed, 34)
            found = search(task, cell, Watch()) | {
                "status": "done",
                "task": {"pictures": "few", "weights": "0123456789abcdef"},
            }
            times = {"seconds": 1.0, **found.pop("times")}
            head = {
                "format": FORMAT,
                "key": cell.key,
                "cell": cell.to_json(),
                "versions": {"ceibo": __version__},
            }
            made.append(head | found | {"run": times})
    return made


def test_records_are_found_and_paired_by_seed(records: list[dict[str, Any]]) -> None:
    library = Library(records)
    assert list(runs_of(library, "fc3")) == ["corrected-ei", "random"]
    assert runs_of(library, "vgg16") == {}
    values = finals(library, "fc3", "random", "best")
    assert values == {
        r["cell"]["seed"]: r["final"]["best"]["objective"] for r in records if "random" in r["key"]
    }
    test = compare_by_seed({0: 1.0, 1: 2.0, 5: 9.0}, {0: 2.0, 1: 1.0, 7: 0.0})
    assert (test.n, test.below, test.above) == (2, 1, 1)
    runs = runs_of(library, "fc3")["random"]
    gaps = [
        run["final"]["best_observed"]["objective"] - run["trace"]["best_observed"][-1]
        for run in runs.values()
    ]
    assert optimism(runs) == pytest.approx(sum(gaps) / 2)


def test_page_and_figures_are_written(records: list[dict[str, Any]], tmp_path: Path) -> None:
    folder = tmp_path / "results"
    with Writer(folder / "compression-fc3.jsonl") as writer:
        for record in records:
            writer.add(record)
        writer.add(
            records[0] | {"key": "x", "status": "failed", "error": "InputError: nothing there"}
        )
    assert main([str(folder), "--docs", str(tmp_path)]) == 0
    text = (tmp_path / "compression.md").read_text(encoding="utf-8")
    links = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert len(links) == 3
    assert all((tmp_path / link).stat().st_size > 5000 for link in links)
    assert "x failed: InputError: nothing there" in text
    mean = sum(finals(Library(records), "fc3", "corrected-ei", "recommended").values()) / 2
    assert f"| corrected EI | 2 | {mean:.4f} ±" in text
    assert (
        "**Incomplete: 76 of 80 replications have not been run; 0 of 10 are there for every"
        " method.**" in text
    )
    assert "Seeds missing: corrected EI 2–9; EI 0–9;" in text
    assert "Where the 4 evaluations after the random design went" in text
    assert "With n = 2 there is no test" in text
    assert "## VGG-16 on Tiny ImageNet\n\n**Not run yet" in text


def test_only_whole_comparisons_are_shown_and_gaps_are_said(records: list[dict[str, Any]]) -> None:
    one_missing = Library(record for record in records if record["cell"] != records[-1]["cell"])
    assert {method: list(runs) for method, runs in runs_of(one_missing, "fc3").items()} == {
        "corrected-ei": [0],
        "random": [0],
    }
    both = [
        record | {"cell": record["cell"] | {"problem": "vgg16", "method": method}}
        for record in records
        if record["cell"]["method"] == "random"
        for method in PLANNED["vgg16"].methods
    ]
    assert "64 of 80 replications have not been run; 2 of 10" in lacking(Library(both), "vgg16")
    assert "1 of 10 are there" in lacking(Library(both[:8]), "vgg16")
    assert "says nothing about which method is better" in lacking(Library(both[:8]), "vgg16")


def test_a_page_without_records_still_explains() -> None:
    text = page(Library([]), {}, "figures")
    assert "What differs from the paper's set-up" in text
    assert text.count("**Not run yet: there are no records.**") == 3


@pytest.mark.parametrize("repeats", [100, 400])
def test_corrected_ei_at_a_place_that_is_known_does_not_fall_while_the_incumbent_is_unsure(
    repeats: int,
) -> None:
    place, best = np.array([0.2]), np.array([0.8])  # far apart in length scales
    X = np.vstack([np.tile(place, (repeats, 1)), best])
    y = np.append(np.zeros(repeats), -0.1)
    gp = GaussianProcess(X, y, np.full(len(X), 0.2**2), Matern52(np.array([0.05]), 1.0), 0.0)
    z = -0.1 / 0.2
    limit = 0.2 * (norm.pdf(z) + z * norm.cdf(z))  # σ(x⁺) τ(u/σ(x⁺)): nothing left of σ(x)
    assert build("corrected-ei", gp).value(place[None])[0] == pytest.approx(limit, rel=0.1)
    assert build("corrected-ei", gp).value(best[None])[0] == pytest.approx(0.0, abs=1e-12)
    assert build("ei", gp).value(place[None])[0] < 1e-4 * limit


def test_the_stalled_search_on_record_learns_nothing_from_its_next_measurement() -> None:
    found = read(Path(__file__).parents[2] / "results/compression")
    (record,) = (
        r for r in found.done if r["key"] == compression_cell("fc3", "corrected-ei", 0).key
    )
    end = stall(record)
    assert crowd(record) > 200
    assert end.crowd > 50 * end.at_best
    assert end.std_best > 4 * end.std_next
    assert end.value - end.after_next < 1e-3 * end.value
    assert end.value - end.after_best > 0.03 * end.value
