"""The notebooks of the gallery, executed from end to end."""

import re
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbconvert.preprocessors import ExecutePreprocessor

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
NOTEBOOKS = sorted(GALLERY.glob("*.ipynb"))
DAYS = [f"2026-11-{day:02}" for day in range(9, 14)]
NEEDS = {
    "cluster": ("distributed", "ipykernel", "matplotlib"),
    "cv_search": ("ipykernel", "matplotlib", "sklearn"),
    "plates": ("ipykernel", "matplotlib"),
    "reaction": ("ipykernel", "matplotlib"),
    "rl_seeds": ("ipykernel", "matplotlib"),
}


def cases() -> list[Any]:
    return [
        pytest.param(path, id=path.stem, marks=pytest.mark.needs(*NEEDS[path.stem]))
        for path in NOTEBOOKS
    ]


@pytest.mark.parametrize("path", cases())
def test_a_notebook_runs_and_shows_itself(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    executor = ExecutePreprocessor(timeout=120)  # type: ignore[no-untyped-call]
    executor.preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
    outputs = [each for cell in notebook.cells for each in cell.get("outputs", ())]
    kinds = {kind for each in outputs for kind in each.get("data", {})}
    assert {"text/html", "image/png"} <= kinds
    assert not [each for each in outputs if each.output_type in ("error", "stream")]
    shown = "".join(each["data"].get("text/html", "") for each in outputs if "data" in each)
    assert 'class="ceibo"' in shown
    if path.stem == "cv_search":  # the progress of the run, at its end
        assert "18/18 trials" in shown
    if path.stem == "cluster":
        assert "24/24 trials" in shown
    if path.stem == "rl_seeds":  # the price ended it, not the budget
        assert "a measurement costs 0.4" in shown
    if path.stem == "plates":
        _check_offsets(shown)


def _check_offsets(shown: str) -> None:
    """The days' effects found are the true offsets of the laboratory, as its text says."""
    true = dict(zip(DAYS, np.random.default_rng(4).normal(0, 6, 5).round(1), strict=True))
    found = re.findall(r"(2026-11-\d\d)</td><td[^>]*>(-?[\d.]+) ± ([\d.]+)</td>", shown)
    assert [day for day, _, _ in found] == DAYS
    mean = np.mean(list(true.values()))
    for day, effect, std in found:
        assert abs(float(effect) - (true[day] - mean)) < 2 * float(std)


def test_the_page_of_the_gallery_names_every_notebook() -> None:
    page = (GALLERY / "index.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\((\w+)\.ipynb\)", page)) == [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
