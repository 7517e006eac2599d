"""A trial as users see it, and what all trials together say to the model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo.decide.measurement import Measurement
from ceibo.decide.space import Params
from ceibo.decide.suggest import Evidence
from ceibo.gp.inputs import Array
from ceibo.study.store import DONE, FAILED, WITHDRAWN, Snapshot, StoredTrial


@final
@dataclass(frozen=True)
class Trial:
    """One setting of the parameters and what came of it.

    `state` is "queued", "running", "done", "failed" or "withdrawn"; `reason` is that of the last
    failure; `attempt` counts how often the trial was handed out; `replaced` holds, for each
    measurement, what it was before it was corrected, oldest first.
    """

    number: int
    params: Params
    state: str
    measurements: tuple[Measurement, ...]
    reason: str | None
    attempt: int
    replaced: tuple[tuple[Measurement, ...], ...]


def trial_of(stored: StoredTrial) -> Trial:
    """The user's view of a stored trial; its params are the user's own, to change as they like."""
    measurements = tuple(each.measurement for each in stored.measurements)
    replaced = tuple(each.replaced for each in stored.measurements)
    return Trial(
        stored.number,
        dict(stored.params),
        stored.state,
        measurements,
        stored.reason,
        stored.attempt,
        replaced,
    )


def evidence_of(
    snapshot: Snapshot, coordinates: Callable[[StoredTrial], Array], sign: float
) -> Evidence:
    """What a snapshot says to the model: values times `sign`, in the order they were told."""
    rows: list[tuple[int, Array, Measurement]] = []
    pending, failed, withdrawn, streak = [], [], [], 0
    for trial in snapshot.trials:
        x = coordinates(trial)
        rows += [(each.seq, x, each.measurement) for each in trial.measurements]
        streak = streak + 1 if trial.state == FAILED else 0 if trial.state == DONE else streak
        if trial.state == FAILED:
            failed.append(x)
        elif trial.state == WITHDRAWN:
            withdrawn.append(x)
        elif trial.state != DONE:
            pending.append(x)
    rows.sort(key=lambda row: row[0])
    X, y, noise, group = [], [], [], []
    for index, (_, x, measurement) in enumerate(rows):
        values = measurement.replicates or (measurement.value,)
        X += [x] * len(values)
        y += [sign * value for value in values]
        # The noise told is that of the value, the mean of its replicates.
        each = np.nan if measurement.noise is None else measurement.noise * np.sqrt(len(values))
        noise += [each] * len(values)
        group += [index] * len(values)
    d = len(coordinates(snapshot.trials[0])) if snapshot.trials else 0
    return Evidence(
        X=np.reshape(X, (len(y), d)),
        y=np.array(y),
        noise=np.array(noise),
        group=np.array(group, dtype=np.intp),
        pending=np.reshape(pending, (len(pending), d)),
        failed=np.reshape(failed, (len(failed), d)),
        trials=len(snapshot.trials),
        streak=streak,
        withdrawn=np.reshape(withdrawn, (len(withdrawn), d)),
    )
