"""Hostile parameter names and values in `ceibo run`: delivered unchanged, or refused."""

import argparse
import contextlib
import io
import json
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ceibo.cli import main as ceibo
from ceibo.study import Study

# Writes down what it was given, and prints a number.
ECHO = """
import json, os, sys
env = {k: v for k, v in os.environ.items() if k.startswith("CEIBO_")}
with open("given.jsonl", "a") as file:
    file.write(json.dumps([sys.argv[1:], env]) + "\\n")
print(len(sys.argv[1]) * 0.001)
"""
PIECES = (
    "$(touch CANARY)",
    "`touch CANARY`",
    "; touch CANARY",
    "| touch CANARY",
    "&& touch CANARY",
    "$((1))",
    "${HOME}",
    "\n touch CANARY\n",
    "\r",
    "\t",
    "'",
    '"',
    "\\",
    "*",
    "?",
    "~",
    "#",
    "!",
    "%s",
    "%n",
    "--help",
    "-rf",
    "/",
    "../",
    "<script>",
    "&lt;",
    "{{",
    "}}",
    "{0}",
    "{x}",
    "{",
    "}",
    "=",
    "\x00",
    "\x1b[31m",
    "é",
    "日本",
    "🌳",
    "\u202e",
    "\ufeff",
    " ",
    "NUL",
    "None",
    "true",
    "0x1",
    "() { :;}; touch CANARY",
    "$IFS",
    ">CANARY",
    "<CANARY",
    "\\n",
    "__import__('os')",
)
PER_STUDY = 10


@final
@dataclass(frozen=True)
class Figures:
    """What became of the names and values."""

    names: int
    # parameters of accepted names whose values arrived exactly, in arguments and environment
    delivered: int
    refused: int  # refused with one clear line and status 2
    wrong: list[str]
    executed: int  # files that only a shell would have made


def hostile(count: int, seed: int = 0) -> Figures:
    """Makes `count` names with two values each, and runs studies of them."""
    generator = random.Random(seed)
    pairs = [
        (_text(generator) or "x", [f"{_text(generator)}a", f"{_text(generator)}b"])
        for _ in range(count)
    ]
    delivered, refused, wrong = 0, 0, []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("echo.py").write_text(ECHO)
        accepted: dict[str, list[str]] = {}
        for name, values in pairs:
            status, message = _run({name: values}, dry=True)
            if status == 0:
                accepted[f"{name}{len(accepted)}"] = values  # numbered, so that all differ
            elif (
                status == 2
                and len(message.strip().splitlines()) == 1
                and "Traceback" not in message
            ):
                refused += 1
            else:
                wrong.append(f"{name!r}: status {status}: {message[:200]}")
        names = list(accepted)
        for start in range(0, len(names), PER_STUDY):
            part = {name: accepted[name] for name in names[start : start + PER_STUDY]}
            arrived, problems = _deliver(part, start)
            delivered += arrived
            wrong += problems
        executed = len(list(Path(folder).rglob("*CANARY*")))
    return Figures(count, delivered, refused, wrong, executed)


def _text(generator: random.Random) -> str:
    return "".join(generator.choice(PIECES) for _ in range(generator.randint(0, 4)))


def _deliver(space: dict[str, list[str]], number: int) -> tuple[int, list[str]]:
    """Runs a study over these parameters; compares what the program got with the suggestions."""
    Path("given.jsonl").unlink(missing_ok=True)
    status, message = _run(space, dry=False, name=f"s{number}")
    if status != 0:
        return 0, [f"study {number}: status {status}: {message[:300]}"]
    study = Study.open(f"sqlite:///s{number}.db", f"s{number}")
    given = [json.loads(line) for line in Path("given.jsonl").read_text().splitlines()]
    wanted = [
        [list(t.params.values()), {f"CEIBO_{name}": v for name, v in t.params.items()}]
        for t in study.trials
    ]
    study.close()
    if given == wanted:
        return len(space), []
    return 0, [f"study {number}: given {given!r}, wanted {wanted!r}"[:500]]


def _run(space: dict[str, list[str]], dry: bool, name: str = "dry") -> tuple[int, str]:
    def quote(text: str) -> str:
        return json.dumps(text).replace("\x7f", "\\u007f")

    lines = []
    for key, values in space.items():
        choices = ", ".join(map(quote, values))
        lines.append(f"{quote(key)} = {{type = 'categorical', choices = [{choices}]}}")
    argv = [sys.executable, "echo.py", *(f"{{{key}}}" for key in space)]
    command = f"argv = [{', '.join(map(quote, argv))}]"
    head = [f'name = "{name}"', f'storage = "sqlite:///{name}.db"', "[space]"]
    text = "\n".join([*head, *lines, "[command]", command, "timeout = 60", "[stop]", "trials = 3"])
    Path("study.toml").write_text(text, encoding="utf-8", newline="")
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        try:
            ceibo(["run", "study.toml", *(["--dry-run"] if dry else ["--quiet"])])
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else 0, errors.getvalue()
    return 0, errors.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--names", type=int, default=1000)
    figures = hostile(parser.parse_args().names)
    print(
        f"{figures.names} hostile names, two values each: {figures.delivered} delivered exactly, "
        f"{figures.refused} refused, {len(figures.wrong)} wrong, {figures.executed} executed"
    )
    print(*figures.wrong[:5], sep="\n")
    complete = figures.delivered + figures.refused == figures.names
    return 0 if complete and not figures.wrong and not figures.executed else 1


if __name__ == "__main__":
    sys.exit(main())
