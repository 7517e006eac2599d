"""Each goal and limit along each parameter, through the best setting or one of the front."""

from ceibo.decide.outcome_words import wish_of
from ceibo.report.joint.facts import JointFacts
from ceibo.report.parts import BLOCKS_NOTE, RULES_KEY, RULES_NOTE, legend, panel
from ceibo.report.slice import grid_of_slices
from ceibo.report.svg import text_of


def slices(facts: JointFacts) -> str:
    """The panel of slices, small drawings in rows of outcomes; empty before there is an answer."""
    if facts.findings is None:
        return ""
    parts = []
    for name, each in facts.needed.items():
        wish = f"<small>{text_of(wish_of(each.outcome))}</small>"
        parts.append(f"<h3>{text_of(name, 60)} {wish}</h3>")
        effects = facts.findings.belief.blocks.get(name, ())
        parts.append(grid_of_slices(each.slices, each.aspect, effects, facts.confidence))
    chosen = facts.findings.chosen
    where = f"the best setting (trial {chosen.number})"
    if facts.findings.best is None:
        where = f"trial {chosen.number}, the setting of the front that is most likely on it"
    note = (
        f"Each picture moves one parameter and keeps the others at {where}; the dashed line is"
        " there. What the model believes is mean ± std, with the measurements, faint where they"
        " were made far away. Most important parameters first."
    )
    keys = [("key-incumbent", "posterior mean ± std")]
    if facts.outcomes.limits:
        note += (
            " Below a goal: the probability that every limit holds; shaded is where that is less"
            f" than {facts.confidence:g}."
        )
        keys += [("key-limit", "limit"), ("key-chance", "probability that every limit holds")]
        keys.append(("key-doubtful", f"less than {facts.confidence:g}"))
    elif facts.findings.best is not None:
        keys.append(("key-gain", "corrected EI"))
    if any(facts.findings.belief.blocks.values()):
        note += BLOCKS_NOTE
    if facts.study.space.rules:
        note += RULES_NOTE
        keys.append(RULES_KEY)
    title = "Around the best setting" if facts.findings.best else "Around a setting of the front"
    return panel("slices", title, "".join(parts), note, legend(*keys))
