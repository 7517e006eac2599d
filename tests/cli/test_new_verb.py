"""The recipe "Add a verb" of CONTRIBUTING.md, followed to the letter, in ceibo and outside it."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

import ceibo

ROOT = Path(__file__).parents[2]
SOURCE = Path(ceibo.__file__).parent
STUDY = '[space]\nx = {type = "float", low = 0, high = 1}\n'


@pytest.fixture(scope="module")
def blocks() -> dict[str, str]:
    """The code blocks of the recipe."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("\n## Add a verb\n")[2].partition("\n## ")[0]
    found = re.findall(r"^ *```(\w+)\n(.*?)^ *```", section, re.S | re.M)
    assert [language for language, _ in found] == ["python", "python", "toml"]
    codes = [textwrap.dedent(code) for _, code in found]
    return dict(zip(("verb", "line", "entry"), codes, strict=True))


def call(folder: Path, *arguments: str, path: Path) -> str:
    """What `ceibo` prints with a folder before the others on Python's path."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), str(SOURCE.parent)])}
    (folder / "study.toml").write_text(STUDY)
    result = subprocess.run(
        [sys.executable, "-m", "ceibo", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_verb_of_ceibo(blocks: dict[str, str], tmp_path: Path) -> None:
    tree = tmp_path / "src"
    shutil.copytree(SOURCE, tree / "ceibo", ignore=shutil.ignore_patterns("__pycache__"))
    (tree / "ceibo" / "cli" / "verbs" / "count.py").write_text(blocks["verb"])
    table = tree / "ceibo" / "cli" / "verbs" / "__init__.py"
    text = table.read_text()
    assert text.count("VERBS: Final = {\n") == 1
    table.write_text(text.replace("VERBS: Final = {\n", f"VERBS: Final = {{\n    {blocks['line']}"))
    call(tmp_path, "ask", "--new", "study.toml", "-n", "3", path=tree)
    assert call(tmp_path, "count", "study.toml", path=tree) == "3\n"
    assert "How many trials there are." in call(tmp_path, "--help", path=tree)


def test_a_verb_of_another_distribution(blocks: dict[str, str], tmp_path: Path) -> None:
    points = tomllib.loads(blocks["entry"])["project"]["entry-points"]
    ((group, ((verb, value),)),) = [(key, tuple(each.items())) for key, each in points.items()]
    package = tmp_path / "site" / value.split(".")[0]
    package.mkdir(parents=True)
    (package / f"{value.partition(':')[0].split('.')[1]}.py").write_text(blocks["verb"])
    about = tmp_path / "site" / "my_lab-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-lab\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{verb} = {value}\n")
    site = tmp_path / "site"
    call(tmp_path, "ask", "--new", "study.toml", "-n", "2", path=site)
    assert call(tmp_path, verb, "study.toml", path=site) == "2\n"
    assert f"From my-lab: see `ceibo {verb} --help`." in call(tmp_path, "--help", path=site)
