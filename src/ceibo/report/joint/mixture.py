"""Each goal over three parts of a mixture, and the probability that every limit holds there."""

from functools import partial

from ceibo.report.joint.facts import JointFacts
from ceibo.report.joint.in_spec import CHANCE_COLOURS
from ceibo.report.panels.mixture import explain, parts_of, title_of
from ceibo.report.parts import panel
from ceibo.report.svg import text_of
from ceibo.report.ternary_drawing import draw_ternary, draw_ternary_chance, ternary_sizes


def mixture(facts: JointFacts) -> str:
    """The panel of triangles; empty without a mixture and before there is an answer."""
    if facts.findings is None:
        return ""
    figures = []
    shown = None
    for place, name in enumerate(facts.outcomes.goals):
        each = facts.each[name]
        if each.ternary is None:
            return ""
        shown = each.ternary
        draw = partial(draw_ternary, each.ternary, each.aspect, f"mixture-{place}")
        caption = f"<figcaption>{text_of(name, 60)}</figcaption>"
        figures.append(f"<figure>{caption}{ternary_sizes(draw)}</figure>")
    chance = facts.findings.ternary
    if chance is not None:
        aspect = facts.each[facts.outcomes.limits[0]].aspect
        show = partial(draw_ternary_chance, chance, aspect, CHANCE_COLOURS, "mixture-chance")
        caption = "<figcaption>probability that every limit holds</figcaption>"
        figures.append(f"<figure>{caption}{ternary_sizes(show)}</figure>")
    if shown is None:
        return ""
    note = f"What the model believes over {parts_of(shown)} {explain(shown)}"
    if facts.findings.best is None:
        note = note.replace("the best setting", "the starred setting of the front")
    if chance is not None:
        note += (
            f" Hatched is where every limit holds with a probability below {facts.confidence:g},"
            " which is the thick line; the dotted line is 0.5."
        )
    return panel("mixture", title_of(shown), "".join(figures), note)
