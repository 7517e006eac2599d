"""Every code block of the documentation runs, page by page, each in an empty folder of its own.

```python           run, in one namespace per page
```bash             run by bash, with `ceibo` in the path
```LANG title="f"   written to the file f, for the blocks that follow
```text, ``` alone  output, not run
"""

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # the PostgreSQL server of the soak checks serves here too
from soak.server import running_server  # noqa: E402 - found by the line above

# Pages with tests beside what they describe: tests/integrations, tests/paper and tests/compression.
ELSEWHERE = ("integrations/", "paper.md", "compression.md")
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if not page.relative_to(ROOT / "docs").as_posix().startswith(ELSEWHERE)
]
BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?P<options>[^\n]*)\n(?P<body>.*?)^(?P=indent)```\s*$", re.M | re.S
)
OUTPUT = ("", "text", "console", "output")


@dataclass(frozen=True)
class Block:
    """A fenced block, and the line where it begins."""

    language: str
    title: str | None
    body: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        title = re.search(r'title="([^"]+)"', found["options"])
        body = "".join(line.removeprefix(found["indent"]) for line in found["body"].splitlines(keepends=True))
        line = text.count("\n", 0, found.start()) + 2
        yield Block(found["language"], title[1] if title else None, body, line)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with `ceibo` and `python` in the path."""
    tools = tmp_path / "tools"
    tools.mkdir()
    command = tools / "ceibo"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ceibo "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    (tools / "python").symlink_to(sys.executable)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CEIBO_STORAGE", raising=False)
    return work


def run_page(page: Path, folder: Path) -> int:
    """Runs the blocks of a page in order; returns how many ran."""
    names: dict[str, object] = {"__name__": "__main__"}
    count = 0
    for block in blocks(page):
        place = f"{page}, line {block.line}"
        if block.title is not None:
            file = folder / block.title
            file.write_text(block.body, encoding="utf-8")
            file.chmod(file.stat().st_mode | stat.S_IXUSR)
        elif block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.body, str(page), "exec"), names)
        elif block.language in ("bash", "sh"):
            done = subprocess.run(["bash", "-eu", "-c", block.body], capture_output=True, text=True, timeout=240)
            assert done.returncode == 0, (
                f"{place}: status {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
            )
        else:
            assert block.language in (*OUTPUT, "toml"), (
                f"{place}: blocks of {block.language!r} are not known to the tests"
            )
            continue
        count += 1
    return count


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_blocks_of_a_page_run(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "DATABASE_URL" in page.read_text(encoding="utf-8"):
        with running_server() as server:
            monkeypatch.setenv("DATABASE_URL", server.new_database())
            run_page(page, folder)
    else:
        run_page(page, folder)


def test_the_shell_commands_of_the_readme_run(folder: Path) -> None:
    """From an empty folder to a report, with what the README says."""
    (block,) = (block for block in blocks(ROOT / "README.md") if block.language == "sh")
    done = subprocess.run(["bash", "-eu", "-c", block.body], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all 30 trials are done" in done.stdout
    assert (folder / "report.html").exists()


def test_the_collector_sees_what_it_should(tmp_path: Path) -> None:
    """A check that cannot fail proves nothing."""
    page = ROOT / "docs" / "index.md"
    assert any(block.language == "python" for block in blocks(page))
    wrong = tmp_path / "wrong.md"
    wrong.write_text('```python\n1 / 0\n```\n\n```toml title="a.toml"\nx = 1\n```\n')
    found = list(blocks(wrong))
    assert [(block.language, block.title, block.line) for block in found] == [
        ("python", None, 2),
        ("toml", "a.toml", 6),
    ]
    with pytest.raises(ZeroDivisionError):
        run_page(wrong, tmp_path)
