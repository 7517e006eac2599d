"""Recorded cells, run again: the same bit for bit, or how they differ and what was otherwise.

A repetition differs where its measurements do (the digest is of every bit of them), or what was
read off them. It is explained where something was otherwise that may end in other bits: ceibo's
arithmetic, settings, versions of libraries, the machine. What is neither the same nor explained is
a fault.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from ceibo_lab.arithmetic import algorithm, describe, libraries, settings
from ceibo_lab.kinds.require import lacking
from ceibo_lab.record import Cell, Record
from ceibo_lab.records import Read, read

# What a record says of how it was made, and of the cell itself.
_MADE: Final = ("format", "key", "cell", "versions", "algorithm", "settings", "run", "task")
# Kinds whose trace is a table over one of its columns.
_AXES: Final = {"suite": "n", "theory": "T", "cost": "n"}
_STEPS: Final = ("regret", "u", "x", "params", "value")  # lists with an entry per measurement
_ENDS_SHOWN: Final = 3
_ENDS: Final = ("recommended", "best", "objective", "regret")  # these first


class Agreement(Enum):
    SAME = "same"
    EXPLAINED = "differs"
    UNEXPLAINED = "differs, and nothing explains it"


@final
@dataclass(frozen=True)
class Repetition:
    """How a cell came out again: what differs, and what was otherwise when it was run."""

    key: str
    differences: tuple[str, ...]
    otherwise: tuple[str, ...]

    @property
    def agreement(self) -> Agreement:
        if not self.differences:
            return Agreement.SAME
        return Agreement.EXPLAINED if self.otherwise else Agreement.UNEXPLAINED

    def __str__(self) -> str:
        if self.agreement is Agreement.SAME:
            return f"same: {self.key}"
        lines = [f"{self.agreement.value}: {self.key}", *self.differences]
        if self.otherwise:
            lines.append(f"was otherwise: {'; '.join(self.otherwise)}")
        return "\n  ".join(lines)


def repetition(recorded: Record, again: Record) -> Repetition:
    """Compares a record with one of the same cell, made later."""
    before, after = _plain(recorded), _plain(again)
    differences = tuple(_differences(before, after))
    return Repetition(before["key"], differences, tuple(_otherwise(before, after)))


def _plain(record: Record) -> Record:
    """As it comes back from a file."""
    found: Record = json.loads(json.dumps(record))
    return found


def _differences(before: Record, after: Record) -> Iterator[str]:
    if before["status"] != after["status"]:
        yield f"{_status(before)} in the record, {_status(after)} now"
        return
    # a later record may say more
    common = [name for name in before if name in after and name not in _MADE]
    unlike = [name for name in common if before[name] != after[name] and name != "traceback"]
    if not unlike:
        return
    if "digest" not in unlike:
        yield f"the same measurements, but not the same {', '.join(unlike)}"
    elif (place := _first_place(before, after)) is None:
        yield "other measurements, in digits that a record does not keep"
    else:
        yield f"other measurements, first seen {place}"
    yield from _ends(before, after, unlike)


def _status(record: Record) -> str:
    return f"failed ({record['error']})" if record["status"] == "failed" else "finished"


def _first_place(before: Record, after: Record) -> str | None:
    """Where two traces part, to the digits that they keep."""
    one, two = before.get("trace", {}), after.get("trace", {})
    axis = _AXES.get(before["cell"]["kind"])
    if axis is not None:
        columns = [name for name in one if isinstance(one[name], list) and name in two]
        rows = [row for name in columns if (row := _unlike_row(one[name], two[name])) is not None]
        # one trace may be longer than the other
        return (
            f"at {axis} = {one[axis][min(rows)]}" if rows and min(rows) < len(one[axis]) else None
        )
    for name in _STEPS:
        if name in one and name in two:
            row = _unlike_row(one[name], two[name])
            return None if row is None else f"at measurement {row + 1} of {len(one[name])}"
    return None


def _unlike_row(one: Sequence[Any], two: Sequence[Any]) -> int | None:
    for row, (first, second) in enumerate(zip(one, two, strict=False)):
        if first != second:
            return row
    return min(len(one), len(two)) if len(one) != len(two) else None


def _ends(before: Record, after: Record, unlike: Sequence[str]) -> Iterator[str]:
    """The last numbers of both, where they differ; the most telling first."""
    one, two = (dict(_leaves(_readings(each, unlike))) for each in (before, after))
    names = [name for name in one if name in two and one[name] != two[name]]
    ranks = {name: [end not in name for end in _ENDS] for name in names}
    for name in sorted(names, key=ranks.__getitem__)[:_ENDS_SHOWN]:
        yield f"{name} at the end: {one[name]:.5g}, now {two[name]:.5g}"


def _readings(record: Record, names: Sequence[str]) -> dict[str, Any]:
    """What is read off a record under these names; of the best so far its regret, not its row."""
    found = {name: record[name] for name in names}
    trace = found.get("trace", {})
    if record["cell"]["kind"] == "optimise" and trace:
        best = trace["regret"][trace["best"][-1]]
        found["trace"] = {**trace, "best": {"regret": best}}
    return found


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Numbers by their path; of a list of numbers the last."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _leaves(inside, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and value:
        yield from _leaves(value[-1], name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value


def _otherwise(before: Record, after: Record) -> Iterator[str]:
    """What was not the same when two records of a cell were made."""
    if algorithm(before) != algorithm(after):
        yield f"{describe(before)}, now {describe(after)}"
    for words, one, two in (
        ("", libraries(before), libraries(after)),
        ("setting ", settings(before), settings(after)),
        ("data: ", before.get("task", {}), after.get("task", {})),
    ):
        packages = libraries(before).keys() if words else ()
        for name in dict.fromkeys([*one, *two]):
            if name not in packages and one.get(name) != two.get(name):
                yield f"{words}{name} {one.get(name, 'not said')}, now {two.get(name, 'not said')}"


# -- which records are run again ---------------------------------------------------------


def recorded(place: Path) -> Read:
    """All records of a file, or of a folder and the folders in it; the first of a cell stands."""
    inside = sorted(each for each in place.iterdir() if each.is_dir()) if place.is_dir() else []
    found = [read(each) for each in (place, *inside)]
    records: dict[str, Record] = {}
    for each in found:
        for record in each.records:
            records.setdefault(record["key"], record)
    return Read(list(records.values()), [note for each in found for note in each.notes])


@final
@dataclass(frozen=True)
class Sample:
    """Records to run again, and those that cannot be run here: key -> why."""

    chosen: list[Record]
    refused: dict[str, str]


def sample(records: Sequence[Record], count: int, seed: int) -> Sample:
    """`count` random records that can be run here, the same ones for the same seed."""
    ordered = sorted(records, key=lambda record: str(record["key"]))
    chosen: list[Record] = []
    refused: dict[str, str] = {}
    for place in np.random.default_rng(seed).permutation(len(ordered)):
        if len(chosen) == count:
            break
        record = ordered[place]
        why = lacking(Cell.from_json(record["cell"]))
        if why is None:
            chosen.append(record)
        else:
            refused[record["key"]] = why
    return Sample(chosen, refused)
