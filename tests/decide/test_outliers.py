"""Measurements that look wrong: found, discounted, and said; and nothing of it on clean data."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from ceibo.decide import (
    AtMost,
    Belief,
    Direction,
    Evidence,
    Float,
    Int,
    Maximize,
    Measurement,
    Outcomes,
    Settings,
    Space,
    Suspect,
    Told,
    evidence_of,
    suggest,
)
from ceibo.decide.joint import JointBelief, joint_evidence_of
from ceibo.decide.model import fit_model
from ceibo.decide.outliers import find_outliers
from ceibo.decide.rows import Rows
from ceibo.decide.suspects import sentences_about
from ceibo.gp import FitResult, GaussianProcess, Matern52
from ceibo.gp.inputs import Mask
from ceibo.gp.leave_one_out import leave_one_out
from tests.helpers import Array

SPACE = Space({"a": Float(0, 1), "b": Float(0, 1)})
NOISE = 0.1
ADVICE = (
    "correct or void what is wrong, and measure again what may be right: a value that comes again"
    " is no slip. A study begun with outliers = false believes every value."
)


def surface(X: Array) -> Array:
    return np.asarray(np.cos(4 * X[:, 0]) + 2 * (X[:, 1] - 0.4) ** 2)


def measured(seed: int, n: int = 40) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    return X, surface(X) + NOISE * rng.standard_normal(n)


def evidence(X: Array, y: Array, noise: float | None = None, scale: float = 1.0) -> Evidence:
    std = None if noise is None else noise * scale
    told = [Told(i, X[i], Measurement(y[i] * scale, std)) for i in range(len(y))]
    return evidence_of(told, X.shape[1])


def belief(known: Evidence, settings: Settings | None = None) -> Belief:
    return Belief(known, SPACE, settings or Settings(), 0)


def test_the_gain_of_a_discount_is_that_of_the_likelihood() -> None:
    X, y = measured(3, 12)
    y[5] += 1.5
    kernel = Matern52([0.5, 0.5], 1.2)
    noise = np.full(12, NOISE**2)
    gp = GaussianProcess(X, y, noise, kernel)

    def likelihood(extra: float) -> float:
        changed = noise.copy()
        changed[5] += extra
        return GaussianProcess(X, y, changed, kernel).log_likelihood

    found = leave_one_out(gp, y, np.arange(12), np.ones(12))
    squared = found.residual[5] ** 2
    total = found.variance[5] + noise[5]
    best = minimize_scalar(lambda log: -likelihood(np.exp(log)), bounds=(-8, 4), method="bounded")
    assert np.exp(best.x) == pytest.approx(squared - total, rel=1e-3)
    q = squared / total
    gain = likelihood(squared - total) - likelihood(0.0)
    assert gain == pytest.approx(0.5 * (q - 1 - np.log(q)), rel=1e-8)


@pytest.mark.parametrize("noise", [None, NOISE])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_planted_outliers_are_found_and_named(noise: float | None, scale: float) -> None:
    X, y = measured(0)
    wrong = {7: 1.2, 19: -0.9, 31: 2.0, 36: -1.5}
    for row, shift in wrong.items():
        y[row] += shift
    found = belief(evidence(X, y, noise, scale))
    assert {each.number for each in found.suspects} == set(wrong)
    for each in found.suspects:
        assert each.value == y[each.number] * scale
        off = (each.expected / scale - surface(X[[each.number]])[0]) / NOISE
        assert abs(off) < 3
        assert np.sign(each.deviations) == np.sign(wrong[each.number])
        assert abs(each.deviations) > 4
    believed = belief(evidence(X, y, noise, scale), Settings(outliers=False))
    truth = surface(X)
    errors = [np.abs(each.at_points(X)[0] / scale - truth).mean() for each in (found, believed)]
    assert errors[0] < 0.7 * errors[1]
    if noise is None:
        assert found.noise is not None
        assert found.noise == pytest.approx(NOISE * scale, rel=0.4)


def test_a_gross_error_does_not_set_the_scale() -> None:
    X, y = measured(1)
    y[4] = 1e9
    found = belief(evidence(X, y))
    assert [each.number for each in found.suspects] == [4]
    without = belief(evidence(np.delete(X, 4, 0), np.delete(y, 4)))
    np.testing.assert_allclose(found.at_points(X)[0], without.at_points(X)[0], atol=0.05)
    assert found.model.fit.gp.expected_noise == found.model.fit.noise_variance


def test_clean_data_are_believed_bit_for_bit() -> None:
    for seed in range(5):
        known = evidence(*measured(seed), noise=None if seed % 2 else NOISE)
        doubting, believing = (
            suggest(known, SPACE, Settings(outliers=each), None, 1, 40) for each in (True, False)
        )
        assert doubting.x.tobytes() == believing.x.tobytes()
        assert doubting.value == believing.value
        assert doubting.model is not None
        assert doubting.model.discounts == ()


def test_one_bad_replicate_among_four() -> None:
    rng = np.random.default_rng(5)
    X = rng.random((14, 2))
    told = []
    for number, f in enumerate(surface(X)):
        values = f + NOISE * rng.standard_normal(4)
        if number == 6:
            values[2] += 1.5
        told.append(Told(number, X[number], Measurement.of(values)))
    found = belief(evidence_of(told, 2))
    (suspect,) = found.suspects
    assert (suspect.number, suspect.value) == (6, told[6].measurement.replicates[2])
    assert found.noise == pytest.approx(NOISE, rel=0.3)


def test_a_wrong_mean_with_its_standard_error() -> None:
    rng = np.random.default_rng(6)
    X = rng.random((30, 2))
    told = []
    for number, f in enumerate(surface(X)):
        values = f + NOISE * rng.standard_normal(4)
        error = float(np.std(values, ddof=1) / 2)
        shift = 1.0 if number == 9 else 0.0
        told.append(Told(number, X[number], Measurement(values.mean() + shift, error, count=4)))
    assert [each.number for each in belief(evidence_of(told, 2)).suspects] == [9]


def test_few_data_and_exact_ones_are_not_doubted() -> None:
    X, y = measured(2)
    y[3] += 3.0
    assert belief(evidence(X[:11], y[:11])).suspects == ()
    assert belief(evidence(X, y, noise=0.0)).suspects == ()


def test_a_step_is_no_outlier() -> None:
    rng = np.random.default_rng(8)
    X = rng.random((50, 2))
    y = (X[:, 0] > 0.5) + 0.3 * X[:, 1] + 0.02 * rng.standard_normal(50)
    assert belief(evidence(X, y)).suspects == ()


def test_earlier_states_keep_the_discounts() -> None:
    X, y = measured(0)
    y[7] += 2.0
    found = belief(evidence(X, y, NOISE))
    before = found.in_hindsight(20)
    clean = belief(evidence(X, np.where(np.arange(40) == 7, surface(X), y), NOISE))
    doubted = before.at_points(X[[7]])[0][0]
    assert abs(doubted - clean.at_points(X[[7]])[0][0]) < 0.5
    assert before.model.gp.noise_variance[7] > 4.0


def test_the_way_back_ends_with_nothing_if_nothing_pays() -> None:
    X, y = measured(9)
    known = evidence(X, y)
    model = fit_model(known, SPACE, Settings(outliers=False))
    rows = Rows.of(known, model.exponent)
    calls = []

    def refit(given: Rows, wrong: Mask, before: FitResult) -> FitResult:
        calls.append((given, wrong))
        return replace(before, log_density=-np.inf)

    found = find_outliers(rows, model.fit, refit)
    assert found.fit is model.fit
    assert (found.outliers, found.gain) == ([], 0.0)


def test_each_outcome_has_its_own_suspects() -> None:
    X, y = measured(0)
    impurity = 1.0 + X[:, 0] + 0.05 * np.random.default_rng(1).standard_normal(40)
    impurity[12] += 1.0
    outcomes = Outcomes({"yield": Maximize(), "impurity": AtMost(1.8, unit="%")})
    told = {
        "yield": [Told(i, X[i], Measurement(-y[i])) for i in range(40)],
        "impurity": [Told(i, X[i], Measurement(impurity[i])) for i in range(40)],
    }
    found = JointBelief(joint_evidence_of(outcomes, 2, told), SPACE, Settings(confidence=0.9), 0)
    (suspect,) = found.suspects
    assert (suspect.outcome, suspect.number) == ("impurity", 12)
    assert suspect.value == pytest.approx(impurity[12], rel=1e-15)
    assert str(suspect).startswith("impurity of trial 12 looks wrong by ")


def test_a_study_that_maximises_names_values_as_told() -> None:
    X, y = measured(0)
    y[7] += 1.5
    told = [Told(i, X[i], Measurement(-y[i])) for i in range(40)]
    (suspect,) = belief(evidence_of(told, 2, Direction.MAXIMIZE)).suspects
    assert suspect.value == -y[7]
    assert suspect.expected > suspect.value
    assert suspect.deviations < -4


def test_what_people_are_told() -> None:
    suspect = Suspect(17, 9.3, 4.0, 0.9, 20.0)
    assert str(suspect) == (
        "trial 17 looks wrong by 6 standard deviations (9.3, expected 4.00 ± 0.90);"
        " measure it again?"
    )
    assert sentences_about([]) == []
    one = sentences_about([suspect])
    assert one == [str(suspect), f"it counts less in the model; {ADVICE}"]
    many = sentences_about([replace(suspect, number=n, value=9.3 + n) for n in range(8)])
    assert many[0].startswith("trial 7 ")
    assert many[-2:] == ["3 more look wrong.", f"they count less in the model; {ADVICE}"]


def test_settings_of_before_have_no_doubts() -> None:
    assert "outliers" not in Settings(outliers=False).to_json()
    assert Settings.from_json(Settings(outliers=False).to_json()).outliers is False
    assert Settings.from_json(Settings().to_json()).outliers is True
    with pytest.raises(ValueError, match="outliers must be True or False, got 1"):
        Settings(outliers=1)  # type: ignore[arg-type]


def test_levels_and_many_repeats_of_a_setting() -> None:
    space = Space({"k": Int(0, 3)})
    rng = np.random.default_rng(0)
    told = []
    for i in range(40):
        value = float(i % 4) + 0.1 * rng.standard_normal() + (2.0 if i == 22 else 0.0)
        told.append(Told(i, space.to_unit({"k": i % 4}), Measurement(value)))
    found = Belief(evidence_of(told, 1), space, Settings(), 0)
    assert [each.number for each in found.suspects] == [22]


def test_a_value_that_comes_again_is_no_slip() -> None:
    asked = believed = 0
    for seed in range(8):
        X, y = measured(seed, 20)
        y[9] += 2.0
        if [each.number for each in belief(evidence(X, y)).suspects] != [9]:
            continue
        asked += 1
        again = 2.0 + surface(X[9:10])[0] + NOISE * np.random.default_rng(seed).standard_normal()
        known = evidence(np.vstack([X, X[9]]), np.append(y, again))
        believed += not {each.number for each in belief(known).suspects} & {9, 20}
    assert asked >= 6
    assert believed >= asked - 1  # before repeats spoke for each other, in half of them
