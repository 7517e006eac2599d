"""constraints.txt: plain versions of everything that the checks install, above the lower bounds."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.constraints import normal

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "constraints.txt").read_text().splitlines()
PINS = dict(line.split("==") for line in LINES if not line.startswith("#"))


def release(version: str) -> tuple[int, ...]:
    """The leading numbers of a version."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def requirements(file: str) -> Iterator[str]:
    project = tomllib.loads((ROOT / file).read_text())["project"]
    yield from project["dependencies"]
    for extra in project["optional-dependencies"].values():
        yield from extra


def test_lines_are_names_and_versions_alone() -> None:
    for line in LINES:
        assert line.startswith("#") or re.fullmatch(r"[a-z0-9-]+==[0-9][\w.]*", line), line


@pytest.mark.parametrize("file", ["pyproject.toml", "lab/pyproject.toml"])
def test_every_requirement_is_pinned_above_its_lower_bound(file: str) -> None:
    bounds = [
        re.match(r"([\w.-]+)(?:\[[\w,-]+\])?(?:>=([\w.]+))?", each) for each in requirements(file)
    ]
    named = {normal(bound[1]): bound[2] for bound in bounds if bound is not None}
    assert len(named) > 3
    for name, lowest in named.items():
        if name != "ceibo":
            assert name in PINS
            assert release(PINS[name]) >= release(lowest)


def test_torch_is_the_version_that_make_installs() -> None:
    installed = re.findall(r"torch==([0-9.]+)", (ROOT / "Makefile").read_text())
    assert installed
    assert set(installed) == {PINS["torch"]}
