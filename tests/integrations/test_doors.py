"""What the doors have in common: examples that run, and a missing package that says how to
get it.
"""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from soak.server import Server

ROOT = Path(__file__).resolve().parents[2]


EXAMPLES = {
    "botorch": ("botorch", "ax"),
    "optuna": ("optuna",),
    "sklearn": ("sklearn",),
    "dask": ("distributed",),
}


@pytest.mark.parametrize(
    "tool",
    [pytest.param(tool, marks=pytest.mark.needs(*needs)) for tool, needs in EXAMPLES.items()],
)
def test_the_example_runs(tool: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The BoTorch example contains an Ax experiment with an outcome constraint."""
    runpy.run_path(str(ROOT / "examples" / f"integrations_{tool}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    expected = {
        "botorch": "believed",
        "optuna": "recommended",
        "sklearn": "fresh data",
        "dask": "all 20 trials are done",
    }
    assert expected[tool] in printed


@pytest.mark.parametrize(
    ("package", "extra", "use"),
    [
        ("botorch", "botorch", "import ceibo.integrations.botorch"),
        ("optuna", "optuna", "import ceibo.integrations.optuna"),
        ("sklearn", "sklearn", "import ceibo.integrations.sklearn"),
        ("torch", "compression", "import ceibo.compression"),
        (
            "psycopg",
            "postgres",
            "import ceibo; ceibo.Study.open('postgresql://localhost/lab', 'catalyst')",
        ),
    ],
)
def test_a_missing_package_is_named_with_its_pip_line(package: str, extra: str, use: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; {use}"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode != 0
    assert f"pip install 'path/to/the/clone[{extra}]'" in result.stderr


def test_importing_ceibo_needs_none_of_them() -> None:
    tools = {"torch", "optuna", "sklearn", "dask"}
    code = f"import sys, ceibo, ceibo.integrations; print(sorted({tools!r} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.needs("optuna")
def test_processes_share_an_optuna_study_on_postgresql(server: Server) -> None:
    from soak.optuna_parallel import crowd, sqlalchemy_url

    found = crowd(sqlalchemy_url(server.new_database()), processes=2, trials=12)
    assert found["exit codes"] == [0, 0]
    assert found["states"] == {"COMPLETE": found["trials"]}
    assert found["trials"] >= 12
    assert found["closest pair of trials running at the same time"] > 1e-6


@pytest.mark.parametrize("tool", ["botorch", "optuna", "sklearn", "dask"])
def test_the_page_names_its_example_and_versions(tool: str) -> None:
    page = (ROOT / "docs" / "integrations" / f"{tool}.md").read_text(encoding="utf-8")
    assert f"integrations_{tool}.py" in page
    assert "Versions" in page
    assert f"pip install '.[{tool}" in page  # perhaps with further extras
