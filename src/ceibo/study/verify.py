"""Computing past suggestions again from the record, to show that nothing else went into them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ceibo.study.record import hyperparameters_of, versions
from ceibo.study.space import Space
from ceibo.study.store import Snapshot, Store
from ceibo.study.suggest import Evidence, Settings, suggest

CLOSE = 1e-6  # of the box: what other versions or machines may differ by


@final
@dataclass(frozen=True)
class Difference:
    """A trial whose suggestion came out differently: by how much, in units of the box, and what it was made with."""

    number: int
    distance: float
    made_with: dict[str, str]


@final
@dataclass(frozen=True)
class Verification:
    """How many suggestions were computed again, how many came out byte for byte, how many within 1e-6 of the box.

    Byte identity is expected where the versions are the same as when the suggestion was made (`same_versions` counts
    those); elsewhere closeness is.
    """

    checked: int
    identical: int
    close: int
    same_versions: int
    differences: tuple[Difference, ...]

    @property
    def ok(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        if self.ok:
            return (
                f"{self.checked} suggestions verified: {self.identical} byte for byte, {self.close} within {CLOSE:g}."
            )
        numbers = ", ".join(str(each.number) for each in self.differences[:10])
        return f"{len(self.differences)} of {self.checked} suggestions came out differently: trials {numbers}."


def verify(
    store: Store, study_id: int, space: Space, settings: Settings, evidence: Callable[[Snapshot], Evidence]
) -> Verification:
    """Checks every suggestion of a study against its record."""
    identical = close = same = checked = 0
    differences = []
    for number, record in store.suggestions(study_id).items():
        if record["source"] not in ("initial", "model"):
            continue
        checked += 1
        recorded = np.array(record["x"])
        again = _again(record, evidence(store.snapshot(study_id, record["seen"])), space, settings, number)
        unchanged = record["versions"] == versions()
        same += unchanged
        distance = float(np.max(np.abs(again - recorded)))
        if again.tobytes() == recorded.tobytes():
            identical += 1
        elif distance <= CLOSE and not unchanged:
            close += 1
        else:
            differences.append(Difference(number, distance, record["versions"]))
    return Verification(checked, identical, close, same, tuple(differences))


def _again(record: dict[str, Any], seen: Evidence, space: Space, settings: Settings, number: int) -> Any:
    return suggest(seen, space, settings, hyperparameters_of(record, "start"), record["seed"], number).x
