"""Several outcomes of a trial in the store: told together and apart, corrected, voided, and what is
refused; on both databases.
"""

import json
import threading
from collections.abc import Mapping
from typing import Any

import pytest
import sqlalchemy as sa

from ceibo import Measurement
from ceibo.errors import ConflictError, InputError, NewerSchemaError, NotFoundError
from ceibo.study.store import (
    DONE,
    FAILED,
    QUEUED,
    RUNNING,
    WITHDRAWN,
    Lease,
    Named,
    NewTrial,
    Store,
    StoredTrial,
    StudyRecord,
    Telling,
    Told,
)
from ceibo.study.store.transaction import StudyTransaction

X = {"x": 0.5}
NEEDED = ("yield", "impurity")
DATA = {"outcomes": {"yield": {"goal": "maximize"}, "impurity": {"at_most": 2.0}, "colour": {}}}


@pytest.fixture
def study(store: Store) -> StudyRecord:
    return store.create_study("lab", {}, {"seed": 0}, DATA)


def telling(values: Mapping[str, float], key: str = "", **options: Any) -> Telling:
    told = {name: Measurement(value) for name, value in values.items()}
    return Telling(told, NEEDED, key, **options)


def told(trial: StoredTrial) -> list[tuple[str, str, float]]:
    return [(each.outcome, each.key, each.measurement.value) for each in trial.measurements]


def only(store: Store, study: StudyRecord) -> StoredTrial:
    return store.snapshot(study.id).trials[0]


def sound(store: Store, study: StudyRecord) -> None:
    """The rows agree with one another, and every past state can be read again step by step."""
    assert store.examine(study.id).findings == ()
    now = store.snapshot(study.id)
    past = store.snapshot(study.id, at=0)
    for seq in range(1, now.seq + 1):
        past = store.snapshot(study.id, at=seq, since=past)
        assert past == store.snapshot(study.id, at=seq)
    assert past == now


def test_outcomes_of_a_study_are_kept(store: Store, study: StudyRecord) -> None:
    assert store.study("lab").data == study.data == DATA
    assert store.create_study("plain", {}, {}).data is None


def test_told_together_is_one_transaction(store: Store, study: StudyRecord) -> None:
    store.create_trials(study.id, [NewTrial(X)])
    assert store.tell(study.id, 0, telling({"yield": 80, "impurity": 1})) == Told(3, True)
    trial = only(store, study)
    assert (trial.state, told(trial)) == (DONE, [("yield", "", 80), ("impurity", "", 1)])
    first, second = store.events(study.id)[1:]
    assert (first.state, second.state, first.time) == (RUNNING, DONE, second.time)
    sound(store, study)


def test_told_apart_in_any_order_and_after_days(store: Store, study: StudyRecord) -> None:
    store.create_trials(study.id, [NewTrial(X)])
    store.tell(study.id, 0, telling({"impurity": 1}))
    assert only(store, study).state == RUNNING
    store.tell(study.id, 0, telling({"colour": 3}))
    assert only(store, study).state == RUNNING  # a watched outcome is not needed
    store.tell(study.id, 0, telling({"yield": 80}))
    assert only(store, study).state == DONE
    store.tell(study.id, 0, telling({"colour": 4}, "run-2"))
    assert only(store, study).state == DONE
    sound(store, study)


def test_told_again_changes_nothing_and_otherwise_is_a_conflict(
    store: Store, study: StudyRecord
) -> None:
    store.create_trials(study.id, [NewTrial(X)])
    store.tell(study.id, 0, telling({"yield": 80}))
    assert store.tell(study.id, 0, telling({"yield": 80})) == Told(2, False)
    with pytest.raises(ConflictError, match=r"trial 0 has yield = .*80.* already, got .*81"):
        store.tell(study.id, 0, telling({"impurity": 1, "yield": 81}))
    assert told(only(store, study)) == [("yield", "", 80)]  # all or none
    store.tell(study.id, 0, telling({"yield": 80, "impurity": 1}))
    store.tell(study.id, 0, telling({"yield": 81}, "run-2"))
    assert told(only(store, study)) == [
        ("yield", "", 80),
        ("impurity", "", 1),
        ("yield", "run-2", 81),
    ]
    sound(store, study)


