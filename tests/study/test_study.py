"""Study: ask, tell and their relatives; what is refused; reopening."""

import math
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ceibo
from ceibo import Categorical, Float, InputError, Int, Measurement, Study
from ceibo.decide import Settings
from ceibo.errors import ConflictError, NoMeasurementError, NotFoundError, StorageError
from ceibo.study import Failure
from ceibo.study.run import first_change

SPACE = {"x": Float(0, 1), "y": Float(-5, 5)}


def bowl(params: ceibo.decide.space.Params) -> float:
    return float((params["x"] - 0.3) ** 2 + 0.1 * params["y"] ** 2)


def measured(count: int, **options: Any) -> Study:
    """A study with `count` told trials."""
    study = Study.create(SPACE, **options)
    for _ in range(count):
        trial = study.ask()
        study.tell(trial, bowl(trial.params), noise=0.01)
    return study


def test_ask_and_tell() -> None:
    study = Study.create(SPACE, seed=3)
    trial = study.ask()
    assert (trial.number, trial.state, trial.measurements, trial.attempt) == (0, "running", (), 1)
    assert set(trial.params) == {"x", "y"}
    study.tell(trial, 0.31, noise=0.04)
    (stored,) = study.trials
    assert stored.state == "done"
    assert stored.measurements == (Measurement(0.31, 0.04),)
    assert [study.ask().number for _ in range(3)] == [1, 2, 3]
    study.tell(2, Measurement.of([1.0, 2.0]))
    assert study.trials[2].measurements[0].replicates == (1.0, 2.0)
    assert repr(study) == "<Study 'study': minimize over 2 parameters, 2 trials measured>"


def test_tell_is_idempotent_and_says_how_to_add_a_repeat() -> None:
    study = Study.create(SPACE)
    trial = study.ask()
    for _ in range(3):
        study.tell(trial, 0.31, noise=0.04)
        study.tell(trial.number, 0.31, noise=0.04)
    with pytest.raises(ConflictError, match=r'trial 0 has .*0\.31.*got .*0\.5.* key="run-2"'):
        study.tell(trial, 0.5)
    for _ in range(2):
        study.tell(trial, 0.29, noise=0.04, key="run-2")
    with pytest.raises(ConflictError, match="run-2"):
        study.tell(trial, 0.28, noise=0.04, key="run-2")
    assert [m.value for m in study.trials[0].measurements] == [0.31, 0.29]


def test_a_trial_handed_out_again_keeps_its_number_and_the_late_result() -> None:
    study = Study.create(SPACE)
    first = study.ask()
    study.release(first)
    assert study.trials[0].state == "queued"
    again = study.ask()
    assert (again.number, again.params, again.attempt) == (0, first.params, 2)
    study.tell(again, 1.0)
    # by number it is the same hand-out: the same value changes nothing
    study.tell(again.number, 1.0)
    study.tell(first, 2.0)  # the slow first worker
    assert [m.value for m in study.trials[0].measurements] == [1.0, 2.0]
    with pytest.raises(ConflictError, match="trial 0 is done and cannot be released"):
        study.release(first)  # nothing leads out of done
    assert study.trials[0].state == "done"


@pytest.mark.needs("pandas")
def test_what_is_handed_out_is_the_callers_own() -> None:
    """Changing params, as in `config = study.best.params; config["epochs"] = 10`, changes nothing
    in the study.
    """
    study = measured(6)
    study.enqueue({"x": 0.5, "y": 0.0}).params.clear()
    answers = (study.best, study.recommended, study.best_observed, study.trials)
    everything: list[Any] = [study.best, study.recommended, study.best_observed]
    for handed_out in (*everything, *study.trials, study.ask(), study.ask()):
        handed_out.params["epochs"] = 10
        del handed_out.params["x"]
    assert (study.best, study.recommended, study.best_observed) == answers[:3]
    assert study.trials[:6] == answers[3][:6]
    assert len(study.to_dataframe()) == 8
    assert study.verify().ok


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400])
def test_values_that_are_not_finite_are_failures(value: float) -> None:
    study = Study.create(SPACE)
    trial = study.ask()
    study.tell(trial, value)
    added = study.add({"x": 0.5, "y": 0.0}, Measurement.of([1.0, value]))
    for stored in study.trials:
        assert stored.state == "failed"
        assert stored.measurements == ()
        assert "the value is" in (stored.reason or "")
    assert added.state == "failed"
    with pytest.raises(NoMeasurementError, match="no measurement yet"):
        _ = study.best


