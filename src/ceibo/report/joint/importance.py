"""How much each parameter matters for each goal and limit."""

from functools import partial

from ceibo.report.joint.facts import JointFacts
from ceibo.report.panels.importance import draw_importance, height_of, panel_of
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
    return panel_of(space, body, rows, measured, "each fitted surface")
