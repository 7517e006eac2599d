"""From evidence to what to measure, what is best and when to stop. Pure: no database, no
terminal.
"""

from ceibo.decide.dimensions import Categorical, Float, Int
from ceibo.decide.estimate import Estimate, Observed
from ceibo.decide.measurement import Measurement
from ceibo.decide.space import Space
from ceibo.decide.stopping import Profit, Stop, StopReason, Worth
from ceibo.decide.suggest import Settings, Suggestion

__all__ = [
    "Categorical",
    "Estimate",
    "Float",
    "Int",
    "Measurement",
    "Observed",
    "Profit",
    "Settings",
    "Space",
    "Stop",
    "StopReason",
    "Suggestion",
    "Worth",
]
