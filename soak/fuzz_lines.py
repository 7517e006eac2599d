"""Random command lines: done, or refused with a sentence; never an unexpected exception.

Most run in this process; some as a process of their own, as a shell would start them.
"""

import contextlib
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from ceibo import Categorical, Float, Int, Study
from ceibo.cli import main as ceibo
from ceibo.cli.toml import to_toml
from soak.fuzz_studies import WrongError, extreme
from soak.fuzz_text import NUMBERS, some_text

SECONDS: Final = 60.0  # a process of its own may take on a busy machine
STATUSES: Final = (0, 1, 2)
VERBS: Final = (
    *("init", "run", "ask", "tell", "correct", "best", "show", "should-stop", "report", "export"),
    *("import", "tell", "correct", "import"),
)
_STUDY: Final = """
name = "demo"
[space]
x = {type = "float", low = 0, high = 1}
n = {type = "int", low = 1, high = 8}
c = {type = "categorical", choices = ["=a", "b", "<i>"]}
[command]
argv = ["echo", "0.5"]
"""
_SHEETS: Final = (
    "x,n,c,value\n0.5,1,b,1.5\n",
    "x;n;c;value\n0,5;1;'=a;1,5\n",
    "\0",
    "value\n1\n",
    "",
)


def line(seed: int) -> str:
    """One command in this process, in a folder with a study."""
    rng = random.Random(f"line {seed}")
    with tempfile.TemporaryDirectory(prefix="ceibo-line-") as folder, contextlib.chdir(folder):
        _furnish(rng, Path(folder))
        arguments = _arguments(rng)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                ceibo(arguments)
                status: object = 0
            except SystemExit as ended:
                status = ended.code or 0
        return _judge(arguments, status, err.getvalue())


def process(seed: int) -> str:
    """One command as a process of its own."""
    rng = random.Random(f"process {seed}")
    with tempfile.TemporaryDirectory(prefix="ceibo-line-") as folder:
        _furnish(rng, Path(folder))
        arguments = [each.replace("\0", "") for each in _arguments(rng)]
        path = os.pathsep.join(each for each in sys.path if each)
        ended = subprocess.run(
            [sys.executable, "-m", "ceibo", *map(os.fsencode, map(_printable, arguments))],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
        )
        return _judge(arguments, ended.returncode, ended.stderr.decode("utf-8", "replace"))


def _printable(argument: str) -> str:
    return argument.encode("utf-8", "replace").decode()


def _judge(arguments: list[str], status: object, said: str) -> str:
    if "ceibo: unexpected" in said or "Traceback" in said or status not in STATUSES:
        raise WrongError(f"{arguments!r}: status {status}: {said.strip()[-300:]}")
    if status == 0:
        return "ok"
    going_on = status == 1 and "should-stop" in arguments
    if not going_on and not any(word in said for word in ("ceibo: ", "Usage: ", "Error: ")):
        raise WrongError(f"{arguments!r}: status {status} without a sentence: {said[-300:]!r}")
    return "refused"


def _furnish(rng: random.Random, folder: Path) -> None:
    """A study file, mostly with its database, and a sheet."""
    (folder / "study.toml").write_text(_STUDY, encoding="utf-8")
    (folder / "bad.toml").write_text("[space\n", encoding="utf-8")
    (folder / "sheet.csv").write_text(rng.choice(_SHEETS), encoding="utf-8")
    if rng.random() < 0.8:
        (folder / "study.db").write_bytes(_database(rng.randrange(6)))


@cache
def _database(number: int) -> bytes:
    """The database of a study with a past."""
    rng = random.Random(f"database {number}")
    space = {"x": Float(0, 1), "n": Int(1, 8), "c": Categorical(["=a", "b", "<i>"])}
    with tempfile.TemporaryDirectory(prefix="ceibo-line-") as folder:
        path = Path(folder) / "study.db"
        study = Study.create(space, storage=f"sqlite:///{path}", name="demo")
        for trial in study.ask(number * 2 + 1):
            if rng.random() < 0.7:
                study.tell(trial, extreme(rng), rng.choice([None, 0.1]))
            elif rng.random() < 0.5:
                study.fail(trial, "=<b>broken")
        study.close()
        copy = Path(folder) / "copy.db"
        shutil.copy(path, copy)
        return copy.read_bytes()


def _arguments(rng: random.Random) -> list[str]:
    """A verb with arguments that fit it, and some that do not."""
    if rng.random() < 0.03:
        return [some_text(rng) for _ in range(rng.randint(0, 3))]
    verb = rng.choice(VERBS)
    words = [verb, *_ordinary(rng, verb)]
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        words.insert(rng.randint(1, len(words)), _word(rng))
    if rng.random() < 0.05 and len(words) > 1:
        del words[rng.randrange(1, len(words))]
    if verb == "run" and "--dry-run" not in words:
        words.append("--dry-run")
    return [word for word in words if word not in ("--watch", "paper")]


def _word(rng: random.Random) -> str:
    """Any word; none that waits, nor one that goes out to a network."""
    options = ["--json", "--key", "--cost", "--storage", "--new", "--again", "--dry-run", "--force"]
    options += ["-o", "--format", "--name", "--value", "--noise", "--replicates", "--failed", "-p"]
    options += ["--release", "--withdraw", "--help", "--version", "--debugs", "-q", "-j", "--", "-"]
    return rng.choice([rng.choice(options), rng.choice(NUMBERS), some_text(rng)])


def _ordinary(rng: random.Random, verb: str) -> list[str]:
    """Arguments that a verb takes."""
    file = rng.choice(["study.toml"] * 30 + ["bad.toml", "none.toml", "sheet.csv", ".", ""])
    number = rng.choice([*"0012234", "-1", "9" * 20, rng.choice(NUMBERS)])
    result = [rng.choice(NUMBERS) for _ in range(rng.choice([1, 1, 2, 3]))]
    if rng.random() < 0.5:
        result = [repr(extreme(rng)) for _ in result]
    target = rng.choice(
        ["out.csv", "out.json", "out.html", "out.xlsx", "study.toml", "study.db", "/"]
    )
    if verb == "init":
        spelling = rng.choice(
            ["x=0:1", "n=1:8:int", "c=a,b", "x=1:0", f"x={to_toml(some_text(rng))}"]
        )
        return ["-p", spelling, "-o", rng.choice(["new.toml", target]), "--", "echo", "{x}"]
    if verb in ("tell", "correct"):
        more = rng.choice([[], [], ["--key", some_text(rng)], ["--replicates"], ["--json"]])
        if verb == "tell" and rng.random() < 0.3:
            ways = (["--failed", some_text(rng)], ["--release"], ["--withdraw"])
            return [file, number, *rng.choice(ways)]
        return [file, number, *more, *result]
    if verb == "should-stop":
        return [file, "--cost", rng.choice(NUMBERS)]
    if verb == "show" and rng.random() < 0.6:
        return [file, number]
    if verb in ("report", "export"):
        return [file, "-o", target]
    if verb == "import":
        return [file, rng.choice(["sheet.csv", "sheet.csv", "none.csv", "study.db", "."])]
    if verb == "run":
        return [file, "--dry-run"]
    return [file, *rng.choice([[], ["--json"]])]
