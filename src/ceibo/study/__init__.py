"""The experimenter's side: spaces, measurements, studies, and the loops around them."""

from ceibo.study.estimate import Estimate, NoMeasurementError, Observed
from ceibo.study.evaluation import EvaluationsFailedError, ObjectiveExitError
from ceibo.study.limits import Limits
from ceibo.study.measurement import Measurement
from ceibo.study.run import Result, maximize, minimize
from ceibo.study.runner import ExecutorLostError
from ceibo.study.space import Categorical, Float, Int, Space
from ceibo.study.stopping import Profit, Stop, StopReason, Worth
from ceibo.study.study import Study
from ceibo.study.suggest import Settings, Suggestion
from ceibo.study.trial import Trial
from ceibo.study.verify import Verification

__all__ = [
    "Categorical",
    "Estimate",
    "EvaluationsFailedError",
    "ExecutorLostError",
    "Float",
    "Int",
    "Limits",
    "Measurement",
    "NoMeasurementError",
    "ObjectiveExitError",
    "Observed",
    "Profit",
    "Result",
    "Settings",
    "Space",
    "Stop",
    "StopReason",
    "Study",
    "Suggestion",
    "Trial",
    "Verification",
    "Worth",
    "maximize",
    "minimize",
]
