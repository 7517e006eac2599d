"""The space that a table of past measurements spans, where no study file says it."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from ceibo.decide import Categorical, Float, Int, Space
from ceibo.decide.dimensions import Dimension
from ceibo.errors import InputError
from ceibo.sheets.columns import EXPORTED, ONE
from ceibo.sheets.grid import BLANK
from ceibo.sheets.names import normalize
from ceibo.sheets.numerals import Numbers
from ceibo.sheets.opening import open_table
from ceibo.sheets.table import Table

_DECADES: Final = 100.0  # between the least and the largest positive value of a logarithmic scale
_MOST_CHOICES: Final = 50


def infer_space(
    path: Path, value: str | None, noise: str | None, skipped: Sequence[str] = ()
) -> tuple[Space, list[str]]:
    """The space of a file's columns, and the names of those that are no parameters.

    Numbers span the range from their least to their largest, on a logarithmic scale if that is
    two decades or more; texts are choices. Columns of what was measured, of an export, that count
    the rows, and those with one value alone are left out, as are those named in `skipped`.
    """
    table = open_table(path, [*ONE, *filter(None, (value, noise))])
    told = {normalize(name).casefold() for name in (*EXPORTED, value, noise) if name}
    outcomes = _outcomes(table)
    left = {normalize(name).casefold() for name in skipped}
    if unknown := left - {normalize(name).casefold() for name in table.header}:
        raise InputError(f"--skip: {path} has no column {min(unknown)!r}.")
    found: dict[str, Dimension] = {}
    left_out = []
    for place, name in enumerate(table.header):
        if not name.strip() or normalize(name).casefold() in told:
            continue
        is_skipped = normalize(name).casefold() in left or name in outcomes
        dimension = None if is_skipped else _dimension(table, place)
        if dimension is None:
            left_out.append(name)
        else:
            found[normalize(name)] = dimension
    if not found:
        raise InputError(
            f"{path}: expected a column for each parameter, of which one at least varies, got"
            f" {', '.join(filter(None, table.header)) or 'nothing'}; or give a study file with"
            " --file."
        )
    return Space(found), left_out


def _outcomes(table: Table) -> set[str]:
    """The columns of outcomes in an export, which have their noise and replicates beside them."""
    ends = ("_noise", "_replicates")
    names = set(table.header)
    found = {name for name in names if all(f"{name}{end}" in names for end in ends)}
    return found | {f"{name}{end}" for name in found for end in ends}


def _dimension(table: Table, place: int) -> Dimension | None:
    """What a column holds; None if it says nothing."""
    rows = [record.cells for record in table.rows]
    cells = [row[place] if place < len(row) else BLANK for row in rows]
    texts = [cell.text.strip() for cell in cells]
    if not texts or not all(texts) or len(set(texts)) == 1:
        return None
    reader = Numbers(table.grid.separator)
    try:
        numbers = [reader.read(cell, "") for cell in cells]
    except InputError:
        choices = list(dict.fromkeys(texts))
        return Categorical(choices) if len(choices) <= _MOST_CHOICES else None
    low, high = min(numbers), max(numbers)
    if low == high or _are_counted(numbers):
        return None
    is_log = low > 0 and high >= _DECADES * low
    if all(isinstance(number, int) for number in numbers):
        return Int(int(low), int(high), log=is_log)
    return Float(low, high, log=is_log)


def _are_counted(numbers: Sequence[float]) -> bool:
    """Whether the numbers count the rows."""
    return all(after - before == 1 for before, after in pairwise(numbers))
