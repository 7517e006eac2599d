"""The experimenter's side: studies kept in a database, and the loops around them."""

from ceibo.study.limits import Limits
from ceibo.study.run import Result, maximize, minimize, optimize
from ceibo.study.study import Study
from ceibo.study.trial import Failure, Trial
from ceibo.study.verify import Verification

__all__ = [
    "Failure",
    "Limits",
    "Result",
    "Study",
    "Trial",
    "Verification",
    "maximize",
    "minimize",
    "optimize",
]
