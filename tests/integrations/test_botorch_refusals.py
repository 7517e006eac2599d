"""What the acquisition functions for BoTorch do not handle is refused, not ignored."""

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
