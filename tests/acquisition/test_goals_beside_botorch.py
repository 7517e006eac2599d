"""Several goals beside BoTorch's: hypervolumes, and the expected improvement in one draw."""

import numpy as np
import pytest
from botorch.acquisition.multi_objective.analytic import ExpectedHypervolumeImprovement
from botorch.models import ModelListGP
from botorch.utils.multi_objective.box_decompositions.non_dominated import NondominatedPartitioning
from botorch.utils.multi_objective.hypervolume import Hypervolume
from botorch.utils.multi_objective.pareto import is_non_dominated

from ceibo.acquisition.common import draw_in_common
from ceibo.acquisition.fronts import hypervolume, nondominated
from ceibo.acquisition.hypervolume_improvement import build_hypervolume
from tests import torch_oracle
from tests.acquisition.goals import make_processes

by_goals = pytest.mark.parametrize("goals", [2, 3])


@by_goals
def test_the_front_and_its_hypervolume_are_botorchs(goals: int) -> None:
    rng = np.random.default_rng(goals)
    for reference in (np.full(goals, 1.1), np.full(goals, 0.6)):
        for _ in range(15):
            rows = rng.random((int(rng.integers(1, 30)), goals))
            front = nondominated(rows)
            np.testing.assert_array_equal(
                front, is_non_dominated(-torch_oracle.tensor(rows)).numpy()
            )
            oracle = Hypervolume(-torch_oracle.tensor(reference))
            expected = oracle.compute(-torch_oracle.tensor(rows[front]))
            assert hypervolume(rows, reference) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@by_goals
@pytest.mark.parametrize("seed", range(2))
def test_given_the_same_draw_it_is_botorchs_expected_hypervolume_improvement(
    goals: int, seed: int
) -> None:
    """Noiseless models of the draw, to the nugget of 1e-9 of the variance that they share."""
    n, processes = 5, make_processes(seed, goals, n=5, noise=0.3)
    acq = build_hypervolume(processes, draws=1, seed=seed)
    drawn = draw_in_common(processes, [], 1, seed).goals[0]
    A = np.random.default_rng(seed).random((8, 2))
    # it maximises: the same models of the values with their signs turned
    with torch_oracle.exact():
        models, values = [], []
        for k, gp in enumerate(processes):
            y = gp.mean + gp.unit * drawn[:, k]
            nugget = np.full(n, 1e-9 * gp.kernel.variance)
            model = torch_oracle.model_like(gp, y=-y, noise=nugget)
            model.mean_module.constant.data.fill_(-gp.mean)
            models.append(model)
            values.append(-y)
        reference = -torch_oracle.tensor(acq.reference)
        Y = torch_oracle.tensor(np.column_stack(values))
        oracle = ExpectedHypervolumeImprovement(
            ModelListGP(*models),
            ref_point=reference.tolist(),
            partitioning=NondominatedPartitioning(reference, Y=Y),
        )
        expected = oracle(torch_oracle.tensor(A)[:, None, :]).numpy()
    # it takes 1e10 for infinity, where numbers are 2e-6 apart
    np.testing.assert_allclose(acq.value(A), expected, rtol=1e-5, atol=3e-6)
    assert expected.max() > 1e-2
