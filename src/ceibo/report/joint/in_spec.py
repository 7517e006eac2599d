"""The probability that every limit holds, over the two most important parameters."""

from functools import partial
from typing import Final

from scipy.special import ndtri

from ceibo.decide import Space
from ceibo.decide.outcome_words import wish_of
from ceibo.report.contour import colour_table
from ceibo.report.facts import Aspect, Map
from ceibo.report.joint.facts import JointFacts
from ceibo.report.map_drawing import (
    draw_colours,
    draw_excluded,
    draw_isolines,
    draw_key,
    draw_places,
    is_smooth,
    make_room,
    map_canvas,
    map_sizes,
    normal_quantile,
)
from ceibo.report.parts import Size, panel
from ceibo.report.svg import Canvas, text_of

# from certain to hold to certain not to: green to red, pale in the middle, dark at the ends
CHANCE_COLOURS: Final = colour_table(
    [(16, 110, 84), (110, 172, 138), (238, 234, 222), (216, 146, 124), (176, 66, 52)]
)


def in_spec(facts: JointFacts) -> str:
    """The panel of the chance that limits hold; empty without limits or with one parameter."""
    if facts.findings is None or facts.findings.chance is None:
        return ""
    name = facts.outcomes.limits[0]
    draw = partial(_draw, facts.findings.chance, facts.study.space, facts.each[name].aspect)
    limits = [f"{each} {wish_of(facts.outcomes[each])}" for each in facts.outcomes.limits]
    note = (
        f"The probability that every limit holds ({text_of(', '.join(limits))}), the other"
        f" parameters as in the map above. The thick line is {facts.confidence:g}, the study's"
        " confidence: answers are taken from inside it. The dotted line is 0.5."
    )
    if facts.study.space.rules:
        note += " Grey is what the rules exclude."
    return panel("in-spec", "Where the limits hold", map_sizes(draw), note)


def _draw(surface: Map, space: Space, aspect: Aspect, size: Size) -> Canvas:
    first, second = surface.names
    canvas = map_canvas(size, f"Probability that limits hold over {first} and {second}")
    make_room(canvas, surface, space)
    smooth = is_smooth(surface, space)
    draw_colours(canvas, 1.0 - surface.mean, smooth, CHANCE_COLOURS)
    if smooth:
        quantile = normal_quantile(surface.mean)
        draw_isolines(canvas, quantile, [0.0], "even")
        draw_isolines(canvas, quantile, [float(ndtri(surface.confidence))], "border")
    draw_excluded(canvas, surface)
    draw_places(canvas, surface, space, aspect)
    draw_key(canvas, CHANCE_COLOURS, 1.0, 0.0)
    return canvas
