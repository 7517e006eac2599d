"""The honest best, the recommendation, the raw best, and why they differ."""

import numpy as np
import pytest

from ceibo import Categorical, Estimate, Float, Measurement, Study
from ceibo.decide import OutcomeEstimate
from ceibo.decide.direction import DirectionLike
from ceibo.decide.estimate import compare_with_raw
from ceibo.errors import NoMeasurementError


def lucky_study(direction: DirectionLike = "minimize") -> Study:
    """A parabola with its best at x = 0.4, and one wildly lucky value at x = 0.9."""
    sign = 1.0 if direction == "minimize" else -1.0
    study = Study.create({"x": Float(0, 1)}, direction=direction, seed=0)
    for x in np.linspace(0, 1, 11):
        study.add({"x": float(x)}, sign * float((x - 0.4) ** 2), noise=0.02)
    study.add({"x": 0.9}, sign * -0.5, noise=1.0)
    return study


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_raw_best_is_a_fluke_and_said_to_be(direction: DirectionLike) -> None:
    study = lucky_study(direction)
    best, raw = study.best, study.best_observed
    assert best.params["x"] == pytest.approx(0.4, abs=0.11)
    assert best.number in (3, 4, 5)
    assert abs(best.mean) < 0.03
    assert 0 < best.std < 0.02
    assert best.probability is not None
    assert 0.2 < best.probability <= 1
    assert (raw.number, abs(raw.value), raw.noise) == (11, 0.5, 1.0)
    assert "trial 11 has the best measured value" in raw.why
    assert f"trial {best.number} is expected to be better" in raw.why
    assert "at {'x': 0.4" in str(best)


def test_when_both_are_the_same_it_is_said() -> None:
    study = Study.create({"x": Float(0, 1)}, seed=0)
    for x in np.linspace(0, 1, 6):
        study.add({"x": float(x)}, float(x), noise=1e-3)
    assert study.best_observed.number == study.best.number == 0
    assert study.best_observed.why.startswith("trial 0 has both the best measured value")


def test_the_recommendation_may_lie_between_measurements() -> None:
    study = Study.create({"x": Float(0, 1)}, seed=0)
    for x in (0.0, 0.2, 0.5, 0.7, 1.0):
        study.add({"x": x}, (x - 0.38) ** 2, noise=1e-3)
    found = study.recommended
    assert found.params["x"] == pytest.approx(0.38, abs=0.05)
    assert found.mean <= study.best.mean
    assert found.std > 0
    assert (found.number, found.probability) == (None, None)


def test_the_recommendation_is_never_worse_than_the_best() -> None:
    """Also where the best measured point has failures all around it."""
    study = lucky_study()
    for x in np.linspace(0.3, 0.5, 21):
        study.add({"x": float(x)}, float("nan"))
    assert study.recommended.mean <= study.best.mean


def test_repeats_of_one_setting_are_one_setting() -> None:
    study = Study.create({"a": Categorical(["p", "q"])}, seed=0)
    rng = np.random.default_rng(0)
    for k in range(20):
        study.add({"a": "pq"[k % 2]}, float(k % 2 + 0.5 * rng.standard_normal()))
    best = study.best
    assert best.params == {"a": "p"}
    assert best.number == 0
    # The mean of ten values with a standard deviation of 0.5 has one of 0.16; the prior pulls a
    # little.
    assert best.mean == pytest.approx(0.0, abs=0.5)
    assert best.std == pytest.approx(0.16, rel=0.5)
    assert best.probability is not None
    assert best.probability > 0.9


def test_replicates_and_several_measurements_count_together() -> None:
    """Ten replicates, or ten keyed measurements, of the same values: the same posterior."""
    values = [1.0, 1.2, 0.9, 1.1, 0.8]
    together, apart = (Study.create({"x": Float(0, 1)}, seed=0) for _ in range(2))
    for study in (together, apart):
        study.add({"x": 1.0}, 3.0)
        study.enqueue({"x": 0.2})
        trial = study.ask()
        if study is together:
            study.tell(trial, Measurement.of(values))
        for index, value in enumerate(values if study is apart else []):
            study.tell(trial, value, key=f"run-{index}")
    assert together.best.mean == apart.best.mean
    assert together.best.std == apart.best.std


def test_one_measurement_is_enough_for_an_answer() -> None:
    study = Study.create({"x": Float(0, 1)}, seed=0)
    for answer in ("best", "recommended", "best_observed"):
        with pytest.raises(NoMeasurementError, match="study 'study' has no measurement yet"):
            getattr(study, answer)
    study.tell(study.ask(), 3.0)
    assert study.best.number == 0
    assert study.best.probability == 1.0
    assert np.isfinite(study.recommended.mean)
    assert study.best_observed.value == 3.0


@pytest.mark.needs("pandas")
def test_answers_do_not_change_the_study() -> None:
    study = lucky_study()
    seq = study.ledger.refresh().seq
    _ = (
        study.best,
        study.recommended,
        study.best_observed,
        study.should_stop(0.1),
        study.to_dataframe(),
        repr(study),
    )
    assert study.ledger.refresh().seq == seq


def test_a_chance_of_limits_is_never_stated_as_certain() -> None:
    best = Estimate({"x": 1}, 80.0, 1.0, number=0, p_feasible=1 - 1e-12)
    other = Estimate({"x": 2}, 79.0, 1.0, number=1, p_feasible=0.5)
    text = compare_with_raw(1, Measurement(85.0), other, best, is_within=True)
    assert "a chance of 50 %; trial 0 has 80.0 ± 1.0 and > 99 %." in text


def test_a_chance_is_never_said_to_be_certain() -> None:
    gain = {"gain": OutcomeEstimate(1.0, 0.1, 0.8, 1.2)}
    for chance, said in ((0.996, "> 99 %"), (0.95, "95 %"), (0.001, "< 1 %")):
        estimate = Estimate({"x": 0.5}, 1.0, 0.1, outcomes=gain, p_feasible=chance)
        assert f"limits hold with {said} at" in str(estimate)
    one = Study.create({"x": Float(0, 1)})
    one.add({"x": 0.5}, 1.0)
    assert repr(one) == "<Study 'study': minimize over 1 parameter, 1 trial measured>"
