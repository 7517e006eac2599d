"""Statistics against SciPy, against counting every outcome, and against cases computed by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ceibo.errors import InputError
from ceibo_lab.statistics import band, compare, holm, kendall

SMALL = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


@pytest.mark.parametrize("n", [5, 15, 30, 50])
def test_p_values_are_scipys_exact_ones(n: int) -> None:
    rng = np.random.default_rng(n)
    for shift in (0.0, 0.3, 1.0):
        a, b = rng.standard_normal(n) + shift, rng.standard_normal(n)
        expected = stats.wilcoxon(a, b, method="exact").pvalue
        assert compare(a, b).p == pytest.approx(expected, rel=1e-10)


def test_many_pairs_use_the_normal_approximation() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(400) + 0.1, rng.standard_normal(400)
    expected = stats.wilcoxon(a, b, method="approx", correction=False).pvalue
    assert compare(a, b).p == pytest.approx(expected, rel=1e-6)


@given(SMALL)
def test_p_values_count_every_pattern_of_signs(differences: list[int]) -> None:
    """Ties and zeros included: a zero says nothing, equal sizes share their rank."""
    d = np.array([value for value in differences if value], dtype=float)
    found = compare(np.array(differences, dtype=float), np.zeros(len(differences))).p
    if len(d) == 0:
        assert found == 1.0
        return
    ranks = stats.rankdata(np.abs(d))
    centre = ranks.sum() / 2
    seen = abs(ranks[d > 0].sum() - centre)
    patterns = np.array(list(itertools.product((0, 1), repeat=len(d)))) @ ranks
    assert found == pytest.approx(np.mean(np.abs(patterns - centre) >= seen - 1e-9), abs=1e-12)


def test_a_case_by_hand() -> None:
    """Differences 1, 2, 3, −4: W₊ = 6, W₋ = 4, effect 0.2; 14 of 16 patterns of signs are at least
    as far from 5.
    """
    found = compare([1, 2, 3, -4], [0, 0, 0, 0])
    assert (found.n, found.below, found.above) == (4, 1, 3)
    assert found.effect == pytest.approx(0.2)
    assert found.p == pytest.approx(14 / 16)
    assert found.median == 1.5


def test_fifteen_wins_of_fifteen() -> None:
    found = compare(np.arange(1.0, 16.0), np.zeros(15))
    assert found.p == pytest.approx(2 / 2**15)
    assert found.effect == 1.0


def test_holm_by_hand() -> None:
    """Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 = 0.04, 0.06, 0.06, 0.04, which must not fall:
    0.06 at the end.
    """
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_bands_are_students() -> None:
    """Values 1, 2, 3: mean 2, standard error 1/√3, t(0.975; 2) = 4.3027."""
    found = band(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]))
    assert found.mean.tolist() == [2.0, 5.0]
    assert found.high[0] - 2.0 == pytest.approx(4.302652729911275 / np.sqrt(3))
    assert found.low[1] == found.high[1] == 5.0
    rows = np.random.default_rng(0).standard_normal((15, 3))
    low, high = stats.t.interval(0.95, 14, loc=rows.mean(axis=0), scale=stats.sem(rows, axis=0))
    np.testing.assert_allclose(band(rows).low, low)
    np.testing.assert_allclose(band(rows).high, high)
    single = band(np.array([[1.0]]))
    assert single.low == single.high == 1.0


def test_kendall_is_scipys_without_ties() -> None:
    values = np.random.default_rng(2).permutation(8).astype(float)
    assert kendall(values) == pytest.approx(stats.kendalltau(values, np.arange(8)).statistic)
    assert kendall([1, 2, 3]) == 1.0
    assert kendall([3, 2, 1]) == -1.0


def test_values_that_are_not_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="paired"):
        compare([1.0, 2.0], [1.0])
    with pytest.raises(InputError, match="finite"):
        compare([1.0, np.nan], [1.0, 2.0])
