"""A worksheet filled in by a test."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def fill(path: Path, cells: Mapping[tuple[int, str], Any]) -> None:
    """Types into a CSV worksheet: (row, counted from 0 below the header; header) -> what."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    header = lines[0]
    for (row, head), value in cells.items():
        while row + 1 >= len(lines):
            lines.append([""] * len(header))
        lines[row + 1][header.index(head)] = str(value)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)


def header_of(path: Path) -> list[str]:
    """The header of a CSV worksheet."""
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file))
