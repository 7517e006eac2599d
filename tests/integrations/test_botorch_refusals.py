"""What the acquisition functions for BoTorch do not handle is refused, not ignored."""

from typing import NoReturn

import pytest
import torch
from botorch.acquisition.input_constructors import get_acqf_input_constructor
from botorch.exceptions import UnsupportedError
from botorch.models import SingleTaskGP
from botorch.utils.datasets import SupervisedDataset

from ceibo.integrations.botorch import LogCorrectedExpectedImprovement

X = torch.linspace(0, 1, 6, dtype=torch.double).unsqueeze(-1)
Y = (X - 0.3) ** 2


def test_outcome_constraints_are_refused() -> None:
    """Ax passes them to every function, and BoTorch leaves out what one does not take."""
    construct = get_acqf_input_constructor(LogCorrectedExpectedImprovement)
    data = SupervisedDataset(X, Y, feature_names=["x"], outcome_names=["y"])
    model = SingleTaskGP(X, Y)
    assert construct(model=model, training_data=data, constraints=None)["X_observed"] is not None
    with pytest.raises(UnsupportedError, match="outcome constraints"):
        construct(model=model, training_data=data, constraints=[lambda samples: samples[..., 0]])


def test_a_best_value_given_by_habit_is_refused_with_advice() -> None:
    with pytest.raises(UnsupportedError, match="best_f"):
        LogCorrectedExpectedImprovement(SingleTaskGP(X, Y), 0.3)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(6, 2), (2, 6, 3)])
def test_observed_points_of_another_dimension_are_named(shape: tuple[int, ...]) -> None:
    """torch says "Sizes of tensors must match", and not whose."""
    with pytest.raises(
        UnsupportedError, match=rf"X_observed must have the model's 1 .*{shape[-1]}"
    ):
        LogCorrectedExpectedImprovement(SingleTaskGP(X, Y), torch.rand(shape, dtype=torch.double))


def test_other_errors_of_a_model_stay_what_they_are() -> None:
    class Broken(SingleTaskGP):
        def posterior(self, *args: object, **options: object) -> NoReturn:
            raise RuntimeError("CUDA error")

    with pytest.raises(RuntimeError, match=r"^CUDA error$"):
        LogCorrectedExpectedImprovement(Broken(X, Y), X)
