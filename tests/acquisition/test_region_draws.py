"""Points drawn in regions: exact marginals, rejection, thin sets, supports, lists, designs."""

import numpy as np
import pytest
from scipy.stats import chisquare

from ceibo.acquisition.region import (
    Among,
    Branch,
    Count,
    EmptyRegionError,
    Linear,
    Region,
    Requirement,
    Scale,
    Table,
    Zero,
)
from ceibo.acquisition.region.polytope import polytope
from ceibo.gp.inputs import Array
from soak.region import one

UNLIKELY = 1e-4  # chance of a false alarm of one test


def mixture(parts: int) -> Requirement:
    return one(Linear(np.ones(parts), 1.0, equal=True))


def is_uniform(shares: Array, cells: int = 20) -> bool:
    """Whether numbers are uniform on [0, 1], by a chi-square test."""
    counts = np.histogram(shares, bins=cells, range=(0.0, 1.0))[0]
    assert counts.sum() == len(shares)
    return bool(chisquare(counts).pvalue > UNLIKELY)


@pytest.mark.parametrize("parts", [3, 5, 9])
def test_a_mixture_is_uniform_on_the_simplex(parts: int) -> None:
    region = Region([Scale(0.0, 1.0)] * parts, {}, [mixture(parts)])
    X = region.sample(3000, np.random.default_rng(parts))
    np.testing.assert_allclose(X.sum(axis=1), 1.0, atol=1e-12)
    for k in range(parts):  # a part is Beta(1, parts − 1)
        assert is_uniform(1.0 - (1.0 - X[:, k]) ** (parts - 1))
    # the first of two parts, as a share of both, is uniform
    assert is_uniform(X[:, 0] / (X[:, 0] + X[:, 1]))


def test_a_triangle_cut_by_a_rule_is_uniform() -> None:
    columns = [Scale(0.0, 10.0), Scale(0.0, 1.0)]
    region = Region(columns, {}, [one(Linear(np.array([0.1, 1.0]), 0.5))])
    X = region.sample(4000, np.random.default_rng(0))
    # u_1 + u_2 ≤ 1/2: the sum's square, and the place along it, are uniform and independent
    total, place = (X.sum(axis=1) / 0.5) ** 2, X[:, 0] / X.sum(axis=1)
    assert is_uniform(total)
    assert is_uniform(place)
    cells = np.histogram2d(total, place, bins=6, range=[[0, 1], [0, 1]])[0]
    assert chisquare(cells.ravel()).pvalue > UNLIKELY


def test_a_thin_slab_is_uniform_across_and_along() -> None:
    slab = [one(Linear(np.ones(4), 1.0001)), one(Linear(-np.ones(4), -1.0))]
    X = Region([Scale(0.0, 1.0)] * 4, {}, slab).sample(4000, np.random.default_rng(1))
    total = X.sum(axis=1)
    assert is_uniform((total - 1.0) / 1e-4)
    assert is_uniform(1.0 - (1.0 - X[:, 0] / total) ** 3)


def test_a_mixture_with_bounds_is_what_rejection_gives() -> None:
    columns = [Scale(0.1, 0.5), Scale(0.0, 0.4), Scale(0.0, 1.0), Scale(0.05, 0.3)]
    cap = one(Linear(np.array([1.0, -1.0, 0.0, 0.0]), 0.1))
    region = Region(columns, {}, [mixture(4), cap])
    rng = np.random.default_rng(2)
    X = region.sample(3000, rng)
    V = region.frame.values.at(X)
    simplex = rng.dirichlet(np.ones(4), size=200_000)
    low, high = np.array([[c.low, c.high] for c in columns]).T
    kept = ((simplex >= low) & (simplex <= high)).all(axis=1)
    kept &= simplex[:, 0] - simplex[:, 1] <= 0.1
    expected = simplex[kept]
    for k in range(4):
        edges = np.quantile(expected[:, k], np.linspace(0, 1, 11))
        edges[0], edges[-1] = -np.inf, np.inf
        assert chisquare(np.histogram(V[:, k], bins=edges)[0]).pvalue > UNLIKELY


