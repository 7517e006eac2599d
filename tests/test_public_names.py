"""The public names as programs of users call them: every name, argument and meaning in one place.

What each does is tested elsewhere. Here a name that goes, or an argument that changes its place or
meaning, fails.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ceibo
from ceibo import acquisition
from ceibo.acquisition import ACQUISITIONS
from ceibo.errors import ConflictError, InputError
from ceibo.gp import GaussianProcess, Matern52, fit_gp

SPACE = {
    "temp": ceibo.Float(20, 90),
    "rate": ceibo.Float(1e-5, 1e-1, log=True),
    "layers": ceibo.Int(1, 8),
    "solvent": ceibo.Categorical(["water", "ethanol"]),
}
SETTING = {"temp": 55, "rate": 1e-3, "layers": 2, "solvent": "water"}
LINE = {"x": ceibo.Float(0, 1)}


def measured(params: dict[str, Any]) -> ceibo.Measurement:
    return ceibo.Measurement((params["temp"] - 60) ** 2 / 900, noise=0.04)


def test_minimize_and_its_result() -> None:
    result = ceibo.minimize(measured, SPACE, n_trials=8, seed=0, progress=False)
    for estimate in (result.best, result.recommended):
        assert estimate.params.keys() == SPACE.keys()
        assert estimate.std > 0
        assert np.isfinite(estimate.mean)
    assert result.best_observed.value == min(t.measurements[0].value for t in result.study.trials)
    assert isinstance(result.stop.reason, ceibo.StopReason)
    assert result.stop.message
    assert result.study.optimize(measured, n_trials=9).study.trials[8].measurements
    assert [trial.purpose for trial in result.study.confirm(2)] == ["confirm"] * 2
    assert "<" in result._repr_html_()
    assert "<" in result.study._repr_html_()


def test_asking_and_telling(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/lab.db"
    given = {"storage": url, "name": "catalyst", "direction": "minimize", "seed": 0}
    ceibo.Study.create(SPACE, **given)  # type: ignore[arg-type]
    with pytest.raises(ConflictError):
        ceibo.Study.create(SPACE, **given)  # type: ignore[arg-type]
    study = ceibo.Study.open(url, "catalyst")
    trial, batch = study.ask(), study.ask(4)
    assert [trial.number, *(each.number for each in batch)] == [0, 1, 2, 3, 4]
    study.tell(trial, 0.31, noise=0.04)
    study.tell(trial.number, 0.31, noise=0.04)  # the same again
    with pytest.raises(ConflictError, match="key"):
        study.tell(trial, 0.3, noise=0.04)
    for _ in range(2):
        study.tell(trial, 0.29, noise=0.04, key="run-2", attributes={"who": "A"})
    study.tell(1, ceibo.Measurement.of([0.31, 0.29, 0.36]))
    study.fail(batch[1], "reactor leaked")
    study.release(batch[2])
    study.add(SETTING, 0.4, noise=0.1)
    study.enqueue({**SETTING, "temp": 56})
    states = [each.state for each in study.trials]
    assert states == ["done", "done", "failed", "queued", "running", "done", "queued"]
    told = study.trials[0]
    assert [(each.value, each.noise) for each in told.measurements] == [(0.31, 0.04), (0.29, 0.04)]
    assert (told.attributes, told.repeats) == ({"who": "A"}, 1)
    assert told.started is not None
    assert told.ended is not None
    assert told.started <= told.ended
    assert study.best.number is not None
    assert study.recommended.params
    assert not study.should_stop(cost=0.01)
    study.void(1, "GC column was broken", key=None, outcome=None)
    assert study.trials[1].voided[0].reason == "GC column was broken"


def test_several_outcomes() -> None:
    outcomes = {
        "yield": ceibo.Maximize(unit="%", low=0, high=100),
        "impurity": ceibo.AtMost(2.0, unit="%"),
        "cost": ceibo.Minimize(unit="EUR"),
        "colour": ceibo.Watch(),
    }
    study = ceibo.Study.create(LINE, outcomes=outcomes, confidence=0.95, seed=0)
    for trial in study.ask(5):
        x = trial.params["x"]
        now = {"yield": 80 - x, "impurity": ceibo.Measurement(3 * x, noise=0.1)}
        study.tell(trial, now)
        study.tell(trial, {"cost": 10 * x})
    for each in study.front:
        assert each.p_efficient is not None
        assert each.p_feasible is not None
    with pytest.raises(InputError, match="front"):
        _ = study.best
    assert set(study.predict([{"x": 0.3}])[0].outcomes) >= {"yield", "impurity", "cost"}

    def react(params: dict[str, Any]) -> dict[str, float]:
        return {"yield": params["x"], "impurity": 3 * params["x"]}

    limited = {name: outcomes[name] for name in ("yield", "impurity")}
    best = ceibo.optimize(react, LINE, limited, n_trials=7, seed=0).best
    assert best.outcomes["impurity"].mean < 2
    assert best.outcomes["impurity"].std > 0
    assert best.p_feasible is not None


def test_inputs_as_they_are_and_the_days_of_a_lab() -> None:
    dimensions = {
        "a": ceibo.Float(0, 0.6),
        "b": ceibo.Float(0, 1),
        "c": ceibo.Float(0, 1),
        "temp": ceibo.Float(20, 120, step=5),
        "hours": ceibo.Ordinal([1, 2, 4, 8, 24]),
        "solvent": ceibo.Categorical(["THF", "DMF"]),
        "optimizer": ceibo.Categorical(["sgd", "adam"]),
        "momentum": ceibo.Float(0, 1, when={"optimizer": "sgd"}),
    }
    rules = ["a + b + c == 1", "a <= 0.5 * b", "temp <= 66 if solvent == 'THF'"]
    study = ceibo.Study.create(ceibo.Space(dimensions, constraints=rules), seed=0)
    batch = study.ask(6, fixed={"solvent": "THF"}, shared=["temp"])
    assert len({trial.params["temp"] for trial in batch}) == 1
    for number, trial in enumerate(batch):
        given = trial.params
        assert given["solvent"] == "THF"
        assert given["temp"] <= 66
        assert given["a"] + given["b"] + given["c"] == pytest.approx(1)
        assert given["a"] <= 0.5 * given["b"] + 1e-9
        assert ("momentum" in given) == (given["optimizer"] == "sgd")
        value = ceibo.Measurement(given["a"], noise=0.02, count=4)
        study.tell(trial, value, block="2026-11-14" if number % 2 else {"day": 14, "plate": 3})
    study.add(batch[0].params, 0.3, block="2026-11-15")
    assert "2026-11-15" in str(study.blocks)
    assert study.recommend(fixed={"solvent": "DMF"}).params["solvent"] == "DMF"
    dimensions["solvent"] = ceibo.Categorical(["THF", "DMF", "EtOH"])
    study.change(ceibo.Space(dimensions, constraints=rules))
    assert len(study.trials) == 7
    with pytest.raises(TypeError):
        ceibo.Measurement(0.31, 0.02, (), 4)  # type: ignore[call-arg]  # count is keyword-only


def test_exceptions_and_the_end_of_a_run() -> None:
    def leave(params: dict[str, Any]) -> float:
        if ceibo.current_trial().number == 3:
            raise ceibo.StopRun("enough")
        return float(params["x"])

    result = ceibo.minimize(leave, LINE, n_trials=9)
    assert result.stop.message == "enough"

    calls: list[int] = []

    def fails(params: dict[str, Any]) -> float:
        calls.append(ceibo.current_trial().number)
        if len(calls) not in (2, 4):
            raise OSError
        return 0.0

    with pytest.raises(OSError):  # noqa: PT011 - the objective's own
        ceibo.minimize(fails, LINE, n_trials=9)  # the first trial ever
    study = ceibo.Study.create(LINE)
    study.add({"x": 0.5}, 1.0)
    with pytest.raises(OSError):  # noqa: PT011 - the third in a row
        study.optimize(fails, n_trials=20)
    assert len(calls) == 7


def test_the_array_level() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((9, 2)), 50 + rng.random(9)
    noise = np.full(9, 0.01)
    fit = fit_gp(X, y, noise, kernel="matern52")
    assert np.isfinite(fit.log_likelihood)
    gp = GaussianProcess(X, y, noise, Matern52(np.ones(2), 1.0), mean=0.0)
    mean, variance = gp.posterior(X[:3])
    assert mean.shape == variance.shape == (3,)
    assert gp.covariance(X[:3], X[:2]).shape == (3, 2)
    assert 49 < float(fit.gp.posterior(X)[0].mean()) < 52  # in the units of y
    names = "corrected-ei ei corrected-pi pi ucb noisy-ei q-noisy-ei corrected-kg"
    assert {*names.split(), "knowledge-gradient"} <= set(ACQUISITIONS)
    for name in ("corrected-ei", "ucb"):
        acq = acquisition.build(name, fit.gp, seed=0, next_noise_variance=None, pending=None)
        assert acq.value(X).shape == (9,)
        assert acq.incumbent.index == np.argmin(fit.gp.posterior(X)[0])
        x, value = acquisition.maximize(acq, seed=0)
        assert x.shape == (2,)
        assert value >= acq.value(X).max() - 1e-9


@pytest.mark.parametrize(
    "name", [pytest.param("plan.xlsx", marks=pytest.mark.needs("openpyxl")), "plan.csv"]
)
def test_a_sheet_out_and_back(name: str, tmp_path: Path) -> None:
    """Without a number of trials: a new one, and then those under way."""
    study = ceibo.Study.create(LINE, seed=0)
    assert [trial.number for trial in study.sheet(tmp_path / name)] == [0]
    assert [trial.number for trial in study.sheet(tmp_path / f"again-{name}")] == [0]
    study.read_sheet(tmp_path / name)
    assert [trial.state for trial in study.trials] == ["running"]