@pytest.mark.parametrize(
    ("leads", "partial"),
    [("queued", RUNNING), ("failed", FAILED), ("withdrawn", WITHDRAWN), ("claimed", RUNNING)],
)
def test_states_while_an_outcome_is_missing(
    store: Store, study: StudyRecord, leads: str, partial: str
) -> None:
    store.create_trials(study.id, [NewTrial(X, queued=True)])
    if leads == "failed":
        store.fail(study.id, 0, "broken")
    elif leads == "withdrawn":
        store.withdraw(study.id, 0)
    elif leads == "claimed":
        store.claim(study.id, Lease("w", 600.0))
    store.tell(study.id, 0, telling({"yield": 80}))
    trial = only(store, study)
    assert (trial.state, trial.worker) == (partial, "w" if leads == "claimed" else None)
    store.tell(study.id, 0, telling({"impurity": 1}))
    assert (only(store, study).state, only(store, study).worker) == (DONE, None)
    sound(store, study)


def test_a_worker_that_has_told_all_it_has_lets_the_trial_go(
    store: Store, study: StudyRecord
) -> None:
    lease = Lease("w", 600.0)
    for _ in range(4):  # more often than a trial may be lost
        if not store.snapshot(study.id).trials:
            store.create_trials(study.id, [NewTrial(X, lease=lease)])
        else:
            assert store.release(study.id, 0)
            claimed = store.claim(study.id, lease)
            assert claimed is not None
            assert claimed.state == RUNNING
        attempt = only(store, study).attempt
        store.tell(study.id, 0, telling({"yield": 80}, f"attempt-{attempt}", ends=True))
        trial = only(store, study)
        assert (trial.state, trial.worker, store.leases(study.id)) == (RUNNING, None, {})
        assert store.claim(study.id, lease) is None  # it waits, and is not measured again
    sound(store, study)


def test_a_value_that_is_not_finite_fails_the_trial_and_the_others_stay(
    store: Store, study: StudyRecord
) -> None:
    store.create_trials(study.id, [NewTrial(X)])
    failing = telling({"yield": 80}, failure="impurity is nan")
    for _ in range(2):
        store.tell(study.id, 0, failing)
    trial = only(store, study)
    assert (trial.state, trial.reason, told(trial)) == (
        FAILED,
        "impurity is nan",
        [("yield", "", 80)],
    )
    assert store.snapshot(study.id).seq == 3
    with pytest.raises(InputError, match="finite value of 'impurity' for trial 0"):
        store.tell(study.id, 0, telling({"impurity": float("nan")}))
    store.tell(study.id, 0, telling({"impurity": 1}))
    assert only(store, study).state == DONE
    sound(store, study)


def test_new_trials_with_what_is_known_of_them(store: Store, study: StudyRecord) -> None:
    store.create_trials(
        study.id,
        [
            NewTrial(X, told=telling({"yield": 80, "impurity": 1, "colour": 2})),
            NewTrial(X, told=telling({"yield": 81})),
            NewTrial(X, told=telling({"yield": 82}, failure="impurity is nan")),
            NewTrial(X),
        ],
    )
    trials = store.snapshot(study.id).trials
    assert [trial.state for trial in trials] == [DONE, RUNNING, FAILED, RUNNING]
    assert [trial.attempt for trial in trials] == [0, 0, 0, 1]
    assert [trial.created for trial in trials] == [1, 4, 5, 7]
    sound(store, study)


def test_each_outcome_is_corrected_by_itself(store: Store, study: StudyRecord) -> None:
    store.create_trials(study.id, [NewTrial(X, told=telling({"yield": 800, "impurity": 1}))])
    right = {"yield": Measurement(80)}
    assert store.correct_outcomes(study.id, 0, right) == {"yield": Measurement(800)}
    assert told(only(store, study)) == [("yield", "", 80), ("impurity", "", 1)]
    both = {"yield": Measurement(81), "impurity": Measurement(1)}  # one of them is right already
    assert store.correct_outcomes(study.id, 0, both)["impurity"] == Measurement(1)
    assert store.snapshot(study.id).seq == 4
    with pytest.raises(ConflictError, match="trial 0 is done and has no value of 'colour' to corr"):
        store.correct_outcomes(study.id, 0, {"yield": Measurement(1), "colour": Measurement(2)})
    assert store.snapshot(study.id).seq == 4
    sound(store, study)