def test_fail_add_enqueue() -> None:
    study = Study.create(SPACE)
    trial = study.ask()
    study.fail(trial, "reactor leaked")
    assert (study.trials[0].state, study.trials[0].reason) == ("failed", "reactor leaked")
    added = study.add({"x": 0.5, "y": 1}, 0.4, noise=0.1)
    assert (added.number, added.state, added.measurements) == (1, "done", (Measurement(0.4, 0.1),))
    queued = study.enqueue({"y": -1.0, "x": 0.25})
    assert queued.state == "queued"
    asked = study.ask()
    assert (asked.number, asked.params) == (queued.number, {"x": 0.25, "y": -1.0})
    study.tell(trial, 0.2)  # a failed trial that gives a value after all
    assert study.trials[0].state == "done"
    assert [s["source"] for s in study.suggestions.values()] == ["initial", "added", "enqueued"]


def test_a_trial_that_will_not_be_measured_is_withdrawn() -> None:
    study = measured(6)
    trial = study.ask()
    for _ in range(2):
        study.withdraw(trial)
    assert study.trials[6].state == "withdrawn"
    assert (study.trials[6].measurements, study.trials[6].reason) == ((), None)
    following = study.ask()
    assert following.number == 7
    apart = study.space.to_unit(trial.params) - study.space.to_unit(following.params)
    assert np.linalg.norm(apart) > 1e-3  # not the same thing again
    study.withdraw(study.enqueue({"x": 0.5, "y": 0.0}))
    assert study.ask().number == 9
    assert study.verify().ok
    study.tell(trial, 0.2)  # measured after all
    assert study.trials[6].state == "done"
    with pytest.raises(ConflictError, match="trial 6 is done and cannot be withdrawn"):
        study.withdraw(trial)


def test_what_has_ended_cannot_be_given_back() -> None:
    study = Study.create(SPACE)
    failed, withdrawn, open_ = study.ask(3)
    study.fail(failed, "reactor leaked")
    study.withdraw(withdrawn)
    for trial, state in ((failed, "failed"), (withdrawn, "withdrawn")):
        with pytest.raises(
            ConflictError, match=f"trial {trial.number} is {state} and cannot be released.*enqueue"
        ):
            study.release(trial)
    with pytest.raises(ConflictError, match="trial 0 is failed and cannot be withdrawn"):
        study.withdraw(failed)
    for _ in range(2):  # the second time it is where it should be
        study.release(open_)
    assert [t.state for t in study.trials] == ["failed", "withdrawn", "queued"]


def test_existing_data_count_as_the_initial_design() -> None:
    study = Study.create(SPACE, n_initial=5)
    for k in range(5):
        study.add({"x": k / 4, "y": k - 2.0}, (k / 4 - 0.3) ** 2, noise=0.01)
    study.ask()
    assert study.suggestions[5]["source"] == "model"


