"""Pruned trials as evidence: their last reports, what finished trials say of them, and answers."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial

from ceibo.decide import Direction, Evidence
from ceibo.errors import NoMeasurementError
from ceibo.integrations.optuna import (
    CeiboSampler,
    best_trial_by_posterior,
    recommended,
    report_noise,
    stop_by_cost,
)
from ceibo.integrations.optuna.answers import verdict_of
from ceibo.integrations.optuna.axes import Axes
from ceibo.integrations.optuna.evidence import NOISE, evidence_of_trials, record_of
from ceibo.integrations.optuna.history import find_search_space
from soak.optuna_pruning import BEST_TRIAL, Problem, measure

X = FloatDistribution(0, 1)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(level)


def trial_of(
    x: float, reports: dict[int, float] | None = None, value: float | None = None, **more: Any
) -> FrozenTrial:
    """A finished trial if it has a value, otherwise a pruned one."""
    return create_trial(
        state=TrialState.PRUNED if value is None else TrialState.COMPLETE,
        value=value,
        params={"x": x},
        distributions={"x": X},
        intermediate_values=reports or {},
        **more,
    )


def seen(trials: list[FrozenTrial], direction: Direction = Direction.MINIMIZE) -> Evidence:
    study = optuna.create_study()
    study.add_trials(trials)
    return evidence_of_trials(study.trials, Axes.of({"x": X}), direction, NOISE)


def falling(trial: Trial, sign: float = 1.0) -> float:
    """A bowl with its minimum 0 at x = 0.3 that every trial approaches from 1 above."""
    x = trial.suggest_float("x", 0, 1)
    y = trial.suggest_float("y", 0, 1)
    value = 4 * (x - 0.3) ** 2 + (y - 0.5) ** 2
    value += 0.05 * float(np.random.default_rng(trial.number).standard_normal())
    for step in range(6):
        trial.report(sign * (value + math.exp(-step)), step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return sign * value


def study_of(**options: Any) -> optuna.Study:
    pruner = optuna.pruners.MedianPruner(n_startup_trials=4)
    return optuna.create_study(sampler=CeiboSampler(seed=1), pruner=pruner, **options)


def pruned_of(study: optuna.Study) -> list[FrozenTrial]:
    return study.get_trials(states=(TrialState.PRUNED,))


def test_a_report_is_shifted_by_what_finished_trials_gained_after_its_step() -> None:
    trials = [
        trial_of(0.1, {0: 5.0, 1: 3.0}, 2.0),
        trial_of(0.2, {0: 6.0, 1: 3.5}, 2.0),
        trial_of(0.3, {0: 9.0, 1: 3.0}, 1.0),
        trial_of(0.4, {0: 7.0}),
        trial_of(0.5, {0: 7.0, 1: 4.0}),
    ]
    evidence = seen(trials)
    # the medians of -3, -4, -8 and of -1, -1.5, -2
    np.testing.assert_allclose(evidence.y, [2.0, 2.0, 1.0, 3.0, 2.5])
    assert [told.number for told in evidence.told] == [0, 1, 2, 3, 4]
    assert len(evidence.failed) == 0
    np.testing.assert_allclose(seen(trials, Direction.MAXIMIZE).y, -evidence.y)


def test_steps_need_not_be_the_same_nor_in_order() -> None:
    trials = [
        trial_of(0.1, {20: 1.0, 10: 3.0}, 1.0),  # at step 15 its latest report is 3
        trial_of(0.2, {30: 1.0}, 0.5),  # has none up to there
        trial_of(0.3, {15: 4.0, 5: 9.0}),
        trial_of(0.4, {5: 9.0}),  # no finished trial has reported so early
    ]
    np.testing.assert_allclose(seen(trials).y, [1.0, 0.5, 2.0, 9.0])


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_reports_that_are_not_finite_are_failures_and_say_nothing_of_others(wrong: float) -> None:
    trials = [
        trial_of(0.1, {0: 5.0}, 4.0),
        trial_of(0.2, {0: wrong}, 2.0),
        trial_of(0.3, {0: 6.0, 1: wrong}),  # it has diverged
        trial_of(0.4, {0: wrong, 1: 6.0}),
        trial_of(0.5, {0: 6.0}),
    ]
    evidence = seen(trials)
    np.testing.assert_allclose(evidence.y, [4.0, 2.0, 5.0, 5.0])
    np.testing.assert_allclose(evidence.failed, [[0.3]])


def test_a_shift_that_overflows_leaves_the_report_as_it_is() -> None:
    trials = [trial_of(0.1, {0: -1e308}, 1e308), trial_of(0.2, {0: 1e308})]
    np.testing.assert_allclose(seen(trials).y, [1e308, 1e308])
    trials = [trial_of(0.1, {0: 0.0}, 1e308), trial_of(0.2, {0: 1e308})]
    np.testing.assert_allclose(seen(trials).y, [1e308, 1e308])


def test_pruned_without_a_report_is_kept_off_and_no_error() -> None:
    evidence = seen([trial_of(0.1, {}, 1.0), trial_of(0.2), trial_of(0.3, {3: 2.0})])
    np.testing.assert_allclose(evidence.failed, [[0.2]])
    np.testing.assert_allclose(evidence.y, [1.0, 2.0])
    assert evidence.failures_in_a_row == 0


def test_the_noise_of_a_pruned_value_is_inferred() -> None:
    told: dict[str, Any] = {"user_attrs": {NOISE: 0.1}}
    evidence = seen([trial_of(0.1, {0: 2.0}, 1.0, **told), trial_of(0.2, {0: 3.0}, **told)])
    np.testing.assert_array_equal(evidence.noise, [0.1, np.nan])


def test_a_study_with_a_pruner_goes_on_after_a_restart_as_if_nothing_had_happened(
    tmp_path: Path,
) -> None:
    whole = study_of()
    whole.optimize(falling, n_trials=16)
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    study_of(storage=storage, study_name="s").optimize(falling, n_trials=11)
    again = optuna.load_study(
        study_name="s", storage=storage, sampler=CeiboSampler(seed=1), pruner=whole.pruner
    )
    again.optimize(falling, n_trials=5)
    assert pruned_of(whole)
    assert [trial.params for trial in again.trials] == [trial.params for trial in whole.trials]


def test_maximising_the_negative_with_a_pruner_gives_the_same_trials() -> None:
    least, most = study_of(), study_of(direction="maximize")
    least.optimize(falling, n_trials=14)
    most.optimize(lambda trial: falling(trial, -1.0), n_trials=14)
    assert [trial.params for trial in most.trials] == [trial.params for trial in least.trials]
    assert len(pruned_of(least)) >= 3


def test_the_model_sees_pruned_trials_from_the_end_of_the_initial_design() -> None:
    study = study_of()
    study.optimize(falling, n_trials=12)
    records = [record_of(trial) for trial in study.trials]
    sources = [record["source"] for record in records if record is not None]
    assert sources[-8:] == ["model"] * 8
    last = records[-1]
    assert last is not None
    assert last["observations"] == 11  # all before it, and three or more of them pruned
    assert len(pruned_of(study)) >= 3


def test_while_no_trial_has_finished_the_pruned_ones_tell_the_space() -> None:
    def hopeless(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        trial.report((x - 0.3) ** 2, 0)
        raise optuna.TrialPruned

    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(hopeless, n_trials=8)
    record = record_of(study.trials[-1])
    assert record is not None
    assert record["source"] == "model"
    assert record["observations"] == 7
    with pytest.raises(NoMeasurementError):
        best_trial_by_posterior(study)
    assert find_search_space([trial_of(0.1)]) == {}


def test_a_trial_pruned_before_it_asked_for_everything_takes_no_parameter_away() -> None:
    def early(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        trial.report(x, 0)
        if x > 0.7:
            raise optuna.TrialPruned
        return x + trial.suggest_float("y", 0, 1)

    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(early, n_trials=12)
    assert pruned_of(study)
    record = record_of(study.trials[-1])
    assert record is not None
    assert record["names"] == ["x", "y"]


def test_the_best_trial_is_a_finished_one_though_a_pruned_one_looks_better() -> None:
    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.add_trials([trial_of(x, {0: x, 1: x}, x) for x in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)])
    study.add_trials([trial_of(0.1, {1: 0.1}), trial_of(0.2, {1: 0.2})])
    best = best_trial_by_posterior(study)
    assert best.trial.state is TrialState.COMPLETE
    assert best.params == {"x": 0.4}
    assert best.mean == pytest.approx(0.4, abs=0.05)
    assert 0 <= best.probability < 0.5
    assert recommended(study).params["x"] < 0.15


def test_branches_with_pruned_trials_have_answers() -> None:
    def objective(trial: Trial) -> float:
        kind = trial.suggest_categorical("kind", ["a", "b"])
        value = (trial.suggest_float(f"x{kind}", 0, 1) - 0.3) ** 2 + (kind == "b")
        for step in range(3):
            trial.report(value + 1 - step / 2, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    sampler = CeiboSampler(seed=0, warn_independent_sampling=False)
    pruner = optuna.pruners.MedianPruner(n_startup_trials=4)
    study = optuna.create_study(sampler=sampler, pruner=pruner)
    study.optimize(objective, n_trials=20)
    assert pruned_of(study)
    best, anywhere = best_trial_by_posterior(study), recommended(study)
    assert best.params["kind"] == anywhere.params["kind"] == "a"
    assert anywhere.params["xa"] == pytest.approx(0.3, abs=0.15)


def test_answers_use_the_reports_of_other_samplers_studies() -> None:
    pruner = optuna.pruners.MedianPruner(n_startup_trials=4)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0), pruner=pruner)
    study.optimize(falling, n_trials=30)
    assert len(pruned_of(study)) > 8
    found = recommended(study)
    assert found.params["x"] == pytest.approx(0.3, abs=0.1)
    assert found.mean == pytest.approx(0.0, abs=0.15)


def test_stopping_by_cost_counts_pruned_trials() -> None:
    study = study_of()
    study.optimize(falling, n_trials=60, callbacks=[stop_by_cost(0.05)])
    assert len(study.trials) < 60
    assert pruned_of(study)
    assert verdict_of(study, 0.05)


def test_workers_share_a_study_with_a_pruner() -> None:
    study = study_of()
    study.optimize(falling, n_trials=14, n_jobs=2)
    assert {trial.state for trial in study.trials} <= {TrialState.COMPLETE, TrialState.PRUNED}
    assert recommended(study).params["x"] == pytest.approx(0.3, abs=0.25)


def test_noise_told_before_pruning_does_not_vouch_for_a_report() -> None:
    """A wrong shift is taken for noise, rather than believed to the digits of the final value."""

    def objective(trial: Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        report_noise(trial, 1e-3)
        trial.report(x + 0.3 * float(np.random.default_rng(trial.number).standard_normal()), 0)
        if trial.number > 5 and trial.number % 2:
            raise optuna.TrialPruned
        return (x - 0.3) ** 2

    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(objective, n_trials=16)
    found = recommended(study)
    assert found.params["x"] == pytest.approx(0.3, abs=0.1)
    assert found.mean == pytest.approx(0.0, abs=0.02)


def test_the_battery_in_small() -> None:
    """Two seeds of the level curves: regrets are true values."""
    figures = measure([Problem("bowl", "level")], range(3, 5), 24, jobs=1)
    assert figures.keys() == {"level", "judged"}
    for regrets in figures["level"].regrets.values():
        assert regrets.shape == (2,)
        assert np.all((regrets >= 0) & (regrets < 5))
    assert 0 < figures["judged"].ratio < 10
    assert all(0 < figures["judged"].p(other) <= 1 for other in ("TPE", BEST_TRIAL))