def test_logarithmic_columns_are_uniform_by_their_logarithm() -> None:
    """Beside rejection from the cube, in which the logarithm is the coordinate."""
    columns = [Scale(1e-3, 1.0, log=True), Scale(0.0, 1.0), Scale(0.0, 1.0)]
    rule = one(Linear(np.array([1.0, 1.0, 1.0]), 0.3))  # holds in few of the cube's points
    X = Region(columns, {}, [rule]).sample(3000, np.random.default_rng(3))
    U = np.random.default_rng(4).random((400_000, 3))
    U = U[10.0 ** (3.0 * (U[:, 0] - 1.0)) + U[:, 1] + U[:, 2] <= 0.3]
    for k in range(3):
        edges = np.quantile(U[:, k], np.linspace(0, 1, 11))
        edges[0], edges[-1] = 0.0, 1.0
        assert chisquare(np.histogram(X[:, k], bins=edges)[0]).pvalue > UNLIKELY


def test_supports_are_equally_likely_and_uniform_inside() -> None:
    region = Region([Scale(0.0, 1.0)] * 4, {}, [mixture(4), one(Count((0, 1, 2, 3), 2, 2))])
    X = region.sample(3000, np.random.default_rng(5))
    present = X > 0.0
    assert (present.sum(axis=1) == 2).all()
    supports = np.unique(present, axis=0, return_counts=True)[1]
    assert len(supports) == 6
    assert chisquare(supports).pvalue > UNLIKELY
    assert is_uniform(X[np.arange(len(X)), present.argmax(axis=1)])


def test_inequalities_that_leave_one_sum_are_an_equality() -> None:
    rules = [one(Linear(np.ones(3), 1.0)), one(Linear(-np.ones(3), -1.0))]
    X = Region([Scale(0.0, 1.0)] * 3, {}, rules).sample(500, np.random.default_rng(6))
    np.testing.assert_allclose(X.sum(axis=1), 1.0, atol=1e-9)
    assert len(np.unique(X.round(6), axis=0)) > 400


def test_a_polytope_of_a_point_is_that_point() -> None:
    found = polytope(np.ones((1, 3)), np.array([-1.0]), np.array([0.0]), np.full(3, np.inf))
    assert found is not None
    assert found.dimension == 0
    np.testing.assert_allclose(found.sample(5, np.random.default_rng(0)), 0.0, atol=1e-12)
    assert polytope(np.ones((1, 3)), np.array([4.0]), np.array([5.0]), np.full(3, np.inf)) is None


def test_a_mixture_in_steps_lists_every_point() -> None:
    u = (np.arange(11) + 0.5) / 11
    column = Table(u, np.round(np.arange(11) / 10, 12))
    region = Region([column] * 4, dict.fromkeys(range(4), u), [mixture(4)])
    assert region.points is not None
    assert len(region.points) == 286  # 13 over 3
    many = Region([column] * 12, dict.fromkeys(range(12), u), [mixture(12)])
    assert many.points is None  # 21 over 11, too many to list
    X = many.sample(300, np.random.default_rng(7))
    assert many.holds(X).all()
    assert len(np.unique(X, axis=0)) > 250


def test_conditions_and_branches_hold_in_every_draw() -> None:
    """A limit for one choice, a zero for another, a column that exists for one of them."""
    choices = np.array([1.0, 3.0, 5.0]) / 6.0
    columns = [Scale(20.0, 120.0), Scale(0.0, 1.0), None]
    rules = [
        Requirement(((Among(2, choices[1:]),), (Linear(np.array([1.0, 0.0, 0.0]), 66.0),))),
        Requirement(((Among(2, choices[[0, 2]]),), (Zero(1),))),
    ]
    branch = Branch(1, 2, choices[:2], 0.5)
    region = Region(columns, {2: choices}, rules, [branch])
    X = region.sample(900, np.random.default_rng(8))
    assert region.holds(X).all()
    first, second, third = (np.isclose(X[:, 2], choice) for choice in choices)
    assert (X[first, 0] <= 0.46 + 1e-12).all()
    assert X[~first, 0].max() > 0.9
    assert (X[second, 1] == 0.0).all()
    assert (X[third, 1] == 0.5).all()
    assert min(first.sum(), second.sum(), third.sum()) > 90


