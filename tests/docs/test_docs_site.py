"""The documentation builds without a warning, its pages are all in the navigation, its figures
those measured.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import tables

ROOT = Path(__file__).parents[2]


@pytest.mark.needs("mkdocs")
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert 'not included in the "nav"' not in done.stderr
    pages = {
        page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        for page in (ROOT / "docs").rglob("*.md")
    }
    for page in pages - {"index"}:
        assert (tmp_path / "site" / page / "index.html").exists(), page
    reference = (tmp_path / "site" / "reference" / "index.html").read_text(encoding="utf-8")
    for name in ("minimize", "Study", "Measurement", "fit_gp", "build"):
        assert re.search(rf'id="ceibo[\w.]*\.{name}"', reference), name


def test_the_picture_is_what_its_script_draws(tmp_path: Path) -> None:
    """The same curves up to rounding: the script is run into another folder."""
    script = tmp_path / "idea.py"
    script.write_text(
        (ROOT / "docs" / "images" / "idea.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    subprocess.run([sys.executable, str(script)], check=True, timeout=120)
    drawn, kept = (
        (folder / "idea.svg").read_text(encoding="utf-8")
        for folder in (tmp_path, ROOT / "docs" / "images")
    )
    number = re.compile(r"-?\d+\.?\d*")
    assert number.sub("#", drawn) == number.sub("#", kept)
    for ours, theirs in zip(number.findall(drawn), number.findall(kept), strict=True):
        assert abs(float(ours) - float(theirs)) <= 0.3


def test_the_benchmarks_are_those_measured() -> None:
    """RESULTS.md and the page come from results.json; both are written anew by `python -m
    bench`.
    """
    results = json.loads((ROOT / "bench" / "results.json").read_text(encoding="utf-8"))
    assert tables.report(results) == (ROOT / "bench" / "RESULTS.md").read_text(encoding="utf-8")
    text = tables.PAGE.read_text(encoding="utf-8")
    assert tables.page(text, results) == text
    rows = [
        {"n": n, "seconds": {"ceibo corrected-ei": {"median": 1.0}, "A": {"median": n}}}
        for n in (3, 9)
    ]
    assert "n = 3 to 9, is 3 to 9 times as fast as A" in tables._speed_headline({"rows": rows})
