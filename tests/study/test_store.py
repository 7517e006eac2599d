"""What each operation of the store means, on both databases."""

import math
import struct
import threading
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceibo.decide.measurement import Measurement
from ceibo.errors import ConflictError, InputError, NotFoundError, NumberTakenError, StorageError
from ceibo.study.store import (
    DONE,
    FAILED,
    MAX_LOST,
    QUEUED,
    RUNNING,
    WITHDRAWN,
    Heartbeat,
    Lease,
    NewTrial,
    Store,
    StudyRecord,
    hand_out_key,
    schema,
)

X = {"x": 0.5}


def ask(store: Store, study: StudyRecord, lease: Lease | None = None) -> int:
    return store.create_trials(study.id, [NewTrial(X, lease=lease)])[0].number


def state(store: Store, study: StudyRecord, number: int) -> str:
    return store.snapshot(study.id).trials[number].state


def test_studies_are_found_by_name(store: Store, study: StudyRecord) -> None:
    assert store.study("catalyst") == study
    other = store.create_study(
        "Ünïcode 🌳 {x} %s '; DROP TABLE ceibo_studies", {"b": 1, "a": 2}, {"z": None}
    )
    assert store.studies() == (study, other)
    assert list(store.study(other.name).space) == ["b", "a"]
    with pytest.raises(ConflictError, match="'catalyst' exists already; open it"):
        store.create_study("catalyst", {}, {})
    with pytest.raises(NotFoundError, match=r"no study named 'typo' in .*there are: 'catalyst'"):
        store.study("typo")
    for name in ("", "a\0b", "a\nb", "x" * 201):
        with pytest.raises(InputError, match="study name"):
            store.create_study(name, {}, {})
    with pytest.raises(InputError, match="JSON"):
        store.create_study("nan", {"low": math.nan}, {})


def test_numbers_count_from_zero_and_suggestions_are_kept(store: Store, study: StudyRecord) -> None:
    first = store.create_trials(study.id, [NewTrial(X, {"seen": 0}), NewTrial({"x": 1e-300})])
    assert [trial.number for trial in first] == [0, 1]
    assert first[1].params == {"x": 1e-300}
    assert store.create_trials(study.id, []) == ()
    third = store.create_trials(
        study.id, [NewTrial(X, {"seen": 2, "start": [0.1]})], expect_number=2
    )
    assert third == store.snapshot(study.id).trials[2:]
    with pytest.raises(NumberTakenError, match="next trial is number 3, not 2"):
        store.create_trials(study.id, [NewTrial(X)], expect_number=2)
    assert store.suggestions(study.id) == {0: {"seen": 0}, 2: {"seen": 2, "start": [0.1]}}
    assert store.suggestions(study.id, [2, 1]) == {2: {"seen": 2, "start": [0.1]}}
    assert len(store.snapshot(study.id).trials) == 3


def test_tell_is_idempotent_per_key(store: Store, study: StudyRecord) -> None:
    number = ask(store, study)
    told = store.tell(study.id, number, Measurement(0.31, noise=0.04))
    assert told.new
    for _ in range(3):
        again = store.tell(study.id, number, Measurement(0.31, noise=0.04))
        assert (again.seq, again.new) == (told.seq, False)
    for other in (Measurement(0.32, noise=0.04), Measurement(0.31), Measurement.of([0.31])):
        with pytest.raises(ConflictError, match=r'trial 0 has .*key="run-2"'):
            store.tell(study.id, number, other)
    assert store.tell(study.id, number, Measurement.of([0.3, 0.4]), "run-2").new
    assert not store.tell(study.id, number, Measurement.of([0.3, 0.4]), "run-2").new
    with pytest.raises(ConflictError, match="under the key 'run-2'"):
        store.tell(study.id, number, Measurement(0.3), "run-2")
    trial = store.snapshot(study.id).trials[number]
    assert [(m.key, m.measurement) for m in trial.measurements] == [
        ("", Measurement(0.31, 0.04)),
        ("run-2", Measurement.of([0.3, 0.4])),
    ]
    assert store.snapshot(study.id).seq == 3
    with pytest.raises(NotFoundError, match="no trial 7; it has numbers 0 to 0"):
        store.tell(study.id, 7, Measurement(0.1))
    with pytest.raises(InputError, match="record a failure"):
        store.tell(study.id, number, Measurement(math.nan), "k")
    with pytest.raises(NotFoundError, match="no study with id"):
        store.tell(study.id + 1, 0, Measurement(0.1))


def test_floats_keep_every_bit(store: Store, study: StudyRecord) -> None:
    values = [
        5e-324,
        -5e-324,
        2.2250738585072014e-308,
        1.7976931348623157e308,
        0.1,
        1 / 3,
        -1e-300,
        0.0,
    ]
    new = [
        NewTrial({"x": v}, {"acquisition": v}, measurement=Measurement(v, abs(v))) for v in values
    ]
    store.create_trials(study.id, new)
    for v, trial in zip(values, store.snapshot(study.id).trials, strict=True):
        stored = trial.measurements[0].measurement
        assert struct.pack("<ddd", trial.params["x"], stored.value, stored.noise) == struct.pack(
            "<ddd", v, v, abs(v)
        )
    assert [s["acquisition"] for s in store.suggestions(study.id).values()] == values


