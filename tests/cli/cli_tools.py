"""The command line as a process of its own, and what a command answered."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ceibo import Study, Trial

STUDY = """
name = "demo"
storage = "sqlite:///demo.db"
[space]
x = {{type = "float", low = 0, high = 1}}
y = {{type = "float", low = 0, high = 1}}
[command]
argv = {argv}
timeout = 20
[stop]
trials = {trials}
"""
BOWL = "import sys; x, y = map(float, sys.argv[1:]); print((x - .3) ** 2 + (y - .6) ** 2, 0.01)"


@dataclass(frozen=True)
class Answer:
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Ceibo = Callable[..., Answer]


StudyFile = Callable[..., Path]


def spawn(*arguments: object, cwd: Path, **options: Any) -> subprocess.Popen[str]:
    """Starts `ceibo` as a process of its own."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "ceibo", *map(str, arguments)],
        cwd=cwd,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def trials(folder: Path) -> tuple[Trial, ...]:
    """The trials of the study `lab` of s.toml in a folder."""
    return Study.open(f"sqlite:///{folder}/s.db", "lab").trials
