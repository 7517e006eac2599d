"""Correcting a measurement that was told wrongly: what readers see, what the record keeps, what is
refused.
"""

import math
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from ceibo import Float, Measurement, Study
from ceibo.errors import ConflictError, InputError, NotFoundError, StorageError
from ceibo.study.store import DONE, NewTrial, Store, StudyRecord
from ceibo.study.store.transaction import StudyTransaction

SPACE = {"x": Float(0, 1)}
X = {"x": 0.5}


def bowl(x: float) -> float:
    return (x - 0.3) ** 2


def measured(count: int, wrong: int | None = None, storage: str | None = None) -> Study:
    """A study of that many points on a grid, of which one was told a hundred times too large."""
    study = Study.create(SPACE, storage=storage, n_initial=3)
    for number in range(count):
        x = (number + 0.5) / count
        study.add({"x": x}, bowl(x) * (100 if number == wrong else 1), noise=0.01)
    return study


def values(store: Store, study: StudyRecord, number: int = 0) -> list[tuple[str, float]]:
    return [
        (each.key, each.measurement.value)
        for each in store.snapshot(study.id).trials[number].measurements
    ]


# -- the store, on both databases ------------------------------------------------------


def test_a_correction_replaces_the_value_and_keeps_the_record(
    store: Store, study: StudyRecord
) -> None:
    store.create_trials(study.id, [NewTrial(X)])
    told = store.tell(study.id, 0, Measurement(665, noise=5))
    before = store.snapshot(study.id)
    assert store.correct(study.id, 0, Measurement(66.5, noise=5)) == Measurement(665, 5)
    after = store.snapshot(study.id)
    (kept,) = after.trials[0].measurements
    assert (kept.measurement, kept.replaced) == (Measurement(66.5, 5), (Measurement(665, 5),))
    assert (kept.seq, kept.version, kept.key) == (told.seq, after.seq, "")
    assert after.trials[0].state == DONE
    assert store.refresh(study.id, before) == after
    assert store.snapshot(study.id, at=before.seq) == before  # the past is what it was
    last = store.events(study.id)[-1]
    assert (last.kind, last.key, last.measurement) == (
        "corrected",
        str(told.seq),
        Measurement(66.5, 5),
    )


def test_a_correction_is_corrected(store: Store, study: StudyRecord) -> None:
    store.create_trials(study.id, [NewTrial(X, measurement=Measurement(1))])
    moments = [store.snapshot(study.id)]
    for value in (2.0, 3.0, 1.0, 2.0):
        store.correct(study.id, 0, Measurement(value))
        moments.append(store.refresh(study.id, moments[-1]))
    (kept,) = moments[-1].trials[0].measurements
    assert kept.measurement.value == 2
    assert [each.value for each in kept.replaced] == [1, 2, 3, 1]
    assert [event.key for event in store.events(study.id)] == ["", "1", "2", "3", "4"]
    for moment in moments:
        assert store.snapshot(study.id, at=moment.seq) == moment
        assert store.refresh(study.id, moment) == moments[-1]


def test_the_same_again_changes_nothing(store: Store, study: StudyRecord) -> None:
    store.create_trials(study.id, [NewTrial(X, measurement=Measurement(1))])
    assert store.correct(study.id, 0, Measurement(1)) == Measurement(1)
    store.correct(study.id, 0, Measurement(2))
    for _ in range(3):
        assert store.correct(study.id, 0, Measurement(2)) == Measurement(2)
    assert store.snapshot(study.id).seq == 2
    store.correct(study.id, 0, Measurement(2, noise=0.1))  # another noise is another measurement
    assert store.snapshot(study.id).seq == 3


def test_several_measurements_are_told_apart_by_their_keys(
    store: Store, study: StudyRecord
) -> None:
    store.create_trials(study.id, [NewTrial(X)])
    store.tell(study.id, 0, Measurement(1, noise=0.5))
    store.tell(study.id, 0, Measurement(2), "run-2")
    with pytest.raises(
        ConflictError, match=r"trial 0 has 2 measurements; say .* key .*'': 1 ± 0.5, 'run-2': 2\.$"
    ):
        store.correct(study.id, 0, Measurement(3))
    with pytest.raises(
        NotFoundError,
        match=r"no measurement with the key 'run-3'; it has '': 1 ± 0.5, 'run-2': 2\.$",
    ):
        store.correct(study.id, 0, Measurement(3), "run-3")
    store.correct(study.id, 0, Measurement(3), "run-2")
    store.correct(study.id, 0, Measurement(4), "")
    store.correct(study.id, 0, Measurement(5), "run-2")
    assert values(store, study) == [("", 4), ("run-2", 5)]
    with pytest.raises(NotFoundError, match="key 'typo'"):  # also where there is only one
        store.correct(study.id, *one_told(store, study), "typo")


def one_told(store: Store, study: StudyRecord) -> tuple[int, Measurement]:
    (trial,) = store.create_trials(study.id, [NewTrial(X, measurement=Measurement(1))])
    return trial.number, Measurement(2)