def test_queue_hands_out_in_order_and_once(store: Store, study: StudyRecord) -> None:
    assert store.claim(study.id) is None
    store.create_trials(study.id, [NewTrial({"x": float(k)}, queued=True) for k in range(3)])
    claimed = [store.claim(study.id) for _ in range(4)]
    assert [t.number if t else None for t in claimed] == [0, 1, 2, None]
    assert claimed[0] == store.snapshot(study.id).trials[0]
    assert store.release(study.id, 1)
    assert not store.release(study.id, 1)
    again = store.claim(study.id, Lease("w"))
    assert again is not None
    assert (again.number, again.attempt, again.worker) == (1, 2, "w")


def test_a_trial_that_is_lost_with_every_worker_is_given_up(
    store: Store, study: StudyRecord
) -> None:
    def let_lapse() -> None:
        store._database.write(
            lambda connection: connection.execute(schema.trials.update().values(lease_until=0.0))
        )

    for number in range(2):
        assert ask(store, study, Lease("first")) == number
    for attempt in range(2, MAX_LOST + 1):
        let_lapse()
        for number in range(2):
            again = store.claim(study.id, Lease(f"worker-{attempt}"))
            assert again is not None
            assert (again.number, again.attempt) == (number, attempt)
    let_lapse()
    assert store.claim(study.id, Lease("last")) is None
    assert store.claim(study.id) is None
    for trial in store.snapshot(study.id).trials:
        assert (trial.state, trial.attempt) == (FAILED, MAX_LOST)
        assert "given up: 3 times a worker began it and was gone" in (trial.reason or "")
    store.tell(study.id, 1, Measurement(0.5))  # a late result counts all the same
    assert state(store, study, 1) == DONE


def test_what_counts_as_lost(store: Store, study: StudyRecord) -> None:
    """Hand-outs to people and trials given back in good order do not; a worker that broke does."""
    ask(store, study, Lease("w"))
    for _ in range(MAX_LOST):
        assert store.release(study.id, 0)
        assert store.claim(study.id) is not None
        assert store.release(study.id, 0)
        assert store.claim(study.id, Lease("w")) is not None
    for _ in range(MAX_LOST - 1):
        assert store.release(study.id, 0, "w", lost="BrokenProcessPool")
        assert store.claim(study.id, Lease("w")) is not None
    assert store.snapshot(study.id).trials[0].reason is None
    assert store.release(study.id, 0, "w", lost="BrokenProcessPool")
    assert store.claim(study.id, Lease("w")) is None
    assert state(store, study, 0) == FAILED


def test_a_lapsed_lease_is_handed_out_again_and_the_late_result_is_kept(
    store: Store, study: StudyRecord
) -> None:
    by_hand = ask(store, study)
    number = ask(store, study, Lease("slow", 0.15))
    assert store.claim(study.id, Lease("fast")) is None
    time.sleep(0.25)
    trial = store.claim(study.id, Lease("fast"))
    assert trial is not None
    assert (trial.number, trial.attempt, trial.worker) == (number, 2, "fast")
    assert store.claim(study.id, Lease("third")) is None
    store.fail(study.id, number, "slow gave up", worker="slow")
    assert not store.release(study.id, number, worker="slow")
    assert state(store, study, number) == RUNNING
    store.tell(study.id, number, Measurement(2.0), hand_out_key(trial.attempt))
    store.tell(study.id, number, Measurement(1.0), hand_out_key(1))
    kept = store.snapshot(study.id).trials[number]
    assert [m.measurement.value for m in kept.measurements] == [2.0, 1.0]
    assert kept.reason == "slow gave up"
    assert state(store, study, by_hand) == RUNNING


def test_heartbeats_keep_a_lease(store: Store, study: StudyRecord) -> None:
    lease = Lease("w", 0.3)
    number = ask(store, study, lease)
    with Heartbeat(store, study.id, lease) as heartbeat:
        time.sleep(0.7)
        assert store.claim(study.id, Lease("other")) is None
        assert heartbeat.held == {number}
        assert store.leases(study.id)[number][0] == "w"
    time.sleep(0.4)
    assert store.leases(study.id)[number][1] < 0
    taken = store.claim(study.id, Lease("other"))
    assert taken is not None
    assert store.heartbeat(study.id, lease) == frozenset()
    assert store.heartbeat(study.id, Lease("other")) == {number}


