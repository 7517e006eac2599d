"""Suggestions that go into the answer: the knowledge gradient anywhere, repeats included."""

import numpy as np
import pytest

from ceibo.decide import Evidence, Float, Int, Measurement, Settings, Space, Told, suggest
from ceibo.decide.evidence import Unmeasured, evidence_of
from ceibo.decide.record import is_to_confirm, to_record
from ceibo.decide.suggest import Suggestion
from ceibo.gp.inputs import Array

LEVELS = Space({"x": Int(0, 4)})
# Two settings are about equally good and one of them was measured much worse than the other.
VALUES = {0: (1.9, 0.05), 1: (0.02, 0.5), 2: (0.0, 0.02), 3: (2.0, 0.05), 4: (2.1, 0.05)}


def evidence(repeated: int = 1, unmeasured: Unmeasured | None = None) -> Evidence:
    told = []
    for level, (value, noise) in VALUES.items():
        x = LEVELS.to_unit({"x": level})
        told += [Told(level, x, Measurement(value, noise))] * repeated
    return evidence_of(told, 1, unmeasured=unmeasured)


def confirm(known: Evidence, number: int = 10) -> Suggestion:
    return suggest(known, LEVELS, Settings(), None, 0, number, confirm=True)


def simulated_gains(found: Suggestion, X: Array) -> Array:
    """μ(x⁺) − E[min of the next posterior mean], by 200,000 simulated measurements at each X."""
    assert found.model is not None
    gp = found.model.gp
    Z = np.random.default_rng(0).standard_normal(200_000)
    means = gp.posterior(X)[0]
    joint = gp.covariance(X, X)
    gains = []
    for j in range(len(X)):
        steps = joint[:, j] / np.sqrt(joint[j, j] + gp.expected_noise)
        after = means[:, None] + steps[:, None] * Z
        gains.append(means.min() - float(np.mean(after.min(axis=0))))
    return np.array(gains)


def test_the_setting_that_teaches_most_is_chosen_though_it_was_measured() -> None:
    found = confirm(evidence())
    X = np.array([LEVELS.to_unit({"x": level}) for level in VALUES])
    gains = simulated_gains(found, X)
    assert found.params["x"] == int(np.argmax(gains)) == 1
    assert found.acquisition == "knowledge-gradient"
    assert found.value is not None
    assert found.model is not None
    assert found.value == pytest.approx(found.model.natural(float(gains.max())), rel=0.02)


def test_the_incumbent_itself_may_be_measured_again() -> None:
    told = [
        Told(0, LEVELS.to_unit({"x": 0}), Measurement(0.0, 0.6)),  # the best, and least known
        *(Told(k, LEVELS.to_unit({"x": k}), Measurement(0.3, 0.02)) for k in range(1, 5)),
    ]
    found = confirm(evidence_of(told, 1))
    assert found.model is not None
    means = found.model.gp.posterior([LEVELS.to_unit({"x": level}) for level in range(5)])[0]
    assert found.params["x"] == int(np.argmin(means)) == 0


def test_points_under_way_do_not_forbid_repeats_that_pay() -> None:
    place = LEVELS.to_unit({"x": 1})
    once = evidence(unmeasured=Unmeasured(pending=[place]))
    assert confirm(once).params["x"] == 1
    # a search keeps off it
    assert suggest(once, LEVELS, Settings(n_initial=1), None, 0, 10).params["x"] != 1
    # but when it is being measured often enough, something else teaches more
    often = evidence(unmeasured=Unmeasured(pending=[place] * 400))
    assert confirm(often).params["x"] != 1


def test_a_measured_setting_is_not_closed_by_what_became_of_a_repeat() -> None:
    place = LEVELS.to_unit({"x": 1})
    for unmeasured in (Unmeasured(failed=[place]), Unmeasured(withdrawn=[place])):
        assert confirm(evidence(unmeasured=unmeasured)).params["x"] == 1
    elsewhere = Unmeasured(withdrawn=[LEVELS.to_unit({"x": level}) for level in (0, 2, 3, 4)])
    assert confirm(evidence(unmeasured=elsewhere)).params["x"] == 1


def test_one_measurement_is_enough_and_none_begins_the_initial_design() -> None:
    space = Space({"x": Float(0, 1), "y": Float(0, 1)})
    none = evidence_of((), 2)
    first = suggest(none, space, Settings(), None, 0, 0, confirm=True)
    assert (first.source, first.purpose) == ("initial", None)
    assert first.params == suggest(none, space, Settings(), None, 0, 0).params
    one = evidence_of([Told(0, np.array([0.5, 0.5]), Measurement(1.0, 0.1))], 2)
    assert suggest(one, space, Settings(), None, 0, 1).source == "initial"
    found = suggest(one, space, Settings(), None, 0, 1, confirm=True)
    assert (found.source, found.purpose) == ("model", "confirm")


def test_what_a_suggestion_is_for_is_recorded_only_where_it_is_not_the_search() -> None:
    known = evidence()
    plain = to_record(suggest(known, LEVELS, Settings(n_initial=1), None, 0, 10), 5, 0)
    last = to_record(confirm(known), 5, 0)
    assert set(last) - set(plain) == {"purpose"}
    assert (is_to_confirm(plain), is_to_confirm(last)) == (False, True)
