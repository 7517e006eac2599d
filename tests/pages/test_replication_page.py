"""From records to statements: the page says what the records say, and is the one in docs."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from ceibo.decide.record import ALGORITHM
from ceibo_lab.library import Library
from ceibo_lab.plans.benchmark import POOLED, TWO
from ceibo_lab.record import FORMAT, Cell
from ceibo_lab.records import Read, pack, read
from pages.replication.__main__ import main, page
from pages.replication.figures import captions

ROOT = Path(__file__).parents[2]
SEEDS = range(12)
HERE = {"ceibo": "0.1.0", "numpy": "1", "blas": "here"}


def record(at: tuple[str, str, float], method: str, seed: int, value: float) -> dict[str, Any]:
    """A run that ends with a regret of 10^value."""
    problem, variant, level = at
    cell = Cell("optimise", problem, variant, "heteroscedastic", level, method, seed, 150)
    answers = {"t": [150], "regret": [10.0**value], "distance": [1.0]}
    trace = {"regret": [10.0**value], "best": [0], "distance": [1.0], "reach": [1e-4, 0.1]}
    return {
        "format": FORMAT,
        "key": cell.key,
        "cell": cell.to_json(),
        "versions": HERE,
        "algorithm": ALGORITHM,
        "status": "done",
        "settings": {},
        "digest": f"{value}",
        "trace": trace | {"recommended": answers},
        "run": {"seconds": 1.0},
    }


@pytest.fixture
def records() -> list[dict[str, Any]]:
    """Corrected EI ends twice as high as EI, in every cell, to the last seed."""
    worse = [0.30103 + 0.001 * (seed - 5.5) for seed in SEEDS]
    return [
        record(at, method, seed, worse[seed] if method == TWO[0] else 0.0)
        for at in POOLED
        for method in TWO
        for seed in SEEDS
    ]


def test_the_page_says_what_the_records_say(records: list[dict[str, Any]]) -> None:
    text = page(Read(records), [], []).markdown()
    assert "The regret of corrected EI is 2.00 times that of EI" in text
    assert f"over {len(POOLED)} cells" in text
    assert "12 seeds; better in 0" in text
    assert "more than the ±0.1" in text
    lost = text.partition("## What does not hold")[2].partition("\n## ")[0]
    assert "**Corrected EI beats EI under noise**" in lost
    assert "EI 50 %" in text  # of two points one lies beside the incumbent
    assert "older arithmetic" not in text
    assert "benchmark-15/power (96 of 480)" in text
    assert "No repetition by the same arithmetic" in text


def test_older_records_are_marked(records: list[dict[str, Any]]) -> None:
    for each in records[:5]:
        del each["algorithm"]
    text = page(Read(records), [], []).markdown()
    assert "**5 of these records are of an older arithmetic**" in text
    assert "| **does not hold** † | 12 |" in text


def test_a_repetition_elsewhere_is_compared(records: list[dict[str, Any]]) -> None:
    again = deepcopy([each for each in records if each["cell"]["problem"] == "levy"])
    for each in again:
        each["versions"] = HERE | {"blas": "there"}
        if each["cell"]["seed"] == 3:
            each["digest"], each["trace"]["regret"] = "other", [1000.0]
    text = page(Read(records), again, []).markdown()
    seen = text.partition("## What another machine changes")[2].partition("\n## ")[0]
    assert f"{len(again)} cells were run again with these differences: blas: here and there" in seen
    assert f"{len(again) - len(again) // 12} are the same bit for bit" in seen
    assert "part at measurement 1, to the digits" in seen
    assert f"{len(again) // 12} of these {len(again) // 12} end with another" in seen
    assert "Corrected EI − EI on Levy 4" in seen
    older = [{k: v for k, v in each.items() if k != "algorithm"} for each in again]
    assert "No repetition by the same" in page(Read(records), older, []).markdown()


def test_without_power_nothing_is_said_of_it(records: list[dict[str, Any]]) -> None:
    others = [each for each in records if each["cell"]["method"] == "ei"]
    text = page(Read(others), [], []).markdown()
    assert "### The power" not in text
    assert "not run" in text


def test_the_page_in_docs_is_the_one_of_the_records() -> None:
    place = ROOT / "results"
    found, repeated = read(place / "records"), read(place / "repeated").done
    named = [
        (f"images/replication/{name}.png", said) for name, said in captions(Library(found.done))
    ]
    expected = page(found, repeated, named).markdown()
    assert (ROOT / "docs" / "replication.md").read_text(encoding="utf-8") == expected
    for path, _ in named:
        assert (ROOT / "docs" / path).stat().st_size < 200_000


def test_the_command_writes_the_same_bytes_twice(
    records: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack(records, tmp_path / "records" / "all.jsonl.gz")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        assert main([str(tmp_path), "--docs", str(tmp_path / folder)]) == 0
    one, two = (
        sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        for name in ("one", "two")
    )
    assert [path.name for path in one] == ["cells.png", "cells.svg", "replication.md"]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    capsys.readouterr()
    assert main([str(tmp_path / "nowhere")]) == 2
    assert "there are no records" in capsys.readouterr().err