def test_a_heartbeat_survives_errors(
    store: Store, study: StudyRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease, real, calls = Lease("w", 0.15), store.heartbeat, []
    ask(store, study, lease)

    def flaky(study_id: int, lease: Lease) -> frozenset[int]:
        calls.append(1)
        if len(calls) <= 5:
            raise StorageError("away")
        return real(study_id, lease)

    monkeypatch.setattr(store, "heartbeat", flaky)
    with Heartbeat(store, study.id, lease) as heartbeat:
        time.sleep(0.8)
    assert heartbeat.held == {0}
    assert heartbeat.last_error is None


def test_failures_keep_their_reason(store: Store, study: StudyRecord) -> None:
    number = ask(store, study)
    seq = store.fail(study.id, number, "reactor \0 leaked \ud800")
    assert store.fail(study.id, number, "reactor \0 leaked \ud800") == seq
    trial = store.snapshot(study.id).trials[number]
    assert (trial.state, trial.reason) == (FAILED, "reactor \\0 leaked \\ud800")
    store.fail(study.id, number, "x" * 50_000)
    assert len(store.snapshot(study.id).trials[number].reason or "") < 20_100
    store.tell(study.id, number, Measurement(1.0))
    assert state(store, study, number) == DONE
    store.fail(study.id, number, "too late")
    assert state(store, study, number) == DONE
    assert store.create_trials(study.id, [NewTrial(X, reason="broken")])[0].state == FAILED


def test_every_past_moment_can_be_read(store: Store, study: StudyRecord) -> None:
    seen = [store.snapshot(study.id)]

    def note() -> None:
        seen.append(store.refresh(study.id, seen[-1]))

    ask(store, study)
    note()
    store.create_trials(
        study.id, [NewTrial(X, queued=True), NewTrial(X, measurement=Measurement(1.0))]
    )
    note()
    store.tell(study.id, 0, Measurement(0.1))
    note()
    store.claim(study.id, Lease("w"))
    note()
    store.fail(study.id, 1, "no", worker="w")
    note()
    store.tell(study.id, 0, Measurement(0.2), "b")
    note()
    for snapshot in seen:
        assert store.snapshot(study.id, at=snapshot.seq) == snapshot
        assert store.refresh(study.id, snapshot) == seen[-1]
    assert [e.seq for e in store.events(study.id)] == list(range(1, seen[-1].seq + 1))
    assert [e.kind for e in store.events(study.id, since=4)] == ["claimed", "failed", "measured"]
    with pytest.raises(InputError, match="sequence number from 0 to 7, got 8"):
        store.snapshot(study.id, at=8)


def correct_any(store: Store, study: StudyRecord, number: int, variant: int, value: int) -> None:
    """Replace a measurement by something new if there is one of that key."""
    told = [
        each.key
        for trial in store.snapshot(study.id).trials[number : number + 1]
        for each in trial.measurements
    ]
    if str(variant) in told:
        store.correct(study.id, number, Measurement(value), str(variant))


actions = st.lists(
    st.tuples(st.sampled_from("aqctkfrwe"), st.integers(0, 5), st.integers(0, 2)), max_size=25
)


@settings(max_examples=60, deadline=None)
@given(actions)
def test_history_replays_to_every_state_it_passed(sequence: list[tuple[str, int, int]]) -> None:
    store = Store("sqlite://")
    study = store.create_study("s", {}, {})
    moments = [store.snapshot(study.id)]
    for action, number, variant in sequence:
        operations: dict[str, Any] = {
            "a": lambda v=variant: store.create_trials(study.id, [NewTrial(X)] * (v + 1)),
            "q": lambda: store.create_trials(study.id, [NewTrial(X, queued=True)]),
            "c": lambda v=variant: store.claim(study.id, Lease(f"w{v}") if v else None),
            "t": lambda n=number, v=variant: store.tell(study.id, n, Measurement(0.5), str(v)),
            "k": lambda n=number, v=variant: correct_any(store, study, n, v, len(moments)),
            "f": lambda n=number, v=variant: store.fail(study.id, n, "r", f"w{v}" if v else None),
            "r": lambda n=number: store.release(study.id, n),
            "w": lambda n=number: store.withdraw(study.id, n),
            "e": lambda: store.heartbeat(study.id, Lease("w1")),
        }
        try:
            operations[action]()
        except NotFoundError:
            assert number >= len(moments[-1].trials)
        moments.append(store.refresh(study.id, moments[-1]))
    for moment in moments:
        assert store.snapshot(study.id, at=moment.seq) == moment
        assert [t.number for t in moment.trials] == list(range(len(moment.trials)))
        for trial in moment.trials:
            assert (trial.state == DONE) == bool(trial.measurements)
            assert trial.state in (QUEUED, RUNNING, DONE, FAILED, WITHDRAWN)
    store.close()


def test_memory_is_shared_by_threads() -> None:
    store = Store("sqlite://")
    study = store.create_study("s", {}, {})

    def work() -> None:
        for _ in range(20):
            store.tell(study.id, ask(store, study), Measurement(1.0))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    snapshot = store.snapshot(study.id)
    assert len(snapshot.in_state(DONE)) == 80


def test_bad_leases(store: Store, study: StudyRecord) -> None:
    for lease in (Lease("", 1), Lease("w", 0), Lease("w", math.inf), Lease("w", math.nan)):
        with pytest.raises(InputError, match="expected a"):
            store.claim(study.id, lease)
