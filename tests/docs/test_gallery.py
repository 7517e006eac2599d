"""The notebooks of the gallery, executed from end to end."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert.preprocessors import ExecutePreprocessor

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
NOTEBOOKS = sorted(GALLERY.glob("*.ipynb"))
NEEDS = {
    "cv_search": ("ipykernel", "matplotlib", "sklearn"),
    "reaction": ("ipykernel", "matplotlib"),
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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
