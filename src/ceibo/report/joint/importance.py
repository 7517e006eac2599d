"""How much each parameter matters for each goal and limit."""

from functools import partial

from ceibo.report.joint.facts import JointFacts
from ceibo.report.panels.importance import IMPORTANCE_NOTE, caveat, draw_importance, height_of
from ceibo.report.parts import legend, panel
from ceibo.report.svg import text_of

_MOST_ROWS = 24  # parameters with a bar, for each goal and limit


def importance(facts: JointFacts) -> str:
    """The panel of importance; empty before there is an answer."""
    if facts.findings is None:
        return ""
    space = facts.study.space
    rows = min(len(space), _MOST_ROWS)
    figures = []
    for name, each in facts.needed.items():
        if each.importance is None:
            continue
        draw = partial(draw_importance, space, each.importance)
        caption = f"<figcaption>{text_of(name, 60)}</figcaption>"
        figures.append(f"<figure>{caption}{draw((330, height_of(rows))).render()}</figure>")
    body = f'<div class="grid-of-slices">{"".join(figures)}</div>'
    measured = max(len(each.aspect.measured) for each in facts.needed.values())
    note = (
        "Share of the variation of each fitted surface over the whole space that would be gone if"
        " the parameter were fixed (Sobol indices of the posterior mean): dark, the parameter on"
        f" its own; light, together with others. {caveat(measured)}"
    )
    if facts.study.space.rules:
        note += IMPORTANCE_NOTE
    if rows < len(space):
        note += f" Of {len(space):,} parameters the {rows} that matter most are shown."
    keys = legend(("key-alone", "on its own"), ("key-together", "together with others"))
    return panel("importance", "Which parameters matter", body, note, keys)
