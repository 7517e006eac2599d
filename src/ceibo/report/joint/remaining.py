"""Whether another measurement is worth its price, of a study with one goal."""

from ceibo.report.joint.facts import JointFacts
from ceibo.report.panels import remaining as single


def remaining(facts: JointFacts) -> str:
    """The panel of the stopping rule; empty with several goals, whose front has no price."""
    if facts.findings is None or facts.findings.goal is None:
        return ""
    return single.remaining(facts.findings.goal)
