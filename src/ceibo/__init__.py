"""Bayesian optimisation of noisy, expensive processes, built on corrected expected improvement."""

from ceibo import acquisition, gp
from ceibo.decide import Categorical, Estimate, Float, Int, Measurement, StopReason
from ceibo.errors import CeiboError, InputError
from ceibo.study import Result, Study, Trial, maximize, minimize
from ceibo.version import __version__

__all__ = [
    "Categorical",
    "CeiboError",
    "Estimate",
    "Float",
    "InputError",
    "Int",
    "Measurement",
    "Result",
    "StopReason",
    "Study",
    "Trial",
    "__version__",
    "acquisition",
    "gp",
    "maximize",
    "minimize",
]