def test_rows_are_added_all_or_none() -> None:
    study = Study.create(SPACE)
    rows: list[tuple[dict[str, float], Measurement | Failure | float]] = [
        ({"x": 0.1, "y": 1.0}, 0.5),
        ({"y": 0.0, "x": 0.2}, Measurement(0.4, 0.1)),
        ({"x": 0.3, "y": 2.0}, Failure("leaked")),
        ({"x": 0.4, "y": 2.0}, float("nan")),
    ]
    assert study.add_all(rows) == [0, 1, 2, 3]
    assert [trial.state for trial in study.trials] == ["done", "done", "failed", "failed"]
    assert [trial.reason for trial in study.trials][2:] == ["leaked", "the value is nan"]
    assert list(study.trials[1].params) == ["x", "y"]
    with pytest.raises(InputError, match="'y'"):
        study.add_all([*rows, ({"x": 0.1, "y": "99"}, 0.5)])
    with pytest.raises(InputError, match="number"):
        study.add_all([*rows, ({"x": 0.1, "y": 0.0}, "much")])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"got .* at place 4; a value with its noise is Measure"):
        study.add_all([*rows, ({"x": 0.1, "y": 0.0}, 0.5, 0.1)])  # type: ignore[list-item]
    for wrong in (None, 7, "x", {"x": 0.1}):
        with pytest.raises(InputError, match="expected a list of pairs"):
            study.add_all(wrong)  # type: ignore[arg-type]
    assert len(study.trials) == 4
    assert study.add_all([]) == []
    assert study.add({"x": 0.5, "y": 0.0}, Failure("broke")).reason == "broke"


def test_the_callers_random_numbers_are_left_alone() -> None:
    random.seed(4)
    expected = random.random()
    random.seed(4)
    np.random.seed(4)  # noqa: NPY002 - the global state that must not move
    state = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    study = measured(6)
    study.ask()
    _ = study.best, study.recommended, study.should_stop(0.1)
    assert random.random() == expected
    assert np.random.get_state()[1].tolist() == state  # type: ignore[index]  # noqa: NPY002


def test_settings_are_stored_resolved() -> None:
    """Later versions may have other defaults; a study goes on as it was begun."""
    study = Study.create(SPACE)
    assert study.settings == Settings().resolve(2) == Settings(n_initial=4, draws=20)
    assert study.ledger.settings.to_json()["n_initial"] == 4
    assert Study.create(SPACE, acquisition="ei").settings.draws is None
    old = {"acquisition": "noisy-ei", "kernel": "matern52", "fit": "map", "n_initial": None}
    begun_before = Settings(outliers=False, varying_noise=False)
    assert Settings.from_json(old | {"max_observations": 1000}) == begun_before


def test_an_older_study_by_maximum_likelihood_goes_on_from_one_start() -> None:
    """New ones search from 16; the number is stored."""
    new = Study.create(SPACE, fit="ml")
    assert new.settings.restarts == new.ledger.settings.to_json()["restarts"] == 16
    old = {key: value for key, value in new.settings.to_json().items() if key != "restarts"}
    assert Settings.from_json(old).restarts == 1
    assert Settings.from_json(new.settings.to_json()) == new.settings
    assert "restarts" not in Study.create(SPACE).settings.to_json()


def test_a_batch() -> None:
    study = measured(8)
    batch = study.ask(4)
    assert [trial.number for trial in batch] == [8, 9, 10, 11]
    assert len({tuple(trial.params.values()) for trial in batch}) == 4
    points = np.array([study.space.to_unit(trial.params) for trial in batch])
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)[np.triu_indices(4, 1)]
    assert gaps.min() > 1e-3  # distinct in earnest
    # Sensible: each is an expected improvement over the same incumbent, most promising first.
    values = [study.suggestions[trial.number]["value"] for trial in batch]
    assert all(value > 0 for value in values)
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "4"])
def test_bad_batches(count: object) -> None:
    with pytest.raises(InputError, match="count must be a whole number"):
        Study.create(SPACE).ask(count)  # type: ignore[call-overload]


