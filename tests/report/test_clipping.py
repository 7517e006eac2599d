"""Lines and areas cut off at a box, against dense sampling and Monte Carlo."""

import itertools

import numpy as np
import pytest

from ceibo.report.clipping import cut_area, cut_line
from ceibo.report.labels import apart, fitting, width_of

BOX = (10.0, 20.0, 90.0, 70.0)


def inside(points: np.ndarray, by: float = 0.0) -> np.ndarray:
    left, top, right, bottom = BOX
    x, y = points.T
    return np.asarray((x >= left - by) & (x <= right + by) & (y >= top - by) & (y <= bottom + by))


def length(points: list[tuple[float, float]]) -> float:
    return float(np.sum(np.hypot(*np.diff(np.array(points), axis=0).T)))


@pytest.mark.parametrize("seed", range(20))
def test_a_cut_line_is_what_lies_in_the_box(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-60, 160, (9, 2))
    pieces = cut_line([(x, y) for x, y in corners], BOX)
    steps = np.linspace(0, 1, 20_001)[:, None]
    dense = np.concatenate([a + steps * (b - a) for a, b in itertools.pairwise(corners)])
    gaps = np.hypot(*np.diff(dense, axis=0).T)
    expected = float(np.sum(gaps[inside(dense)[1:] & inside(dense)[:-1]]))
    assert sum(map(length, pieces)) == pytest.approx(expected, abs=0.5)
    assert all(np.all(inside(np.array(piece), 1e-9)) for piece in pieces)


def test_a_line_inside_stays_one_line() -> None:
    points = [(20.0, 30.0), (40.0, 60.0), (80.0, 25.0)]
    assert cut_line(points, BOX) == [points]
    assert cut_line([(0.0, 0.0), (5.0, 90.0)], BOX) == []
    assert cut_line([(20.0, 30.0)], BOX) == [[(20.0, 30.0)]]


@pytest.mark.parametrize("seed", range(10))
def test_a_cut_area_covers_what_the_polygon_covers_of_the_box(seed: int) -> None:
    rng = np.random.default_rng(seed)
    at = np.linspace(-40, 140, 12)
    upper, lower = rng.uniform(-40, 60, 12), rng.uniform(60, 160, 12)
    polygon = [*zip(at, upper, strict=True), *reversed([*zip(at, lower, strict=True)])]
    kept = np.array(cut_area(polygon, BOX))
    x, y = kept.T
    area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
    left, top, right, bottom = BOX
    grid = np.linspace(left, right, 4001)
    heights = np.clip(np.interp(grid, at, lower), top, bottom) - np.clip(
        np.interp(grid, at, upper), top, bottom
    )
    assert area == pytest.approx(np.trapezoid(heights, grid), rel=1e-3)
    assert np.all(inside(kept, 1e-9))


def test_labels_of_choices_are_all_there_and_differ() -> None:
    names = ["XPhos Pd G3, recrystallised", "XPhos Pd G4, recrystallised", "none", "XPhos Pd G3"]
    labels, height = apart([(20.0 * place, name) for place, name in enumerate(names)])
    assert len({text for _, text in labels}) == len(names)
    assert height > 0
    beside, flat = apart([(100.0 * place, name[:5]) for place, name in enumerate("abcd")])
    assert flat == 0
    assert len(beside) == 4


def test_labels_of_numbers_have_room() -> None:
    kept = fitting([(12.0 * place, f"{place}.0001") for place in range(30)])
    ends = [(at - width_of(text) / 2, at + width_of(text) / 2) for at, text in kept]
    assert len(kept) > 3
    assert all(a[1] < b[0] for a, b in itertools.pairwise(ends))
