"""The documentation builds without a warning, its pages are all in the navigation, its figures
those measured.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench import tables

ROOT = Path(__file__).parents[2]


@pytest.mark.needs("zensical")
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    configuration = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text(configuration, encoding="utf-8")
    (tmp_path / "src").symlink_to(ROOT / "src")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    site = tmp_path / "site"
    pages = {page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")}
    for page in pages:
        assert f": {page.as_posix()}\n" in configuration, f"{page} is not in the navigation"
        if page.stem != "index":
            assert (site / page.with_suffix("") / "index.html").exists(), page
    reference = (site / "reference" / "index.html").read_text(encoding="utf-8")
    for name in ("minimize", "Study", "Measurement", "fit_gp", "build"):
        assert re.search(rf'id="ceibo[\w.]*\.{name}"', reference), name


def test_links_of_the_site_stay_inside_it() -> None:
    """A link out of docs/ leads nowhere once the site is built; files are named instead."""
    for page in (ROOT / "docs").rglob("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                found = (page.parent / target).resolve()
                assert found.is_relative_to(ROOT / "docs"), f"{page.name}: {target}"
                assert found.exists(), f"{page.name}: {target}"


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