def test_bad_input_changes_nothing() -> None:
    study = measured(2)
    with pytest.raises(InputError, match=r"'x'.*2"):
        study.enqueue({"x": 2.0, "y": 0.0})
    with pytest.raises(InputError, match=r"'x'.*nan"):
        study.add({"x": float("nan"), "y": 0.0}, 1.0)
    with pytest.raises(InputError, match="unknown parameter 'z'"):
        study.enqueue({"x": 0.5, "y": 0.0, "z": 1})
    with pytest.raises(InputError, match="'y' is missing"):
        study.enqueue({"x": 0.5})
    operations: tuple[Callable[[Any], object], ...] = (
        lambda n: study.tell(n, 1.0),
        lambda n: study.fail(n, "no"),
        study.release,
        study.withdraw,
    )
    for operation in operations:
        with pytest.raises(NotFoundError, match="no trial 7; it has numbers 0 to 1"):
            operation(7)
        with pytest.raises(NotFoundError, match="no trial -1"):
            operation(-1)
        with pytest.raises(InputError, match=r"trial must be a Trial from ask\(\)"):
            operation("0")
    with pytest.raises(InputError, match="noise"):
        study.tell(0, 1.0, noise=-1.0, key="k")
    with pytest.raises(InputError, match="carries its own noise"):
        study.tell(0, Measurement(1.0), noise=1.0)
    with pytest.raises(InputError, match="value to be a number"):
        study.tell(0, "1.0", key="k")  # type: ignore[arg-type]
    assert [t.state for t in study.trials] == ["done", "done"]
    assert study.ask().number == 2


@pytest.mark.parametrize(
    "options",
    [
        {"direction": "down"},
        {"seed": -1},
        {"seed": 1.5},
        {"seed": True},
        {"acquisition": "best"},
        {"kernel": "cubic"},
        {"fit": "mcmc"},
        {"n_initial": 0},
        {"n_initial": 2.5},
        {"max_observations": 5},
    ],
)
def test_bad_settings(options: dict[str, object]) -> None:
    (name, value) = next(iter(options.items()))
    with pytest.raises(InputError, match=f"{name} must be .*{value!r}"):
        Study.create(SPACE, **options)  # type: ignore[arg-type]


def test_reopening(url: str) -> None:
    study = Study.create(SPACE, storage=url, name="catalyst", direction="maximize", seed=4)
    trial = study.ask()
    study.tell(trial, 0.31, noise=0.04)
    study.close()
    with pytest.raises(ConflictError, match="'catalyst' exists already"):
        Study.create(SPACE, storage=url, name="catalyst")
    again = Study.open(url, "catalyst")
    assert (again.direction, again.seed) == ("maximize", 4)
    assert (again.space, again.settings) == (study.space, study.settings)
    assert again.trials[0].measurements == (Measurement(0.31, 0.04),)
    with pytest.raises(
        InputError,
        match=r"the space has changed: parameter 'x' is stored as Float\(low=0.0, high=1.0",
    ):
        Study.open(url, "catalyst", space={**SPACE, "x": Float(0, 2)})
    with pytest.raises(NotFoundError, match=r"no study named 'katalyst'.*'catalyst'"):
        Study.open(url, "katalyst")
    again.close()


def test_opening_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no file"):
        Study.open(f"sqlite:///{tmp_path / 'none.db'}", "study")
    assert list(tmp_path.iterdir()) == []


def test_a_reopened_study_goes_on_byte_for_byte(tmp_path: Path) -> None:
    unbroken = measured(14, seed=5)
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    broken = Study.create(SPACE, storage=url, seed=5)
    for number in range(14):
        trial = broken.ask()
        if number % 3 == 1:  # the process ends between asking and telling
            broken.close()
            broken = Study.open(url)
        broken.tell(trial.number, bowl(trial.params), noise=0.01)
        if number % 3 == 2:
            broken.close()
            broken = Study.open(url)
    for one, other in zip(unbroken.trials, broken.trials, strict=True):
        assert one.params == other.params  # floats compared bit by bit, as none is NaN or -0.0
    broken.close()


