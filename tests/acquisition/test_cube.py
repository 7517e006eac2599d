"""Observed points outside the cube inform, but are not what is to be improved on."""

import numpy as np
import pytest

from ceibo import acquisition
from ceibo.acquisition.cube import within
from ceibo.acquisition.incumbent import find_incumbent
from ceibo.gp import GaussianProcess, Matern52

X = np.array([[0.2], [0.8], [1.6]])
Y = np.array([0.5, 0.2, -3.0])


def process(X: np.ndarray = X, y: np.ndarray = Y) -> GaussianProcess:
    return GaussianProcess(X, y, 1e-6, Matern52([0.1]))


def test_the_incumbent_is_inside_if_any_point_is() -> None:
    assert find_incumbent(process()).index == 1
    assert find_incumbent(process(X + 2.0)).index == 2
    assert within(X).tolist() == [True, True, False]
    assert within(X - 5.0).all()


@pytest.mark.parametrize(
    "name", ["corrected-ei", "ei", "noisy-ei", "corrected-kg", "knowledge-gradient"]
)
def test_a_far_point_changes_no_acquisition_inside(name: str) -> None:
    """At sixteen length scales the third point says nothing about the cube, good as it is."""
    grid = np.linspace(0.0, 1.0, 11)[:, None]
    far = acquisition.build(name, process(np.add(X, [[0.0], [0.0], [3.0]]))).value(grid)
    alone = acquisition.build(name, process(X[:2], Y[:2])).value(grid)
    np.testing.assert_allclose(far, alone, rtol=0.3 if name == "noisy-ei" else 1e-6, atol=1e-9)
