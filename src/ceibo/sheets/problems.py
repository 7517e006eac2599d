"""What is wrong with a sheet: every fault with the cell it is in, told at once."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from ceibo.errors import InputError
from ceibo.sheets.grid import Record, address
from ceibo.text import shorten

_MOST_SHOWN: Final = 100  # problems that the message lists
_LONGEST: Final = 15_000  # characters of the message, after which the rest is counted


@final
@dataclass(frozen=True)
class Problem:
    """A fault of a sheet: where (B7), under which header, and a sentence about it."""

    where: str
    header: str
    message: str
    place: tuple[int, int] = field(default=(0, 0), repr=False, compare=False)
    """Row and column, by which problems are sorted; zero where there is none."""

    def __str__(self) -> str:
        under = f" ({shorten(self.header, 60)})" if self.header else ""
        place = f"{self.where}{under}: " if self.where or self.header else ""
        return f"{place}{self.message}"


@final
class SheetError(InputError):
    """A sheet that cannot be read as it is; `problems` has every fault, and nothing was stored."""

    def __init__(self, path: Path | str, problems: tuple[Problem, ...]) -> None:
        self.path, self.problems = path, problems
        super().__init__(_message(path, problems))

    def __reduce__(self) -> "tuple[type[SheetError], tuple[Path | str, tuple[Problem, ...]]]":
        return type(self), (self.path, self.problems)


def _message(path: Path | str, problems: tuple[Problem, ...]) -> str:
    if len(problems) == 1:
        (only,) = problems
        comma = ", " if only.where else ": "
        return f"{path}{comma}{only}"
    lines = [f"{path} has {len(problems)} problems, and nothing was stored:"]
    room = _LONGEST
    for count, each in enumerate(problems):
        line = f"  {each}"
        room -= len(line)
        if count == _MOST_SHOWN or room < 0:
            lines.append(f"  and {len(problems) - count} more")
            break
        lines.append(line)
    return "\n".join(lines)


@final
@dataclass
class Problems:
    """Collects the faults of one sheet."""

    path: Path
    found: list[Problem] = field(default_factory=list)

    def add(self, message: object) -> None:
        """Adds a fault of the whole table, unless the same was found before."""
        self._add(Problem("", "", str(message)))

    def add_at(self, record: Record, column: int | None, header: str, message: object) -> None:
        """Adds a fault of a cell, or of a row where there is no column."""
        place = record.row, 0 if column is None else column + 1
        self._add(Problem(address(record, column), header, str(message), place))

    def _add(self, problem: Problem) -> None:
        if problem not in self.found:
            self.found.append(problem)

    def check(self) -> None:
        """Raises an error with every fault, row by row, if there is one."""
        if self.found:
            raise SheetError(self.path, tuple(sorted(self.found, key=lambda each: each.place)))