def test_a_late_repeat_of_what_was_told_does_not_undo_a_correction(
    store: Store, study: StudyRecord
) -> None:
    store.create_trials(study.id, [NewTrial(X)])
    told = store.tell(study.id, 0, Measurement(665))
    store.correct(study.id, 0, Measurement(66.4))
    store.correct(study.id, 0, Measurement(66.5))
    for same in (665, 66.5):
        again = store.tell(study.id, 0, Measurement(same))
        assert (again.seq, again.new) == (told.seq, False)
    for other in (66.4, 70):
        with pytest.raises(ConflictError, match=r"trial 0 has .*66\.5.*correct\(trial, value\)"):
            store.tell(study.id, 0, Measurement(other))
    assert values(store, study) == [("", 66.5)]


def test_every_bit_and_the_replicates_are_kept(store: Store, study: StudyRecord) -> None:
    store.create_trials(study.id, [NewTrial(X, measurement=Measurement(1))])
    for right in (
        Measurement.of([0.1, 1 / 3]),
        Measurement(5e-324),
        Measurement(1.7976931348623157e308, 1e-300),
    ):
        store.correct(study.id, 0, right)
        assert store.snapshot(study.id).trials[0].measurements[0].measurement == right


def test_what_cannot_be_corrected(store: Store, study: StudyRecord) -> None:
    store.create_trials(
        study.id, [NewTrial(X), NewTrial(X, reason="leak"), NewTrial(X, measurement=Measurement(1))]
    )
    for number, state in ((0, "running"), (1, "failed")):
        with pytest.raises(
            ConflictError,
            match=f"trial {number} is {state} and has no value .* tell its value first",
        ):
            store.correct(study.id, number, Measurement(1))
    for value in (math.nan, math.inf, -math.inf):
        with pytest.raises(InputError, match=r"trial 2.*a noise as large as the doubt"):
            store.correct(study.id, 2, Measurement(value))
    with pytest.raises(NotFoundError, match="no trial 7; it has numbers 0 to 2"):
        store.correct(study.id, 7, Measurement(1))
    with pytest.raises(NotFoundError, match="no study with id"):
        store.correct(study.id + 1, 0, Measurement(1))
    with pytest.raises(InputError, match="key"):
        store.correct(study.id, 2, Measurement(2), "a\nb")
    assert store.snapshot(study.id).seq == 3


