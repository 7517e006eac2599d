"""What tests leave out where packages are missing, and the lowest versions that are tested."""

import re
import tomllib
from pathlib import Path

import pytest

from tests import extras
from tools.oldest import oldest

PROJECT = tomllib.loads((extras.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LAB = tomllib.loads((extras.ROOT / "lab/pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_nothing_is_left_out_unless_asked_for(pytestconfig: pytest.Config) -> None:
    """A run without the option has every package; one that lacks some says so by failing."""
    left = dict(extras.left_out(extras.ROOT / "tests"))
    assert pytestconfig.getoption(extras.OPTION) or not left


def test_a_missing_package_is_found_through_helpers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "ROOT", tmp_path)
    monkeypatch.setattr(extras, "_installed", {"torch": False, "optuna": True}.__getitem__)
    (tmp_path / "lab").mkdir()
    (tmp_path / "helpers.py").write_text("from torch import nn\n")
    (tmp_path / "lab" / "conftest.py").write_text("import helpers\n")
    (tmp_path / "lab" / "test_a.py").write_text("import math\n")
    (tmp_path / "test_b.py").write_text("import optuna\n\ndef test():\n    import torch\n")
    assert dict(extras.left_out(tmp_path)) == {tmp_path / "lab" / "test_a.py": frozenset({"torch"})}
    assert extras.advice(frozenset({"torch"})) == "needs torch (pip install 'ceibo[compression]')"


def test_packages_are_named_with_extras_that_exist() -> None:
    named = {text for text in extras.SOURCES.values() if text.startswith("ceibo[")}
    assert {re.sub(r"ceibo\[(\w+)\]", r"\1", text) for text in named} <= set(
        PROJECT["optional-dependencies"]
    )


def test_every_bound_has_a_lowest_version() -> None:
    for project in (PROJECT, LAB):
        for requirements in (project["dependencies"], *project["optional-dependencies"].values()):
            assert all("==" in pinned for pinned in oldest(requirements))
    assert list(oldest(["ceibo[dask]", "torch>=2.4", "psycopg[binary]>=3.1.4"])) == [
        "psycopg[binary]==3.1.4"
    ]
    with pytest.raises(SystemExit, match="no lowest version"):
        list(oldest(["numpy"]))
    with pytest.raises(SystemExit, match="not of the form"):
        list(oldest(["numpy<3"]))
