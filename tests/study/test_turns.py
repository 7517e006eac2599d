"""Turns: workers that ask at once share a study's trials (more in soak/fairness.py)."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ceibo import Float, Study
from ceibo.errors import NumberTakenError
from ceibo.study.deciding import Decider
from ceibo.study.store import NewTrial, Store, StudyRecord
from ceibo.study.store.schema import studies
from soak.fairness import share

SPACE = {"x": Float(0, 1)}
NEW = NewTrial({"x": 0.5})


def test_a_slow_worker_gets_its_share(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    shares = share(url, tmp_path, [0.04, 0.04, 0.04, 0.2], trials=32)
    assert shares.errors == []
    assert shares.total == 32
    # chance decides who is next, and this is a small sample: the battery asks for a half
    assert shares.slowest_share >= 0.25, shares
    assert shares.computed <= 1.6 * shares.total, shares


def test_during_a_turn_others_record_no_suggestion(store: Store, study: StudyRecord) -> None:
    assert store.take_turn(study.id, "mine", 30.0)
    assert not store.take_turn(study.id, "another", 30.0)
    assert store.take_turn(study.id, "mine", 30.0)  # renewed
    for turn in (None, "another"):
        with pytest.raises(NumberTakenError, match="another process's turn"):
            store.create_trials(study.id, [NEW], expect_number=0, turn=turn)
    # what is no suggestion, or waits in the queue, is nobody's turn
    store.create_trials(study.id, [NewTrial({"x": 0.1}, queued=True)])
    assert store.claim(study.id) is not None
    assert store.create_trials(study.id, [NEW], expect_number=1, turn="mine")
    assert store.take_turn(study.id, "another", 30.0)  # the first one ended with its suggestion
    store.give_turn(study.id, "mine")
    assert not store.take_turn(study.id, "mine", 30.0)
    store.give_turn(study.id, "another")
    assert store.create_trials(study.id, [NEW], expect_number=2)


def test_a_turn_lapses(store: Store, study: StudyRecord) -> None:
    assert store.take_turn(study.id, "dead", 0.05)
    time.sleep(0.1)
    assert store.create_trials(study.id, [NEW], expect_number=0)
    assert store.take_turn(study.id, "another", 30.0)


def test_a_turn_taken_before_a_clock_went_back_is_none(store: Store, study: StudyRecord) -> None:
    assert store.take_turn(study.id, "dead", 30.0)
    with sa.create_engine(store._database.url).begin() as connection:
        connection.execute(studies.update().values(turn_until=studies.c.turn_until + 3600.0))
    assert store.create_trials(study.id, [NEW], expect_number=0)
    assert store.take_turn(study.id, "another", 30.0)


def test_asking_waits_for_a_dead_worker_only_until_its_turn_lapses(tmp_path: Path) -> None:
    study = Study.create(SPACE, storage=f"sqlite:///{tmp_path / 'lab.db'}")
    store, number = study.ledger.store, study.ledger.id
    assert store.take_turn(number, "dead", 1.0)
    begin = time.monotonic()
    assert study.ask().number == 0
    assert time.monotonic() - begin < 60.0


def test_a_worker_that_waits_takes_what_is_queued(tmp_path: Path) -> None:
    study = Study.create(SPACE, storage=f"sqlite:///{tmp_path / 'lab.db'}")
    store, number = study.ledger.store, study.ledger.id
    assert store.take_turn(number, "long", 60.0)
    asked: list[Any] = []
    thread = threading.Thread(target=lambda: asked.append(study.ask()))
    thread.start()
    time.sleep(0.2)
    Study.open(f"sqlite:///{tmp_path / 'lab.db'}").enqueue({"x": 0.125})
    thread.join(30)
    assert [trial.params for trial in asked] == [{"x": 0.125}]


def test_a_worker_that_waits_ends_with_the_study(tmp_path: Path) -> None:
    study = Study.create(SPACE, storage=f"sqlite:///{tmp_path / 'lab.db'}")
    assert study.ledger.store.take_turn(study.ledger.id, "long", 60.0)
    asked: list[Any] = []
    thread = threading.Thread(target=lambda: asked.append(study.asking.ask(None, 1)))
    thread.start()
    time.sleep(0.2)
    Study.open(f"sqlite:///{tmp_path / 'lab.db'}").add({"x": 0.5}, 1.0)
    thread.join(30)
    assert asked == [None]


def test_an_ask_that_fails_gives_its_turn_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.create(SPACE, storage=f"sqlite:///{tmp_path / 'lab.db'}")
    suggest, calls = Decider.suggest, []

    def overtaken(self: Decider, *arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 1:
            study.add({"x": 0.5}, 1.0)
            return suggest(self, *arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Decider, "suggest", overtaken)
    with pytest.raises(KeyboardInterrupt):
        study.ask()
    assert study.ledger.store.take_turn(study.ledger.id, "another", 1.0)


def test_a_worker_alone_pays_nothing(tmp_path: Path) -> None:
    """There is no statement about turns: the study's row, which is read anyway, has the turn."""
    study = Study.create(SPACE, storage=f"sqlite:///{tmp_path / 'lab.db'}")
    study.tell(study.ask(), 0.5)
    said: list[str] = []

    @sa.event.listens_for(sa.Engine, "before_cursor_execute")
    def note(*arguments: Any) -> None:
        said.append(arguments[2])

    try:
        study.ask()
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    assert said
    assert not [each for each in said if "SET turn" in each or "turn_until -" in each]
