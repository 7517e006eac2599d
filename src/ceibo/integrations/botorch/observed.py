"""The observed points, which must be points of the model's own space."""

from botorch.exceptions.errors import UnsupportedError
from botorch.models.model import Model
from torch import Tensor


def check_observed(X_observed: object) -> None:
    """Refuses anything but a tensor of one point or more."""
    if not isinstance(X_observed, Tensor):
        raise UnsupportedError(
            "X_observed must be a tensor of the observed points, of which the incumbent is"
            f" found; got {X_observed!r}. There is no best_f: under noise it is not known."
        )
    if X_observed.ndim < 2 or X_observed.shape[-2] == 0:
        raise UnsupportedError(
            "X_observed must hold at least one point, as a (batch_shape) x n x d tensor; got"
            f" {X_observed.shape}."
        )


def check_dimension(model: Model, X: Tensor, name: str, error: Exception) -> None:
    """Says that points of another dimension than the model's are why it raised an error.

    Asked after the error, because a model's own transforms may take inputs of another dimension
    than those it was fitted to.
    """
    dimension = _dimension(model)
    if dimension is not None and dimension != X.shape[-1]:
        raise UnsupportedError(
            f"{name} must have the model's {dimension} input dimensions, as a (batch_shape) x n x"
            f" {dimension} tensor; got {tuple(X.shape)}, which has {X.shape[-1]}. Give the inputs"
            " that the model was fitted to, such as train_X."
        ) from error


def _dimension(model: Model) -> int | None:
    """How many inputs a model takes, as far as it says."""
    inputs = getattr(model, "train_inputs", None)
    while isinstance(inputs, tuple | list) and inputs:
        inputs = inputs[0]
    return inputs.shape[-1] if isinstance(inputs, Tensor) and inputs.ndim else None
