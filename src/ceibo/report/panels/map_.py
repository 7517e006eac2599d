"""The posterior mean over the two most important parameters, in colour, with isolines."""

from functools import partial

from ceibo.report.facts import Facts
from ceibo.report.map_drawing import draw_map, map_sizes
from ceibo.report.parts import RULES_NOTE, panel
from ceibo.text import shorten


def map_(facts: Facts) -> str:
    """The panel of the map; empty with one parameter and before the first measurement."""
    findings = facts.findings
    if findings is None or findings.map is None:
        return ""
    first, second = findings.map.names
    draw = partial(draw_map, findings.map, facts.study.space, facts.aspect(findings))
    note = (
        "The posterior mean over the two most important parameters, the others at the best setting."
        " Dark is better. Dots are measurements, faint where another choice or far-away values of"
        " the other parameters were held; crosses are failures, the star is the best setting."
    )
    if facts.study.space.rules:
        note += RULES_NOTE
    title = f"{shorten(first, 40)} and {shorten(second, 40)} together"
    return panel("map", title, map_sizes(draw), note)