def test_a_repeat_after_another_correction_finds_itself_done(
    store: Store, study: StudyRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to a commit is lost, and before it is repeated another process corrects the value
    once more.
    """
    store.create_trials(study.id, [NewTrial(X, measurement=Measurement(1))])
    run = store._database.write

    def twice(work, patience=None):  # type: ignore[no-untyped-def]
        run(work, patience)
        monkeypatch.undo()
        store.correct(study.id, 0, Measurement(3))
        return run(work, patience)

    monkeypatch.setattr(store._database, "write", twice)
    assert store.correct(study.id, 0, Measurement(2)) == Measurement(1)
    assert values(store, study) == [("", 3)]
    assert store.snapshot(study.id).seq == 3


def test_an_attempt_that_was_rolled_back_is_made_again(
    store: Store, study: StudyRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before the commit, overtaken by another correction: the last word is recorded, after
    the other.
    """
    store.create_trials(study.id, [NewTrial(X, measurement=Measurement(1))])
    append, calls = StudyTransaction.append, []

    def lost(*arguments):  # type: ignore[no-untyped-def]
        append(*arguments)
        calls.append(1)
        raise KeyboardInterrupt

    run = store._database.write

    def overtaken(work, patience=None):  # type: ignore[no-untyped-def]
        monkeypatch.setattr(StudyTransaction, "append", lost)
        with pytest.raises(KeyboardInterrupt):
            run(work, patience)
        monkeypatch.undo()
        assert store.snapshot(study.id).seq == 1  # nothing is left of it
        store.correct(study.id, 0, Measurement(3))
        return run(work, patience)

    monkeypatch.setattr(store._database, "write", overtaken)
    assert store.correct(study.id, 0, Measurement(2)) == Measurement(3)
    assert calls == [1]
    kept = store.snapshot(study.id).trials[0].measurements[0]
    assert [each.value for each in (*kept.replaced, kept.measurement)] == [1, 3, 2]


def test_processes_correct_one_value_one_after_the_other(url: str) -> None:
    store = Store(url)
    study = store.create_study("s", {}, {})
    store.create_trials(study.id, [NewTrial(X, measurement=Measurement(0))])
    store.close()
    children = []
    for worker in range(1, 5):
        if (pid := os.fork()) == 0:
            status = 1
            try:
                mine = Store(url)
                for step in range(5):
                    mine.correct(study.id, 0, Measurement(10 * worker + step))
                status = 0
            finally:
                os._exit(status)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 4
    store = Store(url)
    kept = store.snapshot(study.id).trials[0].measurements[0]
    assert sorted(each.value for each in (*kept.replaced, kept.measurement)) == sorted(
        [0, *(10 * worker + step for worker in range(1, 5) for step in range(5))]
    )
    store.close()


def test_a_storage_that_stays_away_is_named_with_the_value(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'study.db'}", patience=0.1)
    study = store.create_study("s", {}, {})
    store.create_trials(study.id, [NewTrial(X, measurement=Measurement(1))])
    refusal = "BEFORE INSERT ON ceibo_events BEGIN SELECT RAISE(ABORT, 'no'); END"
    store._database.write(lambda c: c.exec_driver_sql(f"CREATE TRIGGER refusal {refusal}"))
    with pytest.raises(StorageError, match=r"trial 0 was not corrected to 66\.5 ± 1: "):
        store.correct(study.id, 0, Measurement(66.5, noise=1))
    assert values(store, study) == [("", 1)]
    store.close()


# -- the study -------------------------------------------------------------------------


@pytest.mark.needs("pandas")
def test_everything_that_answers_sees_the_right_value() -> None:
    study, right = measured(9, wrong=2), measured(9)
    assert study.best_observed != right.best_observed
    wrong = study.trials[2].measurements[0]
    assert study.best.mean != right.best.mean
    assert study.correct(2, bowl(2.5 / 9), noise=0.01) == wrong
    trial = study.trials[2]
    assert trial.measurements == right.trials[2].measurements
    assert (trial.replaced, right.trials[2].replaced) == (((wrong,),), ((),))
    assert study.best == right.best
    assert study.recommended == right.recommended
    assert study.best_observed == right.best_observed
    assert study.should_stop(0.01) == right.should_stop(0.01)
    assert study.to_dataframe().equals(right.to_dataframe())
    for ours, theirs in zip(study.ask(2), right.ask(2), strict=True):
        assert ours.params == theirs.params


def test_forms_of_a_value() -> None:
    study = measured(1)
    trial = study.trials[0]
    study.correct(trial, np.float64(1.5), noise=0.1)
    assert study.trials[0].measurements == (Measurement(1.5, 0.1),)
    study.correct(trial, Measurement.of([1.0, 2.0]))
    assert study.trials[0].measurements == (Measurement.of([1.0, 2.0]),)
    study.correct(0, 3)
    assert study.trials[0].measurements == (Measurement(3),)
    for value, noise in (
        ("3", None),
        (True, None),
        ([1, 2], None),
        (1, -1),
        (Measurement(1), 0.1),
        (math.nan, None),
    ):
        with pytest.raises(InputError):
            study.correct(0, value, noise)  # type: ignore[arg-type]
    for number in (-1, 5):
        with pytest.raises(NotFoundError):
            study.correct(number, 1.0)
    assert study.trials[0].measurements == (Measurement(3),)


def test_a_late_result_can_be_corrected_by_its_key() -> None:
    study = Study.create(SPACE)
    first = study.ask()
    study.release(first)
    again = study.ask()
    study.tell(again, 1.0)
    study.tell(first, 2.0)
    with pytest.raises(ConflictError, match="'attempt-2': 1, '': 2"):
        study.correct(again, 3.0)
    study.correct(again, 3.0, key="attempt-2")
    assert [each.value for each in study.trials[0].measurements] == [3.0, 2.0]


def test_suggestions_made_before_and_after_a_correction_are_verified(tmp_path: Path) -> None:
    study = Study.create(SPACE, storage=f"sqlite:///{tmp_path / 'lab.db'}", n_initial=3)
    for number in range(8):
        trial = study.ask()
        study.tell(trial, bowl(trial.params["x"]) * (100 if number == 3 else 1), noise=0.01)
        if number == 5:
            study.correct(3, bowl(study.trials[3].params["x"]), noise=0.01)
    study.correct(1, 0.5)
    found = study.verify()
    assert found.ok
    assert found.checked == found.identical == 8
    assert Study.open(f"sqlite:///{tmp_path / 'lab.db'}").verify().identical == 8


def test_another_view_of_the_study_sees_it_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    one = measured(6, wrong=0, storage=url)
    other = Study.open(url)
    assert other.best == one.best
    seen = other.trials
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            Study.open(url).correct(0, bowl(0.5 / 6), noise=0.01)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert seen[0].replaced == ((),)  # what was handed out does not change under the caller
    assert (
        other.trials[0].measurements
        == one.trials[0].measurements
        == (Measurement(bowl(0.5 / 6), 0.01),)
    )
    assert other.best == one.best == measured(6).best


def test_threads_correct_a_study_in_memory() -> None:
    study = measured(4)

    def work(number: int) -> None:
        for step in range(5):
            study.correct(number, float(step))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [trial.measurements[0].value for trial in study.trials] == [4.0] * 4
    assert all(len(trial.replaced[0]) == 5 for trial in study.trials)
