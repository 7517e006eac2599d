"""Intervals belong to the test; what a row says that it could have seen it would have seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceibo_lab.compare import Row, Verdict, compare, table
from ceibo_lab.interval import detectable, interval


def test_a_case_by_hand() -> None:
    """Six differences: P(W₊ = 0) = 1/64 is below 0.025 and P(W₊ ≤ 1) = 2/64 is not, so the limits
    are the outermost Walsh averages.
    """
    assert interval([1.0, 2.0, 3.0, 4.0, 5.0, 9.0]) == (3.5, 1.0, 9.0)
    assert interval([4.0]) == (4.0, -np.inf, np.inf)
    assert not np.isfinite(interval(range(5)).low)  # no p value of five pairs is below 0.05


@given(st.integers(6, 40), st.integers(0, 10_000), st.floats(-1, 1))
def test_the_interval_leaves_zero_out_where_the_test_rejects_it(
    n: int, seed: int, shift: float
) -> None:
    d = np.random.default_rng(seed).standard_normal(n) + shift
    _, low, high = interval(d)
    assert (low > 0 or high < 0) == (compare(d, np.zeros(n)).p <= 0.05)


def test_limits_of_many_pairs_go_on_from_those_of_few() -> None:
    d = np.random.default_rng(1).standard_normal(201)
    few, many = interval(d[:200]), interval(d)
    assert many.low == pytest.approx(few.low, abs=0.02)
    assert many.high == pytest.approx(few.high, abs=0.02)


@pytest.mark.parametrize(("n", "level"), [(15, 0.05), (15, 0.05 / 20), (60, 0.05), (60, 0.0025)])
def test_what_is_detectable_is_found_in_four_of_five(n: int, level: float) -> None:
    """Normal differences of standard deviation 2; 400 experiments have a standard error of 0.02."""
    effect = detectable(n, 2.0, level)
    samples = 2.0 * np.random.default_rng(n).standard_normal((400, n)) + effect
    found = np.mean([compare(each, np.zeros(n)).p < level for each in samples])
    assert found == pytest.approx(0.8, abs=0.07)


def test_with_heavy_tails_more_is_found_than_is_said() -> None:
    samples = np.random.default_rng(3).standard_t(3, (300, 30))
    effect = detectable(30, float(np.sqrt(3.0)), 0.05)
    found = np.mean([compare(each + effect, np.zeros(30)).p < 0.05 for each in samples])
    assert found > 0.85


def test_too_few_pairs_can_show_nothing() -> None:
    assert detectable(5, 1.0, 0.05) == np.inf  # five wins of five have p = 1/16
    assert detectable(6, 1.0, 0.05) < np.inf
    assert detectable(6, 1.0, 0.05 / 10) == np.inf


def test_a_row_says_what_its_table_could_have_seen() -> None:
    d = np.random.default_rng(0).standard_normal(15)
    alone = Row("", compare(d, np.zeros(15)), True)
    rows = table("", [alone] * 20).rows
    spread = float(np.std(d, ddof=1))
    assert rows[0].detectable == detectable(15, spread, 0.05 / 20) > alone.detectable


@pytest.mark.parametrize(
    ("shift", "verdict"), [(0.0, Verdict.HOLDS), (0.1, Verdict.UNDECIDED), (0.2, Verdict.FAILS)]
)
def test_a_claim_of_smallness_is_judged_by_its_interval(shift: float, verdict: Verdict) -> None:
    d = 0.05 * np.random.default_rng(0).standard_normal(40) + shift
    assert Row("", compare(d, np.zeros(40)), True, margin=0.1).verdict is verdict
