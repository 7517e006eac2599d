"""stop_by_cost: when it ends an Optuna study, and that it says so."""

import logging
import threading
from typing import Any

import optuna
import pytest
from optuna.trial import Trial, TrialState

from ceibo.errors import InputError
from ceibo.integrations.optuna import CeiboSampler, report_noise, stop_by_cost
from ceibo.integrations.optuna.answers import verdict_of


def bowl(trial: Trial) -> float:
    report_noise(trial, 0.01)
    return (trial.suggest_float("x", 0, 1) - 0.3) ** 2


def test_a_study_stops_when_trials_no_longer_pay() -> None:
    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(bowl, n_trials=60, callbacks=[stop_by_cost(0.01)])
    assert 4 <= len(study.trials) < 40
    verdict = verdict_of(study, 0.01)
    assert verdict
    assert len(verdict.remaining) == 2
    assert not verdict_of(study, 1e-12)
    assert not verdict_of(optuna.create_study(), 1.0)
    with pytest.raises(InputError, match="cost"):
        stop_by_cost(0.0)
    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    uncalled: Any = stop_by_cost
    with pytest.raises(InputError, match=r"callbacks=\[stop_by_cost\(0.01\)\]"):
        study.optimize(bowl, n_trials=2, callbacks=[uncalled])


def test_a_study_that_is_stopped_says_so_once_each_time(lines: list[str]) -> None:
    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    stop = stop_by_cost(0.01)
    for _ in range(2):
        lines.clear()
        study.optimize(bowl, n_trials=40, callbacks=[stop])
        assert len(study.trials) < 40
        (line,) = lines
        assert line.startswith("Stop: the largest expected improvement is")
        assert "a measurement costs 0.01" in line
        assert study.user_attrs["ceibo:stopped"] == line
    # so that it is printed beside Optuna's own lines
    assert logging.getLogger("optuna.ceibo").parent is logging.getLogger("optuna")


def test_workers_that_are_stopped_say_so_once_and_finish(lines: list[str]) -> None:
    started = threading.Barrier(2, timeout=60)

    def together(trial: Trial) -> float:
        value = bowl(trial)
        if trial.number < 2:
            started.wait()  # so that there are two at a time
        return value

    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(together, n_trials=40, n_jobs=2, callbacks=[stop_by_cost(0.01)])
    assert len(study.trials) < 40
    assert all(trial.state is TrialState.COMPLETE for trial in study.trials)
    assert len(lines) == 1


def test_stopping_names_the_trials_under_way(lines: list[str]) -> None:
    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(bowl, n_trials=20)
    study.ask().suggest_float("x", 0, 1)
    study.optimize(bowl, n_trials=20, callbacks=[stop_by_cost(0.01)])
    (line,) = lines
    assert line.endswith("Trials still under way, to be finished: 1.")


def test_stopping_is_refused_for_several_objectives() -> None:
    study = optuna.create_study(
        directions=["minimize", "maximize"], sampler=optuna.samplers.RandomSampler(seed=0)
    )
    with pytest.raises(InputError, match="one objective"):
        study.optimize(
            lambda trial: (trial.suggest_float("x", 0, 1), 1.0),
            n_trials=2,
            callbacks=[stop_by_cost(0.01)],
        )
