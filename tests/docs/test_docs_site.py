"""The documentation builds without a warning, and its pages are all in the navigation."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_site_builds_strictly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert 'not included in the "nav"' not in done.stderr
    pages = {page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    for page in pages - {"index"}:
        assert (tmp_path / "site" / page / "index.html").exists(), page
    reference = (tmp_path / "site" / "reference" / "index.html").read_text(encoding="utf-8")
    for name in ("minimize", "Study", "Measurement", "fit_gp", "build"):
        assert re.search(rf'id="ceibo[\w.]*\.{name}"', reference), name


def test_the_picture_is_what_its_script_draws(tmp_path: Path) -> None:
    """The same curves up to rounding: the script is run into another folder."""
    script = tmp_path / "idea.py"
    script.write_text((ROOT / "docs" / "images" / "idea.py").read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, str(script)], check=True, timeout=120)
    drawn, kept = ((folder / "idea.svg").read_text(encoding="utf-8") for folder in (tmp_path, ROOT / "docs" / "images"))
    number = re.compile(r"-?\d+\.?\d*")
    assert number.sub("#", drawn) == number.sub("#", kept)
    for ours, theirs in zip(number.findall(drawn), number.findall(kept), strict=True):
        assert abs(float(ours) - float(theirs)) <= 0.3
