"""Clocks that jump: nothing is lost, and nothing blocked for long (more in soak/clocks.py)."""

from collections.abc import Iterator

import pytest

from ceibo.decide.measurement import Measurement
from ceibo.study.store import Lease, NewTrial, Store, hand_out_key
from soak.clocks import Clock, clock_of_databases, simulate

HOUR = 3600.0


@pytest.fixture
def clock() -> Iterator[Clock]:
    made_up = Clock()
    with clock_of_databases(made_up):
        yield made_up


def test_a_clock_that_goes_back_blocks_a_trial_for_one_lease_at_most(clock: Clock) -> None:
    store = Store("sqlite://")
    study = store.create_study("clocks", {}, {}).id
    store.create_trials(study, [NewTrial({}, lease=Lease("dead", 60.0))])
    clock.shown -= HOUR
    assert store.claim(study, Lease("other", 60.0)) is None  # it may be alive, and renew its lease
    clock.advance(59.0)
    assert store.claim(study, Lease("other", 60.0)) is None
    clock.advance(2.0)
    taken = store.claim(study, Lease("other", 60.0))
    assert taken is not None
    assert taken.attempt == 2


def test_a_living_worker_keeps_its_trial_when_the_clock_goes_back(clock: Clock) -> None:
    store = Store("sqlite://")
    study = store.create_study("clocks", {}, {}).id
    lease = Lease("alive", 60.0)
    store.create_trials(study, [NewTrial({}, lease=lease)])
    clock.shown -= HOUR
    for _ in range(12):
        assert store.claim(study, Lease("other", 60.0)) is None
        clock.advance(20.0)
        assert store.heartbeat(study, lease) == {0}


def test_a_lease_is_not_judged_by_the_length_of_anothers(clock: Clock) -> None:
    store = Store("sqlite://")
    study = store.create_study("clocks", {}, {}).id
    store.create_trials(study, [NewTrial({}, lease=Lease("patient", 24 * HOUR))])
    assert store.claim(study, Lease("hasty", 1.0)) is None
    clock.advance(23 * HOUR)
    assert store.claim(study, Lease("hasty", 1.0)) is None


def test_after_a_jump_forward_both_results_are_kept(clock: Clock) -> None:
    store = Store("sqlite://")
    study = store.create_study("clocks", {}, {}).id
    first, second = Lease("first", 60.0), Lease("second", 60.0)
    store.create_trials(study, [NewTrial({}, lease=first), NewTrial({}, lease=first)])
    clock.shown += HOUR
    taken = store.claim(study, second)
    assert taken is not None
    assert store.heartbeat(study, first) == {1}  # what nobody took is its own again
    assert store.claim(study, second) is None
    store.tell(study, 0, Measurement(1.0), hand_out_key(1))
    store.tell(study, 0, Measurement(2.0), hand_out_key(taken.attempt))
    told = store.snapshot(study).trials[0].measurements
    assert [each.measurement.value for each in told] == [1.0, 2.0]


def test_simulated_runs() -> None:
    figures = simulate(runs=6, steps=60, seed=3)
    assert figures.wrong == []
    assert min(figures.told, figures.jumps, figures.deaths, figures.taken_twice) > 0
