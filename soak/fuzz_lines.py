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
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from ceibo import AtMost, Categorical, Float, Int, Maximize, Space, Study
from ceibo.cli import main as ceibo
from soak.fuzz_studies import WrongError, extreme
from soak.fuzz_words import arguments_of

SECONDS: Final = 60.0  # a process of its own may take on a busy machine
STATUSES: Final = (0, 1, 2)
_STUDY: Final = """
name = "demo"
[space]
x = {type = "float", low = 0, high = 1}
n = {type = "int", low = 1, high = 8}
c = {type = "categorical", choices = ["=a", "b", "<i>"]}
[command]
argv = ["echo", "0.5"]
"""
_CHANGED: Final = _STUDY.replace("high = 8", "high = 9").replace('"b"', '"b", "d"')
_SEVERAL: Final = """
name = "several"
[constraints]
rules = ["x <= 0.5 if c == 'b'"]
[space]
x = {type = "float", low = 0, high = 1}
n = {type = "int", low = 1, high = 8, when = {c = "b"}}
c = {type = "categorical", choices = ["=a", "b", "<i>"]}
[outcomes]
yield = {goal = "maximize"}
cost = {at_most = 2}
[command]
argv = ["echo", "yield=1 cost=1"]
"""
_SHEETS: Final = (
    "trial,x,n,c,value,noise,block day,notes\n0,0.5,1,b,1.5,,2026-11-14,=1+1\n,0.2,2,b,x,,,\n",
    "x,n,c,yield,cost\n0.5,1,b,1.5,0.3\n0.2,,<i>,2,\n",
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
        arguments = arguments_of(rng)
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
        arguments = [each.replace("\0", "") for each in arguments_of(rng)]
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
    going_on = status == 1 and any(verb in arguments for verb in ("should-stop", "doctor"))
    if not going_on and not any(word in said for word in ("ceibo: ", "Usage: ", "Error: ")):
        raise WrongError(f"{arguments!r}: status {status} without a sentence: {said[-300:]!r}")
    return "refused"


def _furnish(rng: random.Random, folder: Path) -> None:
    """Two study files, mostly with their databases, an edited one, and a sheet."""
    (folder / "study.toml").write_text(_STUDY, encoding="utf-8")
    (folder / "changed.toml").write_text(_CHANGED, encoding="utf-8")
    (folder / "several.toml").write_text(_SEVERAL, encoding="utf-8")
    (folder / "bad.toml").write_text("[space\n", encoding="utf-8")
    (folder / "sheet.csv").write_text(rng.choice(_SHEETS), encoding="utf-8")
    if rng.random() < 0.8:
        (folder / "study.db").write_bytes(_database(rng.randrange(6)))
        (folder / "several.db").write_bytes(_several(rng.randrange(4)))


def _one(number: int, storage: str) -> None:
    """A study of one value with a past."""
    rng = random.Random(f"database {number}")
    space = {"x": Float(0, 1), "n": Int(1, 8), "c": Categorical(["=a", "b", "<i>"])}
    study = Study.create(space, storage=storage, name="demo")
    for trial in study.ask(number * 2 + 1):
        if rng.random() < 0.7:
            study.tell(trial, extreme(rng), rng.choice([None, 0.1]))
        elif rng.random() < 0.5:
            study.fail(trial, "=<b>broken")
    study.close()


def _two(number: int, storage: str) -> None:
    """A study with outcomes, a rule, a branch and blocks, some values of which are missing."""
    rng = random.Random(f"several {number}")
    space = Space(
        {"x": Float(0, 1), "n": Int(1, 8, when={"c": "b"}), "c": Categorical(["=a", "b", "<i>"])},
        constraints=["x <= 0.5 if c == 'b'"],
    )
    outcomes = {"yield": Maximize(), "cost": AtMost(2)}
    study = Study.create(space, storage=storage, name="several", outcomes=outcomes)
    for trial in study.ask(number * 3 + 1):
        block = rng.choice([None, "<b>", {"day": "1", "plate": "=2"}])
        for name in rng.sample(["yield", "cost"], rng.choice([0, 1, 2, 2, 2])):
            study.tell(trial, {name: rng.choice([extreme(rng), 1.5, 2.5])}, block=block)
    study.close()


def _bytes_of(fill: Callable[[int, str], None], number: int) -> bytes:
    """The file of a study."""
    with tempfile.TemporaryDirectory(prefix="ceibo-line-") as folder:
        path = Path(folder) / "study.db"
        fill(number, f"sqlite:///{path}")
        copy = Path(folder) / "copy.db"
        shutil.copy(path, copy)
        return copy.read_bytes()


@cache
def _database(number: int) -> bytes:
    return _bytes_of(_one, number)


@cache
def _several(number: int) -> bytes:
    return _bytes_of(_two, number)
