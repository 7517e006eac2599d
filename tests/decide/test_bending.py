"""Steep responses: their largest values look wrong, and are believed."""

import numpy as np
import pytest

from ceibo.decide import Belief, Float, Measurement, Settings, Space, Told, evidence_of
from ceibo.decide.bending import bendings
from ceibo.decide.rows import Rows
from tests.helpers import Array

SPACE = Space({"temp": Float(20, 120), "hours": Float(1, 24), "acid": Float(0, 1)})
NOISE = 0.08


def impurity(U: Array) -> Array:
    """Of a side reaction whose rate doubles every eleven degrees, in per cent."""
    temp, hours, acid = 20 + 100 * U[:, 0], 1 + 23 * U[:, 1], U[:, 2]
    rate = 0.00035 * np.exp(0.06 * (temp - 60)) * (0.7 + 0.8 * acid)
    return np.asarray(0.35 + 100 * (1 - np.exp(-rate * hours)))


def belief(U: Array, y: Array, noise: float | None) -> Belief:
    told = [Told(i, U[i], Measurement(float(y[i]), noise)) for i in range(len(y))]
    return Belief(evidence_of(told, 3), SPACE, Settings(), 0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("noise", [NOISE, None])
@pytest.mark.parametrize("n", [20, 40])
def test_the_largest_values_of_a_steep_response_are_believed(
    sign: float, noise: float | None, n: int
) -> None:
    doubted = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        U = rng.random((n, 3))
        y = sign * (impurity(U) + NOISE * rng.standard_normal(n))
        doubted += bool(belief(U, y, noise).suspects)
    # before the values were tried on other scales, in two to six of six
    assert doubted <= 1


@pytest.mark.parametrize("additive", [True, False])
def test_another_scale_acquits_and_accuses_nobody(additive: bool) -> None:
    """On a logarithmic one small values are far apart: right ones of them were doubted."""
    said, right = [], 0
    for seed in range(30, 42):
        rng = np.random.default_rng(seed)
        x = rng.random(24)
        y = np.exp(6 * x + (0.0 if additive else 0.1) * rng.standard_normal(24))
        y += additive * 2 * rng.standard_normal(24)
        y[5] *= 5  # a slip
        told = [Told(i, np.array([u]), Measurement(float(y[i]))) for i, u in enumerate(x)]
        found = Belief(evidence_of(told, 1), Space({"x": Float(0, 1)}), Settings(), 0).suspects
        said += [abs(each.deviations) for each in found]
        right += sum(each.number != 5 for each in found)
    assert min(said, default=9.0) > 2
    assert right == 0


def test_where_a_limit_is_far_exceeded_the_measurement_counts() -> None:
    rng = np.random.default_rng(1)
    U = rng.random((14, 3))
    y = impurity(U) + NOISE * rng.standard_normal(14)
    worst = int(np.argmax(y))
    assert y[worst] > 5
    stated = belief(U, y, None).at(SPACE.from_unit(U[worst]))
    assert abs(stated.mean - y[worst]) < 4 * stated.std


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_log_slopes_are_those_of_the_scale(side: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_normal(9)
    rows = Rows(rng.random((9, 1)), y, np.full(9, 0.01), np.ones(9), np.zeros((9, 0), dtype=int))
    found = list(bendings(rows, side))
    assert found
    for bent, log_slope in found:
        # the scale is log(y − c): from two of its values follow c, and all others
        order = np.argsort(side * y)
        low, high = order[0], order[-1]
        ratio = np.exp(side * (bent.y[high] - bent.y[low]))
        above = side * (y[high] - y[low]) / (ratio - 1)
        distances = side * (y - y[low]) + above
        np.testing.assert_allclose(side * bent.y, np.log(distances), rtol=1e-9)
        assert log_slope == pytest.approx(-np.sum(np.log(distances)), rel=1e-9)
        assert np.all(np.isnan(bent.variance))


def test_standard_errors_of_several_values_go_with_the_scale() -> None:
    y, counts = np.array([1.0, 2.0, 4.0]), np.array([1.0, 4.0, 1.0])
    rows = Rows(np.eye(3), y, np.full(3, 0.01), counts, np.zeros((3, 0), dtype=int))
    step = 1e-6
    further = y + np.array([0.0, step, 0.0])
    moved = Rows(np.eye(3), further, np.full(3, 0.01), counts, rows.block)
    *_, (bent, log_slope) = bendings(rows, 1.0)  # the strongest
    slope = 1 / np.exp(bent.y)
    assert np.isnan(bent.variance).tolist() == [True, False, True]
    assert bent.variance[1] == pytest.approx(0.01 * slope[1] ** 2)
    assert log_slope == pytest.approx(float(np.sum(counts * np.log(slope))))
    # and the slope is that of the values, whose scale hardly changes by one of them
    *_, (after, _) = bendings(moved, 1.0)
    assert (after.y[1] - bent.y[1]) / step == pytest.approx(slope[1], rel=0.05)


def test_equal_values_have_no_other_scale() -> None:
    rows = Rows(np.eye(3), np.ones(3), np.ones(3), np.ones(3), np.zeros((3, 0), dtype=int))
    assert list(bendings(rows, 1.0)) == []
