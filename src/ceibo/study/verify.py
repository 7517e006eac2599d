"""Computing past suggestions again from the record, to show that nothing else went into them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ceibo.decide.joint import starts_of
from ceibo.decide.record import ALGORITHM, algorithm_of, hyperparameters_of, versions
from ceibo.errors import DamagedError
from ceibo.study.deciding import Wish
from ceibo.study.dialling import dialled, was_dialled
from ceibo.study.ledger import Ledger
from ceibo.study.store.integrity import Finding
from ceibo.study.store.records import EMPTY, damaged

CLOSE = 1e-6  # of the box: the difference allowed to other versions and machines


@final
@dataclass(frozen=True)
class Difference:
    """A trial whose suggestion came out differently.

    `distance` is in units of the box; `made_with` are the versions that made the suggestion.
    """

    number: int
    distance: float
    made_with: dict[str, str]


@final
@dataclass(frozen=True)
class Verification:
    """How many suggestions were computed again, and how many of them came out the same.

    `identical` counts those that are the same byte for byte, as is expected where the versions are
    those that made the suggestion (`same_versions`); `close` counts those within 1e-6 of the box,
    which is enough elsewhere. Suggestions by another version of the arithmetic may come out
    differently: those that do are counted as `superseded`.

    `findings` are damages of the stored rows; where there is one, nothing is computed again.
    `uncovered` counts the rows without a checksum, which processes of an older ceibo wrote.
    """

    checked: int
    identical: int
    close: int
    same_versions: int
    differences: tuple[Difference, ...]
    superseded: int = 0
    findings: tuple[Finding, ...] = ()
    uncovered: int = 0

    @property
    def ok(self) -> bool:
        return not self.differences and not self.findings

    def __str__(self) -> str:
        if self.findings:
            count = len(self.findings)
            damages = "1 damage was" if count == 1 else f"{count} damages were"
            listed = "; ".join(each.sentence for each in self.findings[:3])
            return f"{damages} found in the database: {listed}; restore a copy."
        if self.ok:
            older = f"; {self.superseded} by another version of ceibo" if self.superseded else ""
            same = f"{self.identical} byte for byte, {self.close} within {CLOSE:g}"
            return f"{self.checked} suggestions verified: {same}{older}."
        numbers = ", ".join(str(each.number) for each in self.differences[:10])
        share = f"{len(self.differences)} of {self.checked}"
        return f"{share} suggestions came out differently: trials {numbers}."


def verify(ledger: Ledger) -> Verification:
    """Checks every suggestion of a study against its record, and the trials' settings with it."""
    stored = ledger.store.examine(ledger.id)
    if stored.findings:
        return Verification(0, 0, 0, 0, (), 0, stored.findings, stored.uncovered)
    identical = close = same = checked = superseded = 0
    differences = []
    now = ledger.store.snapshot(ledger.id)
    seen = EMPTY
    for number, record in _in_order(ledger):
        seen = ledger.store.snapshot(ledger.id, record["seen"], since=seen)
        _check(ledger, number, record, len(ledger.spaces.frame(seen.changes).space))
        decider = ledger.spaces.decider(seen.changes)
        again = decider.suggest(seen, number, record, "start", Wish.of(record))
        expected = again.x
        if was_dialled(record):
            frame = ledger.spaces.frame(seen.changes)
            again = dialled(frame.space, again)
            expected = frame.place(again.params)
        unchanged = record["versions"] == versions()
        pairs = (again.x, record["x"]), (expected, decider.place(now.trials[number]))
        distance = float(max(np.max(np.abs(a - np.asarray(b))) for a, b in pairs))
        alike = distance == 0.0 and (not unchanged or _agrees(again.record, record))
        near = distance <= CLOSE and not unchanged
        if not (alike or near) and algorithm_of(record) != ALGORITHM:
            superseded += 1
            continue
        checked += 1
        same += unchanged
        if alike:
            identical += 1
        elif near:
            close += 1
        else:
            differences.append(Difference(number, distance, record["versions"]))
    counts = (checked, identical, close, same)
    return Verification(*counts, tuple(differences), superseded, (), stored.uncovered)


def _in_order(ledger: Ledger) -> list[tuple[int, dict[str, Any]]]:
    """The records of the suggestions in the order in which they were made, with their numbers."""
    made = []
    for number, record in ledger.store.suggestions(ledger.id).items():
        if record.get("source") in ("initial", "model"):
            if type(record.get("seen")) is not int:
                raise _unreadable(ledger, number)
            made.append((number, record))
    return sorted(made, key=lambda pair: (pair[1]["seen"], pair[0]))


def _check(ledger: Ledger, number: int, record: Mapping[str, Any], dimension: int) -> None:
    """Refuses a record that no ceibo wrote; only one without a checksum can be such."""
    try:
        start = hyperparameters_of(record, "start")
        starts = [*starts_of(record, "start").values(), *([] if start is None else [start])]
        sizes = [np.array(record["x"], float).shape]
        sizes += [np.array(each.lengthscales, float).shape for each in starts]
        right = sizes == [(dimension,)] * len(sizes)
        right = right and isinstance(record["versions"], dict) and algorithm_of(record) >= 1
    except (AttributeError, LookupError, TypeError, ValueError):
        right = False
    if not right:
        raise _unreadable(ledger, number)


def _unreadable(ledger: Ledger, number: int) -> DamagedError:
    what = f"the suggestion of trial {number} of study {ledger.name!r}"
    return damaged(what, "it cannot be read")


def _agrees(now: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether everything recorded came out again."""
    return now == {**record, "algorithm": now["algorithm"]}