def test_a_correction_while_an_outcome_is_missing_keeps_the_holder(
    store: Store, study: StudyRecord
) -> None:
    store.create_trials(study.id, [NewTrial(X, lease=Lease("w", 600.0))])
    store.tell(study.id, 0, telling({"yield": 800}))
    store.correct_outcomes(study.id, 0, {"yield": Measurement(80)})
    assert (only(store, study).state, only(store, study).worker) == (RUNNING, "w")
    sound(store, study)


def test_voiding_what_a_trial_needs_makes_it_wait(store: Store, study: StudyRecord) -> None:
    store.create_trials(study.id, [NewTrial(X, told=telling({"yield": 80, "impurity": 9}))])
    named = Named("impurity", None, NEEDED)
    assert store.void(study.id, 0, named, "column was broken") == Measurement(9)
    trial = only(store, study)
    assert (trial.state, trial.worker, told(trial)) == (RUNNING, None, [("yield", "", 80)])
    (voided,) = trial.voided
    assert (voided.told.outcome, voided.told.measurement.value) == ("impurity", 9)
    assert voided.reason == "column was broken"
    with pytest.raises(ConflictError, match="has no value of 'impurity' to void"):
        store.void(study.id, 0, named, "again")
    assert store.claim(study.id, Lease("w")) is None
    assert store.tell(study.id, 0, telling({"impurity": 1})).new
    assert not store.tell(study.id, 0, telling({"impurity": 1})).new
    with pytest.raises(ConflictError, match=r"got .*2"):
        store.tell(study.id, 0, telling({"impurity": 2}))
    assert only(store, study).state == DONE
    store.void(study.id, 0, named, "once more")
    store.tell(study.id, 0, telling({"impurity": 9}))  # also what it was at first
    assert told(only(store, study))[-1][::2] == ("impurity", 9)
    sound(store, study)


def test_voiding_what_is_not_needed_or_is_there_twice_changes_no_state(
    store: Store, study: StudyRecord
) -> None:
    values = {"yield": 80, "impurity": 1, "colour": 2}
    store.create_trials(study.id, [NewTrial(X, told=telling(values))])
    store.tell(study.id, 0, telling({"impurity": 3}, "run-2"))
    with pytest.raises(ConflictError, match="by its outcome which one to void: yield '': 80"):
        store.void(study.id, 0, Named(None, None, NEEDED), "?")
    with pytest.raises(ConflictError, match="2 measurements; say by its key which one to void"):
        store.void(study.id, 0, Named("impurity", None, NEEDED), "?")
    with pytest.raises(NotFoundError, match="no measurement with the key 'run-3'"):
        store.void(study.id, 0, Named("impurity", "run-3", NEEDED), "?")
    store.void(study.id, 0, Named("impurity", "run-2", NEEDED), "a blot")
    store.void(study.id, 0, Named("colour", None, NEEDED), "a blot")
    trial = only(store, study)
    assert (trial.state, told(trial)) == (DONE, [("yield", "", 80), ("impurity", "", 1)])
    assert [each.told.key for each in trial.voided] == ["run-2", ""]
    sound(store, study)


def test_a_plain_study_voids_too(store: Store) -> None:
    plain = store.create_study("plain", {}, {})
    store.create_trials(plain.id, [NewTrial(X, measurement=Measurement(5))])
    store.correct(plain.id, 0, Measurement(6))
    assert store.void(plain.id, 0, Named(), "wrong sample") == Measurement(6)
    trial = only(store, plain)
    assert (trial.state, trial.measurements) == (RUNNING, ())
    assert trial.voided[0].told.replaced == (Measurement(5),)
    store.tell(plain.id, 0, Measurement(7))
    assert only(store, plain).state == DONE
    assert store.release(plain.id, 0) is False
    sound(store, plain)


