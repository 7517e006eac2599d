"""Lines of JSON that a long run keeps, so that it goes on where it was stopped.

A line is written at once and whole; one that a kill cut short is left out when they are read, and
does not spoil the next.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def add_line(path: Path, data: Any) -> None:
    """Adds a line, after what may be the rest of one that was cut short."""
    line = json.dumps(data) + "\n"
    with path.open("a+b") as file:
        if file.tell() > 0:
            file.seek(-1, 2)
            line = line if file.read(1) == b"\n" else f"\n{line}"
        file.write(line.encode())


def read_lines(path: Path) -> Iterator[Any]:
    """What the whole lines of a file say; nothing if there is no such file."""
    if not path.exists():
        return
    for line in path.read_bytes().splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue
