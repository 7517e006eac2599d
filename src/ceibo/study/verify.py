"""Computing past suggestions again from the record, to show that nothing else went into them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ceibo.decide.record import hyperparameters_of, to_record, versions
from ceibo.decide.space import Space
from ceibo.decide.suggest import Suggestion
from ceibo.gp import Hyperparameters
from ceibo.study.store import Snapshot, Store
from ceibo.study.store.records import EMPTY

CLOSE = 1e-6  # of the box: what other versions or machines may differ by


@final
@dataclass(frozen=True)
class Difference:
    """A trial whose suggestion came out differently: by how much, in units of the box, and what it
    was made with.
    """

    number: int
    distance: float
    made_with: dict[str, str]


@final
@dataclass(frozen=True)
class Verification:
    """How many suggestions were computed again, how many came out byte for byte, how many within
    1e-6 of the box.

    Byte identity is expected where the versions are the same as when the suggestion was made
    (`same_versions` counts those); elsewhere closeness is.
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
                f"{self.checked} suggestions verified: {self.identical} byte for byte, {self.close}"
                f" within {CLOSE:g}."
            )
        numbers = ", ".join(str(each.number) for each in self.differences[:10])
        return (
            f"{len(self.differences)} of {self.checked} suggestions came out differently: trials"
            f" {numbers}."
        )


Suggest = Callable[[Snapshot, int, Hyperparameters | None], Suggestion]


def verify(store: Store, study_id: int, space: Space, seed: int, suggest: Suggest) -> Verification:
    """Checks every suggestion of a study against its record, and the trials' settings against their
    suggestions.
    """
    identical = close = same = checked = 0
    differences = []
    now, seen = store.snapshot(study_id), EMPTY
    records = store.suggestions(study_id)
    for number in sorted(records, key=lambda each: (records[each].get("seen", 0), each)):
        record = records[number]
        if record["source"] not in ("initial", "model"):
            continue
        checked += 1
        seen = store.snapshot(study_id, record["seen"], since=seen)
        again = suggest(seen, number, hyperparameters_of(record, "start"))
        unchanged = record["versions"] == versions()
        same += unchanged
        recorded, used = np.array(record["x"]), space.to_unit(now.trials[number].params)
        distance = float(max(np.max(np.abs(again.x - recorded)), np.max(np.abs(again.x - used))))
        if distance == 0.0 and _agrees(to_record(again, record["seen"], seed), record, unchanged):
            identical += 1
        elif distance <= CLOSE and not unchanged:
            close += 1
        else:
            differences.append(Difference(number, distance, record["versions"]))
    return Verification(checked, identical, close, same, tuple(differences))


def _agrees(again: Mapping[str, Any], record: Mapping[str, Any], unchanged: bool) -> bool:
    """Whether everything recorded came out again; of other versions, only the point need be the
    same.
    """
    return not unchanged or dict(again) == dict(record)