def test_a_voided_trial_is_released_or_withdrawn(store: Store) -> None:
    plain = store.create_study("plain", {}, {})
    store.create_trials(plain.id, [NewTrial(X, measurement=Measurement(5)) for _ in range(2)])
    for number in range(2):
        store.void(plain.id, number, Named(), "wrong sample")
    assert store.release(plain.id, 0)
    assert store.withdraw(plain.id, 1)
    assert [trial.state for trial in store.snapshot(plain.id).trials] == [QUEUED, WITHDRAWN]
    claimed = store.claim(plain.id, Lease("w"))
    assert claimed is not None
    assert claimed.number == 0
    sound(store, plain)


def test_writes_without_an_answer_recognise_themselves(
    store: Store, study: StudyRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write runs twice, as after a commit whose answer was lost."""
    store.create_trials(study.id, [NewTrial(X, lease=Lease("w", 600.0))])
    database = store._database
    write = database.write
    monkeypatch.setattr(
        database, "write", lambda work, *rest: [write(work, *rest)] and write(work, *rest)
    )
    store.tell(study.id, 0, telling({"yield": 80, "impurity": 9}))
    store.tell(study.id, 0, telling({"yield": 81}, "run-2", failure="colour is nan"))
    wrong = {"yield": Measurement(80), "impurity": Measurement(9)}
    right = {"yield": Measurement(79), "impurity": Measurement(9)}
    assert store.correct_outcomes(study.id, 0, right, "") == wrong
    assert store.void(study.id, 0, Named("impurity", None, NEEDED), "broken") == Measurement(9)
    monkeypatch.undo()
    kinds = [event.kind for event in store.events(study.id)]
    assert kinds == ["asked", "measured", "measured", "measured", "failed", "corrected", "voided"]
    sound(store, study)


def test_ten_threads_tell_apart(store: Store, study: StudyRecord) -> None:
    store.create_trials(study.id, [NewTrial(X) for _ in range(10)])

    def work(name: str, value: float) -> None:
        for number in range(10):
            store.tell(study.id, number, telling({name: value}))

    pairs = [(name, k) for k, name in enumerate(("yield", "impurity", "colour"))]
    threads = [threading.Thread(target=work, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for trial in store.snapshot(study.id).trials:
        assert trial.state == DONE
        assert sorted(told(trial)) == sorted((name, "", k) for name, k in pairs)
    sound(store, study)


def test_unknown_data_is_newer_and_unknown_outcomes_are_found(store: Store) -> None:
    with pytest.raises(NewerSchemaError, match=r"study 'lab' has data .* upgrade ceibo"):
        store.create_study("lab", {}, {}, {**DATA, "blocks": []})
    other = store.create_study("other", {}, {}, DATA)
    store.create_trials(other.id, [NewTrial(X)])
    store.tell(other.id, 0, Telling({"smell": Measurement(1)}, NEEDED))
    (finding,) = store.examine(other.id).findings
    assert "names the outcome 'smell', which the study does not have" in finding.sentence


def test_the_checksum_covers_outcome_and_data(store: Store, study: StudyRecord, url: str) -> None:
    store.create_trials(study.id, [NewTrial(X, told=telling({"yield": 80, "impurity": 1}))])
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE ceibo_events SET outcome = 'impurity', key = 'k' WHERE seq = 1")
        )
        changed = json.dumps({"outcomes": {"yield": {"goal": "minimize"}}})
        connection.execute(sa.text("UPDATE ceibo_studies SET data = :data"), {"data": changed})
    engine.dispose()
    found = [finding.sentence for finding in store.examine(study.id).findings]
    assert len(found) == 2
    assert all("does not match its checksum" in sentence for sentence in found)


def test_nothing_is_told_by_a_transaction_that_fails(
    store: Store, study: StudyRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.create_trials(study.id, [NewTrial(X)])

    def broken(self: StudyTransaction, new_events: int, new_trials: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(StudyTransaction, "advance", broken)
    with pytest.raises(KeyboardInterrupt):
        store.tell(study.id, 0, telling({"yield": 80, "impurity": 1}))
    monkeypatch.undo()
    assert only(store, study).measurements == ()
    sound(store, study)
