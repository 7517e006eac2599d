"""CeiboSampler with several objectives and with constraints."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.samplers import BaseSampler, RandomSampler
from optuna.trial import FrozenTrial, Trial, TrialState

from ceibo.decide import Measurement
from ceibo.decide.outcomes import AtMost, Maximize, Minimize
from ceibo.errors import InputError, NoMeasurementError
from ceibo.integrations.optuna import (
    CeiboSampler,
    best_trial_by_posterior,
    front_by_posterior,
    recommended,
    report_noise,
    report_replicates,
    stop_by_cost,
    to_study,
)
from ceibo.integrations.optuna.axes import Axes
from ceibo.integrations.optuna.evidence import record_of
from ceibo.integrations.optuna.outcomes import Named, constraints_of, evidence_of_outcomes


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        yield
    optuna.logging.set_verbosity(level)


def limited(trial: Trial) -> float:
    """Least at x = 0.3, where the constraint does not hold: x must be at least 0.7."""
    x = trial.suggest_float("x", 0, 1)
    trial.suggest_float("y", 0, 1)
    trial.set_user_attr("short", 0.7 - x)
    return (x - 0.3) ** 2


def shortage(trial: FrozenTrial) -> Sequence[float]:
    return [trial.user_attrs["short"]]


def two(trial: Trial) -> tuple[float, float]:
    """The front is x from 0.2 to 0.8 at y = 0.5."""
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    off = (y - 0.5) ** 2
    return (x - 0.2) ** 2 + off, -((x - 0.8) ** 2) - off


def create(sampler: BaseSampler, directions: Any = ("minimize",)) -> optuna.Study:
    return optuna.create_study(sampler=sampler, directions=list(directions))


def test_constraints_move_the_search_to_where_they_hold() -> None:
    study = create(CeiboSampler(seed=0, constraints_func=shortage))
    study.optimize(limited, n_trials=12)
    late = [trial.params["x"] for trial in study.trials[-5:]]
    assert np.median(late) == pytest.approx(0.7, abs=0.06)
    best = best_trial_by_posterior(study)
    assert best.params["x"] >= 0.7
    assert best.p_feasible is not None
    assert best.p_feasible >= 0.95
    assert best.outcomes["constraint 0"].mean == pytest.approx(0.7 - best.params["x"], abs=0.02)
    anywhere = recommended(study)
    assert anywhere.params["x"] == pytest.approx(0.7, abs=0.05)
    assert anywhere.p_feasible is not None
    assert anywhere.p_feasible >= 0.9
    free = create(CeiboSampler(seed=0))
    free.optimize(limited, n_trials=12)
    assert best_trial_by_posterior(free).params["x"] == pytest.approx(0.3, abs=0.1)


def test_both_ways_to_state_a_constraint_suggest_the_same_trials() -> None:
    """Optuna 5 stores them one by one, under their keys."""

    def own(trial: Trial) -> float:
        value = limited(trial)
        trial.set_constraint("weight", trial.user_attrs["short"])
        return value

    by_function = create(CeiboSampler(seed=1, constraints_func=shortage))
    by_trial = create(CeiboSampler(seed=1))
    by_function.optimize(limited, n_trials=8)
    by_trial.optimize(own, n_trials=8)
    assert [t.params for t in by_function.trials] == [t.params for t in by_trial.trials]
    assert constraints_of(by_trial.trials[0]) == by_trial.trials[0].constraints
    assert constraints_of(by_function.trials[0]) == by_function.trials[0].constraints
    assert "weight" in best_trial_by_posterior(by_trial).outcomes


def test_constraints_are_kept_of_finished_and_pruned_trials_alone() -> None:
    def sometimes(trial: Trial) -> float:
        value = limited(trial)
        if trial.number == 1:
            raise optuna.TrialPruned
        if trial.number == 2:
            raise RuntimeError
        return value

    study = create(CeiboSampler(seed=0, constraints_func=shortage))
    study.optimize(sometimes, n_trials=8, catch=RuntimeError)
    kept = [bool(trial.constraints) for trial in study.trials]
    assert kept == [True, True, False, *[True] * 5]


@pytest.mark.parametrize("wrong", [0.5, [float("nan")], ["much"], None])
def test_what_is_no_constraint_is_refused(wrong: Any) -> None:
    study = create(CeiboSampler(seed=0, constraints_func=lambda trial: wrong))
    with pytest.raises(InputError, match="constraints_func must return a sequence of numbers"):
        study.optimize(limited, n_trials=1)


def test_evidence_of_several_objectives() -> None:
    """Values with noise, one that is not finite, a failure, and a trial under way."""
    study = create(CeiboSampler(seed=0), ["minimize", "maximize"])
    study.set_metric_names(["loss", "speed"])
    values: list[Any] = [(1.0, 2.0), (3.0, float("inf")), None, (5.0, 6.0)]
    space: dict[str, Any] = {"x": optuna.distributions.FloatDistribution(0, 1)}
    for told in values:
        trial = study.ask(space)
        if told == (1.0, 2.0):
            report_noise(trial, [0.1, None])
        trial.set_constraint("weight", -float(trial.number))
        if told is None:
            study.tell(trial, state=TrialState.FAIL)
        else:
            study.tell(trial, told)
    study.ask(space)
    trials = study.get_trials(deepcopy=False)
    named = Named.of(study, trials)
    assert named is not None
    assert dict(named.outcomes) == {"loss": Minimize(), "speed": Maximize(), "weight": AtMost(0.0)}
    evidence = evidence_of_outcomes(trials, Axes.of(space), named, "ceibo:noise")
    told_of = {name: each.told for name, each in evidence.each.items()}
    assert [t.measurement for t in told_of["loss"]] == [
        Measurement(1.0, 0.1),
        Measurement(3.0),
        Measurement(5.0),
    ]
    assert [t.measurement for t in told_of["speed"]] == [Measurement(2.0), Measurement(6.0)]
    assert [t.number for t in told_of["weight"]] == [0, 1, 3]
    assert len(evidence.goal.failed) == 2
    assert len(evidence.under_way) == 1
    assert evidence.failures_in_a_row == 0


@pytest.mark.parametrize("count", [2, 3])
def test_several_objectives_find_the_front(count: int) -> None:
    def objectives(trial: Trial) -> tuple[float, ...]:
        values = two(trial)
        return (*values, trial.params["x"])[:count]

    study = create(CeiboSampler(seed=0), ["minimize", "maximize", "minimize"][:count])
    study.optimize(objectives, n_trials=15)
    late = study.trials[-4:]
    assert all(trial.values is not None and len(trial.values) == count for trial in late)
    assert np.median([abs(trial.params["y"] - 0.5) for trial in late]) < 0.15
    front = front_by_posterior(study)
    assert len(front) >= 3
    means = [each.outcomes["values_0"].mean for each in front]
    assert means == sorted(means)
    for each in front:
        assert each.number is not None
        assert each.params == study.trials[each.number].params
        assert each.p_efficient is not None
        assert 0 <= each.p_efficient <= 1
        assert each.p_feasible is None


def test_constraints_hold_on_the_front() -> None:
    def objectives(trial: Trial) -> tuple[float, float]:
        values = two(trial)
        trial.set_constraint("x", trial.params["x"] - 0.5)  # at most 0.5
        return values

    study = create(CeiboSampler(seed=0), ["minimize", "maximize"])
    study.optimize(objectives, n_trials=14)
    assert np.median([trial.params["x"] for trial in study.trials[-6:]]) < 0.55
    for each in front_by_posterior(study):
        assert each.params["x"] <= 0.5
        assert each.p_feasible is not None
        assert each.p_feasible >= 0.5


@pytest.mark.parametrize("directions", [["minimize"], ["minimize", "maximize"]])
def test_a_study_goes_on_in_another_process(directions: list[str], tmp_path: Path) -> None:
    """The same trials with and without a break, with values to start from in the record."""

    def objective(trial: Trial) -> Any:
        values = two(trial)
        trial.set_constraint("x", trial.params["x"] - 0.6)
        return values[: len(directions)]

    storage = f"sqlite:///{tmp_path / 'study.db'}"
    whole = create(CeiboSampler(seed=3), directions)
    whole.optimize(objective, n_trials=9)
    options: dict[str, Any] = {"storage": storage, "study_name": "s", "directions": directions}
    first = optuna.create_study(sampler=CeiboSampler(seed=3), **options)
    first.optimize(objective, n_trials=6)
    again = optuna.load_study(sampler=CeiboSampler(seed=3), storage=storage, study_name="s")
    again.optimize(objective, n_trials=3)
    assert [trial.params for trial in again.trials] == [trial.params for trial in whole.trials]
    record = record_of(again.trials[-1])
    assert record is not None
    assert set(record["outcomes"]) >= {"x"}
    assert all(each["start"] is not None for each in record["outcomes"].values())


def test_running_trials_are_kept_off() -> None:
    study = create(CeiboSampler(seed=0), ["minimize", "maximize"])
    study.optimize(two, n_trials=8)
    asked = [study.ask() for _ in range(3)]
    places = np.array([[t.suggest_float("x", 0, 1), t.suggest_float("y", 0, 1)] for t in asked])
    gaps = [np.max(np.abs(a - b)) for i, a in enumerate(places) for b in places[:i]]
    assert min(gaps) > 1e-3


def test_stopping_by_cost_counts_what_constraints_leave() -> None:
    study = create(CeiboSampler(seed=0, constraints_func=shortage))
    study.optimize(limited, n_trials=30, callbacks=[stop_by_cost(0.05)])
    assert len(study.trials) < 30


def test_studies_of_other_samplers_have_answers_too() -> None:
    study = create(RandomSampler(seed=0))
    study.optimize(limited, n_trials=6)  # before there were constraints
    study.sampler = RandomSampler(seed=1)

    def own(trial: Trial) -> float:
        value = limited(trial)
        trial.set_constraint("weight", trial.user_attrs["short"])
        return value

    study.optimize(own, n_trials=20)
    assert best_trial_by_posterior(study).params["x"] == pytest.approx(0.75, abs=0.1)
    several = create(RandomSampler(seed=0), ["minimize", "maximize"])
    several.optimize(two, n_trials=15)
    assert len(front_by_posterior(several)) >= 2


def test_trials_with_different_parameters_have_answers() -> None:
    def branched(trial: Trial) -> float:
        kind = trial.suggest_categorical("kind", ["a", "b"])
        x = trial.suggest_float(f"x_{kind}", 0, 1)
        trial.set_constraint("low", 0.5 - x)
        return (x - 0.3) ** 2 + (kind == "b")

    study = create(CeiboSampler(seed=0, warn_independent_sampling=False))
    study.optimize(branched, n_trials=24)
    best = best_trial_by_posterior(study)
    assert best.p_feasible is not None
    assert best.p_feasible >= 0.95
    assert best.params["kind"] == "a"
    assert best.params["x_a"] >= 0.5
    found = recommended(study)
    assert found.params.keys() == best.params.keys()
    assert found.mean <= best.mean + 1e-6
    assert (found.p_feasible or 0) >= 0.95


def test_what_has_no_answer_is_refused() -> None:
    study = create(CeiboSampler(seed=0), ["minimize"] * 4)
    with pytest.raises(InputError, match="one to 3 objectives"):
        study.ask().suggest_float("x", 0, 1)
    study = create(CeiboSampler(seed=0, acquisition="corrected-ei"), ["minimize"] * 2)
    with pytest.raises(InputError, match="noisy-ei"):
        study.ask().suggest_float("x", 0, 1)
    study = create(CeiboSampler(seed=0), ["minimize", "maximize"])
    with pytest.raises(NoMeasurementError):
        front_by_posterior(study)
    study.optimize(two, n_trials=6)
    with pytest.raises(InputError, match="front_by_posterior"):
        best_trial_by_posterior(study)
    with pytest.raises(InputError, match="front_by_posterior"):
        recommended(study)
    alone = create(CeiboSampler(seed=0))
    alone.optimize(limited, n_trials=3)
    with pytest.raises(InputError, match="best_trial_by_posterior"):
        front_by_posterior(alone)
    with pytest.raises(InputError, match="a probability from"):
        CeiboSampler(confidence=2.0)


def test_noise_of_several_objectives_is_told_for_each() -> None:
    def repeated(trial: Trial) -> tuple[float, float]:
        report_replicates(trial, [1.0, 1.1])
        return two(trial)

    def once(trial: Trial) -> tuple[float, float]:
        report_noise(trial, 0.1)
        return two(trial)

    for objective, words in ((repeated, "reported replicates"), (once, "each of 2 objectives")):
        study = create(CeiboSampler(seed=0), ["minimize", "maximize"])
        with pytest.raises(InputError, match=words):
            study.optimize(objective, n_trials=3)


class Receiver:
    """Takes what a study would."""

    def __init__(self, space: Any, **options: Any) -> None:
        self.space, self.options = space, options
        self.rows: list[Any] = []

    def add_all(self, rows: Sequence[Any]) -> None:
        self.rows += rows


def test_a_copy_has_the_outcomes() -> None:
    study = create(CeiboSampler(seed=0, constraints_func=shortage))
    study.optimize(limited, n_trials=6)
    copy = to_study(study, Receiver)
    assert dict(copy.options["outcomes"]) == {"value": Minimize(), "constraint 0": AtMost(0.0)}
    assert "direction" not in copy.options
    params, values = copy.rows[2]
    assert params == study.trials[2].params
    assert values == {
        "value": Measurement(study.trials[2].values[0]),
        "constraint 0": Measurement(study.trials[2].user_attrs["short"]),
    }


def test_a_trial_whose_constraint_is_infinite_is_no_answer() -> None:
    def constraints(trial: FrozenTrial) -> Sequence[float]:
        x = trial.params["x"]
        return [float("inf") if x < 0.2 else 0.01 * x - 0.4]

    sampler = CeiboSampler(seed=0, constraints_func=constraints)
    study = optuna.create_study(sampler=sampler)
    for x in np.linspace(0.05, 0.9, 11):
        study.enqueue_trial({"x": float(x)})
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=11)
    assert best_trial_by_posterior(study).trial.params["x"] > 0.2
