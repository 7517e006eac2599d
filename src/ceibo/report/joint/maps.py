"""Each goal over the two most important parameters, hatched where limits may not hold."""

from functools import partial

from ceibo.report.joint.facts import JointFacts
from ceibo.report.map_drawing import draw_map, map_sizes
from ceibo.report.parts import RULES_NOTE, panel
from ceibo.report.svg import text_of
from ceibo.text import shorten


def maps(facts: JointFacts) -> str:
    """The panel of the maps; empty with one parameter and before there is an answer."""
    if facts.findings is None:
        return ""
    figures = []
    names = ("", "")
    for name in facts.outcomes.goals:
        each = facts.each[name]
        if each.map is None:
            return ""
        names = each.map.names
        draw = partial(draw_map, each.map, facts.study.space, each.aspect)
        caption = f"<figcaption>{text_of(name, 60)}</figcaption>"
        figures.append(f"<figure>{caption}{map_sizes(draw)}</figure>")
    where = "the best setting" if facts.findings.best else "the starred setting of the front"
    note = (
        f"What the model believes over the two parameters that matter most, the others at {where}."
        " Dark is better. Dots are measurements, faint where another choice or far-away values of"
        " the other parameters were held; crosses are failures, the star is the setting."
    )
    if facts.outcomes.limits:
        note += (
            f" Hatched is where every limit holds with a probability below {facts.confidence:g}."
        )
    if facts.study.space.rules:
        note += RULES_NOTE
    title = f"{shorten(names[0], 40)} and {shorten(names[1], 40)} together"
    return panel("map", title, "".join(figures), note)
