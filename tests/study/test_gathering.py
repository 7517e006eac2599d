"""Evidence gathered from one snapshot to the next is what gathering it afresh gives."""

import random
import threading

import numpy as np
import pytest

from ceibo import Categorical, Float, Int, Measurement, Study
from ceibo.decide import Evidence
from ceibo.decide.space import Space
from ceibo.errors import InputError, StorageError
from ceibo.study.gathering import Gatherer
from ceibo.study.ledger import Ledger
from ceibo.study.store import Snapshot

SPACE = {
    "x": Float(0, 1),
    "rate": Float(1e-5, 0.1, log=True),
    "step": Float(0, 1, step=0.1),
    "n": Int(1, 9, log=True),
    "kind": Categorical(["a", 1, 1.0, True, None]),
}


def content(evidence: Evidence) -> tuple[object, ...]:
    rows = (evidence.group.tobytes(), evidence.trials, evidence.failures_in_a_row)
    told = [(each.number, each.x.tobytes(), each.measurement) for each in evidence.told]
    return (*evidence.key(), *rows, told)


def gathered(ledger: Ledger, snapshot: Snapshot) -> Evidence:
    evidence = ledger.spaces.decider(snapshot.changes).gatherer.gather(snapshot)
    assert isinstance(evidence, Evidence)
    return evidence


def act(study: Study, draw: random.Random) -> None:
    """One thing that happens to a study."""
    open_trials = [each.number for each in study.trials if each.state == "running"]
    measured = [each.number for each in study.trials if len(each.measurements) == 1]
    number = draw.choice(open_trials) if open_trials else None
    kind = draw.randrange(8)
    if kind <= 1 or number is None:
        study.ask()
    elif kind == 2:
        study.fail(number, "broken")
    elif kind == 3:
        study.withdraw(number)
    elif kind == 4:
        study.tell(number, Measurement.of([draw.random() for _ in range(3)]))
    elif kind == 5 and measured:
        study.correct(draw.choice(measured), draw.random())
    elif kind == 6:
        study.tell(draw.randrange(len(study.trials)), draw.random(), key=str(draw.random()))
    else:
        study.tell(number, draw.random(), noise=0.1, key=str(draw.random()))


@pytest.mark.parametrize("seed", range(4))
def test_evidence_grows_to_what_is_gathered_afresh(seed: int) -> None:
    study, draw = Study.create(SPACE, n_initial=1000, seed=seed), random.Random(seed)
    ledger = study.ledger
    snapshots = []
    for _ in range(60):
        act(study, draw)
        if draw.random() < 0.7:
            snapshots.append(ledger.refresh())
            afresh = Gatherer("", ledger.frame, ledger.direction).gather(ledger.snapshot)
            assert content(gathered(ledger, ledger.snapshot)) == content(afresh)
    for snapshot in draw.sample(snapshots, 10):  # and in any other order
        read = ledger.store.snapshot(ledger.id, snapshot.seq)
        afresh = Gatherer("", ledger.frame, ledger.direction).gather(read)
        assert content(gathered(ledger, snapshot)) == content(afresh)
        assert content(gathered(ledger, read)) == content(afresh)


def test_one_more_value_costs_one_more_row(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.create(SPACE, n_initial=1000)
    study.add_all((study.space.from_unit([0.5] * 5), float(k)) for k in range(30))
    assert len(gathered(study.ledger, study.ledger.refresh())) == 30
    counted = []
    rows = Space.to_unit_rows

    def counting(space: Space, given: object) -> np.ndarray:
        found = rows(space, given)  # type: ignore[arg-type]  # passed on as it came
        counted.append(len(found))
        return found

    monkeypatch.setattr(Space, "to_unit_rows", counting)
    study.tell(study.ask(), 1.0)
    assert len(gathered(study.ledger, study.ledger.refresh())) == 31
    assert sum(counted) <= 1


def test_threads_share_a_gatherer() -> None:
    study = Study.create(SPACE, n_initial=1000)
    ledger, wrong = study.ledger, []
    for k in range(40):
        study.tell(study.ask(), float(k))
    snapshots = [ledger.store.snapshot(ledger.id, seq) for seq in range(0, 81, 4)]
    sizes = [sum(len(trial.measurements) for trial in each.trials) for each in snapshots]

    def gather(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(200):
            k = draw.randrange(len(snapshots))
            if len(gathered(ledger, snapshots[k])) != sizes[k]:
                wrong.append(k)

    threads = [threading.Thread(target=gather, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_damaged_trial_is_named() -> None:
    study = Study.create({"x": Float(0, 1)})
    study.add_all(({"x": 0.1 * k}, float(k)) for k in range(5))
    other = Study.create({"x": Categorical([0.0, 0.1, 0.2])}).ledger
    gatherer = Gatherer("lab", other.frame, other.direction)
    with pytest.raises(StorageError, match=r"trial 3 of study 'lab' is damaged"):
        gatherer.gather(study.ledger.refresh())


# -- coordinates of many settings ------------------------------------------------------


def test_coordinates_of_many_are_those_of_each() -> None:
    space = Space(SPACE | {"wide": Float(-1e308, 1.5e308), "tiny": Float(1e-320, 1e-300)})
    rng = np.random.default_rng(0)
    U = np.concatenate([rng.random((300, 7)), np.zeros((1, 7)), np.ones((1, 7))])
    settings = [space.from_unit(u) for u in U]
    settings[3] |= {"x": 1, "n": 2.0}  # numbers of another type
    one_by_one = np.array([space.to_unit(params) for params in settings])
    assert space.to_unit_rows(settings).tobytes() == one_by_one.tobytes()
    assert space.to_unit_rows([]).shape == (0, 7)


@pytest.mark.parametrize(
    "change", [{"x": 1.5}, {"x": np.nan}, {"kind": -0.0}, {"kind": [1]}, {"kind": "b"}, {"n": True}]
)
def test_a_wrong_setting_among_many_is_refused(change: dict[str, object]) -> None:
    space = Space(SPACE)
    right = space.from_unit([0.5] * 5)
    with pytest.raises(InputError, match=next(iter(change))):
        space.to_unit_rows([right, right | change])
    with pytest.raises(InputError, match="unknown parameter 'z'"):
        space.to_unit_rows([right, right | {"z": 1}])
    with pytest.raises(InputError, match="'x' is missing"):
        space.to_unit_rows([right, {}])
