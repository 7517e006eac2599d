"""Answers of a study where numbers do not survive a round trip, states change in place, or
measurements are several.
"""

import numpy as np
import pytest

import ceibo
from ceibo import Float, Measurement, Study


def test_best_is_found_for_values_that_do_not_survive_the_way_into_the_unit_cube_and_back() -> None:
    """A few of a hundred settings written with five digits come back different in the last bit."""
    space = Float(-5, 10)
    study = Study.create({"x": space}, seed=0)
    for k in range(12):
        study.add({"x": round(3.0 + 0.01 * k, 2)}, float(k), noise=0.1)
    lost = [
        x
        for x in np.round(np.arange(-5, 10, 0.01), 2)
        if study.space.from_unit(study.space.to_unit({"x": x}))["x"] != x
    ]
    assert lost  # otherwise this test says nothing
    for x in lost[:5]:
        alone = Study.create({"x": space}, seed=0)
        alone.add({"x": float(x)}, -1.0, noise=0.1)
        assert alone.best.params == {"x": x}
        assert alone.best_observed.params == {"x": x}
        assert alone.profit(0.1).evaluations == 0
    assert study.best.params["x"] == pytest.approx(3.0, abs=0.05)


def test_a_trial_that_fails_changes_what_another_measurement_is_worth() -> None:
    """The points are the same before and after, pending and then failed."""
    study = Study.create({"x": Float(0, 1)}, seed=0)
    for x in np.linspace(0, 1, 8):
        study.add({"x": float(x)}, float(np.sin(5 * x)), noise=0.1)
    trial = study.ask()
    pending = study.should_stop(1e-6).remaining
    study.fail(trial, "cracked")
    assert study.should_stop(1e-6).remaining != pending


def test_a_withdrawn_trial_changes_it_too_though_it_leaves_nothing_pending() -> None:
    study = Study.create({"x": Float(0, 1)}, seed=0)
    for x in np.linspace(0, 1, 8):
        study.add({"x": float(x)}, float(np.sin(5 * x)), noise=0.1)
    before = study.should_stop(1e-6).remaining
    study.withdraw(study.ask())
    assert study.should_stop(1e-6).remaining != before


def test_failures_in_a_row_are_no_reason_to_stop() -> None:
    """They make the next suggestion careful; what a measurement can bring is the same whatever came
    last.
    """
    failed_last, failed_first = (Study.create({"x": Float(0, 1)}, seed=0) for _ in range(2))
    for study, late in ((failed_last, True), (failed_first, False)):
        for _ in range(3 * (not late)):
            study.enqueue({"x": 0.9})
            study.fail(study.ask(), "cracked")
        for x in np.linspace(0, 0.7, 8):
            study.add({"x": float(x)}, float(-x), noise=0.1)
        for _ in range(3 * late):
            study.enqueue({"x": 0.9})
            study.fail(study.ask(), "cracked")
    evidences = [study.ledger.belief().evidence for study in (failed_last, failed_first)]
    assert [each.failures_in_a_row for each in evidences] == [3, 0]
    left = [study.should_stop(1e-6).remaining[0] for study in (failed_last, failed_first)]
    assert left[0] == left[1] > 0.0


def test_profit_counts_measurements() -> None:
    study = Study.create({"x": Float(0, 1)}, seed=0, n_initial=2)
    study.add({"x": 0.1}, 1.0, noise=0.1)
    study.add({"x": 0.9}, 2.0, noise=0.1)
    trial = study.ask()
    for k in range(5):
        study.tell(trial, 1.5 + 0.1 * k, noise=0.1, key=f"run-{k}")
    assert study.profit(0.1).evaluations == 5


def test_noise_told_with_replicates_is_that_of_their_mean() -> None:
    told, alone = (Study.create({"x": Float(0, 1)}, seed=0) for _ in range(2))
    for x, value in ((0.1, 1.0), (0.5, 0.2), (0.9, 2.0)):
        told.add({"x": x}, Measurement(value, 0.3, (value - 0.1, value + 0.1)))
        alone.add({"x": x}, value, noise=0.3)
    # The spread of the replicates is part of what values are scaled by, so the two fits differ a
    # little; noise taken as that of each replicate would make the standard deviation a quarter
    # smaller.
    assert told.best.std == pytest.approx(alone.best.std, rel=0.01)
    assert told.best.mean == pytest.approx(alone.best.mean, rel=0.01)


def test_a_result_shows_its_answers() -> None:
    space = {"x": ceibo.Float(0, 1)}
    result = ceibo.minimize(lambda p: (p["x"] - 0.3) ** 2, space, n_trials=6)
    for text in (str(result), repr(result)):
        assert f"best: {result.best}" in text
        assert f"recommended: {result.recommended}" in text
        assert "all 6 trials are done" in text
    goals = {"a": ceibo.Minimize(), "b": ceibo.Maximize()}
    several = ceibo.optimize(lambda p: {"a": p["x"], "b": p["x"]}, space, goals, n_trials=5)
    assert f"{len(several.front)} settings on the front" in str(several)


@pytest.mark.needs("pandas")
def test_the_rows_of_a_frame_are_settings() -> None:
    import pandas

    space = {"kind": ceibo.Categorical(["a", "b"]), "x": ceibo.Float(0, 1, when={"kind": "a"})}
    study = ceibo.Study.create(space, seed=0)
    study.add({"kind": "a", "x": 0.2}, 0.1)
    study.add({"kind": "b"}, 0.4)
    settings: list[dict[str, object]] = [{"kind": "a", "x": 0.5}, {"kind": "b"}]
    told = study.predict(pandas.DataFrame(settings))
    assert [each.mean for each in told] == [each.mean for each in study.predict(settings)]
    assert [each.params for each in told] == settings
    masked = study.predict(pandas.DataFrame(settings).convert_dtypes())
    assert [each.params for each in masked] == settings


def test_the_report_of_a_result_is_the_study_s() -> None:
    result = ceibo.minimize(
        lambda p: p["x"], {"x": ceibo.Float(0, 1)}, n_trials=5, cost=1e-9, seed=0
    )
    assert str(result.report()) == str(result.study.report(cost=1e-9))
