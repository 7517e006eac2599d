"""The recipe "Add a report panel" of CONTRIBUTING.md, followed to the letter."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import ceibo

ROOT = Path(__file__).parents[2]
SOURCE = Path(ceibo.__file__).parent
SCRIPT = """
import ceibo
from ceibo.report import render_report

study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
print(render_report(study).count('id="noise"'))
study.add({"x": 0.2}, 1.0)
print(render_report(study).count('id="noise"'))
study.add({"x": 0.7}, 2.0, noise=0.125)
print(render_report(study))
"""


@pytest.fixture(scope="module")
def blocks() -> dict[str, str]:
    """The code blocks of the recipe."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("\n## Add a report panel\n")[2].partition("\n## ")[0]
    found = re.findall(r"^ *```python\n(.*?)^ *```", section, re.S | re.M)
    return dict(zip(("panel", "import", "line"), map(textwrap.dedent, found), strict=True))


def test_a_new_panel_is_a_file_and_its_place(blocks: dict[str, str], tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "ceibo", ignore=shutil.ignore_patterns("__pycache__"))
    report = tmp_path / "ceibo" / "report"
    (report / "panels" / "noise.py").write_text(blocks["panel"])
    page = report / "page.py"
    text = page.read_text(encoding="utf-8")
    before = "from ceibo.report.panels.remaining import"
    text = text.replace(before, f"{blocks['import']}{before}", 1)
    text = text.replace("    trials,\n", f"    {blocks['line']}    trials,\n", 1)
    page.write_text(text, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
    )
    assert result.returncode == 0, result.stderr
    empty, unknown, shown = result.stdout.split("\n", 2)
    assert empty == unknown == "0"  # neither a measurement nor a known noise: no panel
    panels = re.findall(r'<section class="panel" id="(\w+)"', shown)
    assert panels[-3:] == ["noise", "trials", "settings"]
    panel = shown.partition('id="noise"')[2].partition("</section>")[0]
    assert panel.count("<title>trial 1: 0.125</title>") == 2  # once for each size of screen
