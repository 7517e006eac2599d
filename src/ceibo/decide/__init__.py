"""From evidence to what to measure, what is best and when to stop. Pure: no database, no terminal.

dimensions, space      the parameters, as columns of the unit cube
rules/                 rules between them: read, checked, and as terms for the search
measurement, evidence  what was measured, and what all of it says to a model
outcomes               goals and limits, where several things are measured
joint/                 the same questions and answers for several outcomes
direction              whether small or large values are wanted
settings, model        how the model is fitted; the fitted model
suggest                what to measure next
belief, estimate       the answers, in the user's units and direction
stopping               when another measurement is no longer worth its price
view, surface/         one outcome of a belief, and what pictures of it are computed from
leave_one_out          what the model would have predicted of each setting from the others
backtest               when the search would have taken the best of past measurements
record                 what is written down with a suggestion
"""

from ceibo.decide.belief import Belief
from ceibo.decide.dimensions import Categorical, Float, Int, Ordinal
from ceibo.decide.direction import Direction
from ceibo.decide.effects import BlockEffect
from ceibo.decide.estimate import Estimate, Observed, OutcomeEstimate
from ceibo.decide.evidence import Evidence, Told, Unmeasured, evidence_of
from ceibo.decide.joint import JointBelief, JointEvidence, joint_evidence_of, suggest_jointly
from ceibo.decide.measurement import Measurement
from ceibo.decide.outcomes import AtLeast, AtMost, Maximize, Minimize, Outcomes, Watch
from ceibo.decide.settings import DEFAULT_ACQUISITION, DEFAULT_KERNEL, Settings
from ceibo.decide.space import Space
from ceibo.decide.stopping import Profit, Stop, StopReason, Verdict
from ceibo.decide.suggest import Suggestion, suggest

__all__ = [
    "DEFAULT_ACQUISITION",
    "DEFAULT_KERNEL",
    "AtLeast",
    "AtMost",
    "Belief",
    "BlockEffect",
    "Categorical",
    "Direction",
    "Estimate",
    "Evidence",
    "Float",
    "Int",
    "JointBelief",
    "JointEvidence",
    "Maximize",
    "Measurement",
    "Minimize",
    "Observed",
    "Ordinal",
    "OutcomeEstimate",
    "Outcomes",
    "Profit",
    "Settings",
    "Space",
    "Stop",
    "StopReason",
    "Suggestion",
    "Told",
    "Unmeasured",
    "Verdict",
    "Watch",
    "evidence_of",
    "joint_evidence_of",
    "suggest",
    "suggest_jointly",
]
