"""Even spreads and levels."""

import numpy as np
import pytest

from ceibo.gp.grid import evenly, snap


@pytest.mark.parametrize(("n", "count"), [(1, 1), (10, 10), (10, 4), (1000, 37), (3, 7)])
def test_even_spreads_reach_both_ends_with_like_gaps(n: int, count: int) -> None:
    rows = evenly(n, count)
    assert (len(rows), rows[0]) == (count, 0)
    if count > 1:
        assert rows[-1] == n - 1
        assert np.ptp(np.diff(rows)) <= 1


def test_all_rows_are_themselves() -> None:
    np.testing.assert_array_equal(evenly(12, 12), np.arange(12))


def test_levels_have_equal_shares_of_the_interval_and_other_columns_stay() -> None:
    levels = np.array([0.1, 0.4, 0.9])
    U = np.column_stack([np.linspace(0, 1, 301), np.linspace(1, 0, 301)])
    X = snap(U, {0: levels})
    np.testing.assert_array_equal(X[:, 1], U[:, 1])
    np.testing.assert_array_equal(X[:, 0], levels[np.minimum((3 * U[:, 0]).astype(int), 2)])
    assert {int(np.sum(X[:, 0] == level)) for level in levels} <= {100, 101}
    assert X[-1, 0] == 0.9
