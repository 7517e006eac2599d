"""Held and shared parameters of a study, on both databases: the queue, the record, the answers."""

import threading
from typing import Any

import numpy as np
import pytest

from ceibo import AtMost, Categorical, Float, Int, Maximize, Space, Study
from ceibo.errors import InputError
from ceibo.study.store import Lease, NewTrial, Pick, Picking, Store, StudyRecord

SPACE = {"temp": Float(20, 90), "solvent": Categorical(["THF", "DMF"]), "layers": Int(1, 5)}


def value_at(params: dict[str, Any]) -> float:
    offset = {"THF": 0.5, "DMF": 0.0}[params["solvent"]]
    return float(((params["temp"] - 55) / 40) ** 2 + offset + 0.1 * params["layers"])


def tell(study: Study, *trials: Any) -> None:
    for trial in trials:
        study.tell(trial, value_at(trial.params), noise=0.02)


def test_what_is_held_is_recorded_and_verified(url: str) -> None:
    study = Study.create(SPACE, storage=url, seed=2)
    for _ in range(5):
        tell(study, study.ask(fixed={"solvent": "THF", "temp": 33.3}))
    tell(study, *study.ask(3))
    tell(study, *study.ask(3, fixed={"layers": 2}, shared=["temp"]))
    tell(study, study.ask())
    assert [trial.params["temp"] for trial in study.trials[:5]] == [33.3] * 5
    assert {trial.params["solvent"] for trial in study.trials[:5]} == {"THF"}
    batch = study.trials[8:11]
    assert len({trial.params["temp"] for trial in batch}) == 1
    assert {trial.params["layers"] for trial in batch} == {2}
    records = study.suggestions
    assert records[0]["fixed"] == {"temp": 33.3, "solvent": "THF"}
    assert all("fixed" not in records[number] for number in (5, 6, 7, 11))
    assert records[8]["fixed"] == {"layers": 2}
    assert records[9]["fixed"] == {"layers": 2, "temp": batch[0].params["temp"]}
    verified = Study.open(url).verify()
    assert verified.checked == verified.identical == 12, verified


def test_queued_trials_that_do_not_match_stay_in_the_queue(url: str) -> None:
    study = Study.create(SPACE, storage=url)
    for temp, solvent in ((20.0, "THF"), (30.0, "DMF"), (40.0, "THF"), (30.0, "THF")):
        study.enqueue({"temp": temp, "solvent": solvent, "layers": 1})
    assert study.ask(fixed={"solvent": "DMF"}).number == 1
    assert study.ask(fixed={"solvent": "DMF"}).number == 4  # a new one: no other matches
    assert study.ask(fixed={"temp": 30, "solvent": "THF"}).number == 3
    states = [trial.state for trial in study.trials]
    assert states == ["queued", "running", "queued", "running", "running"]
    assert [trial.number for trial in study.ask(2)] == [0, 2]


def test_queued_trials_in_a_batch_share_what_is_shared(url: str) -> None:
    study = Study.create(SPACE, storage=url)
    for temp in (25.0, 35.0, 25.0):
        study.enqueue({"temp": temp, "solvent": "THF", "layers": 1})
    batch = study.ask(3, shared=["temp"])
    assert [trial.number for trial in batch] == [0, 2, 3]
    assert {trial.params["temp"] for trial in batch} == {25.0}
    assert study.ask().number == 1


