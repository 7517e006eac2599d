"""A first hour with a clock: from an empty folder to an answer, along two pages of the docs.

    python -m soak.first_hour                   both paths
    python -m soak.first_hour bench             one of: bench, search

`bench` is the path of a chemist (docs/start/bench.md): environment, study, sheet out and back,
answer, the page in a browser with a value told and a slider moved. `search` is the path of somebody
with a model to tune (docs/integrations/sklearn.md): environment with Jupyter, a notebook with a
search, its answer, pictures and page.

All that a person would type is really run, in a fresh environment, from a clone of this repository,
and timed with a clock. The person is counted: words that are read, of the docs and of what the
commands (but pip), the sheet and the first screen of the page say, at 200 a minute; characters that
are typed at 200 a minute, or 10 seconds for a block that is copied; 10 seconds for what is done
with a mouse. Runs of the experiment itself take no time. Exits with 1 if a path takes more than
ten minutes where blocks are copied; beside that it says what typing all of them would take.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, final

from soak.web import chromium
from soak.web_page import Page, Server

ROOT: Final = Path(__file__).parents[1]
TARGET: Final = 10.0  # minutes
WORDS: Final = 200  # a minute, read
TYPED: Final = 200  # characters a minute
BY_HAND: Final = 10.0  # seconds: a block copied, a thing done with a mouse
_BLOCK: Final = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_END: Final = "--- the block has ended"


@final
@dataclass(frozen=True)
class Step:
    """What one step takes of the computer and of the person, in seconds."""

    what: str
    computer: float
    read: int  # words
    typed: int = 0  # characters, of blocks
    values: int = 0  # characters that nobody can copy
    blocks: int = 0
    by_hand: int = 0  # things done with a mouse

    def seconds(self, is_copied: bool) -> float:
        """All in all; blocks of the docs are copied or typed."""
        given = BY_HAND * self.blocks if is_copied else 60 * self.typed / TYPED
        person = 60 * self.read / WORDS + 60 * self.values / TYPED + BY_HAND * self.by_hand
        return self.computer + person + given


@final
class Terminal:
    """A shell that stays open, as a person's does."""

    def __init__(self, folder: Path) -> None:
        self.shell = subprocess.Popen(
            ["bash"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, block: str) -> tuple[float, str]:
        """Seconds that a block takes, and what it prints; one that fails ends the walk."""
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        began = time.perf_counter()
        self.shell.stdin.write(f"set -e\n{block}\nset +e\necho '{_END}'\n")
        self.shell.stdin.flush()
        said: list[str] = []
        while (line := self.shell.stdout.readline()).strip() != _END:
            if not line:
                raise SystemExit(f"a block of the docs failed:\n{block}\n{''.join(said)}")
            said.append(line)
        return time.perf_counter() - began, "".join(said)


def words(text: str) -> int:
    """How many words there are to read."""
    return len(re.findall(r"\w[\w.,%°-]*", text))


def section(page: str, title: str) -> str:
    """The text under a title of the docs, without those of lower level; "" is the beginning."""
    text = (ROOT / page).read_text(encoding="utf-8")
    parts = re.split(r"^##? (.*)$\n", text, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    return found[title] if title else found[parts[1]]


def first_screen() -> str:
    """What the README says until its table has led on."""
    return section("README.md", "").partition("![")[0]


def blocks(text: str, language: str) -> list[str]:
    return [code for kind, code in _BLOCK.findall(text) if kind == language]


def prose(text: str) -> int:
    """How many words of a section are read, code aside."""
    return words(_BLOCK.sub("", text))


def walk(terminal: Terminal, what: str, text: str, *, first: int = 0, last: int = 99) -> Step:
    """Reads a section and types its commands, or those from `first` up to `last`."""
    given = blocks(text, "bash")[first:last]
    ended = [terminal.run(each) for each in given]
    said = sum(words(output) for _, output in ended)
    typed, computer = sum(map(len, given)), sum(seconds for seconds, _ in ended)
    read = prose(text) if first == 0 else 0
    return Step(what, computer, read + said, typed=typed, blocks=len(given))


def at_a_bench(folder: Path) -> Iterator[Step]:
    """Sheet, answer, page."""
    page = "docs/start/bench.md"
    terminal = Terminal(folder)
    yield Step("README, to the table that leads on", 0, words(first_screen()))
    start = section(page, "")
    made = walk(terminal, "environment and installation", start)
    yield replace(made, read=prose(start))
    yield walk(terminal, "a study", section(page, "Say what may be varied, and what is wanted"))
    plan = section(page, "A plan out, and back")
    out = walk(terminal, "a sheet of eight runs out, and read", plan, last=1)
    filled = "".join(blocks(plan, "python"))
    _, texts = terminal.run(f"python - <<'END'\n{_SHEET_TEXTS}\nEND")
    yield Step(out.what, out.computer, out.read + words(texts), typed=out.typed, blocks=1)
    terminal.run(f"python - <<'END'\n{filled}\nEND")
    _, numbers = terminal.run(f"python - <<'END'\n{_SHEET_VALUES}\nEND")
    yield Step("eight runs typed in, and saved", 0, 0, values=int(numbers), by_hand=2)
    yield walk(terminal, "the sheet back, the answer, the next sheet", plan, first=1, last=2)
    yield walk(terminal, "whether to go on", plan, first=2)
    yield from on_the_page(folder / "amide", prose(section(page, "On a page")))


def on_the_page(folder: Path, read: int) -> Iterator[Step]:
    """The page opened and read, a value told, a slider moved."""
    with chromium() as browser:
        began = time.perf_counter()
        server = Server(str(folder / "amide.toml"), [str(folder.parent / "my-env/bin/ceibo")])
        try:
            page = Page(browser, server.link)
            opened = time.perf_counter() - began
            shown = words(str(page.page.evaluate(_IN_SIGHT)))
            command = len("ceibo serve amide.toml")
            yield Step("the page opened, and read", opened, read + shown, typed=command, blocks=1)
            began = time.perf_counter()
            card = page.page.locator('[id^="card-"]').first
            number = int(str(card.get_attribute("id")).removeprefix("card-"))
            page.unfold(number)
            fields = page.card(number).locator('.measured [name="value"]')
            for place, value in enumerate(("81.5", "1.62")):
                fields.nth(place).fill(value)
            page.send_without_waiting(number)
            page.card(number).wait_for(state="detached")
            page.slide(3)
            took = time.perf_counter() - began
            yield Step("a value told, a slider moved", took, 0, values=8, by_hand=4)
        finally:
            server.kill()


def a_search(folder: Path) -> Iterator[Step]:
    """Jupyter, a search, its answer and its pictures."""
    page = "docs/integrations/sklearn.md"
    terminal = Terminal(folder)
    yield Step("README, to the table that leads on", 0, words(first_screen()))
    lines = (
        "python3 -m venv my-env\n. my-env/bin/activate\n"
        "pip install --quiet './ceibo[sklearn,plots]' jupyterlab\n"
    )
    seconds, _ = terminal.run(lines)
    yield Step("environment with Jupyter", seconds, prose(section(page, "")), len(lines), 0, 3)
    began = time.perf_counter()
    terminal.run(_NOTEBOOK_SERVER)
    opened = time.perf_counter() - began
    yield Step("a notebook opened", opened, 0, typed=len("jupyter lab"), blocks=1, by_hand=2)
    cells = [block.strip() for block in blocks(section(page, ""), "python")]
    yield _executed(terminal, folder, "the search, and its answer", cells, 0)
    look = section(page, "Look at it")
    more = [block.strip() for block in blocks(look, "python")]
    yield _executed(terminal, folder, "pictures and the page", [*cells, *more], prose(look))


def _executed(terminal: Terminal, folder: Path, what: str, cells: list[str], read: int) -> Step:
    """Runs cells as a notebook; the last of them is new, and shows the study."""
    (folder / "cells.json").write_text(json.dumps(cells), encoding="utf-8")
    seconds, said = terminal.run(f"python - <<'END'\n{_EXECUTE}\nEND")
    return Step(what, seconds, read + words(said), typed=len(cells[-1]), blocks=1)


# What the sheet says beside settings: its heads, and its second sheet.
_SHEET_TEXTS: Final = """
import openpyxl
book = openpyxl.load_workbook("week1.xlsx")
for row in [book.worksheets[0][1], *book.worksheets[1].rows]:
    print(*[cell.value for cell in row if cell.value is not None])
"""
_SHEET_VALUES: Final = """
import openpyxl
plan = openpyxl.load_workbook("week1.xlsx").worksheets[0]
heads = ("yield (%)", "impurity (%)", "block day")
columns = [cell.column for cell in plan[1] if cell.value in heads]
print(sum(len(str(plan.cell(row, k).value)) + 1 for row in range(2, 10) for k in columns))
"""
_NOTEBOOK_SERVER: Final = """
jupyter lab --allow-root --no-browser --port 18765 > jupyter.log 2>&1 &
until grep -q "http://127.0.0.1:18765" jupyter.log; do sleep 0.1; done
kill %1
"""
_EXECUTE: Final = """
import json
import nbformat
from nbconvert.preprocessors import ExecutePreprocessor
cells = [nbformat.v4.new_code_cell(code) for code in json.load(open("cells.json"))]
book = nbformat.v4.new_notebook(cells=cells)
ExecutePreprocessor(timeout=300).preprocess(book, {})
for out in cells[-1].outputs:
    print(out.get("text", "") or out.get("data", {}).get("text/plain", ""))
"""
# The text on the first screen of a page.
_IN_SIGHT: Final = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (texts.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const box = range.getBoundingClientRect();
    const shown = texts.currentNode.parentElement.checkVisibility();
    if (shown && box.height > 0 && box.top < innerHeight) { found.push(texts.currentNode.data); }
  }
  return found.join(" ");
}"""
PATHS: Final[dict[str, Callable[[Path], Iterator[Step]]]] = {
    "bench": at_a_bench,
    "search": a_search,
}


def show(name: str, steps: list[Step]) -> float:
    """Prints the steps of a path; returns the minutes of a person who copies the blocks."""
    print(f"\n{name}: minutes{'typed':>40}{'copied':>8}   computer, words, characters")
    for each in steps:
        typed, copied = each.seconds(False) / 60, each.seconds(True) / 60
        count = f"{each.computer:5.1f} s, {each.read:4} w, {each.typed + each.values:4} c"
        print(f"  {each.what:46} {typed:6.1f} {copied:7.1f}   {count}", flush=True)
    typed, copied = (sum(each.seconds(way) for each in steps) / 60 for way in (False, True))
    waited = sum(each.computer for each in steps)
    missed = " MISSED" * (copied > TARGET)
    print(f"  {'in all':46} {typed:6.1f} {copied:7.1f}   {waited:5.1f} s{missed}")
    return copied


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("paths", nargs="*", choices=[*PATHS, []], help="which of them")
    missed = False
    for name in parser.parse_args().paths or list(PATHS):
        with tempfile.TemporaryDirectory(prefix="ceibo-first-hour-") as made:
            folder = Path(made)
            subprocess.run(
                ["git", "clone", "--quiet", str(ROOT), str(folder / "ceibo")], check=True
            )
            missed |= show(name, list(PATHS[name](folder))) > TARGET
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
