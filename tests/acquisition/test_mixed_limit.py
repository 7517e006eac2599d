"""A limit by several models: the mean of their chances."""

import numpy as np
import pytest

from ceibo.acquisition import MixedLimit, chances, find_feasible_incumbent
from tests.limited import make_case


def test_the_chance_is_the_weighted_mean_of_the_models() -> None:
    _, limits = make_case(3)
    weights = np.array([0.5, 0.2, 0.3])
    X = np.random.default_rng(0).random((20, 2))
    expected = sum(w * chances([each], X) for w, each in zip(weights, limits, strict=True))
    found = np.exp(MixedLimit(limits, weights).log_chance(X)[0])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_one_model_alone_is_that_model() -> None:
    _, limits = make_case(4, count=1)
    X = np.random.default_rng(0).random((20, 2))
    found = MixedLimit(limits, np.ones(1)).log_chance(X)
    for part, expected in zip(found, limits[0].log_chance(X), strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-12)


def test_gradient() -> None:
    _, limits = make_case(5)
    mixed = MixedLimit(limits, np.full(3, 1 / 3))
    x = np.array([[0.31, 0.62]])
    gradient = mixed.log_chance(x)[1][0]
    for k, step in enumerate(1e-6 * np.eye(2)):
        rise = mixed.log_chance(x + step)[0][0] - mixed.log_chance(x - step)[0][0]
        assert gradient[k] == pytest.approx(rise / 2e-6, rel=1e-6)


def test_an_incumbent_is_chosen_by_the_mixture() -> None:
    goal, limits = make_case(6)
    mixed = MixedLimit((limits[0], limits[0]), np.full(2, 0.5))
    one, several = (find_feasible_incumbent(goal, [each]) for each in (limits[0], mixed))
    assert one is not None
    assert several is not None
    assert (one.index, one.mean) == (several.index, several.mean)
    assert one.chance == pytest.approx(several.chance, rel=1e-12)
