"""What the README and the examples show is what happens."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
NUMBER = re.compile(r"-?\d+\.\d*")


def test_readme_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, shown = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", text, flags=re.DOTALL)[0]
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", shown).split()
    # Two digits: the rest may differ between machines.
    got, said = ([float(number) for number in NUMBER.findall(text)] for text in (printed, shown))
    np.testing.assert_allclose(got, said, atol=0.02)


def test_demonstration_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "engine_demo.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("step ") == 25
    assert "lowest value measured" in printed


def test_local_links_of_the_documents_exist() -> None:
    for name in ("README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / name).read_text(encoding="utf-8"))
        missing = [
            link for link in links if not (ROOT / link).exists() and link != "bench/RESULTS.md"
        ]
        assert not missing, f"{name} links to {missing}"
