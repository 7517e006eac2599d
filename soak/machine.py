"""Random sequences of everything a study does; no invariant may break.

A kill is simulated by dropping the study without a word and opening it again from its file; kills
of real processes at every statement are in soak.kills and in the tests of the store.
"""

import argparse
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from ceibo import Categorical, Float, Int, Measurement, Study, Trial
from ceibo.errors import ConflictError
from ceibo.study.store import DONE, FAILED, QUEUED, RUNNING, WITHDRAWN

SPACE: dict[str, Float | Int | Categorical] = {
    "x": Float(-1, 1),
    "k": Int(0, 3),
    "c": Categorical(["a", "b"]),
}
LEGAL = {
    QUEUED: {QUEUED, RUNNING, DONE, FAILED, WITHDRAWN},
    RUNNING: {QUEUED, RUNNING, DONE, FAILED, WITHDRAWN},
    FAILED: {FAILED, DONE},
    WITHDRAWN: {WITHDRAWN, DONE},
    DONE: {DONE},
}
values = st.floats(-1e6, 1e6) | st.floats(allow_nan=False, allow_infinity=False)
noises = st.none() | st.floats(0, 1e3)
measurements = st.builds(Measurement, values, noises) | st.builds(
    Measurement.of, st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=3)
)
numbers = st.integers(0, 40)


@final
class StudyMachine(RuleBasedStateMachine):
    """A study and, beside it, what was acknowledged.

    Suggestions are those of an initial design that does not end.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.url = f"sqlite:///{Path(self.folder.name) / 'study.db'}"
        self.study = Study.create(SPACE, storage=self.url, seed=7, n_initial=1_000_000)
        self.told: dict[tuple[int, str], Measurement] = {}
        self.first: dict[tuple[int, str], Measurement] = {}  # told before the first correction
        self.asked: list[Trial] = []
        self.states: list[str] = []

    def pick(self, number: int) -> Trial | None:
        return self.asked[number % len(self.asked)] if self.asked else None

    @rule()
    def ask(self) -> None:
        trial = self.study.ask()
        assert trial.state == RUNNING
        self.asked.append(trial)

    @rule(count=st.integers(2, 3))
    def ask_several(self, count: int) -> None:
        batch = self.study.ask(count)
        assert len({trial.number for trial in batch}) == count
        self.asked += batch

    @rule(number=numbers, measurement=measurements)
    def tell(self, number: int, measurement: Measurement) -> None:
        if (trial := self.pick(number)) is not None:
            key = "" if trial.attempt <= 1 else f"attempt-{trial.attempt}"
            self.record(trial, key, measurement, None)

    @rule(number=numbers, measurement=measurements, key=st.sampled_from(["run-2", "run-3"]))
    def tell_with_key(self, number: int, measurement: Measurement, key: str) -> None:
        if (trial := self.pick(number)) is not None:
            self.record(trial, key, measurement, key)

    def record(self, trial: Trial, key: str, measurement: Measurement, given: str | None) -> None:
        known = self.told.get((trial.number, key))
        try:
            self.study.tell(trial, measurement, key=given)
        except ConflictError:
            assert known is not None
            assert known != measurement
        else:
            assert measurement in (known or measurement, self.first.get((trial.number, key)))
            self.told.setdefault((trial.number, key), measurement)

    @rule(number=numbers, measurement=measurements)
    def correct(self, number: int, measurement: Measurement) -> None:
        if self.told:
            trial, key = sorted(self.told)[number % len(self.told)]
            assert self.study.correct(trial, measurement, key=key) == self.told[trial, key]
            self.first.setdefault((trial, key), self.told[trial, key])
            self.told[trial, key] = measurement

    @rule(number=numbers, value=st.sampled_from([math.nan, math.inf, -math.inf]))
    def tell_nothing(self, number: int, value: float) -> None:
        if (trial := self.pick(number)) is not None:
            self.study.tell(trial, value)

    @rule(number=numbers)
    def fail(self, number: int) -> None:
        if (trial := self.pick(number)) is not None:
            self.study.fail(trial, "leaked")

    @rule(number=numbers)
    def release(self, number: int) -> None:
        if (trial := self.pick(number)) is not None:
            try:
                self.study.release(trial)
            except ConflictError:
                assert self.states[trial.number] in (DONE, FAILED, WITHDRAWN)

    @rule(number=numbers)
    def withdraw(self, number: int) -> None:
        if (trial := self.pick(number)) is not None:
            try:
                self.study.withdraw(trial)
            except ConflictError:
                assert self.states[trial.number] in (DONE, FAILED)

    @rule(x=st.floats(-1, 1), measurement=measurements)
    def add(self, x: float, measurement: Measurement) -> None:
        trial = self.study.add({"x": x, "k": 1, "c": "a"}, measurement)
        self.told[trial.number, ""] = measurement

    @rule(x=st.floats(-1, 1))
    def enqueue(self, x: float) -> None:
        self.study.enqueue({"x": x, "k": 2, "c": "b"})

    @rule()
    def reopen(self) -> None:
        self.study.close()
        self.study = Study.open(self.url, space=SPACE)

    @rule()
    def die(self) -> None:
        self.study = Study.open(self.url)  # what the dead process held in memory is gone

    @rule()
    def verify(self) -> None:
        assert self.study.verify().ok

    @invariant()
    def nothing_is_lost(self) -> None:
        trials = self.study.trials
        stored = [m for trial in trials for m in trial.measurements]
        assert len(stored) == len(self.told)
        for (number, _), measurement in self.told.items():
            assert measurement in trials[number].measurements

    @invariant()
    def numbers_and_states_are_legal(self) -> None:
        trials = self.study.trials
        assert [trial.number for trial in trials] == list(range(len(trials)))
        for trial in trials:
            assert (trial.state == DONE) == bool(trial.measurements)
        assert len(trials) >= len(self.states)
        for before, trial in zip(self.states, trials, strict=False):
            assert trial.state in LEGAL[before]
        self.states = [trial.state for trial in trials]

    def teardown(self) -> None:
        """Checks, at the end of each sequence, what a later reader finds."""
        later = Study.open(self.url)
        assert later.trials == self.study.trials
        assert later.verify().ok
        if self.told:
            best = later.best
            assert best.number is not None
            assert later.trials[best.number].state == DONE
            assert later.space.check(best.params) == best.params
            assert later.best_observed.value == min(m.value for m in self.told.values())
        later.close()
        self.study.close()
        self.folder.cleanup()


def run_sequences(count: int) -> None:
    """Runs `count` sequences; raises the shortest one that breaks an invariant."""
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    options = settings(
        max_examples=count,
        stateful_step_count=25,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=checks,
    )
    run_state_machine_as_test(StudyMachine, settings=options)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=2000)
    options = parser.parse_args()
    begin = time.perf_counter()
    run_sequences(options.sequences)
    print(
        f"{options.sequences} sequences, 0 broken invariants, {time.perf_counter() - begin:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
