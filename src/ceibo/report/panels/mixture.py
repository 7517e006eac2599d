"""The posterior mean over three parts of a mixture, as a triangle."""

from functools import partial

from ceibo.report.facts import Facts
from ceibo.report.parts import panel
from ceibo.report.ternary import Ternary
from ceibo.report.ternary_drawing import draw_ternary, ternary_sizes
from ceibo.text import shorten


def mixture(facts: Facts) -> str:
    """The panel of the triangle; empty without a mixture and before the first measurement."""
    findings = facts.findings
    if findings is None or findings.ternary is None:
        return ""
    draw = partial(draw_ternary, findings.ternary, facts.aspect(findings), "mixture")
    note = f"The posterior mean over {parts_of(findings.ternary)} {explain(findings.ternary)}"
    return panel("mixture", title_of(findings.ternary), ternary_sizes(draw), note)


def title_of(found: Ternary) -> str:
    """The title of the panel."""
    first, second, third = (shorten(name, 30) for name in found.names)
    return f"The mixture of {first}, {second} and {third}"


def parts_of(found: Ternary) -> str:
    """What is drawn of the mixture."""
    if found.simplex.is_whole:
        return "the three parts of the mixture, all else as in the best setting."
    return (
        "the three parts of the mixture that matter most, its other parts and all else as in the"
        " best setting."
    )


def explain(found: Ternary) -> str:
    """How the triangle is read."""
    text = (
        "At a corner there is only the part named there of the three, on the side opposite none of"
        " it; ticks are amounts, and their lines are those of equal amounts. Dark is better. Dots"
        " are measurements, with the numbers of their trials where there is room, fainter where all"
        " else was different; the star is the best setting. Grey is what the rules exclude."
    )
    if found.simplex.least.any():
        text += " The triangle is the part of the mixture in which the rules can hold."
    return text