def test_workers_claim_each_matching_trial_once(store: Store, study: StudyRecord) -> None:
    store.create_trials(study.id, [NewTrial({"x": k % 2}, queued=True) for k in range(24)])
    picking = Picking(0, lambda params, _: Pick.TAKE if params["x"] == 1 else Pick.LEAVE)
    taken: list[int] = []

    def work(name: str) -> None:
        while (trial := store.claim(study.id, Lease(name), picking)) is not None:
            taken.append(trial.number)

    threads = [threading.Thread(target=work, args=(f"w{k}",)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(1, 24, 2))
    assert store.claim(study.id, Lease("any")) is not None


def test_recommendations_hold_what_they_are_told() -> None:
    study = Study.create(SPACE, seed=1)
    for _ in range(16):
        tell(study, study.ask())
    found = study.recommend({"solvent": "THF", "temp": 47.11})
    assert (found.params["solvent"], found.params["temp"]) == ("THF", 47.11)
    assert found.mean >= study.recommended.mean - 1e-9
    assert study.recommend().params == study.recommended.params
    whole = {"temp": 47.11, "solvent": "THF", "layers": 2}
    (there,) = study.predict([whole])
    assert study.recommend(whole).params == whole
    assert study.recommend(whole).mean == pytest.approx(there.mean)


def test_recommendations_with_limits_respect_them() -> None:
    outcomes = {"yield": Maximize(), "impurity": AtMost(1.0)}
    study = Study.create(SPACE, outcomes=outcomes, seed=1)
    for _ in range(24):
        trial = study.ask()
        impurity = trial.params["temp"] / 60 + (trial.params["solvent"] == "DMF") * 0.3
        told = {"yield": -value_at(trial.params), "impurity": impurity}
        study.tell(trial, told)
    found = study.recommend({"solvent": "DMF"})
    assert found.params["solvent"] == "DMF"
    assert found.p_feasible is not None
    assert found.p_feasible >= 0.9
    assert found.params["temp"] < 45.0  # where the limit is for DMF: 42
    held = study.ask(fixed={"temp": 41.0})
    assert held.params["temp"] == 41.0
    assert study.suggestions[held.number]["fixed"] == {"temp": 41.0}
    assert study.verify().ok


def test_rules_hold_beside_held_values() -> None:
    space = Space(
        {"a": Float(0, 1), "b": Float(0, 1), "c": Float(0, 1)}, constraints=["a + b + c == 1"]
    )
    study = Study.create(space, seed=3)
    for number in range(10):
        trial = study.ask(fixed={"a": 0.2, "c": 0.3 if number % 2 else 0.1})
        assert trial.params["a"] == 0.2
        assert sum(trial.params.values()) == pytest.approx(1.0, abs=1e-9)
        study.tell(trial, trial.params["b"] ** 2, noise=0.01)
    assert study.verify().ok
    with pytest.raises(InputError, match=r"no setting with a = 0\.9, b = 0\.9 obeys"):
        study.ask(fixed={"a": 0.9, "b": 0.9})


@pytest.mark.parametrize(
    ("count", "options", "said"),
    [
        (None, {"fixed": {"tmp": 3}}, "there is no parameter 'tmp'; did you mean 'temp'"),
        (None, {"fixed": {"temp": 300}}, "'temp': expected a value in"),
        (3, {"shared": ["tmp"]}, "shared: there is no parameter 'tmp'"),
        (3, {"shared": "temp"}, r"shared: expected a list of parameters, as in \['temp'\]"),
        (3, {"shared": 7}, "shared: expected a list of parameters"),
        (3, {"shared": [["temp"]]}, "shared: expected a list of parameters"),
        (3, {"shared": np.array(["temp", "mins"])}, "shared: expected a list of parameters"),
        (3, {"fixed": np.array([1.0, 2.0])}, "fixed: expected a dict of parameters"),
        (1, {"shared": ["temp"]}, "there is one trial only; ask for several"),
        (None, {"shared": ["temp"]}, "there is one trial only; ask for several"),
        (3, {"shared": ["temp"], "fixed": {"temp": 30}}, "'temp' is both fixed and shared"),
        (0, {}, "count"),
    ],
)
def test_bad_input_hands_nothing_out(count: Any, options: dict[str, Any], said: str) -> None:
    study = Study.create(SPACE)
    with pytest.raises(InputError, match=said):
        study.ask(count, **options)
    assert study.trials == ()


def test_with_everything_fixed_it_is_that_setting() -> None:
    study = Study.create(SPACE)
    setting = {"temp": 41.7, "solvent": "DMF", "layers": 4}
    for _ in range(12):
        trial = study.ask(fixed=setting)
        assert trial.params == setting
        tell(study, trial)
    assert study.verify().ok
