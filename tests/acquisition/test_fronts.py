"""Fronts, hypervolumes and boxes: definitions, counted cells, limits."""

import numpy as np
import pytest

from ceibo.acquisition.fronts import boxes_beyond, hypervolume, nondominated, reference_point
from ceibo.errors import InputError
from tests.helpers import Array, wrong

by_goals = pytest.mark.parametrize("goals", [2, 3])


def random_rows(rng: np.random.Generator, goals: int, ties: bool) -> Array:
    n = int(rng.integers(1, 30))
    # on a grid of five values most rows share some with another, and some are equal
    return rng.integers(0, 5, (n, goals)) / 4 if ties else rng.random((n, goals))


def dominated_by_any(rows: Array) -> list[bool]:
    """The definition, pair by pair; of equal rows the later ones count as dominated."""
    return [
        any(all(b <= a) and (any(b < a) or j < i) for j, b in enumerate(rows) if j != i)
        for i, a in enumerate(rows)
    ]


@by_goals
@pytest.mark.parametrize("ties", [False, True])
def test_the_front_is_what_no_row_dominates(goals: int, ties: bool) -> None:
    rng = np.random.default_rng(goals)
    for _ in range(60):
        rows = random_rows(rng, goals, ties)
        np.testing.assert_array_equal(~nondominated(rows), dominated_by_any(rows))


@by_goals
def test_the_hypervolume_is_the_share_of_cells_that_are_dominated(goals: int) -> None:
    """Rows on a grid: the cells above some row are counted."""
    rng, m = np.random.default_rng(goals), 8
    cells = (np.stack(np.meshgrid(*[np.arange(m)] * goals), -1).reshape(-1, goals) + 0.5) / m
    for _ in range(60):
        rows = rng.integers(0, m + 2, (int(rng.integers(1, 20)), goals)) / m
        covered = np.any(np.all(rows[:, None, :] < cells, axis=2), axis=0)
        assert hypervolume(rows, np.ones(goals)) == pytest.approx(covered.mean(), abs=1e-12)


@by_goals
@pytest.mark.parametrize("ties", [False, True])
def test_boxes_fill_what_the_front_does_not_dominate_and_do_not_overlap(
    goals: int, ties: bool
) -> None:
    rng = np.random.default_rng(20 + goals)
    for _ in range(60):
        rows, reference = random_rows(rng, goals, ties), rng.uniform(0.6, 1.2, goals)
        rows = rows[np.all(rows < reference, axis=1)]
        front = rows[nondominated(rows)] if len(rows) else rows
        lower, upper = boxes_beyond(front, reference)
        assert len(lower) <= (goals - 1) * len(front) + 1
        assert np.all(lower < upper)
        at = rng.uniform(-1.0, 1.3, (400, goals))
        inside = np.all((lower[:, None] < at) & (at <= upper[:, None]), axis=2).sum(axis=0)
        free = np.all(at <= reference, axis=1) & ~np.any(
            np.all(front[:, None] < at, axis=2), axis=0
        )
        np.testing.assert_array_equal(inside, free.astype(int))


@by_goals
def test_one_more_row_never_lowers_the_hypervolume(goals: int) -> None:
    rng = np.random.default_rng(30 + goals)
    rows = rng.random((25, goals))
    volumes = [hypervolume(rows[: i + 1], np.ones(goals)) for i in range(25)]
    assert np.all(np.diff(volumes) >= 0)


def test_a_volume_of_any_magnitude() -> None:
    rows = np.array([[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]])
    for one, two in ((1e-150, 1e150), (1e150, 1e150), (1e-150, 1e-150)):
        size = np.array([one, two])
        # 3·3 less what lies below the stairs
        expected = 6.0 * one * two
        assert hypervolume(rows * size, [3 * one, 3 * two]) == pytest.approx(expected, rel=1e-12)


def test_rows_beyond_the_reference_point_add_nothing() -> None:
    assert hypervolume([[0.0, 2.0], [2.0, 0.0], [1.0, 1.0]], [1.0, 1.0]) == 0.0
    assert hypervolume([[0.0, 5.0], [0.5, 0.5]], [1.0, 1.0]) == pytest.approx(0.25)


# -- the reference point ---------------------------------------------------------------


def test_an_even_front_has_its_reference_one_step_beyond() -> None:
    """So the ends of the front count as much as what is between them."""
    for m in (2, 3, 6):
        first = np.linspace(0.0, 1.0, m)
        front = np.column_stack([first, 1.0 - first])
        reference = reference_point(front)
        np.testing.assert_allclose(reference, 1.0 + 1.0 / (m - 1))
        lost = [
            hypervolume(front, reference) - hypervolume(np.delete(front, i, axis=0), reference)
            for i in range(m)
        ]
        np.testing.assert_allclose(lost, lost[0])


def test_the_reference_of_a_long_front_is_a_tenth_beyond() -> None:
    first = np.linspace(0.0, 1.0, 50)
    front = np.column_stack([first, 5.0 * (1.0 - first)])
    np.testing.assert_allclose(reference_point(front), [1.1, 5.5])
    # what is dominated does not count
    worse = np.concatenate([front, front + 100.0])
    np.testing.assert_allclose(reference_point(worse), [1.1, 5.5])


def test_three_goals_have_a_reference_one_step_beyond_an_even_front() -> None:
    steps = 4
    front = np.array(
        [(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]
    )
    np.testing.assert_allclose(reference_point(front), steps + 1.0)


def test_a_front_of_one_point_takes_the_range_of_all() -> None:
    np.testing.assert_allclose(reference_point([[0.0, 0.0], [2.0, 3.0]]), [2.0, 3.0])
    np.testing.assert_allclose(reference_point([[0.0, 0.0], [2.0, 0.0]], [7.0, 7.0]), [2.0, 7.0])
    np.testing.assert_allclose(reference_point([[-3.0, 0.0]]), [0.0, 1.0])


@by_goals
def test_the_reference_scales_with_the_values(goals: int) -> None:
    rng = np.random.default_rng(goals)
    rows = rng.standard_normal((20, goals))
    sizes = np.array([1e-150, 1e150, 1e3])[:goals]
    np.testing.assert_allclose(
        reference_point(rows * sizes), reference_point(rows) * sizes, rtol=1e-12
    )
    assert hypervolume(rows, reference_point(rows)) > 0


# -- bad input -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values", [[1.0, 2.0], np.zeros((0, 2)), np.zeros((3, 1)), np.zeros((3, 4)), [[0.0, np.nan]]]
)
def test_values_that_are_no_rows_of_goals_are_refused(values: object) -> None:
    for call in (nondominated, reference_point, lambda v: hypervolume(v, [1.0, 1.0])):
        with pytest.raises(InputError, match="values must"):
            call(wrong(values))


def test_a_reference_of_the_wrong_length_is_refused() -> None:
    for reference in ([1.0], [1.0, np.inf], [1.0, 1.0, 1.0]):
        with pytest.raises(InputError, match="one finite number for each of 2 goals"):
            hypervolume([[0.0, 0.0]], reference)
