"""What is said of an outcome that cannot leave its range, against draws and quadrature."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from ceibo.decide.joint.clipped import Range, clipped_interval, clipped_moments


def by_quadrature(mean: float, std: float, low: float, high: float) -> tuple[float, float]:
    """Mean and standard deviation of a clipped normal variable."""
    belief = norm(mean, std)

    def moment(power: int, about: float) -> float:
        inside = quad(
            lambda y: (y - about) ** power * belief.pdf(y),
            max(low, mean - 12 * std),
            min(high, mean + 12 * std),
            epsabs=1e-14,
        )[0]
        ends = (low - about) ** power * belief.cdf(low) + (high - about) ** power * belief.sf(high)
        return float(inside + ends)

    centre = moment(1, 0.0)
    return centre, float(np.sqrt(moment(2, centre)))


@pytest.mark.parametrize("mean", [-0.3, 0.0, 0.4, 1.0, 1.3])
@pytest.mark.parametrize("std", [0.1, 1.0, 5.0])
def test_moments_are_those_of_the_clipped_variable(mean: float, std: float) -> None:
    found = clipped_moments(np.array([mean]), np.array([std]), Range(0.0, 1.0))
    expected = by_quadrature(mean, std, 0.0, 1.0)
    np.testing.assert_allclose([part[0] for part in found], expected, rtol=1e-7, atol=1e-9)


def test_without_a_range_nothing_changes() -> None:
    mean, std = np.array([1.0, -2.0]), np.array([0.5, 0.0])
    assert clipped_moments(mean, std, Range(-np.inf, np.inf)) == (mean, std)


def test_a_range_far_away_changes_nothing() -> None:
    mean, std = np.array([0.3]), np.array([0.2])
    found = clipped_moments(mean, std, Range(-1e9, 1e9))
    np.testing.assert_allclose(found, (mean, std), rtol=1e-12)


def test_one_end_alone() -> None:
    mean, std = clipped_moments(np.array([0.0]), np.array([1.0]), Range(0.0, np.inf))
    assert mean[0] == pytest.approx(1 / np.sqrt(2 * np.pi), rel=1e-12)
    assert std[0] == pytest.approx(np.sqrt(0.5 - 1 / (2 * np.pi)), rel=1e-12)


@given(st.floats(-1e12, 1e12), st.floats(0, 1e12), st.floats(-100, 100), st.floats(1e-6, 1e3))
def test_no_mean_and_no_interval_leaves_the_range(
    mean: float, std: float, low: float, width: float
) -> None:
    possible = Range(low, low + width)
    parts = np.array([mean]), np.array([std])
    stated, spread = clipped_moments(*parts, possible)
    for value in (stated, *clipped_interval(*parts, possible, 0.95)):
        assert possible.low <= value[0] <= possible.high
    assert 0.0 <= spread[0] <= 0.5 * possible.width


def test_an_interval_holds_its_probability_where_the_range_is_far() -> None:
    low, high = clipped_interval(np.array([2.0]), np.array([0.5]), Range(-100.0, 100.0), 0.95)
    assert norm.cdf((high[0] - 2) / 0.5) - norm.cdf((low[0] - 2) / 0.5) == pytest.approx(0.95)


def test_ends_of_what_doubles_can_hold() -> None:
    """A mean far below the range and its shift back are each beyond doubles; ends may be."""
    largest = np.finfo(float).max
    mean, std = clipped_moments(
        np.array([-largest]), np.array([largest / 5.6]), Range(-1e150, np.inf)
    )
    assert -1e150 <= mean[0] < largest / 1e6
    assert std[0] < largest / 1e3
    low, high = clipped_interval(np.array([0.0]), np.array([largest]), Range(0.0, np.inf), 0.95)
    assert (low[0], high[0]) == (0.0, np.inf)
