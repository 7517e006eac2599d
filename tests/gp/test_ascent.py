"""The batched ascent: quadratics in closed form, bounds, held coordinates, never downhill."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from ceibo.gp.ascent import Box, Rules, climb
from ceibo.gp.limited import MOST_DENSE, LimitedHessians
from tests.helpers import Array

# no start gives up for another's sake
RULES = Rules(iterations=400, tolerance=1e-14, patience=10_000)


def unit_box(d: int) -> Box:
    return Box(np.zeros(d), np.ones(d), np.full(d, 0.5))


class Quadratic:
    """−½ (x − c)ᵀ M (x − c), whose maximum in a box is what a quadratic program finds."""

    def __init__(self, seed: int, d: int, spread: float) -> None:
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
        self.M = Q @ np.diag(spread ** rng.random(d)) @ Q.T
        self.centre = rng.uniform(-0.3, 1.3, d)
        self.seen: list[Array] = []

    def __call__(self, X: Array) -> tuple[Array, Array]:
        self.seen.append(X.copy())
        difference = X - self.centre
        slope = -difference @ self.M
        return 0.5 * np.einsum("bi,bi->b", difference, slope), slope


@given(st.integers(0, 10**6), st.integers(1, 8), st.sampled_from([1.0, 100.0, 1e4]))
@settings(max_examples=60)
def test_a_concave_quadratic_is_climbed_to_its_constrained_maximum(
    seed: int, d: int, spread: float
) -> None:
    f = Quadratic(seed, d, spread)
    X = np.random.default_rng(seed).random((3, d))
    ascent = climb(f, X, unit_box(d), RULES)

    def lowered(x: Array) -> tuple[float, Array]:
        values, gradients = f(x[None])
        return -float(values[0]), -gradients[0]

    reference = minimize(
        lowered,
        np.clip(f.centre, 0, 1),
        jac=True,
        bounds=[(0, 1)] * d,
        method="L-BFGS-B",
        options={"ftol": 0.0, "gtol": 1e-12, "maxiter": 10_000},
    )
    np.testing.assert_allclose(ascent.values, -reference.fun, rtol=1e-6, atol=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 6))
@settings(max_examples=60)
def test_nothing_outside_the_box_is_ever_looked_at_and_no_start_ends_lower(
    seed: int, d: int
) -> None:
    f = Quadratic(seed, d, 50.0)
    X = np.random.default_rng(seed).integers(0, 3, (4, d)) / 2  # corners and edges too
    ascent = climb(f, X, unit_box(d), RULES)
    seen = np.concatenate(f.seen)
    assert np.all((seen >= 0) & (seen <= 1))
    assert np.all(ascent.values >= f(X)[0])
    # sums in a batch of another size
    np.testing.assert_allclose(ascent.values, f(ascent.x)[0], rtol=1e-13)


def test_a_coordinate_of_width_zero_is_held() -> None:
    f = Quadratic(1, 3, 10.0)
    X = np.random.default_rng(1).random((5, 3))
    box = Box(np.zeros(3), np.ones(3), np.array([0.5, 0.0, 0.5]))
    ascent = climb(f, X, box, RULES)
    np.testing.assert_array_equal(ascent.x[:, 1], X[:, 1])
    assert not np.array_equal(ascent.x[:, 0], X[:, 0])


def test_starts_do_not_disturb_each_other() -> None:
    """Each start of a batch reaches the value it reaches alone, where none gives up for another."""

    def waves(X: Array) -> tuple[Array, Array]:
        return np.sin(12 * X).sum(axis=1), 12 * np.cos(12 * X)

    X = np.random.default_rng(2).random((6, 2))
    rules = Rules(iterations=100, tolerance=1e-13, patience=1000)
    together = climb(waves, X, unit_box(2), rules)
    for row in range(6):
        alone = climb(waves, X[[row]], unit_box(2), rules)
        np.testing.assert_allclose(together.x[row], alone.x[0], atol=1e-9)


def test_the_limit_on_steps_counts_evaluations() -> None:
    f = Quadratic(3, 4, 1e4)
    ascent = climb(f, np.full((1, 4), 0.5), unit_box(4), Rules(iterations=3, tolerance=0.0))
    assert len(f.seen) == 4  # the start, and three steps
    assert not ascent.ended[0]


def test_walls_of_minus_infinity_and_nan_are_stepped_back_from() -> None:
    """A start beside a hole of the function still climbs; a start inside the hole stays."""

    def walled(X: Array) -> tuple[Array, Array]:
        inside = X[:, 0] < 0.6
        value = np.where(inside, X[:, 0], np.where(X[:, 0] < 0.8, -np.inf, np.nan))
        return value, np.where(inside[:, None], 1.0, 0.0) * np.ones_like(X)

    ascent = climb(
        walled, np.array([[0.1], [0.7], [0.9]]), unit_box(1), Rules(iterations=60, tolerance=1e-12)
    )
    assert 0.3 < ascent.x[0, 0] < 0.6
    assert ascent.x[1:, 0].tolist() == [0.7, 0.9]
    assert ascent.values[1:].tolist() == [-np.inf, -np.inf]


def test_a_known_inverse_hessian_needs_one_step() -> None:
    f = Quadratic(4, 3, 100.0)
    f.centre = np.array([0.4, 0.5, 0.6])
    ascent = climb(
        f,
        np.array([[0.5, 0.5, 0.5]]),
        unit_box(3),
        Rules(iterations=1, tolerance=0.0),
        np.linalg.inv(f.M)[None],
    )
    np.testing.assert_allclose(ascent.x[0], f.centre, atol=1e-12)


def test_what_was_given_is_left_alone() -> None:
    f, X = Quadratic(5, 2, 10.0), np.random.default_rng(5).random((3, 2))
    before = X.copy()
    climb(f, X, unit_box(2), RULES)
    np.testing.assert_array_equal(X, before)


# -- many dimensions -------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "spread"), [(0, 1.0), (1, 30.0), (2, 1e3)])
def test_many_dimensions_are_climbed_to_the_same_maximum(seed: int, spread: float) -> None:
    d = MOST_DENSE + 40
    f = Quadratic(seed, d, spread)
    X = np.random.default_rng(seed).random((3, d))
    box = Box(np.zeros(d), np.ones(d), np.where(np.arange(d) % 7 == 3, 0.0, 0.5))
    ascent = climb(f, X, box, Rules(iterations=2000, tolerance=1e-12, patience=10_000))
    assert ascent.H.shape == (3, 0, 0)

    def lowered(x: Array) -> tuple[float, Array]:
        values, gradients = f(x[None])
        return -float(values[0]), -gradients[0]

    for start, end, value in zip(X, ascent.x, ascent.values, strict=True):
        np.testing.assert_array_equal(start[3::7], end[3::7])  # held
        bounds = [(x, x) if k % 7 == 3 else (0.0, 1.0) for k, x in enumerate(start)]
        reference = minimize(
            lowered,
            start,
            jac=True,
            bounds=bounds,
            method="L-BFGS-B",
            options={"ftol": 0.0, "gtol": 1e-10, "maxiter": 20_000},
        )
        assert value == pytest.approx(-reference.fun, rel=1e-6)
    assert all(np.all((points >= 0) & (points <= 1)) for points in f.seen)


def test_the_last_steps_give_the_inverse_hessian_of_a_quadratic() -> None:
    """After d conjugate steps, H of L-BFGS is the inverse Hessian itself."""
    rng = np.random.default_rng(0)
    d = 6
    M = Quadratic(0, d, 10.0).M
    basis = np.linalg.eigh(M)[1].T  # conjugate directions
    H = LimitedHessians.guess(1, d)
    for step in basis:
        H = H.after(np.array([True]), step[None], (M @ step)[None], np.ones(d))
    slope = rng.standard_normal((1, d))
    nothing = np.zeros((1, d), dtype=bool)
    np.testing.assert_allclose(H.times(slope, np.ones(d), nothing)[0], np.linalg.solve(M, slope[0]))
    held = nothing.copy()
    held[0, 2] = True
    assert H.times(np.where(held, 0.0, slope), np.ones(d), held)[0, 2] == 0.0
    forgotten = H.forgotten(np.array([True]))
    np.testing.assert_array_equal(forgotten.times(slope, np.ones(d), nothing), slope)
