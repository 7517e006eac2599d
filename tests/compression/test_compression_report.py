"""From records to statements: the page says what the records say."""

import re
from pathlib import Path
from typing import Any

import pytest

from ceibo.paper.compression.replicate import cell_of, replicate
from ceibo.paper.compression.report import main, page
from ceibo.paper.compression.results import PLANNED, finals, lacking, optimism, paired, runs_of
from ceibo.paper.compression.tasks import Task
from ceibo.paper.library import Library
from ceibo.paper.records import Writer
from ceibo.paper.replicate import FORMAT
from ceibo.version import __version__


@pytest.fixture(scope="module")
def records(task: Task) -> list[dict[str, Any]]:
    """Short searches on a small network, under the name of a task of the paper."""
    made = []
    for seed in (0, 1):
        for method in ("corrected-ei", "random"):
            cell = cell_of("fc3", method, seed, 34)
            found = replicate(task, cell) | {
                "status": "done",
                "task": {"pictures": "few", "weights": "0123456789abcdef"},
            }
            times = {"seconds": 1.0, **found.pop("times")}
            head = {"format": FORMAT, "key": cell.key, "cell": cell.to_json(), "versions": {"ceibo": __version__}}
            made.append(head | found | {"run": times})
    return made


def test_records_are_found_and_paired_by_seed(records: list[dict[str, Any]]) -> None:
    library = Library(records)
    assert list(runs_of(library, "fc3")) == ["corrected-ei", "random"]
    assert runs_of(library, "vgg16") == {}
    values = finals(library, "fc3", "random", "best")
    assert values == {r["cell"]["seed"]: r["final"]["best"]["objective"] for r in records if "random" in r["key"]}
    test = paired({0: 1.0, 1: 2.0, 5: 9.0}, {0: 2.0, 1: 1.0, 7: 0.0})
    assert (test.n, test.below, test.above) == (2, 1, 1)
    runs = runs_of(library, "fc3")["random"]
    gaps = [run["final"]["best_observed"]["objective"] - run["trace"]["best_observed"][-1] for run in runs.values()]
    assert optimism(runs) == pytest.approx(sum(gaps) / 2)


def test_page_and_figures_are_written(records: list[dict[str, Any]], tmp_path: Path) -> None:
    folder = tmp_path / "results"
    with Writer(folder / "compression-fc3.jsonl") as writer:
        for record in records:
            writer.add(record)
        writer.add(records[0] | {"key": "x", "status": "failed", "error": "InputError: nothing there"})
    assert main(["--records", str(folder), "--out", str(tmp_path / "compression.md")]) == 0
    text = (tmp_path / "compression.md").read_text(encoding="utf-8")
    links = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert len(links) == 3
    assert all((tmp_path / link).stat().st_size > 5000 for link in links)
    assert "x failed: InputError: nothing there" in text
    mean = sum(finals(Library(records), "fc3", "corrected-ei", "recommended").values()) / 2
    assert f"| corrected EI | 2 | {mean:.4f} ±" in text
    assert "Of 8 methods planned, 6 have no records yet." in text
    assert "With n = 2 there is no test" in text
    assert "## VGG-16 on Tiny ImageNet\n\n**Not run yet" in text


def test_only_whole_comparisons_are_shown_and_gaps_are_said(records: list[dict[str, Any]]) -> None:
    one_missing = Library(record for record in records if record["cell"] != records[-1]["cell"])
    assert {method: list(runs) for method, runs in runs_of(one_missing, "fc3").items()} == {
        "corrected-ei": [0],
        "random": [0],
    }
    three = [
        record | {"cell": record["cell"] | {"problem": "vgg16", "method": method}}
        for record in records
        if record["cell"]["method"] == "random"
        for method in PLANNED["vgg16"].methods
    ]
    assert "2 of the 3 replications planned" in lacking(Library(three), "vgg16")
    assert "1 of the 3" in lacking(Library(three[:3]), "vgg16")
    assert "says nothing about which method is better" in lacking(Library(three[:3]), "vgg16")


def test_a_page_without_records_still_explains() -> None:
    text = page(Library([]), {}, "figures")
    assert "What differs from the paper's set-up" in text
    assert text.count("**Not run yet: there are no records.**") == 3
