"""The price of a measurement: when it is no longer worth it, patience, and what is said."""

import numpy as np
import pytest

from ceibo import Float, InputError, Measurement, Study
from ceibo.decide import Evidence, Settings, Space
from ceibo.decide.model import Model, fit_model
from ceibo.decide.stopping import PATIENCE, judge


def study_of(values: list[float], noise: float | None = 0.01) -> Study:
    """A study in one dimension with these values at evenly spaced points."""
    study = Study.create({"x": Float(0, 1)}, seed=0, acquisition="corrected-ei")
    for x, value in zip(np.linspace(0, 1, len(values)), values, strict=True):
        study.add({"x": float(x)}, value, noise=noise)
    return study


def parabola(count: int) -> list[float]:
    return [float((x - 0.4) ** 2) for x in np.linspace(0, 1, count)]


def test_a_measurement_is_worth_less_and_less() -> None:
    worth = [study_of(parabola(count)).should_stop(1e-9).remaining[0] for count in (4, 8, 16)]
    assert worth == sorted(worth, reverse=True)
    assert worth[-1] > 0


def test_the_verdict_follows_the_price() -> None:
    study = study_of(parabola(12))
    remaining = study.should_stop(1e-9).remaining
    assert len(remaining) == PATIENCE
    cheap, dear = study.should_stop(0.5 * min(remaining)), study.should_stop(2 * max(remaining))
    assert not cheap
    assert cheap.message.startswith("go on: the largest expected improvement is")
    assert dear
    assert dear.message.startswith("stop: the largest expected improvement is")
    assert dear.cost == 2 * max(remaining)


def test_patience() -> None:
    """One state below the price is not enough; the state before must have been below it too."""
    assert judge(12, (0.1, 0.1), 1.0, 4)
    once = judge(12, (0.1, 5.0), 1.0, 4)
    assert not once
    assert once.message == f"go on once more: {once.reason}."
    assert "one measurement before it still paid" in once.reason
    assert not judge(12, (5.0, 0.1), 1.0, 4)
    assert not judge(12, (0.1,), 1.0, 4)


def test_no_verdict_before_the_initial_design_is_measured() -> None:
    study = Study.create({"x": Float(0, 1), "y": Float(0, 1)}, seed=0)
    for trial in study.ask(3):
        # three measurements, however many replicates
        study.tell(trial, Measurement.of([1.0, 1.1, 0.9]))
    worth = study.should_stop(1e9)
    assert not worth
    assert worth.message == "go on: the initial design needs 1 more measurement."
    assert worth.remaining == ()
    study.tell(study.ask(), 1.0)
    assert study.should_stop(1e9)


def test_remaining_improvement_is_that_of_what_would_be_suggested() -> None:
    study = study_of(parabola(9))
    trial = study.ask()
    recorded = study.suggestions[trial.number]["value"]
    study.release(trial)
    # Found by another search over the same surface, and with the trial pending: at most what was
    # promised.
    remaining = study.should_stop(1.0).remaining[0]
    assert 0 < remaining <= recorded * (1 + 1e-6)


def test_it_is_corrected_ei_whatever_the_study_uses() -> None:
    one = study_of(parabola(8))
    other = Study.create({"x": Float(0, 1)}, seed=0, acquisition="ucb")
    for trial in one.trials:
        other.add(trial.params, trial.measurements[0])
    assert one.should_stop(1.0).remaining == other.should_stop(1.0).remaining


def test_failed_points_promise_nothing() -> None:
    """The best place fails: what it would bring is not counted for ever."""
    study = Study.create({"x": Float(0, 1)}, seed=0)
    for x in np.linspace(0.5, 1, 6):
        study.add({"x": float(x)}, float(x), noise=0.01)
    before = study.should_stop(1e-9).remaining[0]
    for x in np.linspace(0, 0.48, 25):
        study.add({"x": float(x)}, float("nan"))
    assert study.should_stop(1e-9).remaining[0] < 0.5 * before


@pytest.mark.parametrize("cost", [0, -1.0, float("nan"), float("inf"), "1", True, None])
def test_bad_prices(cost: object) -> None:
    with pytest.raises(InputError, match="cost must be a finite number above zero"):
        study_of([1.0]).should_stop(cost)  # type: ignore[arg-type]


def test_it_is_computed_once_per_state(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(evidence: Evidence, space: Space, settings: Settings) -> Model:
        calls.append(len(evidence))
        return fit_model(evidence, space, settings)

    monkeypatch.setattr("ceibo.decide.belief.fit_model", counted)
    study = study_of(parabola(6))
    first = study.should_stop(0.1)
    assert study.should_stop(0.2).remaining == first.remaining
    assert sorted(calls) == [5, 6]
    study.add({"x": 0.33}, 0.01, noise=0.01)
    study.should_stop(0.1)
    assert sorted(calls) == [5, 6, 7]


def test_profit() -> None:
    """The incumbent's value, larger is better, less the price of the evaluations after the initial
    design.
    """
    study = study_of(parabola(12))  # an initial design of four
    profit = study.profit(0.5)
    assert (profit.evaluations, profit.cost) == (8, 0.5)
    assert profit.value == -study.best.mean - 4.0
    assert profit.std == study.best.std
    assert str(profit).endswith("after 8 evaluations at 0.5 each")
    up = Study.create({"x": Float(0, 1)}, direction="maximize")
    up.add({"x": 0.5}, 3.0)
    assert up.profit(1.0).value == up.best.mean
    with pytest.raises(InputError, match="cost must be"):
        study.profit(-1.0)