def designed(region: Region, count: int, key: int) -> Array:
    return np.stack([region.design.point(index, key) for index in range(count)])


def test_a_design_keeps_apart_and_does_not_depend_on_its_size() -> None:
    region = Region([Scale(0.0, 1.0)] * 3, {}, [mixture(3)])
    design = designed(region, 80, 9)
    np.testing.assert_array_equal(design[:7], designed(region, 7, 9))
    assert region.holds(design).all()

    def nearest(X: Array) -> float:
        gaps = ((X[:, None, :] - X) ** 2).sum(axis=2)
        return float(np.sqrt(gaps[~np.eye(len(X), dtype=bool)].min()))

    drawn = [nearest(region.sample(12, np.random.default_rng(seed))) for seed in range(20)]
    assert nearest(design[:12]) > 2 * float(np.median(drawn))


def test_a_design_is_even_in_columns_that_no_requirement_concerns() -> None:
    """Points that keep apart gather at the ends: levels in the middle came half as often."""
    levels, words = np.array([0.1, 0.3, 0.5, 0.7, 0.9]), np.array([0.0, 0.5, 1.0])
    scale = Scale(20.0, 120.0)
    hours = Table(levels, np.array([1.0, 2.0, 4.0, 8.0, 24.0]))
    columns: list[Scale | Table | None] = [scale, hours, None, scale, scale]
    low = one(Linear(np.array([1.0, 0, 0, 0, 0]), 66.0))
    rules = [Requirement((low.alternatives[0], (Among(2, words[1:]),)))]
    discrete = {1: levels, 2: words, 3: np.array([0.25])}  # one is held
    region = Region(columns, discrete, rules)
    for seed in range(8):
        design = designed(region, 80, seed)
        assert region.holds(design).all()
        assert np.all(design[:, 3] == 0.25)
        for count in (8, 14, 20, 80):
            X = design[:count]
            counts = (X[:, 1:2] == levels).sum(axis=0)
            far = 1.0 if count < 64 else 6.0  # later ones are drawn
            assert np.all(np.abs(counts - count / len(levels)) < far)
            halves = np.bincount((2 * X[:, 4]).astype(int), minlength=2)
            assert np.all(np.abs(halves - count / 2) <= 2.0 * far)
    # a column that exists only for some words, and those words, are as they were drawn
    sometimes = Branch(1, 2, words[1:], 0.1)
    design = designed(Region(columns, discrete, rules, [sometimes]), 40, 0)
    assert np.all(design[design[:, 2] == 0.0, 1] == 0.1)


def test_draws_follow_from_the_seed_whatever_was_drawn_before() -> None:
    rules = [mixture(6), one(Count(tuple(range(6)), 0, 3))]
    fresh, used = (Region([Scale(0.0, 1.0)] * 6, {}, rules) for _ in range(2))
    used.sample(300, np.random.default_rng(1))
    used.restore(np.random.default_rng(2).random((20, 6)))
    seeds = np.random.default_rng(3), np.random.default_rng(3)
    np.testing.assert_array_equal(fresh.sample(200, seeds[0]), used.sample(200, seeds[1]))


def test_what_no_point_obeys_is_an_error() -> None:
    for rule in (Linear(np.ones(2), 3.0, equal=True), Linear(-np.ones(2), -2.5)):
        with pytest.raises(EmptyRegionError) as caught:
            Region([Scale(0.0, 1.0)] * 2, {}, [Requirement(((rule,),), 4)]).sample(
                3, np.random.default_rng(0)
            )
        assert caught.value.rules == (4,)
