"""The guide towards points where limits hold with a wanted probability."""

import numpy as np
import pytest

from ceibo.acquisition import Assurance, chances, maximize, posterior_mean
from tests.limited import make_case


def test_it_costs_nothing_where_the_limits_hold_surely_and_more_the_less_they_do() -> None:
    _, limits = make_case(0)
    X = np.random.default_rng(0).random((200, 2))
    cost, _ = Assurance(limits, 0.6).guidance(X)
    held = chances(limits, X)
    assert np.all(cost[held > 0.75] == 0)
    assert np.all(cost[held < 0.6] < 0)
    order = np.argsort(held)
    assert np.all(np.diff(cost[order]) >= -1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_gradient(seed: int) -> None:
    _, limits = make_case(seed)
    guide = Assurance(limits, 0.9)
    for x in np.random.default_rng(seed).random((5, 1, 2)):
        gradient = guide.guidance(x)[1][0]
        for k, step in enumerate(1e-6 * np.eye(2)):
            rise = guide.guidance(x + step)[0][0] - guide.guidance(x - step)[0][0]
            assert gradient[k] == pytest.approx(rise / 2e-6, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_search_with_it_ends_at_the_best_point_that_holds(seed: int) -> None:
    goal, limits = make_case(seed, n=20, count=2)
    confidence = 0.7
    x, _ = maximize(posterior_mean(goal), seed=0, guides=[Assurance(limits, confidence)])
    axis = np.linspace(0, 1, 81)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    held = chances(limits, grid)
    aim = confidence + 0.3 * (1 - confidence)
    if not np.any(held >= aim):
        pytest.fail("this state tells nothing; choose another seed")
    assert chances(limits, x[None])[0] >= confidence
    best = goal.posterior(grid[held >= aim])[0].min()
    assert goal.posterior(x[None])[0][0] <= best + 1e-3
