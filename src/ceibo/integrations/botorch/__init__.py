"""Corrected expected improvement and corrected probability of improvement for BoTorch and Ax.

    model = SingleTaskGP(train_X, train_Y)
    acqf = LogCorrectedExpectedImprovement(model, X_observed=train_X)
    acqf = LogCorrectedExpectedImprovement(model, train_X, constraints={1: (None, 0.5)})

corrected  the four acquisition functions
observed   the observed points, checked
limits     constraints on outcomes, and how likely they hold
pair       the joint posterior at a candidate and the incumbent
bivariate  probabilities of two correlated normal variables
registry   what BoTorch's registry and Ax pass to the functions
"""

try:
    import botorch  # noqa: F401 - for the message
except ImportError as error:
    raise ImportError(
        "ceibo.integrations.botorch needs BoTorch 0.12 or newer: pip install"
        " 'path/to/the/clone[botorch]'"
    ) from error

from ceibo.integrations.botorch.corrected import (
    CorrectedExpectedImprovement,
    CorrectedProbabilityOfImprovement,
    LogCorrectedExpectedImprovement,
    LogCorrectedProbabilityOfImprovement,
)
from ceibo.integrations.botorch.registry import register_with_ax

__all__ = [
    "CorrectedExpectedImprovement",
    "CorrectedProbabilityOfImprovement",
    "LogCorrectedExpectedImprovement",
    "LogCorrectedProbabilityOfImprovement",
    "register_with_ax",
]
