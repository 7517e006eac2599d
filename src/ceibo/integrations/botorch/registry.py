"""What BoTorch's registry of acquisition functions, and Ax through it, pass to these functions."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch
from botorch.acquisition.input_constructors import acqf_input_constructor
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.models.model import Model
from botorch.utils.datasets import SupervisedDataset
from torch import Tensor

from ceibo.integrations.botorch.corrected import (
    CorrectedExpectedImprovement,
    CorrectedProbabilityOfImprovement,
    LogCorrectedExpectedImprovement,
    LogCorrectedProbabilityOfImprovement,
)
from ceibo.integrations.botorch.limits import Constraints, Limit, limits_of_tuple

CLASSES: Final = (
    CorrectedExpectedImprovement,
    LogCorrectedExpectedImprovement,
    CorrectedProbabilityOfImprovement,
    LogCorrectedProbabilityOfImprovement,
)


@acqf_input_constructor(*CLASSES)
def construct_inputs_corrected(  # noqa: PLR0913 - the names that BoTorch and Ax pass
    model: Model,
    training_data: "SupervisedDataset | dict[Any, SupervisedDataset]",
    posterior_transform: PosteriorTransform | None = None,
    X_baseline: Tensor | None = None,
    X_pending: Tensor | None = None,
    maximize: bool = True,
    constraints: "Constraints | Sequence[Any] | None" = None,
    constraints_tuple: tuple[Tensor, Tensor] | None = None,
    confidence: float | None = None,
    ref_point: Any = None,
) -> dict[str, Any]:
    r"""Construct kwargs for the corrected acquisition functions.

    Args:
        model: The model to be used in the acquisition function.
        training_data: Dataset(s) used to train the model; their points are the observed ones if
            there is no ``X_baseline``.
        posterior_transform: The posterior transform to be used in the acquisition function.
        X_baseline: A ``n x d``-dim tensor of observed points to choose the incumbent from.
        X_pending: A ``m x d``-dim tensor of points being evaluated.
        maximize: If True, consider the problem a maximization problem.
        constraints: Output index -> (lower, upper), as the constructor takes it. Ax passes
            functions here, and the same constraints as ``constraints_tuple``.
        constraints_tuple: ``(A, b)`` of the outcome constraints ``A f(x) <= b``.
        confidence: With which constraints are to hold at the incumbent.
        ref_point: Refused: it is passed if there are several objectives.

    Returns:
        A dict mapping kwarg names of the constructor to values.
    """
    if ref_point is not None:
        raise UnsupportedError(
            "the corrected acquisition functions have one objective; for several use one such as"
            " qLogNoisyExpectedHypervolumeImprovement, or weigh them in a scalarized objective."
        )
    limits = _limits(constraints, constraints_tuple)
    if X_baseline is None:
        X_baseline = _observed(training_data, whole=bool(limits))
    inputs = {
        "model": model,
        "X_observed": X_baseline,
        "posterior_transform": posterior_transform,
        "X_pending": X_pending,
        "maximize": maximize,
    }
    if limits:
        inputs["constraints"] = limits
    return inputs if confidence is None else {**inputs, "confidence": confidence}


def _limits(constraints: object, given: tuple[Tensor, Tensor] | None) -> Constraints | list[Limit]:
    """What is passed as constraints to the constructor; nothing is left out in silence."""
    if isinstance(constraints, Mapping):
        if constraints and given is not None:
            raise UnsupportedError(
                "constraints came twice, as a dict and as those of the experiment; give all of them"
                " to the experiment."
            )
        return constraints
    if given is not None:
        return limits_of_tuple(*given)
    if constraints:
        raise UnsupportedError(
            "outcome constraints came as functions, of which there is no closed form; pass them as"
            " constraints_tuple=(A, b) with A f(x) <= b, as Ax 1.0 and newer does, or as a dict of"
            " output index -> (lower, upper)."
        )
    return []


def _observed(training_data: Any, whole: bool) -> Tensor:
    """The points of the datasets; with `whole`, those that all datasets have."""
    if not isinstance(training_data, dict):
        return torch.as_tensor(training_data.X)
    first, *others = (dataset.X for dataset in training_data.values())
    if not whole:
        return torch.cat([first, *others], dim=-2)
    common = [x for x in first if all((x == X).all(dim=-1).any() for X in others)]
    if not common:
        raise UnsupportedError("no point has a value of every outcome yet.")
    return torch.stack(common)


def register_with_ax() -> None:
    """Lets Ax save and load what uses these classes, by name. Needs Ax."""
    try:
        from ax.storage.botorch_modular_registry import register_acquisition_function
    except ImportError as error:
        raise ImportError("register_with_ax needs Ax: pip install ax-platform") from error
    for acquisition_class in CLASSES:
        register_acquisition_function(acquisition_class)
