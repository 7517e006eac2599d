"""Several measured outcomes: one process each, goals and limits decided together.

evidence     what is known of each outcome
model        a fitted model of each outcome
suggest      what to measure next
alternatives other models of each limit, for what is stated of it
predictions  what is believed of every outcome at any point
belief       the answers, in the user's units and directions
front        the settings of which none is better in every goal
clipped      what is said of an outcome that cannot leave a range
record       what is written down with a suggestion
"""

from ceibo.decide.joint.belief import JointBelief, joint_improvement, recommend_jointly
from ceibo.decide.joint.evidence import JointEvidence, joint_evidence_of
from ceibo.decide.joint.front import raw_front
from ceibo.decide.joint.record import starts_of, to_joint_record
from ceibo.decide.joint.suggest import JointSuggestion, suggest_jointly

__all__ = [
    "JointBelief",
    "JointEvidence",
    "JointSuggestion",
    "joint_evidence_of",
    "joint_improvement",
    "raw_front",
    "recommend_jointly",
    "starts_of",
    "suggest_jointly",
    "to_joint_record",
]
