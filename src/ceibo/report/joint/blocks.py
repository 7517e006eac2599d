"""The effects of blocks such as days on each outcome."""

from ceibo.decide.outcome_words import with_unit
from ceibo.report.joint.facts import JointFacts
from ceibo.report.panels.blocks import NOTE, drawings_of, keys
from ceibo.report.parts import panel
from ceibo.report.svg import text_of
from ceibo.study.blocks import Blocks


def blocks(facts: JointFacts) -> str:
    """The panel of blocks; empty if none were told."""
    if facts.findings is None:
        return ""
    parts = []
    for name, effects in facts.findings.belief.blocks.items():
        if effects:
            parts.append(f"<h3>{text_of(name, 60)}</h3>")
            axis = with_unit(f"effect on {name}", facts.outcomes[name].unit)
            parts.append(drawings_of(Blocks(effects), axis))
    return panel("blocks", "Blocks", "".join(parts), NOTE, keys()) if parts else ""