def test_maximizing_is_minimizing_the_negative() -> None:
    """Exactly: the same settings in the same order, and the same answers with the other sign."""
    down = Study.create(SPACE, seed=1)
    up = Study.create(SPACE, seed=1, direction="maximize")
    for _ in range(10):
        one, other = down.ask(), up.ask()
        assert one.params == other.params
        down.tell(one, bowl(one.params), noise=0.02)
        up.tell(other, -bowl(other.params), noise=0.02)
    assert (down.best.params, down.best.mean, down.best.std) == (
        up.best.params,
        -up.best.mean,
        up.best.std,
    )
    assert (down.recommended.params, down.recommended.mean) == (
        up.recommended.params,
        -up.recommended.mean,
    )
    assert down.best_observed.value == -up.best_observed.value
    assert down.should_stop(0.1).remaining == up.should_stop(0.1).remaining
    records = zip(down.suggestions.values(), up.suggestions.values(), strict=True)
    for mine, theirs in list(records)[4:]:
        assert mine["incumbent"]["mean"] == -theirs["incumbent"]["mean"]
        assert mine["value"] == theirs["value"]


@pytest.mark.needs("pandas")
def test_to_dataframe() -> None:
    space = {"value": Float(0, 1), "k": Int(1, 3), "who": Categorical(["a", "b"])}
    study = Study.create(space)
    first, second, third = study.ask(3)
    study.tell(first, 1.0, noise=0.5)
    study.tell(first, Measurement.of([1.0, 3.0]), key="again")
    study.fail(second, "leak")
    frame = study.to_dataframe()
    outcome = ["number", "state", "value", "noise", "replicates", "reason"]
    assert list(frame.columns) == [*outcome, "params_value", "k", "who"]
    assert frame["number"].tolist() == [0, 0, 1, 2]
    assert frame["state"].tolist() == ["done", "done", "failed", "running"]
    assert frame["value"].tolist()[:2] == [1.0, 2.0]
    assert frame["value"].isna().tolist() == [False, False, True, True]
    assert frame["replicates"].tolist() == [0, 2, 0, 0]
    assert frame["params_value"].tolist()[3] == third.params["value"]
    assert len(Study.create(space).to_dataframe()) == 0


@pytest.mark.needs("pandas")
def test_columns_of_a_dataframe() -> None:
    """Every column has one name and one type, also where nothing was told."""
    space = {"value": Float(0, 1), "params_value": Float(5, 6), "params_params_value": Float(7, 8)}
    study = Study.create(space)
    for _ in range(2):
        frame = study.to_dataframe()
        assert list(frame.columns)[6:] == [
            "params_params_params_value",
            "params_value",
            "params_params_value",
        ]
        assert [str(frame[name].dtype) for name in ("number", "value", "noise", "replicates")] == [
            "int64",
            "float64",
            "float64",
            "int64",
        ]
        study.tell(study.ask(), 1.0)
    assert study.to_dataframe()["params_params_params_value"].tolist() == [
        t.params["value"] for t in study.trials
    ]


def test_two_views_of_one_study_agree(tmp_path: Path) -> None:
    """Two processes, here two objects, see each other's trials at once."""
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    one = Study.create(SPACE, storage=url)
    other = Study.open(url)
    first, second = one.ask(), other.ask()
    assert (first.number, second.number) == (0, 1)
    assert first.params != second.params
    other.tell(first, 1.0)
    assert one.trials[0].state == "done"
    assert one.best.number == other.best.number == 0


def test_threads_share_a_study() -> None:
    study = measured(4)
    seen: list[int] = []

    def work() -> None:
        for _ in range(3):
            trial = study.ask()
            study.tell(trial, bowl(trial.params), noise=0.01)
            _ = study.best
            seen.append(trial.number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(4, 16))
    assert study.verify().ok


def test_a_design_without_an_upper_end_goes_on() -> None:
    """As it was begun when the default had two points for each of any number of parameters."""
    space = {f"x{k}": Float(0, 1) for k in range(25)}
    old = Study.create(space, n_initial=50)
    new = Study.create(space)
    assert new.settings.n_initial == 40
    assert first_change(old, {"n_initial": None}) is None  # as of a study file that says nothing
    assert first_change(new, {"n_initial": None}) is None
    assert first_change(new, {"n_initial": 50}) is not None
    assert first_change(Study.create(space, n_initial=45), {"n_initial": None}) is not None
