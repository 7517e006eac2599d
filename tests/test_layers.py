"""The tree is the architecture: imports go one way, and optional packages stay where they
belong.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ceibo

ROOT = Path(ceibo.__file__).parent

# What each part of the tree may import from the others.
ALLOWED = {
    "errors": set(),
    "attached": set(),
    "registry": set(),
    "checks": set(),
    "version": set(),
    "gp": set(),
    "acquisition": {"gp"},
    "theory": {"gp"},
    "files": set(),
    "dates": set(),
    "text": {"numbers"},
    "numbers": set(),
    "decide": {"text", "numbers", "acquisition", "gp"},
    "study": {"dates", "files", "text", "numbers", "decide", "acquisition", "gp"},
    "integrations": {"decide", "acquisition", "gp"},
    "compression": {"study", "decide", "acquisition", "gp"},
    "report": {"files", "text", "numbers", "study", "decide", "acquisition", "gp"},
    "plots": {"numbers", "text", "study", "decide", "acquisition", "gp"},
    "sheets": {"dates", "files", "numbers", "text", "study", "decide"},
    "web": {"files", "numbers", "text", "sheets", "report", "study", "decide", "acquisition", "gp"},
    "command": {"numbers", "text", "decide"},
    "cli": {
        "numbers",
        "text",
        "command",
        "files",
        "plots",
        "report",
        "sheets",
        "web",
        "integrations",
        "study",
        "decide",
        "acquisition",
        "theory",
        "gp",
    },
}
EVERYWHERE = {"attached", "errors", "checks", "registry", "version"}
TOP = {"__init__", "__main__"}  # the doors, which may import anything

# Optional packages and the only places (prefixes of paths) that may import them.
OPTIONAL = {
    "torch": ("integrations/botorch", "compression"),
    "torchvision": (),
    "safetensors": (),
    "mlxtend": (),
    "botorch": ("integrations/botorch",),
    "gpytorch": ("integrations/botorch",),
    "linear_operator": ("integrations/botorch",),
    "ax": ("integrations/botorch",),
    "optuna": ("integrations/optuna",),
    "sklearn": ("integrations/sklearn",),
    "matplotlib": ("plots",),
    "openpyxl": ("sheets",),
    "starlette": ("web",),
    "uvicorn": ("web",),
    "pandas": ("study/table.py", "study/record.py"),  # Study.to_dataframe imports it when called
    "joblib": ("integrations/sklearn",),
    "dask": (),
    "distributed": (),
    "ray": (),
    "jax": (),
    "mpmath": (),
    "tensorflow": (),
    "skopt": (),
    "ceibo_lab": (),
}
# The model and the acquisitions stand on these alone.
ENGINE_PACKAGES = {"gp": {"numpy", "scipy", "threadpoolctl"}, "acquisition": {"numpy", "scipy"}}


def module_name(path: Path) -> str:
    parts = ("ceibo", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports_of(path: Path) -> set[str]:
    """Full names of the modules a file imports, wherever in the file."""
    package = (
        module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    )
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            names = {f"{base}.{alias.name}" for alias in node.names}
            submodules = names & MODULES.keys()
            found.update(submodules)
            if len(submodules) < len(names):
                found.add(base)
    return found


def layer(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def violations(path: Path) -> list[str]:
    here = layer(module_name(path))
    if here in TOP:
        return []
    if here not in ALLOWED:
        return [f"ceibo.{here} is not a known part of the tree"]
    inside = {name for name in imports_of(path) if name.split(".")[0] == "ceibo"}
    allowed = ALLOWED[here] | EVERYWHERE | {here}
    return sorted(name for name in inside if name in MODULES and layer(name) not in allowed)


def misplaced(path: Path) -> list[str]:
    place = path.relative_to(ROOT).as_posix()
    packages = {name.split(".")[0] for name in imports_of(path)}
    wrong = {p for p in packages & OPTIONAL.keys() if not place.startswith(OPTIONAL[p])}
    here = layer(module_name(path))
    if here in ENGINE_PACKAGES:
        known = ENGINE_PACKAGES[here] | {"ceibo"} | set(sys.stdlib_module_names)
        wrong |= packages - known
    return sorted(wrong)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_go_one_way(module: str) -> None:
    assert violations(MODULES[module]) == []


@pytest.mark.parametrize("module", sorted(MODULES))
def test_optional_packages_stay_where_they_belong(module: str) -> None:
    assert misplaced(MODULES[module]) == []


def test_modules_of_the_tree_do_not_import_in_circles() -> None:
    graph = {
        name: {m for m in imports_of(path) if m in MODULES} - {name}
        for name, path in MODULES.items()
    }
    graph = {name: ends for name, ends in graph.items() if MODULES[name].name != "__init__.py"}
    done: set[str] = set()

    def walk(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above[above.index(name) :], name])
        if name in done or name not in graph:
            return
        for following in sorted(graph[name]):
            walk(following, (*above, name))
        done.add(name)

    for name in sorted(graph):
        walk(name, ())


def test_the_rules_catch_what_they_forbid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that cannot fail proves nothing: the same checks on a tree made wrong."""
    for folder in ("gp", "acquisition", "study"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("")
    upward = tmp_path / "gp" / "kernels.py"
    upward.write_text("def f():\n    from ceibo.acquisition import maximize\n")
    relative = tmp_path / "gp" / "fit.py"
    relative.write_text("from ..study import store\n")
    torchy = tmp_path / "acquisition" / "base.py"
    torchy.write_text("import torch.nn\nimport sqlalchemy\n")
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    monkeypatch.setattr(
        sys.modules[__name__], "MODULES", {module_name(p): p for p in tmp_path.rglob("*.py")}
    )
    assert violations(upward) == ["ceibo.acquisition"]
    assert violations(relative) == ["ceibo.study"]
    assert violations(torchy) == []
    assert misplaced(torchy) == ["sqlalchemy", "torch"]


def loaded(code: str, packages: list[str]) -> list[str]:
    """Which of these packages a new process has loaded after some code."""
    script = f"import sys; {code}; print(*(name for name in {packages!r} if name in sys.modules))"
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("module", ["ceibo", "ceibo.gp", "ceibo.acquisition"])
def test_importing_loads_no_optional_package(module: str) -> None:
    assert loaded(f"from {module} import *", sorted(OPTIONAL)) == []


def test_a_name_loads_what_it_needs() -> None:
    """What a command needs no later than this decides how soon it answers."""
    slow = ["numpy", "rich", "scipy.linalg", "scipy.special", "scipy.stats", "sqlalchemy"]
    assert loaded("import ceibo, ceibo.cli; ceibo.StopRun", slow) == []
    assert loaded("import ceibo; ceibo.gp, ceibo.Space", slow) == ["numpy"]
    assert loaded("import ceibo; ceibo.Study", slow) == ["numpy", "rich", "sqlalchemy"]


def test_public_names_are_those_that_type_checkers_see() -> None:
    """They are imported on use; the imports that type checkers read say the same."""
    tree = ast.parse(Path(ceibo.__file__).read_text(encoding="utf-8"))
    (checked,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.orelse == []
    ]
    seen = {
        alias.name: node.module
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {name: home for home, names in ceibo._HOMES.items() for name in names}
    subpackages = {"acquisition", "gp", "plots", "report"}
    assert seen == homes | dict.fromkeys(subpackages, "ceibo")
    assert {*ceibo.__all__, "plots", "report"} == {*seen, "__version__"}
    assert {*seen, "__version__"} <= set(dir(ceibo))
    for name in ceibo.__all__:
        assert getattr(ceibo, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Studdy'"):
        _ = ceibo.Studdy  # type: ignore[attr-defined]
