"""Bayesian optimisation of noisy, expensive processes, built on corrected expected improvement."""

from ceibo import acquisition, gp
from ceibo.decide import (
    AtLeast,
    AtMost,
    BlockEffect,
    Categorical,
    Estimate,
    Float,
    Int,
    Maximize,
    Measurement,
    Minimize,
    Ordinal,
    Space,
    StopReason,
    Suspect,
    Watch,
)
from ceibo.errors import CeiboError, InputError, StopRun
from ceibo.study import Result, Study, Trial, current_trial, maximize, minimize, optimize
from ceibo.version import __version__

__all__ = [
    "AtLeast",
    "AtMost",
    "BlockEffect",
    "Categorical",
    "CeiboError",
    "Estimate",
    "Float",
    "InputError",
    "Int",
    "Maximize",
    "Measurement",
    "Minimize",
    "Ordinal",
    "Result",
    "Space",
    "StopReason",
    "StopRun",
    "Study",
    "Suspect",
    "Trial",
    "Watch",
    "__version__",
    "acquisition",
    "current_trial",
    "gp",
    "maximize",
    "minimize",
    "optimize",
]
