"""The panels of a study with outcomes, in the order of the page."""

from collections.abc import Callable
from typing import Final

from ceibo.report.joint.answer import answer
from ceibo.report.joint.blocks import blocks
from ceibo.report.joint.convergence import convergence
from ceibo.report.joint.facts import JointFacts
from ceibo.report.joint.front import front
from ceibo.report.joint.importance import importance
from ceibo.report.joint.in_spec import in_spec
from ceibo.report.joint.maps import maps
from ceibo.report.joint.mixture import mixture
from ceibo.report.joint.settings import settings
from ceibo.report.joint.slices import slices
from ceibo.report.joint.trials import trials
from ceibo.report.panels.remaining import remaining as remaining_of


def remaining(facts: JointFacts) -> str:
    """The panel of the stopping rule; empty with several goals, whose front has no price."""
    if facts.findings is None or facts.findings.goal is None:
        return ""
    return remaining_of(facts.findings.goal)


# Each panel returns HTML, empty if it has nothing to show.
JOINT_PANELS: Final[tuple[Callable[[JointFacts], str], ...]] = (
    answer,
    front,
    convergence,
    remaining,
    importance,
    slices,
    maps,
    in_spec,
    mixture,
    blocks,
    trials,
    settings,
)
