"""The search in a region: steps, projections, climbs and discrete moves beside other solvers."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from ceibo import acquisition as acq
from ceibo.acquisition.region import Count, Linear, Region, Requirement, Scale, Table
from ceibo.acquisition.region.step import constrained_step
from ceibo.acquisition.region.terms import Column
from ceibo.gp.inputs import Array
from soak.region import compare, one, random_case, random_process, random_region


@pytest.mark.parametrize("seed", range(3))
def test_the_best_step_is_that_of_a_solver_of_quadratic_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    B, m, d = 12, 5, 5
    roots = rng.standard_normal((B, d, d))
    H = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(d)
    g = 3.0 * rng.standard_normal((B, d))
    A = np.concatenate([rng.standard_normal((B, m, d)), np.broadcast_to(np.eye(d), (B, d, d))], 1)
    low, high = np.full((B, m + d), -0.3), np.full((B, m + d), 0.4)
    low[:, 0] = high[:, 0] = 0.0  # an equality
    A[:, 1], low[:, 1], high[:, 1] = A[:, 2], -np.inf, 0.4  # the same side twice
    steps, multipliers = constrained_step(A, low, high, H, g)
    for b in range(B):
        inverse = np.linalg.inv(H[b])
        seen = A[b] @ steps[b]
        assert (seen <= high[b] + 1e-8).all()
        assert (seen >= low[b] - 1e-8).all()
        stationary = g[b] - A[b].T @ multipliers[b] - inverse @ steps[b]
        np.testing.assert_allclose(stationary, 0.0, atol=1e-6)

        def loss(s: Array, b: int = b, inverse: Array = inverse) -> float:
            return float(0.5 * s @ inverse @ s - g[b] @ s)

        sides: list[Any] = [
            {"type": "ineq", "fun": lambda s, b=b: (high[b] - A[b] @ s)[1:]},
            {"type": "ineq", "fun": lambda s, b=b: (A[b] @ s - low[b])[2:]},
            {"type": "eq", "fun": lambda s, b=b: A[b, 0] @ s},
        ]
        other = minimize(loss, np.zeros(d), method="SLSQP", constraints=sides, tol=1e-12)
        assert loss(steps[b]) <= other.fun + 1e-6


def stepped(levels: int) -> tuple[Table, Array]:
    u = (np.arange(levels) + 0.5) / levels
    return Table(u, np.arange(levels) / (levels - 1.0)), u


def regions() -> dict[str, Region]:
    rng = np.random.default_rng(0)
    kinds = ("mixture", "box", "thin", "n-choose-k", "conditional", "logarithmic")
    found = {kind: random_region(kind, rng) for kind in kinds}
    table, u = stepped(21)
    columns: list[Column] = [table, table, Scale(0.0, 1.0), Scale(0.0, 1.0)]
    rules = [one(Linear(np.ones(4), 1.0, equal=True))]
    found["steps and shares"] = Region(columns, {0: u, 1: u}, rules)
    found["steps"] = Region(
        [table] * 7,
        dict.fromkeys(range(7), u),
        [one(Linear(np.ones(7), 1.0, equal=True)), one(Count(tuple(range(7)), 1, 3))],
    )
    held = {1: np.array([0.25])}
    found["held"] = Region([Scale(0.0, 1.0)] * 3, held, [one(Linear(np.ones(3), 1.0, equal=True))])
    return found


@pytest.mark.parametrize("kind", list(regions()))
def test_restored_points_hold_and_stay(kind: str) -> None:
    region = regions()[kind]
    rng = np.random.default_rng(1)
    X = region.restore(rng.random((60, region.dimension)))
    assert region.holds(X).all()
    np.testing.assert_array_equal(region.restore(X), X)
    drawn = region.sample(60, rng)
    np.testing.assert_array_equal(region.restore(drawn), drawn)
    # a point just outside comes back to its neighbourhood
    moving = region.frame.values.is_continuous
    near = drawn + 1e-6 * moving * rng.standard_normal(drawn.shape)
    assert np.abs(region.restore(near) - drawn)[:, moving].max(initial=0.0) < 1e-2


@pytest.mark.parametrize("kind", ["mixture", "thin", "n-choose-k", "logarithmic"])
def test_any_share_of_a_step_stays_inside_and_leads_up(kind: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(5):
        region = random_region(kind, rng)
        X, d = region.sample(10, rng), region.dimension
        roots = rng.standard_normal((10, d, d))
        H = 0.05 * (roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(d))
        walls = region.walls(X, np.full(d, 0.3))
        gradient = rng.standard_normal((10, d))
        slope, step = walls.directed(X, gradient, H)
        assert (np.einsum("bd,bd->b", slope, step) >= -1e-9).all()
        for share in (0.1, 0.5, 1.0):
            moved = walls.moved(X, share * step)
            assert region.holds(moved).all()
            zero = region.frame.stack.is_zero(X) & (kind == "n-choose-k")
            assert (moved[zero] == 0.0).all()


def test_a_projection_is_the_nearest_point() -> None:
    """Of the simplex, by the formula with a threshold."""
    d = 6
    region = Region([Scale(0.0, 1.0)] * d, {}, [one(Linear(np.ones(d), 1.0, equal=True))])
    X = np.random.default_rng(2).random((40, d))
    found = region.restore(X)
    for x, z in zip(X, found, strict=True):
        ordered = np.sort(x)[::-1]
        sums = np.cumsum(ordered) - 1.0
        rank = np.flatnonzero(ordered > sums / np.arange(1, d + 1))[-1]
        expected = np.maximum(x - sums[rank] / (rank + 1), 0.0)
        np.testing.assert_allclose(z, expected, atol=1e-9)


@pytest.mark.parametrize("index", range(12))
def test_no_climb_by_slsqp_ends_higher(index: int) -> None:
    region, surface = random_case(index, seed=20)
    starts = region.sample(12, np.random.default_rng(index))
    found = compare(region, surface, starts, seed=0)
    assert found.obeys
    assert found.shortfall < 1e-3
    again = acq.maximize(surface, seed=0, region=region)
    np.testing.assert_array_equal(again.x, acq.maximize(surface, seed=0, region=region).x)


def test_steps_of_a_mixture_are_searched_as_by_brute_force() -> None:
    """4 parts in steps of 1/40 are too many points to be tried one by one."""
    table, u = stepped(41)
    region = Region([table] * 4, dict.fromkeys(range(4), u), [one(Linear(np.ones(4), 1.0, True))])
    assert region.points is not None
    assert len(region.points) == 12_341
    for seed in range(4):
        gp = random_process(region, np.random.default_rng(seed))
        for surface in (acq.build("corrected-ei", gp), acq.posterior_mean(gp)):
            found = acq.maximize(surface, seed=seed, region=region)
            assert region.holds(found.x[None]).all()
            best = surface.value(region.points).max()
            assert found.value >= best - 1e-3 * abs(best)


def test_lists_shares_and_supports_are_searched_as_by_brute_force() -> None:
    """Two parts in steps, two continuous, at most three of them: a grid of everything."""
    table, u = stepped(6)
    columns: list[Column] = [table, table, Scale(0.0, 1.0), Scale(0.0, 1.0)]
    rules = [one(Linear(np.ones(4), 1.0, equal=True)), one(Count((0, 1, 2, 3), 0, 3))]
    region = Region(columns, {0: u, 1: u}, rules)
    shares = np.linspace(0.0, 1.0, 401)
    grid = [
        (u[i], u[j], share, max(1.0 - i / 5 - j / 5 - share, 0.0))
        for i, j, share in product(range(6), range(6), shares)
        if i / 5 + j / 5 + share <= 1.0 + 1e-12
    ]
    points = np.array(grid)
    points = points[region.holds(points)]
    for seed in range(4):
        surface = acq.build("corrected-ei", random_process(region, np.random.default_rng(seed)))
        found = acq.maximize(surface, seed=seed, region=region)
        assert region.holds(found.x[None]).all()
        assert found.value >= (1.0 - 1e-3) * surface.value(points).max()


def test_few_points_are_all_tried() -> None:
    u = (np.arange(4) + 0.5) / 4
    columns = [Table(u, np.arange(4.0)), Table(u, np.arange(4.0)), None]
    discrete = {0: u, 1: u, 2: np.array([0.25, 0.75])}
    region = Region(columns, discrete, [one(Linear(np.array([1.0, 1.0, 0.0]), 3.0))])
    assert region.points is not None
    assert len(region.points) == 20
    surface = acq.build("ei", random_process(region, np.random.default_rng(0)))
    found = acq.maximize(surface, region=region)
    best = region.points[np.argmax(surface.value(region.points))]
    np.testing.assert_array_equal(found.x, best)


def test_alternatives_of_numbers_are_both_searched() -> None:
    """Either a small or a large first column: the better side is found from any seed."""
    either = Requirement(
        ((Linear(np.array([1.0, 0.0]), 0.2),), (Linear(np.array([-1.0, 0.0]), -0.8),))
    )
    region = Region([Scale(0.0, 1.0)] * 2, {}, [either])
    gp = random_process(region, np.random.default_rng(3))
    surface = acq.posterior_mean(gp)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 201)] * 2), axis=-1).reshape(-1, 2)
    best = surface.value(grid[region.holds(grid)]).max()
    for seed in range(5):
        assert acq.maximize(surface, seed=seed, region=region).value >= best - 1e-9


def test_recommendations_obey_regions() -> None:
    region = random_region("mixture", np.random.default_rng(4))
    gp = random_process(region, np.random.default_rng(5))
    x, value = acq.recommend(gp, region=region)
    assert region.holds(x[None]).all()
    assert value <= gp.posterior(region.sample(500, np.random.default_rng(6)))[0].min() + 1e-9
