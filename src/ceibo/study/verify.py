"""Computing past suggestions again from the record, to show that nothing else went into them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ceibo.decide.record import ALGORITHM, algorithm_of, hyperparameters_of, to_record, versions
from ceibo.decide.suggest import Suggestion
from ceibo.study.ledger import Ledger
from ceibo.study.store.records import EMPTY

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
    which is enough elsewhere. Suggestions by an older version of the arithmetic cannot be computed
    again: they are counted as `superseded`.
    """

    checked: int
    identical: int
    close: int
    same_versions: int
    differences: tuple[Difference, ...]
    superseded: int = 0

    @property
    def ok(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        if self.ok:
            older = f"; {self.superseded} by an older version of ceibo" if self.superseded else ""
            same = f"{self.identical} byte for byte, {self.close} within {CLOSE:g}"
            return f"{self.checked} suggestions verified: {same}{older}."
        numbers = ", ".join(str(each.number) for each in self.differences[:10])
        share = f"{len(self.differences)} of {self.checked}"
        return f"{share} suggestions came out differently: trials {numbers}."


def verify(ledger: Ledger) -> Verification:
    """Checks every suggestion of a study against its record, and the trials' settings with it."""
    identical = close = same = checked = superseded = 0
    differences = []
    now = ledger.store.snapshot(ledger.id)
    seen = EMPTY
    records = ledger.store.suggestions(ledger.id)
    for number in sorted(records, key=lambda each: (records[each].get("seen", 0), each)):
        record = records[number]
        if record["source"] not in ("initial", "model"):
            continue
        if algorithm_of(record) != ALGORITHM:
            superseded += 1
            continue
        checked += 1
        seen = ledger.store.snapshot(ledger.id, record["seen"], since=seen)
        again = ledger.suggest(seen, number, hyperparameters_of(record, "start"))
        unchanged = record["versions"] == versions()
        same += unchanged
        handed_out = ledger.space.to_unit(now.trials[number].params)
        distance = float(max(np.max(np.abs(again.x - x)) for x in (record["x"], handed_out)))
        if distance == 0.0 and (not unchanged or _agrees(again, record, ledger.seed)):
            identical += 1
        elif distance <= CLOSE and not unchanged:
            close += 1
        else:
            differences.append(Difference(number, distance, record["versions"]))
    return Verification(checked, identical, close, same, tuple(differences), superseded)


def _agrees(again: Suggestion, record: Mapping[str, Any], seed: int) -> bool:
    """Whether everything recorded came out again."""
    return to_record(again, record["seen"], seed) == record
